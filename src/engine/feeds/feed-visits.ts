import type { FetchTiming } from '../../extract/contract.js'
import type { Feed, FeedDifference, FeedMemory } from '../../feeds/contract.js'
import type { FeedEvent, FeedRecord, PollResult } from '../../feeds/follow/contract.js'
import type { FetchedResponse, Outcome } from '../../fetch/contract.js'
import type { Settlement } from '../../frontier/contract.js'
import type { CrawlRequest, FeedPurpose, MaybePromise } from '../../types.js'
import type { Admission } from '../admission/admission.js'
import { type DeliveryProblem, UNDELIVERED } from '../hooks/delivered.js'
import type { EngineParts, EngineRules } from '../parts.js'
import type { Reporter } from '../stats/reporter.js'
import type { FetchSettings, FetchStep } from '../visit/fetch-step.js'
import { isLocalShortage, type Verdict } from '../visit/verdict.js'
import { notVisited, postponed, repeated, type VisitResult } from '../visit/visit-result.js'
import { articlesOf } from './articles.js'
import { type FollowedFeeds, memoryBytes } from './followed-feeds.js'
import { OlderPages, type OpenPoll } from './older-pages.js'
import { done, type FeedVisit, PollEndings, type PollFailure, unchanged } from './poll-endings.js'
import { SeedPages } from './seed-pages.js'

const NOT_MODIFIED = 304
const DELTA = 226
const GONE = 410
const PERMANENT: ReadonlySet<number> = new Set([301, 308])

/** Types of which a feed is never one. Everything else may be mislabelled. */
const NEVER_A_FEED = /^(?:image|audio|video|font)\//

/** The steps of every visit, which feeds share with pages. */
export interface VisitSteps {
  checkRobots(request: CrawlRequest): MaybePromise<Settlement | undefined>
  judge(request: CrawlRequest, outcome: Outcome): Verdict
  settleReached(request: CrawlRequest, startedAt: number, endedAt: number): VisitResult
  settleFailure(
    request: CrawlRequest,
    outcome: Outcome,
    verdict: Verdict & { kind: 'failure' },
    startedAt: number,
    endedAt: number,
  ): Promise<Settlement>
}

/**
 * Polls feeds. A poll is a visit like any other: robots gate → fetch → parse → compare → deliver, and its settlement says when
 * the feed is polled again. Once a URL was a feed, every end of a visit keeps it, except status 410 and a move for good.
 */
export class FeedVisits {
  readonly #followed: FollowedFeeds
  readonly #parts: EngineParts
  readonly #rules: EngineRules
  readonly #admission: Admission
  readonly #fetchStep: FetchStep
  readonly #reports: Reporter
  readonly #steps: VisitSteps
  readonly #endings: PollEndings
  readonly #olderPages = new OlderPages()
  /** Responses to seeds that were no feeds. */
  readonly seedPages = new SeedPages()

  constructor(
    followed: FollowedFeeds,
    parts: EngineParts,
    rules: EngineRules,
    admission: Admission,
    fetchStep: FetchStep,
    reports: Reporter,
    steps: VisitSteps,
  ) {
    this.#followed = followed
    this.#parts = parts
    this.#rules = rules
    this.#admission = admission
    this.#fetchStep = fetchStep
    this.#reports = reports
    this.#steps = steps
    this.#endings = new PollEndings(followed, parts, rules, admission.feeds!)
  }

  async visit(request: CrawlRequest, purpose: FeedPurpose): Promise<VisitResult> {
    const stored = await this.#followed.record(request.url, request.host)
    if (purpose.returns === true) return this.#endings.comeHome(request, purpose, stored)
    // A feed that moved to where another is followed already, or a page named one that had moved here.
    const isSecond = purpose.of === undefined ? request.revisit !== true : purpose.moved === true
    if (stored !== undefined && (isSecond || stored.ended === true)) return done(request)
    const open = this.#olderPages.take(request.url)
    if (open === undefined && purpose.of === undefined && stored !== undefined) {
      const waitUntil = this.#waitUntil(stored)
      if (waitUntil !== undefined) return postponed(request, waitUntil)
    }
    const robots = await this.#steps.checkRobots(request)
    if (robots !== undefined) {
      if (open !== undefined) this.#olderPages.keep(request.url, open)
      return robots
    }
    const known = purpose.of === undefined ? stored : (purpose.state?.record as FeedRecord | undefined)
    const visit = { request, purpose, known, stored: purpose.of === undefined ? stored : undefined }
    return open === undefined ? this.#poll(visit) : this.#readOlder(visit, open)
  }

  /** Whatever ends a visit, its feed stays followed: an end without a next visit counts as a failed poll. */
  async keep(
    request: CrawlRequest,
    purpose: FeedPurpose,
    visiting: Promise<VisitResult>,
  ): Promise<VisitResult> {
    const visited = await visiting
    if (visited.again !== undefined || visited.feed !== undefined) return visited
    const stored = await this.#followed.record(request.url, request.host)
    const known = purpose.of === undefined ? stored : (purpose.state?.record as FeedRecord | undefined)
    if (known === undefined || known.ended === true) return visited
    const now = this.#parts.clock.now()
    const visit = { request, purpose, known, stored, startedAt: now, endedAt: now }
    return { ...visited, ...(await this.#endings.failed(visit, known.failure ?? NOT_ALLOWED)) }
  }

  /** The host does not answer: it is not tried before `at`. */
  async hostDown(request: CrawlRequest, purpose: FeedPurpose, at: number): Promise<VisitResult> {
    const stored = await this.#followed.record(request.url, request.host)
    const known = purpose.of === undefined ? stored : (purpose.state?.record as FeedRecord | undefined)
    const message = `${request.host} has failed several times in a row`
    await this.#reports.failure(request, { code: 'host-down', message }, false)
    const now = this.#parts.clock.now()
    const visit = { request, purpose, known, stored, startedAt: now, endedAt: now }
    const settled = { request, visitedAt: undefined, hostNotBefore: at }
    if (known === undefined && purpose.seed !== true) return { ...settled, feed: unchanged(request) }
    return { ...settled, ...(await this.#endings.failed(visit, { code: 'host-down', message })) }
  }

  /** Undefined: it is due. The price may have changed since the request began to wait. */
  #waitUntil({ poll }: FeedRecord): number | undefined {
    const { schedule, rules } = this.#followed.feeds
    const now = this.#parts.clock.now()
    // Polled in this run: it waits for the next one, and must not seem to be due soon.
    if (rules.once && poll.at >= this.#followed.openedAt)
      return Math.max(schedule.dueAt(poll), now + 2 * this.#followed.soonMs)
    return schedule.isDue(poll, now) ? undefined : Math.max(schedule.dueAt(poll), now + 1)
  }

  async #poll(asked: Omit<FeedVisit, 'startedAt' | 'endedAt'>): Promise<VisitResult> {
    const { request, purpose, known } = asked
    const { clock, extraction } = this.#parts
    const { tools, rules } = this.#followed.feeds
    const startedAt = clock.now()
    const question = tools.ask(known, startedAt)
    const settings: FetchSettings = {
      wants: (type) => !NEVER_A_FEED.test(type) || (purpose.seed === true && extraction.wants(type)),
      cutsBody: true,
      known: question.known,
    }
    const outcome = await this.#fetchStep.fetch(withHeaders(request, question.headers), settings)
    const endedAt = clock.now()
    const visit: FeedVisit = { ...asked, startedAt, endedAt }
    if (outcome.ok && outcome.status === NOT_MODIFIED && question.known !== undefined && known !== undefined)
      return this.#notModified(visit, known, outcome)
    const verdict = this.#steps.judge(request, outcome)
    if (verdict.kind === 'redirect') return this.#redirect(visit, outcome as FetchedResponse, verdict)
    if (verdict.kind === 'failure') return this.#settleFailure(visit, outcome, verdict)
    const response = outcome as FetchedResponse
    const { headers, body, truncated, status } = response
    const feed = tools.parse({ url: request.url, headers, body, truncated })
    if (feed.kind === 'none') return this.#noFeed(visit, response, feed.reason)
    return this.#compare(visit, {
      pages: [feed],
      older: request.url,
      status,
      at: endedAt,
      notBefore: tools.notBefore(headers, endedAt, rules.polls.maxMs),
      // What was cut off is not known, so the server must send it again.
      etag: feed.problems.includes('truncated') ? undefined : headers.get('etag'),
      modified: feed.problems.includes('truncated') ? undefined : headers.get('last-modified'),
      bytes: body.length,
    })
  }

  /** Reads one more page of a feed whose entries do not connect to those that are known. */
  async #readOlder(asked: Omit<FeedVisit, 'startedAt' | 'endedAt'>, open: OpenPoll): Promise<VisitResult> {
    const { clock, robots } = this.#parts
    const { tools } = this.#followed.feeds
    const request = { ...plain(asked.request), url: open.older, purpose: asked.purpose }
    const startedAt = clock.now()
    if (robots.check(request, startedAt) !== 'allow')
      return this.#finish({ ...asked, startedAt, endedAt: startedAt }, open, notVisited(asked.request))
    const outcome = await this.#fetchStep.fetch(withHeaders(request, {}), OLDER_PAGE)
    const endedAt = clock.now()
    const visit: FeedVisit = { ...asked, startedAt, endedAt }
    const verdict = this.#steps.judge(request, outcome)
    if (verdict.kind === 'failure') {
      if (this.#isUndecided(outcome, verdict)) {
        this.#olderPages.keep(asked.request.url, open)
        return repeated(asked.request, endedAt)
      }
      const failed = await this.#steps.settleFailure(
        request,
        outcome,
        { ...verdict, final: false },
        startedAt,
        endedAt,
      )
      return this.#finish(visit, open, { ...failed, request: asked.request })
    }
    const reached = this.#steps.settleReached(asked.request, startedAt, endedAt)
    if (verdict.kind !== 'page') return this.#finish(visit, open, reached)
    const { headers, body, truncated } = outcome as FetchedResponse
    const page = tools.parse({ url: open.older, headers, body, truncated })
    if (page.kind === 'none') return this.#finish(visit, open, reached)
    const [first, ...others] = open.pages
    return this.#compare(visit, { ...open, pages: [first, ...others, page], bytes: open.bytes + body.length })
  }

  /** Compares what was read so far, or asks for another page first. */
  async #compare(visit: FeedVisit, open: OpenPoll): Promise<VisitResult> {
    const { request, startedAt, endedAt } = visit
    const reached = this.#steps.settleReached(request, startedAt, endedAt)
    const memory = await this.#memoryOf(visit)
    const result = this.#result(visit, memory, open, this.#olderPages.hasRoom)
    if (result.older === undefined) return this.#deliver(visit, open, result, reached)
    this.#olderPages.keep(request.url, { ...open, older: result.older })
    return { ...reached, again: { at: endedAt, attempt: request.attempt } }
  }

  /** There is no further page to read: what is missing is lost. */
  async #finish(visit: FeedVisit, open: OpenPoll, settled: Settlement): Promise<VisitResult> {
    const memory = await this.#memoryOf(visit)
    const result = this.#result(visit, memory, open, false)
    return result.older === undefined ? this.#deliver(visit, open, result, settled) : settled
  }

  #result(visit: FeedVisit, memory: FeedMemory | undefined, open: OpenPoll, recovers: boolean): PollResult {
    const { pages, at, notBefore, status } = open
    const delta = status === DELTA
    const visitIntervalMs = this.#endings.visitIntervalMs(visit.request)
    const seenAt = visit.known?.poll.seenAt
    const poll = { url: visit.request.url, at, delta, seenAt, notBefore, visitIntervalMs, recovers }
    return this.#followed.feeds.tools.compare(memory, pages, poll)
  }

  async #deliver(
    visit: FeedVisit,
    open: OpenPoll,
    { difference, observation }: PollResult & { older?: undefined },
    settled: Settlement,
  ): Promise<VisitResult> {
    const { request, known } = visit
    const [feed] = open.pages
    const event = this.#eventOf(visit, open, feed, difference)
    const problem = isOfInterest(event) ? await this.#call(request, event) : undefined
    if (problem === UNDELIVERED) return repeated(request, visit.endedAt)
    if (problem !== undefined) {
      const isLast = (known?.undelivered ?? 0) >= this.#rules.retries
      await this.#reports.failure(request, problem, isLast)
      if (!isLast) {
        const { code, message } = problem
        const undelivered = (known?.undelivered ?? 0) + 1
        return { ...settled, ...(await this.#endings.failed(visit, { code, message }, { undelivered })) }
      }
    }
    const { kind, title, link } = feed
    const isWhole = open.status !== DELTA
    const { record, next } = this.#followed.polled(request.host, known, observation, {
      kind,
      title: title?.slice(0, MAX_TEXT),
      link: link?.slice(0, MAX_TEXT),
      etag: sized(open.etag),
      modified: sized(open.modified),
      undelivered: undefined,
    })
    const { articles } = this.#followed.feeds.rules
    const wanted = articles === undefined ? [] : articlesOf(difference.new, articles.label, request.depth)
    const found = wanted.length === 0 ? [] : await this.#admission.feeds!.admitArticles(wanted, request)
    const full = isWhole ? { ...record, fullAt: open.at, fullPerDay: record.perDay } : record
    const stays = await this.#endings.stay(visit, full, next.at, difference.memory, true)
    return { ...settled, ...stays, found: [...found, ...(stays.found ?? [])] }
  }

  #eventOf(
    { request, purpose }: FeedVisit,
    open: OpenPoll,
    feed: Feed,
    difference: FeedDifference,
  ): FeedEvent {
    const { kind, title, link } = feed
    const isMoved = purpose.of !== undefined && purpose.moved === true
    const url = isMoved ? request.url : (purpose.of ?? request.url)
    return {
      feed: { url, kind, title, link, ...(isMoved && { movedFrom: purpose.of }) },
      new: difference.new,
      changed: difference.changed,
      missing: difference.missing,
      lost: difference.loss.estimate,
      recovered: difference.recovered,
      poll: {
        at: open.at,
        url: request.url,
        status: open.status,
        first: difference.first,
        delta: open.status === DELTA,
        window: difference.window,
        loss: difference.loss,
        pages: open.pages.length - 1,
      },
    }
  }

  #call(
    request: CrawlRequest,
    event: FeedEvent,
  ): MaybePromise<DeliveryProblem | typeof UNDELIVERED | undefined> {
    const { delivery, inFlight } = this.#parts
    inFlight?.enter(request)
    const delivering = delivery.deliverFeed(event)
    inFlight?.leave()
    return delivering
  }

  async #notModified(
    visit: FeedVisit,
    known: FeedRecord,
    { headers }: FetchedResponse,
  ): Promise<VisitResult> {
    const { request, startedAt, endedAt } = visit
    const { tools } = this.#followed.feeds
    const observation = tools.nothing('not-modified', this.#endings.factsOf(visit, headers))
    const { record, next } = this.#followed.polled(request.host, known, observation, {
      // The server may name the version anew; what it does not repeat is still valid.
      etag: sized(headers.get('etag')) ?? known.etag,
      modified: sized(headers.get('last-modified')) ?? known.modified,
    })
    const reached = this.#steps.settleReached(request, startedAt, endedAt)
    return { ...reached, ...(await this.#endings.stay(visit, record, next.at, undefined, true)) }
  }

  async #settleFailure(
    visit: FeedVisit,
    outcome: Outcome,
    verdict: Verdict & { kind: 'failure' },
  ): Promise<VisitResult> {
    const { request, purpose, known, startedAt, endedAt } = visit
    const { code, message, status } = verdict
    const isFeed = known?.kind !== undefined
    const isOver = isFeed && status === GONE && purpose.of === undefined
    // What was never a feed and does not exist is given up; what may be one is tried again, in the end once in a while.
    const isKept = isFeed || (purpose.seed === true && verdict.transient)
    const settle = (final: boolean) =>
      this.#steps.settleFailure(request, outcome, { ...verdict, final }, startedAt, endedAt)
    if (this.#isUndecided(outcome, verdict)) return settle(verdict.final)
    if (isOver) {
      const settled = await settle(true)
      return { ...settled, again: undefined, ...this.#endings.ended(visit, known, { code, message, status }) }
    }
    if (purpose.guess === true && !isKept && outcome.ok && !verdict.transient) {
      // Nobody said that there is a feed.
      return { ...this.#steps.settleReached(request, startedAt, endedAt), ...this.#endings.forgotten(visit) }
    }
    if (!isKept) {
      const settled = await settle(true)
      return { ...settled, again: undefined, ...this.#endings.forgotten(visit) }
    }
    const settled = await settle(false)
    const headers = outcome.ok ? outcome.headers : undefined
    return { ...settled, ...(await this.#endings.failed(visit, { code, message, status }, {}, headers)) }
  }

  /** The visit proves nothing, or the same poll is tried again soon. */
  #isUndecided(outcome: Outcome, verdict: Verdict & { kind: 'failure' }): boolean {
    return (
      !verdict.final || isLocalShortage(outcome) || (this.#fetchStep.isAborted && verdict.code === 'aborted')
    )
  }

  /** The response is something else: a page, or nothing. */
  async #noFeed(visit: FeedVisit, response: FetchedResponse, reason: string): Promise<VisitResult> {
    const { request, purpose, known, startedAt, endedAt } = visit
    const reached = this.#steps.settleReached(request, startedAt, endedAt)
    if (known?.kind === undefined) {
      if (purpose.seed !== true) return { ...reached, ...this.#endings.forgotten(visit) }
      const timing: FetchTiming = { fetchedAt: endedAt, fetchMs: endedAt - startedAt }
      this.seedPages.keep(request.url, response, timing)
      const found = await this.#admission.feeds!.admitSeedPage(request)
      return { ...reached, found, ...this.#endings.forgotten(visit) }
    }
    const message = `${request.url} is no feed any more: ${NO_FEED[reason] ?? NO_FEED.unknown}`
    await this.#reports.failure(request, { code: 'not-a-feed', message, status: response.status }, false)
    const failure = { code: 'not-a-feed', message, status: response.status } as const
    return { ...reached, ...(await this.#endings.failed(visit, failure, {}, response.headers)) }
  }

  async #redirect(
    visit: FeedVisit,
    { status }: FetchedResponse,
    { to, extras }: Verdict & { kind: 'redirect' },
  ): Promise<VisitResult> {
    const { request, purpose, known, stored, startedAt, endedAt } = visit
    const { host, url } = request
    if (purpose.guess === true && known === undefined) {
      const reached = this.#steps.settleReached(request, startedAt, endedAt)
      return { ...reached, ...this.#endings.forgotten(visit) }
    }
    await this.#reports.redirected(request, to, status)
    const reached = this.#steps.settleReached(request, startedAt, endedAt)
    const state =
      purpose.state ?? (stored && { record: stored, memory: await this.#followed.memory(url, host) })
    const next: FeedPurpose = {
      kind: 'feed',
      ...(purpose.seed && { seed: true }),
      of: purpose.of ?? url,
      moved: purpose.moved !== false && PERMANENT.has(status),
      ...(state && { state }),
    }
    const isBlocked = this.#admission.isBlocked({ ...plain(request), url: to })
    const found = isBlocked ? undefined : await this.#admission.admitRedirect(to, request, extras, next)
    if (found === undefined) {
      await this.#admission.reportFailures()
      if (known === undefined) return { ...reached, ...this.#endings.forgotten(visit) }
      const message = `redirects to ${to}, which is blocked or redirects back`
      return { ...reached, ...(await this.#endings.failed(visit, { code: 'bad-redirect', message, status })) }
    }
    if (stored !== undefined) this.#followed.feeds.schedule.forget(host, stored.poll)
    return { ...reached, found, feed: { url, host, before: stored, after: undefined } }
  }

  async #memoryOf({ request, purpose }: FeedVisit): Promise<FeedMemory | undefined> {
    if (purpose.of !== undefined) return memoryBytes(purpose.state?.memory)
    return memoryBytes(await this.#followed.memory(request.url, request.host))
  }
}

/** Texts of a feed that are kept for reports. */
const MAX_TEXT = 500
const MAX_VALIDATOR = 1000

/** A validator that is too long to keep is not sent back. */
function sized(validator: string | undefined): string | undefined {
  return validator !== undefined && validator.length <= MAX_VALIDATOR ? validator : undefined
}

const OLDER_PAGE: FetchSettings = { wants: (type) => !NEVER_A_FEED.test(type), cutsBody: true }

const NOT_ALLOWED: PollFailure = {
  code: 'http-status',
  message: 'robots.txt or block() does not allow it now',
}

const NO_FEED: Readonly<Record<string, string>> = {
  html: 'the server sent a page',
  empty: 'the server sent nothing',
  unknown: 'the server sent something else',
}

function isOfInterest({ new: fresh, changed, missing, lost, poll }: FeedEvent): boolean {
  return poll.first || fresh.length > 0 || changed.length > 0 || missing.length > 0 || lost > 0
}

/** The request with headers of its own. Those of the program win. */
function withHeaders(request: CrawlRequest, headers: Readonly<Record<string, string>>): CrawlRequest {
  const { extras } = request
  return {
    ...plain(request),
    ...(extras || headers ? { extras: { ...extras, headers: { ...headers, ...extras?.headers } } } : {}),
  }
}

/** A copy without the fields that a frontier may have added. */
function plain(request: CrawlRequest): CrawlRequest {
  const { url, host, depth, priority, attempt, redirects, parent, purpose, via, extras, hostTrouble } =
    request
  return {
    ...{ url, host, depth, priority, attempt, redirects, parent, hostTrouble },
    ...(purpose && { purpose }),
    ...(via && { via }),
    ...(extras && { extras }),
  }
}
