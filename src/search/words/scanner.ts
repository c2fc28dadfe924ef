/**
 * Finds the words of a text: runs of letters and digits; pairs of characters in Chinese, Japanese and Korean; what a
 * dictionary cuts in scripts without spaces. It yields offsets and allocates nothing for each word.
 *
 * A run of paired characters `ABC` has the words `AB`, `BC` and `C`, one for each character. The last one lets a query of
 * one character find every place: as the beginning of a pair, or at the end of a run.
 */

import type { Segmenter } from '../contract.js'
import { classAt, PAIRED, SEPARATOR, SYMBOL, UNSPACED, unitsAt, WORD } from './characters.js'

/** Longer words are cut: they are no words. */
export const LONGEST_WORD = 64

export class Scanner {
  readonly #text: string
  readonly #segmenter: Segmenter | undefined
  readonly #language: string | undefined
  #at = 0
  /** Ends of words that a dictionary or the user's segmenter found; from `#cutAt` on they are to come. */
  #cuts: readonly number[] = []
  #cutAt = 0
  /** Where the current word begins and ends. */
  start = 0
  end = 0
  /** Its class: `WORD`, `PAIRED`, `UNSPACED` or `SYMBOL`. */
  kind = SEPARATOR
  /** True for a single paired character at the end of a longer run. */
  isLastOfRun = false

  /** @param text In normal form NFKC. */
  constructor(text: string, language?: string, segmenter?: Segmenter) {
    this.#text = text
    this.#language = language
    this.#segmenter = segmenter
  }

  /** Moves to the next word; false if there is none. */
  next(): boolean {
    if (this.#cutAt < this.#cuts.length) return this.#nextCut()
    const text = this.#text
    const { length } = text
    let at = this.#at
    for (;;) {
      if (at >= length) return false
      const kind = classAt(text, at)
      if (kind === WORD) return this.#word(at)
      if (kind === PAIRED && this.#segmenter === undefined) return this.#pair(at)
      if (kind === UNSPACED || kind === PAIRED) {
        this.#cutRun(at, kind)
        if (this.#cutAt < this.#cuts.length) return this.#nextCut()
        at = this.#at
        continue
      }
      if (kind === SYMBOL) return this.#found(at, at + unitsAt(text, at), SYMBOL)
      at += unitsAt(text, at)
    }
  }

  #word(start: number): boolean {
    const text = this.#text
    const { length } = text
    let end = start + 1
    if (text.charCodeAt(start) >= 0xd800) end = start + unitsAt(text, start)
    while (end < length && classAt(text, end) === WORD) {
      end += text.charCodeAt(end) < 0xd800 ? 1 : unitsAt(text, end)
    }
    return this.#found(start, end, WORD)
  }

  #pair(start: number): boolean {
    const text = this.#text
    const continues = this.kind === PAIRED && this.start < start && this.end > start
    const middle = start + unitsAt(text, start)
    const hasNext = middle < text.length && classAt(text, middle) === PAIRED
    this.start = start
    this.end = hasNext ? middle + unitsAt(text, middle) : middle
    this.kind = PAIRED
    this.isLastOfRun = !hasNext && continues
    this.#at = middle
    return true
  }

  #found(start: number, end: number, kind: number): boolean {
    this.start = start
    this.end = end
    this.kind = kind
    this.isLastOfRun = false
    this.#at = end
    return true
  }

  /** Cuts the run of unspaced characters that begins here. */
  #cutRun(start: number, kind: number): void {
    const text = this.#text
    let end = start
    while (end < text.length && classAt(text, end) === kind) end += unitsAt(text, end)
    const run = text.slice(start, end)
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
