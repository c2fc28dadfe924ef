/**
 * Finds the words of a text: runs of letters and digits; pairs of characters in Chinese, Japanese and Korean; what a
 * dictionary cuts in scripts without spaces. It yields offsets and allocates nothing for each word.
 *
 * A run of paired characters `ABC` has the words `AB`, `BC` and `C`, one for each character. The last one lets a query of
 * one character find every place: as the beginning of a pair, or at the end of a run.
 */

import type { Segmenter } from '../contract.js'
import { CLASS_OF_UNIT, classAt, PAIRED, SEPARATOR, SYMBOL, UNSPACED, unitsAt, WORD } from './characters.js'

/** Longer words are cut: they are no words. */
export const LONGEST_WORD = 64
/** Units that a scanner keeps room for when the next text is shorter. */
const MOST_KEPT = 2 ** 18
/** Copying a shorter text unit by unit is faster than a call out of JavaScript. */
const FEW_UNITS = 32

export class Scanner {
  #text = ''
  #segmenter: Segmenter | undefined
  #language: string | undefined
  #length = 0
  #at = 0
  /** Ends of words that a dictionary or the user's segmenter found; from `#cutAt` on they are to come. */
  #cuts: readonly number[] = []
  #cutAt = 0
  /** The text as numbers, followed by a space, so that every word ends before it. */
  units: Uint16Array
  /** The same memory. */
  #bytes: Buffer
  /** Where the current word begins and ends. */
  start = 0
  end = 0
  /** Its class: `WORD`, `PAIRED`, `UNSPACED` or `SYMBOL`. */
  kind = SEPARATOR
  /** A hash of its units. */
  hash = 0
  /** True for a single paired character at the end of a longer run. */
  isLastOfRun = false

  /** @param text In normal form NFKC. */
  constructor(text: string, language?: string, segmenter?: Segmenter) {
    this.units = new Uint16Array(text.length + 1)
    this.#bytes = Buffer.from(this.units.buffer)
    this.restart(text, language, segmenter)
  }

  /** Begins with another text. */
  restart(text: string, language?: string, segmenter?: Segmenter): void {
    const { length } = text
    const room = this.units.length
    if (room <= length || (room > MOST_KEPT && length < MOST_KEPT)) {
      this.units = new Uint16Array(Math.max(length + 1, Math.min(length * 2, MOST_KEPT)))
      this.#bytes = Buffer.from(this.units.buffer)
    }
    const { units } = this
    if (length < FEW_UNITS) for (let at = 0; at < length; at++) units[at] = text.charCodeAt(at)
    else this.#bytes.write(text, 'utf16le')
    units[length] = 0x20
    this.#text = text
    this.#length = length
    this.#language = language
    this.#segmenter = segmenter
    this.#at = 0
    this.#cuts = []
    this.#cutAt = 0
    this.start = 0
    this.end = 0
    this.kind = SEPARATOR
  }

  /** Moves to the next word; false if there is none. */
  next(): boolean {
    if (this.#cutAt < this.#cuts.length) return this.#nextCut()
    const units = this.units
    const length = this.#length
    let at = this.#at
    while (at < length) {
      let kind = CLASS_OF_UNIT[units[at]!]!
      if (kind === SEPARATOR) {
        at++
        continue
      }
      if (kind !== WORD && kind !== PAIRED) kind = classAt(units, at)
      if (kind === WORD) return this.#word(at)
      if (kind === PAIRED && this.#segmenter === undefined) return this.#pair(at)
      if (kind === UNSPACED || kind === PAIRED) {
        this.#cutRun(at, kind)
        if (this.#cutAt < this.#cuts.length) return this.#nextCut()
        at = this.#at
        continue
      }
      if (kind === SYMBOL) return this.#found(at, at + unitsAt(units, at), SYMBOL)
      at += unitsAt(units, at)
    }
    return false
  }

  #word(start: number): boolean {
    const units = this.units
    let at = start
    let hash = 0
    for (;;) {
      // Most units are known, and need nothing else.
      while (CLASS_OF_UNIT[units[at]!] === WORD) hash = Math.imul(hash ^ units[at++]!, HASH_FACTOR)
      if (classAt(units, at) !== WORD) break
      const next = at + unitsAt(units, at)
      while (at < next) hash = Math.imul(hash ^ units[at++]!, HASH_FACTOR)
    }
    this.start = start
    this.end = at
    this.kind = WORD
    this.hash = hash
    this.isLastOfRun = false
    this.#at = at
    return true
  }

  #pair(start: number): boolean {
    const units = this.units
    const continues = this.kind === PAIRED && this.start < start && this.end > start
    const middle = start + unitsAt(units, start)
    const hasNext = middle < this.#length && classAt(units, middle) === PAIRED
    this.#found(start, hasNext ? middle + unitsAt(units, middle) : middle, PAIRED)
    this.isLastOfRun = !hasNext && continues
    this.#at = middle
    return true
  }

  #found(start: number, end: number, kind: number): boolean {
    this.start = start
    this.end = end
    this.kind = kind
    this.hash = hashUnits(this.units, start, end - start)
    this.isLastOfRun = false
    this.#at = end
    return true
  }

  /** Cuts the run of unspaced characters that begins here. */
  #cutRun(start: number, kind: number): void {
    const units = this.units
    let end = start
    while (end < this.#length && classAt(units, end) === kind) end += unitsAt(units, end)
    const run = this.#text.slice(start, end)
    const cuts: number[] = []
    if (kind === PAIRED) {
      let from = 0
      for (const word of this.#segmenter!(run, this.#language)) {
        if (typeof word !== 'string' || word === '') continue
        const found = run.indexOf(word, from)
        if (found < 0) continue
        cuts.push(start + found, start + found + word.length)
        from = found + word.length
      }
    } else {
      for (const { segment, index, isWordLike } of dictionary().segment(run)) {
        if (isWordLike) cuts.push(start + index, start + index + segment.length)
      }
    }
    this.#cuts = cuts
    this.#cutAt = 0
    this.#at = end
  }

  #nextCut(): boolean {
    const end = this.#at
    this.#found(this.#cuts[this.#cutAt]!, this.#cuts[this.#cutAt + 1]!, UNSPACED)
    this.#cutAt += 2
    this.#at = end
    return true
  }
}

const HASH_FACTOR = 0x01000193

/** The hash that a scanner has for a word of these units. */
export function hashUnits(units: Uint16Array, start: number, length: number): number {
  let hash = 0
  for (let at = start; at < start + length; at++) hash = Math.imul(hash ^ units[at]!, HASH_FACTOR)
  return hash
}

let words: Intl.Segmenter | undefined

/** The dictionaries of ICU; the locale does not matter, the script does. */
function dictionary(): Intl.Segmenter {
  words ??= new Intl.Segmenter('th', { granularity: 'word' })
  return words
}

/** The text in normal form NFKC. ASCII already is. */
export function normalized(text: string): string {
  return NOT_ASCII.test(text) ? text.normalize('NFKC') : text
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: the whole range of ASCII.
const NOT_ASCII = /[^\x00-\x7f]/
