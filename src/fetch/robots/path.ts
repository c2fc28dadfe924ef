/**
 * Indexes the path of a URL, so that finding a piece of a rule in it takes a few steps and not one per character. A hostile
 * robots.txt may have 50,000 rules with wildcards, and a URL of the same site 2,000 characters: a plain search takes a
 * second per URL.
 */

/** Pieces are found by substrings of these lengths; the longest that fits is the rarest. */
const RUN_LENGTHS = [8, 4, 2] as const

/** The most work for one URL, in steps of a few nanoseconds. Normal files take thousands; only an attack takes more. */
const MAX_STEPS = 3_000_000

/** The cost of searching for one character, with the engine's own fast search. */
const STEPS_PER_CHARACTER = 8

/** Longer paths are not searched. No server needs them, and the tables below would grow with them. */
const MAX_PATH = 64 * 1024

const MIN_BITS = 6
const HASH_BASE = 0x01000193
/** 2^32 divided by the golden ratio: spreads neighboring hashes over all buckets. */
const SPREAD = 0x9e3779b1

/** The positions of all substrings of one length, by hash. The tables are reused for the next path. */
class Runs {
  readonly #length: number
  /** The base to the power of the length: the weight of the character that leaves the rolling hash. */
  readonly #leaving: number
  #shift = 0
  /** The places of bucket b are `#places[#starts[b]]` to before `#places[#starts[b + 1]]`, in ascending order. */
  #starts = new Int32Array(0)
  #places = new Int32Array(0)
  /** The bucket of the run at each place. */
  #buckets = new Int32Array(0)

  constructor(length: number) {
    this.#length = length
    let power = 1
    for (let i = 0; i < length; i++) power = Math.imul(power, HASH_BASE)
    this.#leaving = power
  }

  load(path: string): void {
    const bits = Math.max(MIN_BITS, 32 - Math.clz32(path.length))
    const size = 1 << bits
    this.#shift = 32 - bits
    if (this.#places.length < size) {
      this.#places = new Int32Array(size)
      this.#buckets = new Int32Array(size)
      this.#starts = new Int32Array(size + 1)
    } else {
      this.#starts.fill(0, 0, size + 1)
    }
    const starts = this.#starts
    const buckets = this.#buckets
    const length = this.#length
    let hash = 0
    for (let i = 0; i < path.length; i++) {
      hash = (Math.imul(hash, HASH_BASE) + path.charCodeAt(i)) | 0
      if (i >= length) hash = (hash - Math.imul(path.charCodeAt(i - length), this.#leaving)) | 0
      const place = i - length + 1
      if (place < 0) continue
      const bucket = Math.imul(hash, SPREAD) >>> this.#shift
      buckets[place] = bucket
      starts[bucket]!++
    }
    for (let bucket = 1; bucket <= size; bucket++) starts[bucket]! += starts[bucket - 1]!
    // Each count is now the end of its bucket; filling backwards turns it into the start.
    for (let place = path.length - length; place >= 0; place--) {
      this.#places[--starts[buckets[place]!]!] = place
    }
  }

  /** The first place at `from` or later where `text[start…end)` stands in the path; -1 if there is none. */
  find(path: string, text: string, start: number, end: number, from: number): number {
    const starts = this.#starts
    const buckets = this.#buckets
    const length = this.#length
    const lastOffset = end - start - length
    let hash = 0
    let first = -1
    let bucket = 0
    let rarest = 0
    let fewest = Number.POSITIVE_INFINITY
    let offset = 0
    steps += end - start
    for (let i = start; i < end; i++) {
      hash = (Math.imul(hash, HASH_BASE) + text.charCodeAt(i)) | 0
      if (i - start >= length) hash = (hash - Math.imul(text.charCodeAt(i - length), this.#leaving)) | 0
      if (i - start < length - 1) continue
      bucket = Math.imul(hash, SPREAD) >>> this.#shift
      if (first < 0) first = bucket
      const count = starts[bucket + 1]! - starts[bucket]!
      if (count === 0) return -1
      if (count >= fewest) continue
      fewest = count
      rarest = bucket
      offset = i - start - length + 1
    }
    const lastPlace = path.length - (end - start)
    const stop = starts[rarest + 1]!
    for (let at = this.#firstFrom(rarest, from + offset); at < stop; at++) {
      const place = this.#places[at]! - offset
      if (place > lastPlace || ++steps > MAX_STEPS) return -1
      // The substrings at both ends rule out nearly all positions; only the rest is compared in full.
      if (buckets[place] !== first || buckets[place + lastOffset] !== bucket) continue
      if (stands(path, place, text, start, end)) return place
    }
    return -1
  }

  /** Where in `#places` the places of the bucket begin that are not before `place`. */
  #firstFrom(bucket: number, place: number): number {
    let low = this.#starts[bucket]!
    let high = this.#starts[bucket + 1]!
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.#places[middle]! < place) low = middle + 1
      else high = middle
      steps++
    }
    return low
  }
}

function stands(path: string, place: number, text: string, start: number, end: number): boolean {
  let i = start
  while (i < end && text.charCodeAt(i) === path.charCodeAt(place + i - start)) i++
  steps += i - start
  return i === end
}

// One URL is checked at a time, so the tables are shared.
const runs = RUN_LENGTHS.map((length) => new Runs(length))
const isLoaded = RUN_LENGTHS.map(() => false)
let current = ''
let steps = 0

/** Sets the path to search. Nothing is computed before the first `findPiece`. */
export function askPath(path: string): void {
  current = path
  steps = 0
  isLoaded.fill(false)
}

/** The first place at `from` or later where `text[start…end)` stands in the path of this question; -1 if there is none. */
export function findPiece(text: string, start: number, end: number, from: number): number {
  const length = end - start
  if (current.length > MAX_PATH) steps = Number.POSITIVE_INFINITY
  if (length > current.length - from || steps > MAX_STEPS) return -1
  if (length === 1) {
    if (current.charCodeAt(from) === text.charCodeAt(start)) return from
    steps += STEPS_PER_CHARACTER
    return current.indexOf(text[start]!, from)
  }
  const level = length >= 8 ? 0 : length >= 4 ? 1 : 2
  if (!isLoaded[level]) {
    runs[level]!.load(current)
    isLoaded[level] = true
    steps += current.length
  }
  return runs[level]!.find(current, text, start, end, from)
}

/** True if the search took more work than any normal one, so that a piece may exist although it was not found. */
export function isTooMuch(): boolean {
  return steps > MAX_STEPS
}
