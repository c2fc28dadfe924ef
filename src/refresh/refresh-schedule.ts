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
import { FreshBudget } from './fresh-budget.js'
import { goneIntervalMs, missed, missedIntervalMs } from './gone.js'
import { observed } from './history.js'
import { Servers } from './servers.js'
import { checked, conditionOf, lastModifiedMs } from './validators.js'

/** What the changes of a server's other pages say about a new one, in observations. */
const WEIGHT_OF_NEIGHBOURS = 1
/** A sitemap is often wrong, and a guess is only a guess. */
const WEIGHT_OF_HINT = 0.5
/** Between two visits a wish grows by no more than this: one long silence is no habit yet. */
const MOST_GROWTH = 4

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/** What `changefreq` of a sitemap means. */
const CHANGE_FREQUENCIES: Readonly<Record<string, number>> = {
  always: HOUR_MS / 4,
  hourly: HOUR_MS,
  daily: DAY_MS,
  weekly: 7 * DAY_MS,
  monthly: 30 * DAY_MS,
  yearly: 365 * DAY_MS,
  never: 3650 * DAY_MS,
}

/** What the sockets and the crawl's politeness allow. */
export interface RefreshLimits {
  readonly sockets: number
  /** The crawl's visit interval, I_min. */
  readonly minIntervalMs: number
}

/**
 * The schedule of known pages: from what a visit has shown to the instant of the next. It holds what is known of servers;
 * what is known of pages is handed in and out, and lies in a store.
 */
export class RefreshSchedule implements RefreshScheduler {
  readonly rules: RefreshRules
  readonly servers: Servers
  readonly #budget = new FreshBudget()
  pages = 0

  constructor(rules: RefreshRules, { sockets, minIntervalMs }: RefreshLimits) {
    this.rules = rules
    const { share, policy } = rules
    // The rest is left to new pages, on each server and of all sockets: what is wished of known ones may have no end.
    this.servers = new Servers({ sockets: sockets * share, minIntervalMs, share, policy })
  }

  conditionOf(record: PageRecord, chance: number): Validators | undefined {
    // A page that is gone has nothing to be compared with.
    return record.gone === undefined ? conditionOf(record, chance) : undefined
  }

  observed(host: string, before: PageRecord | undefined, sight: PageObservation): NextVisit {
    this.servers.downloaded(host, sight.downloadMs, sight.delayMs)
    const seen = before === undefined || before.gone !== undefined ? undefined : before
    const { change, trust } = seen === undefined ? NEW : check(seen, sight)
    const history =
      seen === undefined ? before?.history || firstVisit(sight) : observedAt(seen, sight, change)
    const changeMs = this.#changeMs(host, history, sight)
    const every = this.#wish(changeMs, history, seen?.every)
    const { digest = seen?.digest, etag, modified } = sight
    const record: PageRecord = {
      at: sight.at,
      every,
      change: changeMs,
      depth: sight.depth,
      history,
      ...(digest !== undefined && { digest }),
      // A 304 need not repeat what it confirms.
      ...present('etag', etag ?? (sight.status === 304 ? seen?.etag : undefined)),
      ...present('modified', modified ?? (sight.status === 304 ? seen?.modified : undefined)),
      ...present('trust', trust),
      ...present('round', before?.round),
    }
    this.#replace(host, before, record)
    if (history !== '') this.servers.learned(host, changeMs)
    return { change, record, at: this.#next(host, sight.at, every) }
  }

  /** Servers recover, and links are often there before their target: it is asked for again, as rarely as a gone page. */
  failed(host: string, depth: number, miss: Miss, at: number): NextVisit {
    const { firstMs, maxMs } = this.rules
    // One that said nothing of the page has only had a mishap.
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
    // Never sooner than before, also for a page that was visited rarely while it was there.
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

  /** Takes up a page that was known before this run: what pages change like decides what freshness costs. */
  remember({ gone, change }: PageRecord): void {
    if (gone === undefined) this.#budget.replace(undefined, change)
  }

  leave(isLeaving: (host: string) => boolean): [string, ServerRecord][] {
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

  /** The instant of the next visit, as far as the sockets and the server allow the wish. */
  #next(host: string, at: number, everyMs: number): number {
    return at + everyMs * this.servers.stretchOf(host)
  }

  #changeMs(host: string, history: string, sight: PageObservation): number {
    return changeIntervalMs(history, this.#prior(host, sight.hint))
  }

  #prior(host: string, hint: SitemapHint | undefined): Prior {
    const habit = this.servers.habitMs(host)
    if (habit !== undefined) return { intervalMs: habit, weight: WEIGHT_OF_NEIGHBOURS }
    const hinted = CHANGE_FREQUENCIES[hint?.changefreq ?? '']
    if (hinted !== undefined) return { intervalMs: hinted, weight: WEIGHT_OF_HINT }
    const { firstMs, target } = this.rules
    return { intervalMs: firstMs / archiveIntervalMs(1, target), weight: WEIGHT_OF_HINT }
  }

  #wish(changeMs: number, history: string, before: number | undefined): number {
    const { rules } = this
    const { minMs, maxMs } = rules
    const wish =
      rules.aim === 'fresh'
        ? this.#budget.intervalMs(changeMs, rules)
        : Math.min(Math.max(archiveIntervalMs(changeMs, rules.target), minMs), maxMs)
    if (before !== undefined) return Math.min(wish, Math.max(MOST_GROWTH * before, minMs))
    // Of a new page that says nothing about itself, neighbours may say that it changes often, but not that it never does.
    return history === '' ? Math.min(wish, rules.firstMs) : wish
  }

  #replace(host: string, before: PageRecord | undefined, now: PageRecord): void {
    if (before === undefined) this.pages++
    this.servers.want(host, before?.every, now.every)
    if (this.rules.aim !== 'fresh') return
    this.#budget.replace(changeOf(before), changeOf(now))
  }
}

const NEW = { change: 'new', trust: undefined } as const

function check(before: PageRecord, sight: PageObservation): ReturnType<typeof checked> {
  return checked(before, sight, sight.conditional ? 'conditional' : 'plain')
}

/** The age of a page that is seen for the first time is one observation: it last changed so long ago. */
function firstVisit(sight: PageObservation): string {
  const { lastmod } = sight.hint ?? {}
  const listed = lastmod !== undefined && lastmod < sight.at ? sight.at - lastmod : undefined
  const ageMs = ageOf(sight) ?? listed
  return ageMs === undefined
    ? ''
    : observed('', { elapsedMs: Number.POSITIVE_INFINITY, changed: true, ageMs })
}

function observedAt(before: PageRecord, sight: PageObservation, change: NextVisit['change']): string {
  const elapsedMs = Math.max(1, sight.at - before.at)
  return observed(before.history, { elapsedMs, changed: change === 'changed', ageMs: ageOf(sight) })
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
