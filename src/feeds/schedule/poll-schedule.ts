import { BurstMeter } from '../posting/burst-meter.js'
import type { Irregularity, Posting } from '../posting/counts.js'
import {
  type Count,
  emptyChance,
  expectedLoss,
  knownDays,
  learn,
  learnAges,
  postingOf,
  unknownPosting,
} from '../posting/estimator.js'
import { ForecastMeter } from '../posting/forecast-meter.js'
import { closedGap, datedPart, type OpenGap, openGap } from '../posting/losses.js'
import { addAccounts, EMPTY_ACCOUNT, lostOf } from './account.js'
import type {
  NextPoll,
  PollAccount,
  PollObservation,
  PollOutlook,
  PollReason,
  PollRecord,
  PollReport,
  PollRules,
  PollScheduler,
} from './contract.js'
import { Demand } from './demand.js'
import { delayedByHints, storedHints } from './hints.js'
import { HostLoads } from './hosts.js'
import { IndexTables, MOST_WINDOW, windowClass } from './index-table.js'
import { boundedPrice } from './prices.js'
import { WEIGHTS } from './rules.js'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/** Until the program's side has reports, and knows better. */
const FIRST_PRICE = 0.5
/** A feed is leased when it would be due at this share of the price, to notice that the price fell. */
const LEASE_SHARE = 0.8
/** A feed that was watched for some days is not left alone for longer than that: so far, nobody knows what it does. */
const LEAST_LEARNING_DAYS = 1
/** The first wait after a failed poll; it doubles with each further one. */
const BACKOFF_MS = HOUR_MS
const MOST_DOUBLINGS = 12
/** Numbers in records: more digits would only be longer. */
const PRECISION = 1e4
/** An article that a feed dates this much before the last poll was not published then. */
const LATEST_MS = DAY_MS

/** What limits the polls of a host. */
export interface PollLimits {
  /** The crawl's visit interval. */
  readonly visitIntervalMs: number
}

/**
 * The schedule of feeds: from the observation of a poll to the time of the next one. It holds what is known about all feeds
 * together (classes, hosts, burst term); records of feeds are passed in and out and live in a store.
 */
export class PollSchedule implements PollScheduler {
  readonly rules: PollRules
  price = FIRST_PRICE
  readonly #bounds: { readonly minDays: number; readonly maxDays: number }
  readonly #demand = new Demand()
  readonly #hosts: HostLoads
  readonly #bursts = new BurstMeter()
  readonly #lossMeter = new ForecastMeter()
  readonly #futileMeter = new ForecastMeter()
  readonly #posting: Posting = { rate: 0, shape: 1 }
  #tables: IndexTables
  #account: PollAccount = EMPTY_ACCOUNT
  #spent = 0
  #firstPolls = 0

  constructor(rules: PollRules, limits: PollLimits) {
    this.rules = rules
    this.#bounds = { minDays: rules.minMs / DAY_MS, maxDays: rules.maxMs / DAY_MS }
    this.#hosts = new HostLoads(limits.visitIntervalMs)
    this.#tables = this.#newTables()
  }

  get #irregularity(): Irregularity {
    return this.#tables.irregularity
  }

  #newTables(): IndexTables {
    return new IndexTables(this.#bursts.irregularity, WEIGHTS[this.rules.aim])
  }

  get feeds(): number {
    return this.#demand.feeds
  }

  polled(host: string, before: PollRecord | undefined, observation: PollObservation): NextPoll {
    const { at, outcome } = observation
    const posting = before === undefined ? unknownPosting() : [...before.posting]
    const isSeen = outcome !== 'failed'
    const { counted, gap } = isSeen
      ? this.#learn(posting, before, observation)
      : { counted: FAILED, gap: before?.gap }
    const window = isSeen && observation.window > 0 ? observation.window : (before?.window ?? 0)
    const unbounded = isSeen && outcome === 'feed' ? observation.unbounded : before?.unbounded
    const failures = isSeen ? 0 : (before?.failures ?? 0) + 1
    const hints = observation.hints === undefined ? hintsOf(before) : storedHints(observation.hints)
    const draft: PollRecord = {
      at,
      seenAt: isSeen ? at : (before?.seenAt ?? 0),
      due: at,
      why: 'learning',
      window,
      ...(unbounded && { unbounded: true }),
      posting: posting.map((value) => Math.round(value * PRECISION) / PRECISION),
      ...(failures > 0 && { failures }),
      ...this.#notBefore(observation),
      ...hints,
      ...(gap !== undefined && { gap }),
      account: addAccounts(before?.account ?? EMPTY_ACCOUNT, counted),
    }
    const { due, why } = this.#plan(draft, this.price)
    const record: PollRecord = { ...draft, due, why }
    if (before === undefined) this.#firstPolls++
    else this.#spent++
    this.#account = addAccounts(this.#account, counted)
    this.#replace(host, before, record, observation.visitIntervalMs)
    const early = why === 'index' || why === 'max' ? this.#plan(record, this.price * LEASE_SHARE).due : due
    return { record, at: Math.min(due, early), why }
  }

  dueAt(record: PollRecord): number {
    return this.#plan(record, this.price).due
  }

  isDue(record: PollRecord, now: number): boolean {
    // A last poll in the future means that the clock was set back.
    return now < record.at - this.rules.maxMs || this.dueAt(record) <= now
  }

  setPrice(price: number): void {
    if (price > 0) this.price = boundedPrice(price)
  }

  remember(host: string, record: PollRecord): void {
    this.#replace(host, undefined, record)
  }

  forget(host: string, record: PollRecord): void {
    this.#replace(host, record, undefined)
  }

  report(): PollReport {
    const curve = this.#demand.curve(this.#tables, this.#bounds)
    return {
      feeds: this.#demand.feeds,
      perDay: this.#demand.perDay,
      curve: {
        polls: curve.polls,
        lost: curve.lost.map((each) => each * this.#lossMeter.correction),
        // A poll is futile at most once.
        futile: curve.futile.map((each, at) =>
          Math.min(curve.polls[at]!, each * this.#futileMeter.correction),
        ),
      },
      price: this.price,
      spent: this.#spent,
      firstPolls: this.#firstPolls,
      account: this.#account,
      ...this.#hosts.report(),
    }
  }

  outlook(record: PollRecord): PollOutlook {
    const { account, window } = record
    const { rate, shape } = postingOf(record.posting, 0, this.#posting)
    const { burst, change } = this.#irregularity
    const { due, why } = this.#plan(record, this.price)
    const days = Math.max(0, due - record.at) / DAY_MS
    return {
      account,
      lost: lostOf(account),
      window,
      perDay: rate,
      burst: 1 + burst + rate * days * (change + 1 / shape),
      delayMs: account.delays === 0 ? undefined : account.delayMs / account.delays,
      nextAt: due,
      why,
    }
  }

  /** Learns what a poll showed: what it adds to the account, and the gap that it leaves. */
  #learn(posting: number[], before: PollRecord | undefined, poll: PollObservation): Learned {
    if (poll.first || before === undefined || before.seenAt === 0) {
      const ages = poll.published.map((time) => Math.max(0, poll.at - time) / DAY_MS)
      if (before === undefined || knownDays(posting) === 0) learnAges(posting, 0, ages)
      return { counted: { polls: 1 }, gap: undefined }
    }
    const days = (poll.at - before.seenAt) / DAY_MS
    const fresh = Number.isFinite(poll.fresh) ? Math.max(0, poll.fresh) : 0
    const censored = !poll.overlaps && fresh > 0 && !poll.unbounded
    const count: Count = { days, articles: fresh, censored }
    const known = postingOf(posting, 0, this.#posting)
    const expected =
      days > 0 && before.window > 0 ? expectedLoss(known, days, before.window, this.#irregularity) : 0
    const expectedEmpty = days > 0 ? emptyChance(known, days, this.#irregularity) : 0
    const gap = censored && days > 0 ? this.#gap(poll, days, fresh) : undefined
    if (days > 0 && this.#bursts.observed(known, count)) this.#irregularityChanged()
    learn(posting, 0, count, this.#irregularity)
    const losses = this.#losses(before.gap, gap, fresh, days)
    this.#lossMeter.observed(expected, (losses.lostByDates ?? 0) + (losses.lostByRate ?? 0))
    if (days > 0) this.#futileMeter.observed(expectedEmpty, fresh === 0 ? 1 : 0)
    const isNotModified = poll.outcome === 'not-modified'
    const counted = {
      polls: 1,
      fresh,
      recovered: poll.recovered,
      futile: fresh === 0 && !isNotModified ? 1 : 0,
      notModified: isNotModified ? 1 : 0,
      gaps: censored ? 1 : 0,
      ...losses,
      ...delays(poll, poll.at - before.seenAt),
    }
    return { counted, gap }
  }

  #irregularityChanged(): void {
    this.#tables = this.#newTables()
    this.#lossMeter.otherwise()
    this.#futileMeter.otherwise()
  }

  #gap({ loss, published }: PollObservation, days: number, fresh: number): OpenGap | undefined {
    // Nobody can say whether something was lost.
    if (loss?.basis === 'unknown') return undefined
    const gapDays = loss?.gapMs === undefined ? undefined : loss.gapMs / DAY_MS
    return openGap(this.#posting, days, fresh, gapDays, this.#irregularity, published)
  }

  /** The last gap is closed, and a new one may be open. */
  #losses(
    last: OpenGap | undefined,
    gap: OpenGap | undefined,
    fresh: number,
    days: number,
  ): Partial<PollAccount> {
    let lostByDates = 0
    let lostByRate = 0
    if (last !== undefined && days > 0) {
      // Of a poll that has a gap itself, only the time from its oldest entry on is known.
      const [articles, span] = gap !== undefined && gap[2] >= 0 ? datedPart(gap) : [fresh, days]
      const correction = closedGap(last, articles, span, this.#irregularity) - last[4]
      if (last[2] < 0) lostByRate += correction
      else lostByDates += correction
    }
    if (gap !== undefined && gap[2] < 0) lostByRate += gap[4]
    else if (gap !== undefined) lostByDates += gap[4]
    return { lostByDates, lostByRate }
  }

  /** Retry-After and Cache-Control; a mistake in them must not end a feed. */
  #notBefore({ at, notBefore }: PollObservation): Pick<PollRecord, 'notBefore'> {
    if (notBefore === undefined || !(notBefore > at)) return {}
    return { notBefore: Math.min(notBefore, at + this.rules.maxMs) }
  }

  /** When a feed is due at a price, and why then. */
  #plan(record: PollRecord, price: number): { readonly due: number; readonly why: PollReason } {
    const { at, failures = 0 } = record
    const { minMs, maxMs } = this.rules
    const seenAt = record.seenAt > 0 && record.seenAt <= at ? record.seenAt : at
    let { days, why } = this.#interval(record, price)
    let due = seenAt + days * DAY_MS
    if (failures > 0) {
      const backoff = at + Math.max(minMs, BACKOFF_MS * 2 ** Math.min(failures - 1, MOST_DOUBLINGS))
      if (backoff > due) why = 'backoff'
      due = Math.max(due, backoff)
    }
    const hinted = delayedByHints(at, due, record)
    if (hinted > due) why = 'hint'
    due = hinted
    if (due < at + minMs) [due, why] = [at + minMs, 'min']
    if (due > at + maxMs) [due, why] = [at + maxMs, why === 'backoff' ? why : 'max']
    if (record.notBefore !== undefined && record.notBefore > due) [due, why] = [record.notBefore, 'notBefore']
    return { due: Math.round(due), why }
  }

  #interval(record: PollRecord, price: number): { days: number; why: PollReason } {
    const { minDays, maxDays } = this.#bounds
    const posting = postingOf(record.posting, 0, this.#posting)
    const days = this.#tables.intervalAt(posting, classOf(record), price, minDays, maxDays)
    const longest = Math.max(LEAST_LEARNING_DAYS, knownDays(record.posting))
    if (days > longest && maxDays > longest) return { days: Math.max(minDays, longest), why: 'learning' }
    return { days, why: days <= minDays ? 'min' : days >= maxDays ? 'max' : 'index' }
  }

  /** A feed is another one now, is new (`before` undefined) or leaves (`now` undefined). */
  #replace(
    host: string,
    before: PollRecord | undefined,
    now: PollRecord | undefined,
    intervalMs?: number,
  ): void {
    if (before !== undefined)
      this.#demand.remove(postingOf(before.posting, 0, this.#posting), classOf(before))
    if (now !== undefined) this.#demand.add(postingOf(now.posting, 0, this.#posting), classOf(now))
    const feeds = (now === undefined ? 0 : 1) - (before === undefined ? 0 : 1)
    this.#hosts.change(host, feeds, pollsPerDay(now) - pollsPerDay(before), intervalMs)
  }
}

/** What a poll showed. */
interface Learned {
  readonly counted: Partial<PollAccount>
  readonly gap: OpenGap | undefined
}

const FAILED: Partial<PollAccount> = { failed: 1 }

function classOf({ window, unbounded }: PollRecord): number {
  return windowClass(unbounded ? MOST_WINDOW : window)
}

function pollsPerDay(record: PollRecord | undefined): number {
  return record === undefined ? 0 : DAY_MS / Math.max(1, record.due - record.at)
}

function hintsOf(record: PollRecord | undefined): Pick<PollRecord, 'hintMs' | 'skipHours' | 'skipDays'> {
  const { hintMs, skipHours, skipDays } = record ?? {}
  return {
    ...(hintMs !== undefined && { hintMs }),
    ...(skipHours !== undefined && { skipHours }),
    ...(skipDays !== undefined && { skipDays }),
  }
}

/** Times from publication to poll. A feed's clock may be ahead of ours; older articles were published elsewhere first. */
function delays({ at, published }: PollObservation, elapsedMs: number): Partial<PollAccount> {
  let delayMs = 0
  let count = 0
  for (const time of published) {
    const delay = Math.max(0, at - time)
    if (!(delay <= elapsedMs + LATEST_MS)) continue
    delayMs += delay
    count++
  }
  return { delayMs, delays: count }
}
