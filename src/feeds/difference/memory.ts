/**
 * What is kept of a feed between two polls, as bytes: a header and one record of 36 bytes for each entry. Records hold hashes
 * instead of texts, because the memory of a million feeds is read and written with every poll.
 */

import type { FeedMemory } from '../contract.js'

/** Memories with another version are not read: the next poll is a first one. */
const VERSION = 1
const HEADER_BYTES = 48
const RECORD_BYTES = 36
/** Entries to remember at most, whatever the window. */
const MOST_RECORDS = 100_000
/** Entries that scrolled off are remembered, because some come back: pinned, edited, or from a server that lags behind. */
const LEAST_HISTORY = 100
const HISTORY_WINDOWS = 3

const SECOND_MS = 1000
const UNKNOWN_DATE = 0

/** One entry. Hashes that are 0 stand for nothing. */
export interface EntryRecord {
  /** Its name: a hash of 64 bits in hexadecimal digits. */
  readonly key: string
  readonly link: number
  readonly title: number
  /** Of title and text. */
  readonly content: number
  /** Samples of the words in its title, to recognize similar titles: eight bytes. */
  readonly wordsLow: number
  readonly wordsHigh: number
  /** Seconds since the epoch; 0 if unknown. */
  readonly published: number
}

/** The memory in parts. */
export interface FeedState {
  /** What entries are named by. It only grows: a feed that changed its ids once may do so again. */
  readonly namedBy: NamedBy
  /** How much is added to a name because entries share it. */
  readonly detail: number
  /** Polls in a row, up to 255, in which nearly every entry had changed. */
  readonly noisyPolls: number
  /** How often, of late, entries were not in order of time: 0 to 255. */
  readonly unorderedPolls: number
  /** The first records are those of the last window, in its order. */
  readonly window: number
  /** In ms since the epoch. */
  readonly polledAt: number
  /** Dates of the last window, in ms; undefined without dates. */
  readonly newestAt: number | undefined
  readonly oldestAt: number | undefined
  /** How far the clock of the feed was ahead of ours, in ms. */
  readonly aheadMs: number
  /** Entries counted, and the time in ms in which they were published; both fade with age. */
  readonly posts: number
  readonly observedMs: number
  readonly records: readonly EntryRecord[]
}

/** What entries are named by: their ids, their links, or their titles and dates. */
export const NAMED_BY = { id: 0, link: 1, title: 2 } as const
export type NamedBy = (typeof NAMED_BY)[keyof typeof NAMED_BY]

/** Number of records to keep. */
export function capacity(window: number): number {
  return Math.min(MOST_RECORDS, Math.max(LEAST_HISTORY, HISTORY_WINDOWS * window))
}

export function encodeState(state: FeedState): FeedMemory {
  const bytes = new Uint8Array(HEADER_BYTES + state.records.length * RECORD_BYTES)
  const view = new DataView(bytes.buffer)
  view.setUint8(0, VERSION)
  view.setUint8(1, state.namedBy)
  view.setUint8(2, state.detail)
  view.setUint8(3, Math.min(state.noisyPolls, 255))
  view.setUint8(4, Math.min(state.unorderedPolls, 255))
  view.setUint16(6, seconds(state.aheadMs), true)
  view.setUint32(8, Math.min(state.window, state.records.length), true)
  view.setFloat64(12, state.polledAt, true)
  view.setUint32(20, seconds(state.newestAt), true)
  view.setUint32(24, seconds(state.oldestAt), true)
  view.setFloat64(28, state.posts, true)
  view.setFloat64(36, state.observedMs, true)
  for (const [index, record] of state.records.entries()) {
    const at = HEADER_BYTES + index * RECORD_BYTES
    view.setUint32(at, Number.parseInt(record.key.slice(0, 8), 16))
    view.setUint32(at + 4, Number.parseInt(record.key.slice(8), 16))
    setHash(view, at + 8, record.link)
    setHash(view, at + 14, record.title)
    view.setUint32(at + 20, record.content, true)
    view.setUint32(at + 24, record.wordsLow, true)
    view.setUint32(at + 28, record.wordsHigh, true)
    view.setUint32(at + 32, record.published, true)
  }
  return bytes
}

/** Undefined for anything that `encodeState` did not write. */
export function decodeState(memory: FeedMemory): FeedState | undefined {
  const { byteLength } = memory
  if (byteLength < HEADER_BYTES || (byteLength - HEADER_BYTES) % RECORD_BYTES !== 0) return undefined
  const view = new DataView(memory.buffer, memory.byteOffset, byteLength)
  const count = (byteLength - HEADER_BYTES) / RECORD_BYTES
  const window = view.getUint32(8, true)
  const namedBy = view.getUint8(1)
  if (view.getUint8(0) !== VERSION || namedBy > NAMED_BY.title || window > count || count > MOST_RECORDS) {
    return undefined
  }
  const records: EntryRecord[] = []
  for (let at = HEADER_BYTES; at < byteLength; at += RECORD_BYTES) {
    records.push({
      key: hex(view.getUint32(at)) + hex(view.getUint32(at + 4)),
      link: hashAt(view, at + 8),
      title: hashAt(view, at + 14),
      content: view.getUint32(at + 20, true),
      wordsLow: view.getUint32(at + 24, true),
      wordsHigh: view.getUint32(at + 28, true),
      published: view.getUint32(at + 32, true),
    })
  }
  return {
    namedBy: namedBy as NamedBy,
    detail: view.getUint8(2),
    noisyPolls: view.getUint8(3),
    unorderedPolls: view.getUint8(4),
    window,
    polledAt: view.getFloat64(12, true),
    newestAt: milliseconds(view.getUint32(20, true)),
    oldestAt: milliseconds(view.getUint32(24, true)),
    aheadMs: view.getUint16(6, true) * SECOND_MS,
    posts: view.getFloat64(28, true),
    observedMs: view.getFloat64(36, true),
    records,
  }
}

/** Seconds fit into 32 bits until 2106; feeds have no later dates. */
export function seconds(ms: number | undefined): number {
  return ms === undefined ? UNKNOWN_DATE : Math.floor(ms / SECOND_MS)
}

export function milliseconds(at: number): number | undefined {
  return at === UNKNOWN_DATE ? undefined : at * SECOND_MS
}

/** Hashes of links and titles have 48 bits. */
function setHash(view: DataView, at: number, hash: number): void {
  view.setUint32(at, hash % 2 ** 32, true)
  view.setUint16(at + 4, Math.floor(hash / 2 ** 32), true)
}

function hashAt(view: DataView, at: number): number {
  return view.getUint16(at + 4, true) * 2 ** 32 + view.getUint32(at, true)
}

function hex(word: number): string {
  return word.toString(16).padStart(8, '0')
}
