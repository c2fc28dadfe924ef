import type { FeedMemory } from '../../feeds/contract.js'
import type { FeedRecord, PolledFeed } from '../../feeds/follow/contract.js'
import type { FetchedResponse } from '../../fetch/contract.js'
import type { CrawlRequest, FeedPurpose } from '../../types.js'
import { hostOf } from '../../url/canonicalize.js'
import type { FeedAdmission } from '../admission/feed-admission.js'
import { newRequest } from '../admission/requests.js'
import type { EngineParts, EngineRules } from '../parts.js'
import { notVisited, type VisitResult } from '../visit/visit-result.js'
import { memoryText } from './feed-settlement.js'
import type { FollowedFeeds } from './followed-feeds.js'

/** A visit that reached its host, and what is known about its feed. */
export interface FeedVisit {
  readonly request: CrawlRequest
  readonly purpose: FeedPurpose
  /** What is known about the feed: stored here, or carried by a redirect. */
  readonly known: FeedRecord | undefined
  /** The same if it is stored here. */
  readonly stored: FeedRecord | undefined
  readonly startedAt: number
  readonly endedAt: number
}

export type PollFailure = NonNullable<FeedRecord['failure']>

/** Text of a failure that is kept for reports. */
const MAX_TEXT = 500

const POLL: FeedPurpose = Object.freeze({ kind: 'feed' })

/** How a poll ends: where its feed is from now on, and when it is polled again. */
export class PollEndings {
  readonly #followed: FollowedFeeds
  readonly #parts: EngineParts
  readonly #rules: EngineRules
  readonly #admission: FeedAdmission

  constructor(followed: FollowedFeeds, parts: EngineParts, rules: EngineRules, admission: FeedAdmission) {
    this.#followed = followed
    this.#parts = parts
    this.#rules = rules
    this.#admission = admission
  }

  /** A poll failed: the feed is polled again, later and later. */
  async failed(
    visit: FeedVisit,
    failure: PollFailure,
    more: Partial<FeedRecord> = {},
    headers: FetchedResponse['headers'] | undefined = undefined,
  ): Promise<Partial<VisitResult>> {
    const { request, known } = visit
    const observation = this.#followed.feeds.tools.nothing('failed', this.factsOf(visit, headers))
    const kept = { ...failure, message: failure.message.slice(0, MAX_TEXT) }
    const { record, next } = this.#followed.polled(request.host, known, observation, {
      ...more,
      failure: kept,
    })
    return this.stay(visit, record, next.at, undefined, false)
  }

  ended({ request }: FeedVisit, known: FeedRecord, failure: PollFailure): Pick<VisitResult, 'feed'> {
    const { host, url } = request
    this.#followed.feeds.schedule.forget(host, known.poll)
    return { feed: { url, host, before: known, after: { ...known, failure, ended: true } } }
  }

  /** It was no feed: nothing is kept of it. */
  forgotten({ request, stored }: FeedVisit): Pick<VisitResult, 'feed'> {
    const { url, host } = request
    if (stored !== undefined) this.#followed.feeds.schedule.forget(host, stored.poll)
    return { feed: { url, host, before: stored, after: undefined } }
  }

  /**
   * Where the feed is from now on. Usually here: its request waits for the next poll. A feed that redirected here for good,
   * and was a feed here, stays; otherwise what was learned goes back to the one that redirected.
   */
  async stay(
    visit: FeedVisit,
    record: FeedRecord,
    at: number,
    memory: FeedMemory | undefined,
    isAnswered: boolean,
  ): Promise<Partial<VisitResult>> {
    const { request, purpose, stored } = visit
    const { url, host } = request
    const { of: home } = purpose
    if (home === undefined)
      return {
        again: { at, attempt: 0, revisit: true },
        feed: { url, host, before: stored, after: record, memory },
      }
    const text = memory === undefined ? purpose.state?.memory : memoryText(memory)
    if (isAnswered && purpose.moved === true) {
      await this.#admission.setKnown(url, request)
      const waits = {
        ...newRequest(url, host, request.depth, 0, request.parent),
        purpose: POLL,
        revisit: true,
      }
      return {
        found: [{ ...waits, notBefore: at }],
        feed: { url, host, before: undefined, after: record, memory: text },
      }
    }
    this.#followed.feeds.schedule.forget(host, record.poll)
    const state = { record, ...(text !== undefined && { memory: text }) }
    const back: FeedPurpose = { kind: 'feed', ...(purpose.seed && { seed: true }), returns: true, state }
    const returning = { ...newRequest(home, hostOf(home), request.depth, 0, request.parent), purpose: back }
    return { again: undefined, found: this.#admission.route(returning), feed: unchanged(request) }
  }

  /** What another host has answered for this feed. */
  comeHome(request: CrawlRequest, { seed, state }: FeedPurpose, stored: FeedRecord | undefined): VisitResult {
    const { url, host } = request
    if (stored !== undefined || state === undefined) return done(request)
    const { schedule } = this.#followed.feeds
    const record = state.record as FeedRecord
    schedule.remember(host, record.poll)
    const purpose: FeedPurpose = seed ? { kind: 'feed', seed: true } : POLL
    const waits = { ...newRequest(url, host, request.depth, 0, request.parent), purpose, revisit: true }
    return {
      ...notVisited(request),
      found: [{ ...waits, notBefore: schedule.dueAt(record.poll) }],
      feed: { url, host, before: undefined, after: record, memory: state.memory },
    }
  }

  factsOf(
    { request, endedAt }: FeedVisit,
    headers: FetchedResponse['headers'] | undefined,
  ): Pick<PolledFeed, 'at' | 'notBefore' | 'visitIntervalMs'> {
    const { tools, rules } = this.#followed.feeds
    const notBefore = headers && tools.notBefore(headers, endedAt, rules.polls.maxMs)
    return { at: endedAt, notBefore, visitIntervalMs: this.visitIntervalMs(request) }
  }

  visitIntervalMs(request: CrawlRequest): number {
    return Math.max(this.#rules.delayMs, this.#parts.robots.delayMs(request) ?? 0)
  }
}

/** The request is done, and nothing is stored. */
export function done(request: CrawlRequest): VisitResult {
  return { ...notVisited(request), feed: unchanged(request) }
}

export function unchanged({ url, host }: CrawlRequest): VisitResult['feed'] {
  return { url, host, before: undefined, after: undefined }
}
