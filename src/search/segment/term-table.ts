/**
 * The words of a batch, each with the number of its term. A word is looked up by its characters in the text, so that a
 * string is made only when it is first seen; what it is folded and stemmed to is remembered.
 */

import type { Analyzer } from '../words/analyzer.js'
import { hashUnits, LONGEST_WORD, type Scanner } from '../words/scanner.js'

/** The word has no term. */
export const NO_TERM = -1

/**
 * Numbers of a slot: where the word begins among the units (one of two units is the number itself), its length and
 * analyzer, its term + 2, the term's hash.
 */
const SLOT = 4
const START = 0
const SHAPE = 1
const TERM = 2
const TERM_HASH = 3

/** The share of slots that may be used. Neighbours cost little, and a small table stays in the processor's cache. */
const MOST_FILLED = 0.8

export class TermTable {
  /** Terms by number. */
  readonly terms: string[] = []
  readonly #numbers = new Map<string, number>()
  /** Everything about a word stands together, so that it is one access to memory. A free slot has no term. */
  #slots = new Int32Array(2 ** 14 * SLOT)
  #entries = 0
  #units: Uint16Array = new Uint16Array(2 ** 16)
  #used = 0
  /** Numbers of the terms that were there at the last call of `sorted`, in the order of the terms. */
  #sorted: Uint32Array = new Uint32Array(0)
  /** Hash of the term that `number` returned last, the same in every batch. */
  termHash = 0

  /** The number of the term of the scanner's word, or `NO_TERM`. `text` is the scanner's. */
  number(scanner: Scanner, text: string, analyzer: Analyzer): number {
    const { units, start } = scanner
    const isLong = scanner.end - start > LONGEST_WORD
    const length = isLong ? LONGEST_WORD + 1 : scanner.end - start
    const shape = length | (analyzer.number << 8)
    const hash = mixed(isLong ? hashUnits(units, start, length) : scanner.hash, shape)
    const slots = this.#slots
    const mask = slots.length - 1
    const pair = length > 2 ? 0 : pairOf(units, start, length)
    for (let at = (hash * SLOT) & mask; ; at = (at + SLOT) & mask) {
      const term = slots[at + TERM]!
      if (term === 0) return this.#add(scanner, text, analyzer, shape, at)
      if (slots[at + SHAPE] !== shape) continue
      const known = slots[at + START]!
      if (length > 2 ? !this.#equals(known, units, start, length) : known !== pair) continue
      this.termHash = slots[at + TERM_HASH]!
      return term - 2
    }
  }

  /** The number of a term that is no word of a text. */
  numberOf(term: string): number {
    let number = this.#numbers.get(term)
    if (number === undefined) {
      number = this.terms.length
      this.terms.push(term)
      this.#numbers.set(term, number)
    }
    return number
  }

  /** Numbers of all terms, in the order of the terms. */
  sorted(): Uint32Array {
    const before = this.#sorted
    if (before.length < this.terms.length)
      this.#sorted = merged(this.terms, before, sortedFrom(this.terms, before.length))
    return this.#sorted
  }

  #equals(from: number, units: Uint16Array, start: number, length: number): boolean {
    const known = this.#units
    for (let at = 0; at < length; at++) if (known[from + at] !== units[start + at]) return false
    return true
  }

  #add(scanner: Scanner, text: string, analyzer: Analyzer, shape: number, at: number): number {
    const { units, start, end, kind } = scanner
    const term = analyzer.term(text.slice(start, end), kind)
    const number = term === '' ? NO_TERM : this.numberOf(term)
    const length = shape & 255
    const slots = this.#slots
    slots[at + START] = length > 2 ? this.#keep(units, start, length) : pairOf(units, start, length)
    slots[at + SHAPE] = shape
    slots[at + TERM] = number + 2
    slots[at + TERM_HASH] = hashText(term)
    this.termHash = slots[at + TERM_HASH]!
    if (++this.#entries * SLOT > slots.length * MOST_FILLED) this.#growSlots()
    return number
  }

  #keep(units: Uint16Array, start: number, length: number): number {
    if (this.#used + length > this.#units.length) this.#units = grown(this.#units)
    const from = this.#used
    for (let at = start; at < start + length; at++) this.#units[this.#used++] = units[at]!
    return from
  }

  #growSlots(): void {
    const before = this.#slots
    const slots = new Int32Array(before.length * 2)
    const mask = slots.length - 1
    for (let from = 0; from < before.length; from += SLOT) {
      if (before[from + TERM] === 0) continue
      const shape = before[from + SHAPE]!
      const hash = mixed(this.#hashAgain(before[from + START]!, shape & 255), shape)
      let at = (hash * SLOT) & mask
      while (slots[at + TERM] !== 0) at = (at + SLOT) & mask
      for (let number = 0; number < SLOT; number++) slots[at + number] = before[from + number]!
    }
    this.#slots = slots
  }

  #hashAgain(start: number, length: number): number {
    if (length > 2) return hashUnits(this.#units, start, length)
    return hashUnits(Uint16Array.of(start & 0xffff, start >>> 16), 0, length)
  }
}

/** One or two units as a number. */
function pairOf(units: Uint16Array, start: number, length: number): number {
  return units[start]! | (length === 2 ? units[start + 1]! << 16 : 0)
}

function mixed(hash: number, shape: number): number {
  let mix = hash ^ Math.imul(shape, 0x9e3779b1)
  mix = Math.imul(mix ^ (mix >>> 15), 0x85ebca6b)
  return (mix ^ (mix >>> 13)) & 0x0fff_ffff
}

/** Numbers of the terms from `first` on, in the order of the terms. Most differ in their first three units, which fit a number. */
function sortedFrom(terms: readonly string[], first: number): Uint32Array {
  const numbers = new Uint32Array(terms.length - first)
  const keys = new Float64Array(numbers.length)
  for (let at = 0; at < numbers.length; at++) {
    const term = terms[first + at]!
    const { length } = term
    numbers[at] = first + at
    keys[at] =
      (term.charCodeAt(0) * 65_536 + (length > 1 ? term.charCodeAt(1) : 0)) * 65_536 +
      (length > 2 ? term.charCodeAt(2) : 0)
  }
  return numbers.sort((a, b) => {
    const difference = keys[a - first]! - keys[b - first]!
    if (difference !== 0) return difference
    const one = terms[a]!
    const other = terms[b]!
    return one < other ? -1 : one > other ? 1 : 0
  })
}

/** Two sorted lists as one. */
function merged(terms: readonly string[], some: Uint32Array, others: Uint32Array): Uint32Array {
  if (some.length === 0) return others
  const all = new Uint32Array(some.length + others.length)
  let from = 0
  for (const [index, other] of others.entries()) {
    // There are far more of `some`: where the next one goes is found by halving, and what is before it copied at once.
    const to = placeOf(terms, some, terms[other]!, from)
    all.set(some.subarray(from, to), from + index)
    all[to + index] = other
    from = to
  }
  all.set(some.subarray(from), from + others.length)
  return all
}

function placeOf(terms: readonly string[], sorted: Uint32Array, term: string, from: number): number {
  let low = from
  let high = sorted.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (terms[sorted[middle]!]! < term) low = middle + 1
    else high = middle
  }
  return low
}

function hashText(text: string): number {
  let hash = text.length
  for (let at = 0; at < text.length; at++) {
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x9e3779b1)
    hash ^= hash >>> 15
  }
  return hash
}

function grown(array: Uint16Array): Uint16Array {
  const larger = new Uint16Array(array.length * 2)
  larger.set(array)
  return larger
}
