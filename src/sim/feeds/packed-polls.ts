import { EMPTY_ACCOUNT } from '../../feeds/schedule/account.js'
import type { PollReason, PollRecord } from '../../feeds/schedule/contract.js'

const NUMBERS = 9
/** The numbers of a record have four digits after the point. */
const PRECISION = 1e4
const REASONS: readonly PollReason[] = ['learning', 'index', 'min', 'max', 'notBefore', 'hint', 'backoff']
const UNBOUNDED = 0x80
/** Windows and failures above these are treated alike. */
const MOST_WINDOW = 0xffff
const MOST_FAILURES = 0xff

/**
 * Records of many feeds in 56 bytes each, without loss of what the schedule uses. Accounts are not kept: their sum is in the
 * report of the schedule. Gaps, hints and least intervals are rare, so they are kept beside.
 */
export class PackedPolls {
  readonly #posting: Int32Array
  readonly #at: Float64Array
  readonly #due: Float64Array
  readonly #window: Uint16Array
  readonly #why: Uint8Array
  readonly #failures: Uint8Array
  readonly #more = new Map<number, Partial<PollRecord>>()

  constructor(feeds: number) {
    this.#posting = new Int32Array(feeds * NUMBERS)
    this.#at = new Float64Array(feeds)
    this.#due = new Float64Array(feeds)
    this.#window = new Uint16Array(feeds)
    this.#why = new Uint8Array(feeds)
    this.#failures = new Uint8Array(feeds)
  }

  /** Of all feeds, without what is kept beside. */
  get bytes(): number {
    const arrays = [this.#posting, this.#at, this.#due, this.#window, this.#why, this.#failures]
    return arrays.reduce((sum, each) => sum + each.byteLength, 0)
  }

  /** Undefined if the feed was never polled. */
  get(feed: number): PollRecord | undefined {
    const at = this.#at[feed]!
    if (at === 0) return undefined
    const posting: number[] = []
    for (let k = 0; k < NUMBERS; k++) posting.push(this.#posting[feed * NUMBERS + k]! / PRECISION)
    const why = this.#why[feed]!
    const failures = this.#failures[feed]!
    const record: PollRecord = {
      at,
      seenAt: at,
      due: this.#due[feed]!,
      why: REASONS[why & ~UNBOUNDED]!,
      window: this.#window[feed]!,
      posting,
      account: EMPTY_ACCOUNT,
    }
    if (why < UNBOUNDED && failures === 0 && !this.#more.has(feed)) return record
    return {
      ...record,
      ...(why >= UNBOUNDED && { unbounded: true }),
      ...(failures > 0 && { failures }),
      ...this.#more.get(feed),
    }
  }

  set(feed: number, record: PollRecord): void {
    for (let k = 0; k < NUMBERS; k++)
      this.#posting[feed * NUMBERS + k] = Math.round(record.posting[k]! * PRECISION)
    this.#at[feed] = record.at
    this.#due[feed] = record.due
    this.#window[feed] = Math.min(MOST_WINDOW, record.window)
    this.#why[feed] = REASONS.indexOf(record.why) | (record.unbounded ? UNBOUNDED : 0)
    this.#failures[feed] = Math.min(MOST_FAILURES, record.failures ?? 0)
    const { gap, notBefore, hintMs, skipHours, skipDays, seenAt, at } = record
    const isPlain =
      gap === undefined &&
      notBefore === undefined &&
      hintMs === undefined &&
      skipHours === undefined &&
      skipDays === undefined &&
      seenAt === at
    if (isPlain) this.#more.delete(feed)
    else {
      const more = { gap, notBefore, hintMs, skipHours, skipDays, seenAt }
      this.#more.set(
        feed,
        Object.fromEntries(Object.entries(more).filter(([, value]) => value !== undefined)),
      )
    }
  }
}
