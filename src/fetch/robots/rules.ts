/**
 * The rules of a group in the order of precedence: longest first, and of two with the same length, `allow` first. The
 * first rule that matches decides, so most checks end early, and little more than the text of the rules is kept.
 */

import { askPath, findPiece, isTooMuch } from './path.js'

const STAR = 0x2a
const DOLLAR = 0x24
const DOLLAR_ESCAPE = '%24'

/** Patterns, and whether they allow. Of two equal patterns `allow` counts. */
export type RuleSet = Map<string, boolean>

/** More than a file of 500 KiB can hold, at nine bytes each. */
const MAX_RULES = 2 ** 17

export class Rules {
  /** All patterns, concatenated in the order of precedence. */
  readonly #patterns: string
  /** For each pattern, twice the place where it ends, plus one if it allows. */
  readonly #ends: readonly number[]

  constructor(rules: RuleSet) {
    const patterns: string[] = []
    const keys = new Float64Array(rules.size)
    // Numbers sort much faster than rules: the rule that decides first gets the smallest key, which ends with its index.
    for (const [pattern, allows] of rules) {
      keys[patterns.length] = patterns.length - (lengthOf(pattern) * 2 + Number(allows)) * MAX_RULES
      patterns.push(pattern)
    }
    keys.sort()
    const ordered: string[] = []
    const ends: number[] = []
    let end = 0
    for (const key of keys) {
      const rank = Math.ceil(-key / MAX_RULES)
      const pattern = patterns[key + rank * MAX_RULES]!
      ordered.push(pattern)
      end += pattern.length
      ends.push(end * 2 + (rank & 1))
    }
    this.#patterns = ordered.join('')
    this.#ends = ends
  }

  get size(): number {
    return this.#ends.length
  }

  /** The memory that the rules take, in bytes. */
  get weight(): number {
    return this.#patterns.length + this.#ends.length * 8
  }

  /**
   * Whether a path with its query, made `comparable`, may be fetched. If the check takes far more work than any ordinary
   * file causes, the answer is no: that only affects the host that published such rules.
   */
  allows(path: string): boolean {
    askPath(path)
    let start = 0
    for (const packed of this.#ends) {
      const end = packed >>> 1
      if (this.#matches(start, end, path)) return (packed & 1) === 1 && !isTooMuch()
      start = end
    }
    return !isTooMuch()
  }

  *[Symbol.iterator](): Generator<readonly [pattern: string, allows: boolean]> {
    let start = 0
    for (const packed of this.#ends) {
      yield [this.#patterns.slice(start, packed >>> 1), (packed & 1) === 1]
      start = packed >>> 1
    }
  }

  /** Whether the pattern matches the beginning of the path; `*` matches anything, a final `$` the end of the path. */
  #matches(start: number, end: number, path: string): boolean {
    const patterns = this.#patterns
    for (let i = start, at = 0; i < end; i++, at++) {
      const code = patterns.charCodeAt(i)
      if (code === STAR) return this.#matchesRest(i, end, path, at)
      if (code === DOLLAR && i === end - 1) return at === path.length
      if (at === path.length || path.charCodeAt(at) !== code) return false
    }
    return true
  }

  /**
   * Matches the rest of a pattern, from a `*` on. It is enough to match each piece where it first occurs: what matches
   * after a later occurrence also matches after an earlier one.
   */
  #matchesRest(star: number, end: number, path: string, from: number): boolean {
    const patterns = this.#patterns
    let at = from
    for (let i = star; i < end; ) {
      i++
      let pieceEnd = i
      while (pieceEnd < end && patterns.charCodeAt(pieceEnd) !== STAR) pieceEnd++
      if (pieceEnd === end && end > i && patterns.charCodeAt(end - 1) === DOLLAR) {
        return this.#endsPath(i, end - 1, path, at)
      }
      if (pieceEnd > i) {
        const found = findPiece(patterns, i, pieceEnd, at)
        if (found < 0) return false
        at = found + pieceEnd - i
      }
      i = pieceEnd
    }
    return true
  }

  /** Whether the path ends with `#patterns[start…end)`, at `from` or later. */
  #endsPath(start: number, end: number, path: string, from: number): boolean {
    const begin = path.length - (end - start)
    if (begin < from) return false
    for (let i = start; i < end; i++) {
      if (this.#patterns.charCodeAt(i) !== path.charCodeAt(begin + i - start)) return false
    }
    return true
  }
}

/** The length that decides precedence. `$` counts as one character, escaped or not, so that both spellings are equal. */
function lengthOf(pattern: string): number {
  let length = pattern.length
  for (let at = pattern.indexOf(DOLLAR_ESCAPE); at >= 0; at = pattern.indexOf(DOLLAR_ESCAPE, at + 1)) {
    length -= DOLLAR_ESCAPE.length - 1
  }
  return length
}
