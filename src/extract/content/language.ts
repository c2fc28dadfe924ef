/**
 * The language of a text. Each script counts its words; the script with most of them names the language or its
 * candidates, and the commonest words and letters choose among these.
 *
 * Pages mix languages: a Japanese manual quotes English commands, a menu is not translated. So Latin words count only as
 * far as they look like running text: a list of commands has letters, but no `the` and `of`.
 */

import {
  ARABIC,
  BENGALI,
  CYRILLIC,
  DEVANAGARI,
  ETHIOPIC,
  HEBREW,
  LATIN,
  type LanguageWords,
} from './language-words.js'

/** A language and how sure it is. */
export interface DetectedLanguage {
  /** As in BCP 47, without region: `en`, `ja`, `pt`. */
  readonly code: string
  /** 0 to 1. Above 0.5 the text clearly is in this language. */
  readonly confidence: number
}

/** Code units to read of a long text: slices of this length at equal distances, because pages begin with menus. */
const SLICE = 4096
const SLICES = 6
/** Letters of a word beyond which it is no common word. */
const LONGEST_WORD = 16

/** Ranges of code units by script; what is missing separates words. */
const RANGES: readonly (readonly [script: string, ...ranges: number[]])[] = [
  [
    'Latin',
    0x41,
    0x5a,
    0x61,
    0x7a,
    0xaa,
    0xaa,
    0xba,
    0xba,
    0xc0,
    0xd6,
    0xd8,
    0xf6,
    0xf8,
    0x24f,
    0x250,
    0x2ad,
    0x2bb,
    0x2bc,
    0x300,
    0x36f,
    0x1e00,
    0x1eff,
  ],
  ['Greek', 0x370, 0x3ff, 0x1f00, 0x1fff],
  ['Cyrillic', 0x400, 0x52f],
  ['Armenian', 0x531, 0x587],
  ['Hebrew', 0x591, 0x5f4, 0xfb1d, 0xfb4f],
  [
    'Arabic',
    0x610,
    0x61a,
    0x620,
    0x65f,
    0x66e,
    0x6d3,
    0x6d5,
    0x6ef,
    0x6fa,
    0x6ff,
    0x750,
    0x77f,
    0x8a0,
    0x8ff,
    0xfb50,
    0xfdff,
    0xfe70,
    0xfefc,
  ],
  ['Devanagari', 0x900, 0x963, 0x971, 0x97f],
  ['Bengali', 0x980, 0x9fe],
  ['Gurmukhi', 0xa00, 0xa7f],
  ['Gujarati', 0xa80, 0xaff],
  ['Oriya', 0xb00, 0xb7f],
  ['Tamil', 0xb80, 0xbff],
  ['Telugu', 0xc00, 0xc7f],
  ['Kannada', 0xc80, 0xcff],
  ['Malayalam', 0xd00, 0xd7f],
  ['Sinhala', 0xd80, 0xdff],
  ['Thai', 0xe01, 0xe4e],
  ['Lao', 0xe80, 0xedf],
  ['Tibetan', 0xf00, 0xfff],
  ['Burmese', 0x1000, 0x109f],
  ['Georgian', 0x10a0, 0x10ff, 0x1c90, 0x1cbf, 0x2d00, 0x2d2f],
  ['Ethiopic', 0x1200, 0x135f, 0x1380, 0x139f],
  ['Khmer', 0x1780, 0x17ff],
  ['Hangul', 0x1100, 0x11ff, 0x3130, 0x318f, 0xac00, 0xd7a3],
  ['Kana', 0x3041, 0x30fa, 0x30fc, 0x30ff, 0x31f0, 0x31ff, 0xff66, 0xff9f],
  ['Han', 0x3005, 0x3005, 0x3400, 0x4dbf, 0x4e00, 0x9fff, 0xf900, 0xfaff],
]

/** Scripts of one language, or of one that has nearly all the text. */
const ONE_LANGUAGE: Readonly<Record<string, string>> = {
  Greek: 'el',
  Armenian: 'hy',
  Gurmukhi: 'pa',
  Gujarati: 'gu',
  Oriya: 'or',
  Tamil: 'ta',
  Telugu: 'te',
  Kannada: 'kn',
  Malayalam: 'ml',
  Sinhala: 'si',
  Thai: 'th',
  Lao: 'lo',
  Tibetan: 'bo',
  Burmese: 'my',
  Georgian: 'ka',
  Khmer: 'km',
  Hangul: 'ko',
}

const SHARED: Readonly<Record<string, readonly LanguageWords[]>> = {
  Latin: LATIN,
  Cyrillic: CYRILLIC,
  Hebrew: HEBREW,
  Arabic: ARABIC,
  Devanagari: DEVANAGARI,
  Bengali: BENGALI,
  Ethiopic: ETHIOPIC,
}

/** Letters of an alphabet that say as much as one of these. */
const LETTERS_A_SIGN: Readonly<Record<string, number>> = { Han: 2.5, Kana: 2.5, Hangul: 2.5, Ethiopic: 2 }

/** Least share of common words among the words of running text. */
const COMMON_SHARE = 0.35
/** Share of kana from which Han and kana together are Japanese. */
const KANA_SHARE = 0.05
/** A letter counts this much of a common word for the languages that have it, shared among them. */
const LETTER_WEIGHT = 0.7
/** What a letter takes from the languages that do not have it. */
const LETTER_PENALTY = 0.25

/**
 * The language in which a text is mainly written; undefined if it has too little text to say.
 *
 * It knows some 80 languages. Reads at most 24,000 characters of a long text, from beginning to end.
 *
 * @example detectLanguage('Der schnelle braune Fuchs springt über den Hund') // { code: 'de', confidence: 0.9 }
 */
export function detectLanguage(text: string): DetectedLanguage | undefined {
  const count = new Counts()
  for (const part of slices(text)) count.add(part.normalize('NFC').toLowerCase())
  return count.result()
}

function* slices(text: string): Generator<string> {
  if (text.length <= SLICE * SLICES) {
    yield text
    return
  }
  const step = Math.floor((text.length - SLICE) / (SLICES - 1))
  for (let i = 0; i < SLICES; i++) yield text.slice(i * step, i * step + SLICE)
}

/** Languages of one script, with what tells them apart. */
class Candidates {
  readonly codes: readonly string[]
  /** By common word: numbers of the languages that have it. */
  readonly words = new Map<string, number[]>()
  /** By letter that not all of them have: numbers of the languages that have it. */
  readonly letters = new Map<number, Set<number>>()
  /** By language: what one of its common words scores on average, if the first of its list is the most common. */
  readonly typical: readonly number[]

  constructor(languages: readonly LanguageWords[]) {
    this.codes = languages.map(({ code }) => code)
    for (const [index, { words, letters }] of languages.entries()) {
      for (const word of new Set(words.split(' '))) {
        const having = this.words.get(word)
        if (having) having.push(index)
        else this.words.set(word, [index])
      }
      for (const letter of letters) {
        const code = letter.charCodeAt(0)
        const having = this.letters.get(code) ?? new Set()
        this.letters.set(code, having.add(index))
      }
    }
    this.typical = languages.map(({ words }) => {
      let sum = 0
      let weights = 0
      for (const [rank, word] of words.split(' ').entries()) {
        sum += weightOf(this.words.get(word)!) / (rank + 3)
        weights += 1 / (rank + 3)
      }
      return sum / weights
    })
  }
}

/** Built on first use: 64 KB of scripts by code unit, and the words. */
let tables:
  | {
      readonly scripts: Uint8Array
      readonly names: readonly string[]
      readonly shared: readonly (Candidates | undefined)[]
    }
  | undefined

function getTables(): NonNullable<typeof tables> {
  if (tables) return tables
  const scripts = new Uint8Array(0x10000)
  const names = ['', ...RANGES.map(([name]) => name)]
  for (const [index, [, ...ranges]] of RANGES.entries()) {
    for (let i = 0; i < ranges.length; i += 2) scripts.fill(index + 1, ranges[i], ranges[i + 1]! + 1)
  }
  scripts[0xd7] = 0
  scripts[0xf7] = 0
  const shared = names.map((name) => {
    const languages = SHARED[name]
    return languages && new Candidates(languages)
  })
  tables = { scripts, names, shared }
  return tables
}

/** Words and letters of a text. */
class Counts {
  readonly #tables = getTables()
  /** By script: letters. */
  readonly #sizes = new Float64Array(this.#tables.names.length)
  /** By script: runs of letters. */
  readonly #words = new Float64Array(this.#tables.names.length)
  /** By script that languages share: for each language, how much speaks for it. */
  readonly #scores = this.#tables.shared.map((each) => each && new Float64Array(each.codes.length))
  /** By script: how many of the words are common ones. */
  readonly #common = new Float64Array(this.#tables.names.length)
  /** How often each letter beyond the ordinary ones occurs. */
  readonly #letters = new Map<number, number>()

  add(text: string): void {
    const { scripts, shared } = this.#tables
    for (let at = 0; at < text.length; ) {
      const script = scripts[text.charCodeAt(at)]!
      if (script === 0) {
        at++
        continue
      }
      const start = at
      const candidates = shared[script]
      for (; at < text.length && scripts[text.charCodeAt(at)] === script; at++) {
        const code = text.charCodeAt(at)
        if (code > 0x7f && candidates?.letters.has(code))
          this.#letters.set(code, (this.#letters.get(code) ?? 0) + 1)
      }
      const length = at - start
      this.#sizes[script]! += length
      this.#words[script]!++
      if (!candidates || length > LONGEST_WORD) continue
      const having = candidates.words.get(text.slice(start, at))
      if (!having) continue
      this.#common[script]!++
      // A word of many languages says little.
      const scores = this.#scores[script]!
      for (const index of having) scores[index]! += weightOf(having)
    }
  }

  result(): DetectedLanguage | undefined {
    const { names, shared } = this.#tables
    const sizes = this.#runningText()
    let best = 0
    for (let script = 1; script < names.length; script++) if (sizes[script]! > sizes[best]!) best = script
    if (best === 0) return undefined
    const total = sizes.reduce((sum, each) => sum + each, 0)
    const share = sizes[best]! / total
    const candidates = shared[best]
    if (candidates) return this.#among(candidates, best, share)
    const name = names[best]!
    const code = name === 'Han' ? this.#ofHan() : ONE_LANGUAGE[name]!
    return { code, confidence: round(share * certainty(this.#sizes[best]! / 2)) }
  }

  /** How much running text there is in each script, in letters of an alphabet. Kana counts as Han. */
  #runningText(): Float64Array {
    const { names } = this.#tables
    const sizes = this.#sizes.map((size, script) => size * (LETTERS_A_SIGN[names[script]!] ?? 1))
    const kana = names.indexOf('Kana')
    sizes[names.indexOf('Han')]! += sizes[kana]!
    sizes[kana] = 0
    const latin = names.indexOf('Latin')
    const common = this.#common[latin]! / Math.max(1, this.#words[latin]!)
    // Only beside another script: alone, it is the best there is.
    if (sizes.some((size, script) => size > 0 && script !== latin))
      sizes[latin]! *= Math.min(1, common / COMMON_SHARE)
    return sizes
  }

  #ofHan(): string {
    const { names } = this.#tables
    const kana = this.#sizes[names.indexOf('Kana')]!
    const han = this.#sizes[names.indexOf('Han')]!
    return kana > (kana + han) * KANA_SHARE ? 'ja' : 'zh'
  }

  #among(
    { codes, letters, typical }: Candidates,
    script: number,
    share: number,
  ): DetectedLanguage | undefined {
    const scores = this.#scores[script]!.map((score, index) => score / Math.sqrt(typical[index]!))
    for (const [letter, count] of this.#letters) {
      const having = letters.get(letter)
      if (!having) continue
      for (let index = 0; index < scores.length; index++) {
        scores[index]! += having.has(index) ? (count * LETTER_WEIGHT) / having.size : -count * LETTER_PENALTY
      }
    }
    let best = 0
    let second = 1
    for (let index = 1; index < scores.length; index++) {
      if (scores[index]! > scores[best]!) {
        second = best
        best = index
      } else if (index !== best && (second === best || scores[index]! > scores[second]!)) {
        second = index
      }
    }
    const score = scores[best]!
    if (score <= 0) return undefined
    const margin = 1 - Math.max(0, scores[second]!) / score
    return { code: codes[best]!, confidence: round(share * certainty(score) * Math.min(1, margin * 2)) }
  }
}

/** A word of many languages says little about which of them it is. */
function weightOf(having: readonly number[]): number {
  return 1 / Math.sqrt(having.length)
}

/** How sure this much evidence makes: 5 pieces 0.7, 20 nearly 1. */
function certainty(evidence: number): number {
  return 1 - Math.exp(-evidence / 4)
}

function round(number: number): number {
  return Math.round(number * 100) / 100
}
