import type { Validators } from '../fetch/contract.js'
import type { SitemapHint } from '../types.js'
import { archiveIntervalMs } from './aims.js'
import type {
  Feasibility,
  Miss,
  NextVisit,
  PageObservation,
  PageRecord,
  Prior,
  RefreshRules,
  RefreshScheduler,
  ServerRecord,
} from './contract.js'
import { changeIntervalMs } from './estimator.js'
import { FreshnessBudget } from './freshness-budget.js'
import { goneIntervalMs, missed, missedIntervalMs } from './gone.js'
import { observed } from './history.js'
import { Servers } from './servers.js'
import { checked, conditionOf, lastModifiedMs } from './validators.js'

/** Weight of the changes of a server's other pages for a new page, in observations. */
const WEIGHT_OF_OTHER_PAGES = 1
/** A sitemap is often wrong, and a guess is only a guess. */
const WEIGHT_OF_HINT = 0.5
/** The wanted interval grows by at most this factor per visit: one long time without a change is not a habit yet. */
const MAX_GROWTH = 4

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/** The meaning of `changefreq` in a sitemap. */
const CHANGE_FREQUENCIES: Readonly<Record<string, number>> = {
  always: HOUR_MS / 4,
  hourly: HOUR_MS,
  daily: DAY_MS,
  weekly: 7 * DAY_MS,
  monthly: 30 * DAY_MS,
  yearly: 365 * DAY_MS,
  never: 3650 * DAY_MS,
}

/** The limits set by sockets and the crawl's politeness. */
export interface RefreshLimits {
  readonly sockets: number
  /** The crawl's visit interval, I_min. */
  readonly minIntervalMs: number
}

/**
 * The schedule of known pages: from the observation of a visit to the time of the next one. It holds what is known
 * about servers; records of pages are passed in and out and live in a store.
 */
export class RefreshSchedule implements RefreshScheduler {
  readonly rules: RefreshRules
  readonly servers: Servers
  readonly #budget = new FreshnessBudget()
  pages = 0

  constructor(rules: RefreshRules, { sockets, minIntervalMs }: RefreshLimits) {
    this.rules = rules
    const { share, policy } = rules
    // The rest is left for new pages, on each server and of all sockets, because the demand of known pages may be
    // unlimited.
    this.servers = new Servers({ sockets: sockets * share, minIntervalMs, share, policy })
  }

  conditionOf(record: PageRecord, chance: number): Validators | undefined {
    if (this.rules.complete) return undefined
    // For a gone page there is no content to compare with.
    return record.gone === undefined ? conditionOf(record, chance) : undefined
  }

  observed(host: string, before: PageRecord | undefined, observation: PageObservation): NextVisit {
    this.servers.downloaded(host, observation.downloadMs, observation.delayMs)
    const seen = before === undefined || before.gone !== undefined ? undefined : before
    const { change, trust } = seen === undefined ? NEW : check(seen, observation)
    const history =
      seen === undefined ? before?.history || firstVisit(observation) : observedAt(seen, observation, change)
    const changeMs = this.#changeMs(host, history, observation)
    const every = this.#wantedIntervalMs(changeMs, history, seen?.every)
    const { digest = seen?.digest, etag, modified } = observation
    const record: PageRecord = {
      at: observation.at,
      every,
      change: changeMs,
      depth: observation.depth,
      history,
      ...(digest !== undefined && { digest }),
      // A 304 need not repeat what it confirms.
      ...present('etag', etag ?? (observation.status === 304 ? seen?.etag : undefined)),
      ...present('modified', modified ?? (observation.status === 304 ? seen?.modified : undefined)),
      ...present('trust', trust),
      ...present('round', before?.round),
    }
    this.#replace(host, before, record)
    if (history !== '') this.servers.addChangeInterval(host, changeMs)
    return { change, record, at: this.#next(host, observation.at, every) }
  }

  /**
   * Servers recover, and links often exist before their target. So the page is requested again, as rarely as a gone
   * one.
   */
  failed(host: string, depth: number, miss: Miss, at: number): NextVisit {
    const { firstMs, maxMs } = this.rules
    // A failure says nothing about the page.
    const every = miss === 'failed' ? firstMs : Math.max(firstMs, goneIntervalMs(0, 0, maxMs))
    const record: PageRecord = { at, every, change: every, depth, history: '', gone: 0, unseen: true }
    this.#replace(host, undefined, record)
    return { change: undefined, record, at: this.#next(host, at, every) }
  }

  missed(host: string, before: PageRecord, miss: Miss, at: number): NextVisit {
    const { minMs, maxMs } = this.rules
    if (miss === 'put-off')
      return { change: undefined, record: before, at: this.#next(host, at, before.every) }
    const { misses, isGone } = missed(before, miss)
    if (!isGone) {
      const again = this.#next(host, at, missedIntervalMs(before.every, minMs))
      return { change: undefined, record: { ...before, misses }, at: again }
    }
    const tries = before.gone === undefined ? 0 : before.gone + 1
    // Never more often than before, also for a page that was visited rarely while it existed.
    const every = Math.max(before.every, goneIntervalMs(tries, 0, maxMs))
    const record = { ...before, misses, gone: tries, every }
    this.#replace(host, before, record)
    return { change: before.gone === undefined ? 'gone' : undefined, record, at: this.#next(host, at, every) }
  }

  held(host: string, ms: number): void {
    this.servers.held(host, ms)
  }

  serverOf(host: string): ServerRecord | undefined {
    return this.servers.get(host)
  }

  restore(host: string, record: ServerRecord): void {
    this.pages += record.pages - (this.servers.get(host)?.pages ?? 0)
    this.servers.put(host, record)
  }

  /**
   * Registers a page that was known before this run: the change intervals of all pages determine the price of
   * freshness.
   */
  remember({ gone, change }: PageRecord): void {
    if (gone === undefined) this.#budget.replace(undefined, change)
  }

  forget({ gone, change }: PageRecord): void {
    if (gone === undefined) this.#budget.replace(change, undefined)
  }

  release(isLeaving: (host: string) => boolean): [string, ServerRecord][] {
    const left: [string, ServerRecord][] = []
    for (const host of [...this.servers.hosts()]) {
      if (isLeaving(host)) left.push([host, this.servers.remove(host)!])
    }
    for (const [, { pages }] of left) this.pages -= pages
    return left
  }

  feasibility(): Feasibility {
    return this.servers.feasibility()
  }

  demandBy(partOf: (host: string) => number): Map<number, number> {
    return this.servers.demandBy(partOf)
  }

  policy(host: { readonly host: string; readonly readyAt: number }): number {
    return this.servers.policy(host)
  }

  /** The time of the next visit: the wanted interval, lengthened to what sockets and the server allow. */
  #next(host: string, at: number, everyMs: number): number {
    return at + everyMs * this.servers.stretchOf(host)
  }

  #changeMs(host: string, history: string, observation: PageObservation): number {
    return changeIntervalMs(history, this.#prior(host, observation.hint))
  }

  #prior(host: string, hint: SitemapHint | undefined): Prior {
    const habit = this.servers.typicalChangeMs(host)
    if (habit !== undefined) return { intervalMs: habit, weight: WEIGHT_OF_OTHER_PAGES }
    const hinted = CHANGE_FREQUENCIES[hint?.changefreq ?? '']
    if (hinted !== undefined) return { intervalMs: hinted, weight: WEIGHT_OF_HINT }
    const { firstMs, target } = this.rules
    return { intervalMs: firstMs / archiveIntervalMs(1, target), weight: WEIGHT_OF_HINT }
  }

  #wantedIntervalMs(changeMs: number, history: string, before: number | undefined): number {
    const { rules } = this
    const { minMs, maxMs } = rules
    const wanted =
      rules.aim === 'fresh'
        ? this.#budget.intervalMs(changeMs, rules)
        : Math.min(Math.max(archiveIntervalMs(changeMs, rules.target), minMs), maxMs)
    if (before !== undefined) return Math.min(wanted, Math.max(MAX_GROWTH * before, minMs))
    // For a new page without observations, the other pages of the server may indicate that it changes often, but not
    // that it never does.
    return history === '' ? Math.min(wanted, rules.firstMs) : wanted
  }

  #replace(host: string, before: PageRecord | undefined, now: PageRecord): void {
    if (before === undefined) this.pages++
    this.servers.updateInterval(host, before?.every, now.every)
    if (this.rules.aim !== 'fresh') return
    this.#budget.replace(changeOf(before), changeOf(now))
  }
}

const NEW = { change: 'new', trust: undefined } as const

function check(before: PageRecord, observation: PageObservation): ReturnType<typeof checked> {
  return checked(before, observation, observation.conditional ? 'conditional' : 'plain')
}

/** The age of a page at its first visit is one observation: it last changed that long ago. */
function firstVisit(observation: PageObservation): string {
  const { lastmod } = observation.hint ?? {}
  const listed = lastmod !== undefined && lastmod < observation.at ? observation.at - lastmod : undefined
  const ageMs = ageOf(observation) ?? listed
  return ageMs === undefined
    ? ''
    : observed('', { elapsedMs: Number.POSITIVE_INFINITY, changed: true, ageMs })
}

function observedAt(before: PageRecord, observation: PageObservation, change: NextVisit['change']): string {
  const elapsedMs = Math.max(1, observation.at - before.at)
  return observed(before.history, { elapsedMs, changed: change === 'changed', ageMs: ageOf(observation) })
}

function ageOf({ modified, at }: PageObservation): number | undefined {
  const changedAt = lastModifiedMs(modified, at)
  return changedAt === undefined ? undefined : at - changedAt
}

function changeOf(record: PageRecord | undefined): number | undefined {
  return record === undefined || record.gone !== undefined ? undefined : record.change
}

function present<K extends string, V>(name: K, value: V | undefined): { [N in K]?: V } {
  return value === undefined ? {} : ({ [name]: value } as { [N in K]?: V })
}
