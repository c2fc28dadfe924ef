/**
 * The words of a batch, each with the number of its term. A word is looked up by its characters in the text, so that a
 * string is made only when it is first seen; what it is folded and stemmed to is remembered.
 */

import type { Analyzer } from '../words/analyzer.js'
import { LONGEST_WORD, type Scanner } from '../words/scanner.js'

/** The word has no term. */
export const NO_TERM = -1

export class TermTable {
  /** Terms by number. */
  readonly terms: string[] = []
  readonly #numbers = new Map<string, number>()
  #hashOf = new Int32Array(2 ** 12)
  /** Entry + 1 of each slot; 0 if it is free. */
  #slots = new Int32Array(2 ** 14)
  #hashes = new Int32Array(2 ** 12)
  #starts = new Uint32Array(2 ** 12)
  #lengths = new Uint8Array(2 ** 12)
  #analyzers = new Uint16Array(2 ** 12)
  #termOf = new Int32Array(2 ** 12)
  #entries = 0
  #units = new Uint16Array(2 ** 16)
  #used = 0

  /** The number of the term of the scanner's word, or `NO_TERM`. `text` is the scanner's. */
  number(scanner: Scanner, text: string, analyzer: Analyzer): number {
    const { units, start } = scanner
    const length = Math.min(scanner.end - start, LONGEST_WORD + 1)
    let hash = scanner.hash ^ Math.imul(length + (analyzer.number << 8), 0x9e3779b1)
    hash ^= hash >>> 15
    hash = Math.imul(hash, 0x85ebca6b)
    hash ^= hash >>> 13
    const slots = this.#slots
    const hashes = this.#hashes
    const mask = slots.length - 1
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const entry = slots[slot]! - 1
      if (entry < 0) return this.#add(scanner, text, analyzer, hash, slot)
      if (hashes[entry] !== hash || this.#lengths[entry] !== length) continue
      if (this.#analyzers[entry] === analyzer.number && this.#equals(entry, units, start, length))
        return this.#termOf[entry]!
    }
  }

  /** The number of a term that is no word of a text. */
  numberOf(term: string): number {
    let number = this.#numbers.get(term)
    if (number === undefined) {
      number = this.terms.length
      if (number === this.#hashOf.length) this.#hashOf = grown(this.#hashOf)
      this.#hashOf[number] = hashText(term)
      this.terms.push(term)
      this.#numbers.set(term, number)
    }
    return number
  }

  /** A hash of a term, the same in every batch. */
  hashOf(number: number): number {
    return this.#hashOf[number]!
  }

  #equals(entry: number, units: Uint16Array, start: number, length: number): boolean {
    const known = this.#units
    const from = this.#starts[entry]!
    for (let at = 0; at < length; at++) if (known[from + at] !== units[start + at]) return false
    return true
  }

  #add(scanner: Scanner, text: string, analyzer: Analyzer, hash: number, slot: number): number {
    const { units, start, end, kind } = scanner
    const term = analyzer.term(text.slice(start, end), kind)
    const number = term === '' ? NO_TERM : this.numberOf(term)
    if (this.#entries === this.#hashes.length) this.#growEntries()
    const length = Math.min(end - start, LONGEST_WORD + 1)
    if (this.#used + length > this.#units.length) this.#units = grown(this.#units)
    const entry = this.#entries++
    this.#hashes[entry] = hash
    this.#starts[entry] = this.#used
    this.#lengths[entry] = length
    this.#analyzers[entry] = analyzer.number
    this.#termOf[entry] = number
    for (let at = start; at < start + length; at++) this.#units[this.#used++] = units[at]!
    this.#slots[slot] = entry + 1
    if (this.#entries * 2 > this.#slots.length) this.#growSlots()
    return number
  }

  #growEntries(): void {
    this.#hashes = grown(this.#hashes)
    this.#starts = grown(this.#starts)
    this.#lengths = grown(this.#lengths)
    this.#analyzers = grown(this.#analyzers)
    this.#termOf = grown(this.#termOf)
  }

  #growSlots(): void {
    const slots = new Int32Array(this.#slots.length * 2)
    const mask = slots.length - 1
    for (let entry = 0; entry < this.#entries; entry++) {
      let slot = this.#hashes[entry]! & mask
      while (slots[slot] !== 0) slot = (slot + 1) & mask
      slots[slot] = entry + 1
    }
    this.#slots = slots
  }
}

function hashText(text: string): number {
  let hash = text.length
  for (let at = 0; at < text.length; at++) {
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x9e3779b1)
    hash ^= hash >>> 15
  }
  return hash
}

function grown<T extends Int32Array | Uint32Array | Uint16Array | Uint8Array>(array: T): T {
  const larger = new (array.constructor as new (length: number) => T)(array.length * 2)
  larger.set(array)
  return larger
}
