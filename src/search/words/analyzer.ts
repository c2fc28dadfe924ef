/**
 * From a word as written to the term in the index. Documents are read by the analyzer of their language; a query, whose
 * language nobody knows, by all analyzers that the index has used.
 */

import type { Segmenter } from '../contract.js'
import { PAIRED, SYMBOL } from './characters.js'
import { fold, hasOwnLetters } from './fold.js'
import { LONGEST_WORD } from './scanner.js'
import { type Stem, stemmerOf } from './stemmers.js'

/** How to read documents of some languages. */
export interface Analyzer {
  /** A small number, different for each analyzer of an index. */
  readonly number: number
  /** The language it is named after; empty for all those without rules of their own. */
  readonly language: string
  readonly segmenter: Segmenter | undefined
  /** The term of a word; empty if it has none. `kind` is the scanner's. */
  term(word: string, kind: number): string
}

export interface AnalyzerOptions {
  /** Languages to stem. */
  readonly stemming: ReadonlySet<string>
  readonly segmenters: Readonly<Record<string, Segmenter>>
}

/** The analyzers of an index. */
export class Analyzers {
  readonly #options: AnalyzerOptions
  readonly #byLanguage = new Map<string, Analyzer>()
  #all: Analyzer[] = []

  /** @param languages Those that the index has used before, in that order. */
  constructor(options: AnalyzerOptions, languages: readonly string[]) {
    this.#options = options
    for (const language of ['', ...languages]) this.of(language)
  }

  /** Every analyzer that was used, the general one first. */
  get all(): readonly Analyzer[] {
    return this.#all
  }

  /** The languages with an analyzer of their own, for the manifest. */
  get languages(): string[] {
    return this.#all.slice(1).map(({ language }) => language)
  }

  /** The analyzer for a language tag. */
  of(tag: string | undefined): Analyzer {
    const language = primary(tag)
    let analyzer = this.#byLanguage.get(language)
    if (analyzer !== undefined) return analyzer
    const { stemming, segmenters } = this.#options
    const stem = stemming.has(language) ? stemmerOf(language) : undefined
    const segmenter = Object.hasOwn(segmenters, language) ? segmenters[language] : undefined
    const isGeneral = stem === undefined && segmenter === undefined && !hasOwnLetters(language)
    if (isGeneral && this.#all.length > 0) {
      analyzer = this.#all[0]!
    } else {
      analyzer = new LanguageAnalyzer(this.#all.length, isGeneral ? '' : language, stem, segmenter)
      this.#all = [...this.#all, analyzer]
    }
    // Tags come from pages, so their number is bounded.
    if (this.#byLanguage.size < 1000) this.#byLanguage.set(language, analyzer)
    return analyzer
  }
}

/** `en` of `en-US`. */
export function primary(tag: string | undefined): string {
  return tag === undefined ? '' : (tag.split(/[-_]/, 1)[0] ?? '').toLowerCase()
}

class LanguageAnalyzer implements Analyzer {
  readonly number: number
  readonly language: string
  readonly segmenter: Segmenter | undefined
  readonly #stem: Stem | undefined

  constructor(number: number, language: string, stem: Stem | undefined, segmenter: Segmenter | undefined) {
    this.number = number
    this.language = language
    this.#stem = stem
    this.segmenter = segmenter
  }

  term(word: string, kind: number): string {
    if (kind === PAIRED || kind === SYMBOL) return word
    const short = word.length > LONGEST_WORD ? cut(word) : word
    const lower = this.#stem === undefined ? short : this.#stem(short.toLowerCase())
    return fold(lower, this.language)
  }
}

/** Never in the middle of a character. */
function cut(word: string): string {
  const last = word.charCodeAt(LONGEST_WORD - 1)
  return word.slice(0, last >= 0xd800 && last <= 0xdbff ? LONGEST_WORD - 1 : LONGEST_WORD)
}
