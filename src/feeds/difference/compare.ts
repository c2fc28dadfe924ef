/** Compares a poll of a feed with what is remembered: what is new, what changed, what is gone, what may have been lost. */

import { invalidOption, optionError } from '../../errors.js'
import type {
  CompareOptions,
  Feed,
  FeedDifference,
  FeedLoss,
  FeedMemory,
  MissingEntry,
  NamedEntry,
} from '../contract.js'
import { type Identified, identify } from './identity.js'
import { clockAhead, counted, lossSince, UNKNOWN_LOSS } from './loss.js'
import { matchEntries } from './matches.js'
import {
  capacity,
  decodeState,
  type EntryRecord,
  encodeState,
  type FeedState,
  milliseconds,
  NAMED_BY,
} from './memory.js'
import { byPublication, type FeedOrder, isShuffled, orderOf } from './order.js'

/** Entries that were there before, and those of them with another text, from which texts change by themselves. */
const NOISE_LEAST = 3
const NOISE_SHARE = 0.8
const NOISY_POLLS = 2
const UNORDERED_POLLS = 2
/** Feeds show at least so many entries if they have them. */
const LEAST_FULL = 5

const NO_STATE: FeedState = {
  namedBy: NAMED_BY.id,
  detail: 0,
  noisyPolls: 0,
  unorderedPolls: 0,
  window: 0,
  polledAt: 0,
  newestAt: undefined,
  oldestAt: undefined,
  aheadMs: 0,
  posts: 0,
  observedMs: 0,
  records: [],
}

/**
 * Compares a feed with the memory of earlier polls.
 *
 * It is a pure function: the memory goes in and comes out as bytes, and the same arguments have the same result. If you store
 * the memory together with what you did with the entries, each is new exactly once; if you lose it in between, the same
 * entries are new again, with the same keys.
 *
 * @param memory Of the last poll; undefined for a first poll.
 * @param feed What `parseFeed()` returned, unless its `kind` is `none`: a page instead of a feed does not mean that all is gone.
 * @param now Time of the poll, in ms since the epoch.
 * @throws KumoError `KUMO_INVALID_OPTION` if the feed is none.
 * @example
 * const { memory, new: articles, loss } = compareFeed(known, feed, Date.now())
 * for (const { key, title, url } of articles) console.log(key, title, url)
 * if (loss.possible) console.log(`about ${Math.round(loss.estimate)} articles were missed`)
 */
export function compareFeed(
  memory: FeedMemory | undefined,
  feed: Pick<Feed, 'entries' | 'hints' | 'problems'>,
  now: number,
  options: CompareOptions = {},
): FeedDifference {
  if (!Array.isArray(feed?.entries) || !Array.isArray(feed.problems)) {
    const allowed = "a feed from parseFeed() whose kind is not 'none'"
    throw optionError('compareFeed.feed', 'a response that is no feed', allowed)
  }
  if (!Number.isFinite(now)) throw invalidOption('compareFeed.now', now, 'a time in ms, such as Date.now()')
  const state = memory === undefined ? undefined : decodeState(memory)
  return new Comparison(state, feed, now, options).run()
}

class Comparison {
  readonly #state: FeedState
  readonly #first: boolean
  readonly #entries: readonly Identified[]
  /** Those of the window; the others come from older pages. */
  readonly #window: readonly Identified[]
  readonly #naming: ReturnType<typeof identify>['naming']
  readonly #found: readonly number[]
  readonly #namedBy: FeedState['namedBy']
  readonly #order: FeedOrder | undefined
  readonly #isCut: boolean

  constructor(
    state: FeedState | undefined,
    readonly feed: Pick<Feed, 'entries' | 'hints' | 'problems'>,
    readonly now: number,
    readonly options: CompareOptions,
  ) {
    this.#first = state === undefined
    this.#state = state ?? NO_STATE
    const { entries, naming } = identify(feed.entries, this.#state)
    const size = options.window ?? feed.entries.length
    const inWindow = new Set(feed.entries.slice(0, size))
    this.#entries = entries
    this.#window = entries.filter(({ entry }) => inWindow.has(entry))
    this.#naming = naming
    const { found, namedBy } = matchEntries(entries, this.#state)
    this.#found = found
    this.#namedBy = namedBy
    this.#order = orderOf(this.#window)
    this.#isCut = feed.problems.some((each) => /^(?:truncated|too-)/.test(each))
  }

  run(): FeedDifference {
    const fresh = this.#entries.filter((_, at) => this.#found[at] === -1)
    const changed = this.#changed()
    const carried = this.#entries.length - fresh.length
    const { missing, scrolledOff } = this.#gone()
    const unordered = this.#unorderedPolls()
    const loss = this.#loss(unordered)
    const noisy = carried >= NOISE_LEAST && changed.length >= NOISE_SHARE * carried
    const noisyPolls = carried < NOISE_LEAST ? this.#state.noisyPolls : noisy ? this.#state.noisyPolls + 1 : 0
    // Texts that change with every request say nothing; titles still do.
    const told =
      noisyPolls >= NOISY_POLLS ? changed.filter(([entry, record]) => entry.title !== record.title) : changed
    const dates = datesOf(this.#window)
    const inWindow = new Set(this.#window)
    return {
      memory: this.#remember(fresh, loss, noisyPolls, unordered, dates),
      first: this.#first,
      new: byPublication(fresh, this.#order).map((each) => this.#named(each)),
      changed: byPublication(
        told.map(([entry]) => entry),
        this.#order,
      ).map((each) => this.#named(each)),
      missing,
      scrolledOff,
      unchanged: carried - told.length,
      recovered: fresh.filter((each) => !inWindow.has(each)).length,
      window: this.#window.length,
      newestAt: dates?.newestAt,
      oldestAt: dates?.oldestAt,
      loss,
    }
  }

  #named(entry: Identified): NamedEntry {
    return { ...entry.entry, key: this.#keys().get(entry) ?? entry.key }
  }

  #keysByEntry: Map<Identified, string> | undefined

  /** Known entries keep the key that they were delivered with. */
  #keys(): Map<Identified, string> {
    this.#keysByEntry ??= new Map(
      this.#entries.map((entry, at) => {
        const index = this.#found[at]!
        return [entry, index === -1 ? entry.key : this.#state.records[index]!.key]
      }),
    )
    return this.#keysByEntry
  }

  #changed(): (readonly [Identified, EntryRecord])[] {
    const changed: (readonly [Identified, EntryRecord])[] = []
    // The end of a feed that was cut off may be half an entry.
    const whole = this.#isCut ? this.#entries.length - 1 : this.#entries.length
    for (let at = 0; at < whole; at++) {
      const index = this.#found[at]!
      const entry = this.#entries[at]!
      if (index !== -1 && this.#state.records[index]!.content !== entry.content) {
        changed.push([entry, this.#state.records[index]!])
      }
    }
    return changed
  }

  /** Entries of the last window that are not there any more. */
  #gone(): { readonly missing: readonly MissingEntry[]; readonly scrolledOff: number } {
    const { records, window } = this.#state
    const still = new Set(this.#found)
    const places = Array.from({ length: window }, (_, place) => place)
    const gone = places.filter((place) => !still.has(place))
    if (this.options.delta || this.#isCut || gone.length === 0) return { missing: [], scrolledOff: 0 }
    const told = ({ key, published }: EntryRecord): MissingEntry => {
      const at = milliseconds(published)
      return { key, published: at === undefined ? undefined : new Date(at).toISOString() }
    }
    if (this.feed.hints.complete)
      return { missing: gone.map((place) => told(records[place]!)), scrolledOff: 0 }
    const kept = places.filter((place) => still.has(place))
    const unordered = this.#order === 'none' || this.#state.unorderedPolls >= UNORDERED_POLLS
    if (kept.length === 0 || unordered) return { missing: [], scrolledOff: gone.length }
    const isRemoved =
      this.#order === 'oldest-first'
        ? (place: number) => place > kept[0]!
        : (place: number) => place < kept.at(-1)!
    const missing = gone.filter(isRemoved)
    return {
      missing: missing.map((place) => told(records[place]!)),
      scrolledOff: gone.length - missing.length,
    }
  }

  /** How often, of late, the entries were in no order. */
  #unorderedPolls(): number {
    const { unorderedPolls, window } = this.#state
    const carried = this.#found.filter((index) => index !== -1 && index < window)
    const shuffled = this.#order === 'none' || isShuffled(carried)
    return shuffled ? unorderedPolls + 1 : Math.max(0, unorderedPolls - 1)
  }

  #loss(unordered: number): FeedLoss {
    const { window } = this.#state
    const unknowable = this.options.delta || this.feed.hints.complete || this.#entries.length === 0
    const overlap = this.#overlap()
    if (this.#first || unknowable) return UNKNOWN_LOSS
    // A feed that was empty shows all that it posted since, unless there may be a full window of it now.
    if (window === 0 && (this.#entries.length < LEAST_FULL || datesOf(this.#entries) === undefined))
      return UNKNOWN_LOSS
    if (overlap === 0 && (this.#order === 'none' || unordered >= UNORDERED_POLLS))
      return { ...UNKNOWN_LOSS, overlap }
    const { oldestAt, newestAt } = datesOf(this.#entries) ?? {}
    const aheadMs = this.#aheadMs()
    const polledAt = Math.max(this.#state.polledAt, Math.min(this.options.seenAt ?? 0, this.now))
    const earlier = { ...this.#state, polledAt }
    return lossSince(earlier, {
      now: this.now,
      entries: this.#entries.length,
      overlap,
      oldestAt,
      newestAt,
      aheadMs,
    })
  }

  #aheadMs(): number {
    return clockAhead(this.#state.aheadMs, datesOf(this.#window)?.newestAt, this.now)
  }

  /** Entries in common with the last window. A pinned entry is always there, and shows nothing. */
  #overlap(): number {
    const newestFirst = this.#order !== 'oldest-first'
    const step = newestFirst ? -1 : 1
    let overlap = 0
    let newest = Number.NEGATIVE_INFINITY
    for (
      let k = 0, at = newestFirst ? this.#entries.length - 1 : 0;
      k < this.#entries.length;
      k++, at += step
    ) {
      const index = this.#found[at]!
      const { publishedAt } = this.#entries[at]!
      // Entries before this one in time are behind it in place. One that is older than new ones behind it is pinned.
      if (index === -1) newest = Math.max(newest, publishedAt ?? newest)
      else if (index < this.#state.window && !(publishedAt !== undefined && publishedAt < newest)) overlap++
    }
    return overlap
  }

  #remember(
    fresh: readonly Identified[],
    loss: FeedLoss,
    noisyPolls: number,
    unorderedPolls: number,
    dates: Dates | undefined,
  ): FeedMemory {
    const state = this.#state
    const { delta = false } = this.options
    // An empty feed is a mistake more often than not; the last window is still the one to compare with.
    if (this.#entries.length === 0 && !this.#first) return encodeState(state)
    const keys = this.#keys()
    const current = this.#entries.map((entry): EntryRecord => ({ ...entry, key: keys.get(entry)! }))
    const window = delta ? Math.max(state.window, 1) : this.#window.length
    const still = new Set(this.#found)
    const others = state.records.filter((_, index) => !still.has(index))
    const records = [...inOrder(current, this.#entries, this.#window), ...others].slice(0, capacity(window))
    const ms = this.#first ? 0 : this.now - state.polledAt
    return encodeState({
      ...this.#naming,
      namedBy: this.#namedBy,
      noisyPolls,
      unorderedPolls,
      window,
      polledAt: this.now,
      newestAt: delta ? state.newestAt : dates?.newestAt,
      oldestAt: delta ? state.oldestAt : dates?.oldestAt,
      aheadMs: this.#aheadMs(),
      ...(this.#first ? { posts: 0, observedMs: 0 } : counted(state, fresh.length + loss.estimate, ms)),
      records,
    })
  }
}

/** Records of the window first. */
function inOrder(
  records: readonly EntryRecord[],
  entries: readonly Identified[],
  window: readonly Identified[],
): EntryRecord[] {
  if (window.length === entries.length) return [...records]
  const inWindow = new Set(window)
  const isIn = (_: EntryRecord, at: number) => inWindow.has(entries[at]!)
  return [...records.filter(isIn), ...records.filter((record, at) => !isIn(record, at))]
}

interface Dates {
  readonly newestAt: number
  readonly oldestAt: number
}

/** Dates of a window; undefined unless most entries have one. */
function datesOf(entries: readonly Identified[]): Dates | undefined {
  let newestAt = Number.NEGATIVE_INFINITY
  let oldestAt = Number.POSITIVE_INFINITY
  let dated = 0
  for (const { publishedAt } of entries) {
    if (publishedAt === undefined) continue
    dated++
    newestAt = Math.max(newestAt, publishedAt)
    oldestAt = Math.min(oldestAt, publishedAt)
  }
  return dated > 0 && dated * 2 > entries.length ? { newestAt, oldestAt } : undefined
}
