/**
 * Counts the different queries of each path. A calendar has one for every month until the end of time, so they must be
 * counted; but there may be any number of paths too, so the count is approximate and its memory fixed.
 *
 * Each path has a row of bits, and each query sets the bit that its fingerprint selects: the same query sets the same bit,
 * and the share of set bits estimates the number of queries (linear counting; at 1,000 queries the error is about 2 %).
 * Beyond 1,024, only one query in two, four, … is counted, selected by its fingerprint.
 */

import { fingerprint } from '../fingerprint.js'
import { type ParameterTest, parameterTest } from '../tracking.js'

const ROW_BITS = 2048
const ROW_WORDS = ROW_BITS / 32
/** At this number of queries, about half of a row's bits are still clear. */
const MOST_COUNTED = 1024

/**
 * Paths to remember at least, and at most twice as many: 1 MB per generation. A path in use stays; one that was dropped
 * starts again at zero, which errs on the side of fetching.
 */
const PATHS = 4096

const FULL = 0xffff

/** The paths used during one period. */
class Generation {
  readonly rows = new Map<number, number>()
  readonly bits = new Uint32Array(PATHS * ROW_WORDS)
  /** Number of set bits, or FULL. */
  readonly counts = new Uint16Array(PATHS)

  clear(): void {
    this.rows.clear()
    this.bits.fill(0)
    this.counts.fill(0)
  }
}

/** Counts queries by path. `add` fills it, and drops the paths that were not used recently. */
export class QueryVariety {
  readonly #isIdentifier: ParameterTest | undefined
  /** Queries whose fingerprint has one of these bits are not counted. */
  readonly #uncounted: number
  /** The expected number of set bits at the limit. */
  readonly #mostBits: number
  #young = new Generation()
  #old = new Generation()
  readonly #print = new Uint32Array(4)

  /** The values of `identifiers` select a page each and are ignored. */
  constructor(limit: number, identifiers: readonly string[]) {
    const halvings = Math.max(0, Math.ceil(Math.log2(limit / MOST_COUNTED)))
    this.#uncounted = halvings === 0 ? 0 : (2 ** Math.min(halvings, 20) - 1) << 11
    const counted = limit / 2 ** halvings
    this.#mostBits = Math.max(1, Math.round(ROW_BITS * (1 - Math.exp(-counted / ROW_BITS))))
    if (identifiers.length > 0) this.#isIdentifier = parameterTest(identifiers, 'traps.identifiers')
  }

  /** Counts the query at `query`; true once its path has exceeded the limit, whatever the query. */
  add(url: string, query: number): boolean {
    const print = this.#print
    fingerprint(url.slice(0, query), print)
    fingerprint(this.#isIdentifier === undefined ? url.slice(query) : this.#counted(url, query), print, 2)
    const row = this.#rowOf(print[0]! + (print[1]! >>> 11) * 2 ** 32)
    const { bits, counts } = this.#young
    const count = counts[row]!
    if (count === FULL) return true
    if ((print[2]! & this.#uncounted) !== 0) return false
    const word = row * ROW_WORDS + ((print[2]! & (ROW_BITS - 1)) >>> 5)
    const bit = 1 << (print[2]! & 31)
    if ((bits[word]! & bit) !== 0) return false
    if (count >= this.#mostBits) {
      counts[row] = FULL
      return true
    }
    bits[word]! |= bit
    counts[row] = count + 1
    return false
  }

  /** The query without the values of identifiers. */
  #counted(url: string, query: number): string {
    const isIdentifier = this.#isIdentifier!
    const parameters = url.slice(query + 1).split('&')
    return parameters
      .map((each) => (isIdentifier(each, 0, each.length) ? each.slice(0, each.indexOf('=') + 1) : each))
      .join('&')
  }

  /** The path's row in the young generation. */
  #rowOf(path: number): number {
    const known = this.#young.rows.get(path)
    if (known !== undefined) return known
    if (this.#young.rows.size === PATHS) {
      const emptied = this.#old
      this.#old = this.#young
      this.#young = emptied
      emptied.clear()
    }
    const row = this.#young.rows.size
    this.#young.rows.set(path, row)
    const before = this.#old.rows.get(path)
    if (before !== undefined) this.#carryOver(before, row)
    return row
  }

  #carryOver(from: number, to: number): void {
    const { bits, counts } = this.#young
    for (let i = 0; i < ROW_WORDS; i++) bits[to * ROW_WORDS + i] = this.#old.bits[from * ROW_WORDS + i]!
    counts[to] = this.#old.counts[from]!
  }
}
