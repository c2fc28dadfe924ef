/** Character codes of markup, and the tests that the scanners share. */

import type { Codes } from './codes.js'

export const TAB = 0x09
export const LINE_FEED = 0x0a
const VERTICAL_TAB = 0x0b
export const CARRIAGE_RETURN = 0x0d
export const SPACE = 0x20
export const BANG = 0x21
export const DOUBLE_QUOTE = 0x22
export const HASH = 0x23
export const AMPERSAND = 0x26
export const SINGLE_QUOTE = 0x27
export const SLASH = 0x2f
export const COLON = 0x3a
export const SEMICOLON = 0x3b
export const LESS_THAN = 0x3c
export const EQUALS = 0x3d
export const GREATER_THAN = 0x3e
export const QUESTION_MARK = 0x3f
const NO_BREAK_SPACE = 0xa0

/** ASCII white space as HTML defines it. Carriage returns are line feeds by the time a browser tokenizes the page. */
export function isSpace(code: number): boolean {
  return code === SPACE || (code <= CARRIAGE_RETURN && code >= TAB && code !== VERTICAL_TAB)
}

/** The first white space of Unicode after U+00A0: the ogham space mark. */
const FIRST_RARE_BLANK = 0x1680

/** White space as JavaScript defines it (`\s`), which includes the white space of scripts other than Latin. */
export function isBlank(code: number): boolean {
  if (code <= SPACE) return code === SPACE || (code >= TAB && code <= CARRIAGE_RETURN)
  return code === NO_BREAK_SPACE || (code >= FIRST_RARE_BLANK && isRareBlank(code))
}

function isRareBlank(code: number): boolean {
  if (code === FIRST_RARE_BLANK || code === 0x3000 || code === 0xfeff) return true
  if (code < 0x2000 || code > 0x205f) return false
  return code <= 0x200a || code === 0x2028 || code === 0x2029 || code === 0x202f || code === 0x205f
}

/** Whether a `<` followed by this character begins markup. */
export function beginsMarkup(next: number | undefined): boolean {
  return next !== undefined && (isLetter(next) || next === SLASH || next === BANG || next === QUESTION_MARK)
}

/** Whether an `&` followed by this character may begin a character reference. */
export function beginsReference(next: number | undefined): boolean {
  return next !== undefined && (isLetter(next) || next === HASH)
}

/** Whether the code is an ASCII letter. Setting bit 0x20 turns upper case into lower case and nothing else into a letter. */
export function isLetter(code: number): boolean {
  const small = code | 0x20
  return small >= 0x61 && small <= 0x7a
}

/** Whether the code is an ASCII digit. */
export function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39
}

/** Whether a tag name ends at this code. */
export function endsTagName(code: number): boolean {
  // Letters and most other characters of names are larger than '>', so most calls end at the first comparison.
  return code <= GREATER_THAN && (code === GREATER_THAN || code === SLASH || isSpace(code))
}

/**
 * Whether `word`, of lower-case letters and hyphens, is at `start`, in any case. The caller must make sure that there is no
 * white space there: a carriage return would match a hyphen.
 */
export function isWordAt(html: string, start: number, word: string): boolean {
  for (let k = 0; k < word.length; k++) {
    if ((html.charCodeAt(start + k) | 0x20) !== word.charCodeAt(k)) return false
  }
  return true
}

/** The same for a page given as codes. */
export function hasWordAt(codes: Codes, start: number, word: string): boolean {
  for (let k = 0; k < word.length; k++) {
    if ((codes[start + k]! | 0x20) !== word.charCodeAt(k)) return false
  }
  return true
}
