/** The character codes that markup is made of, and the questions that every part of the scanner asks of them. */

import type { Codes } from './codes.js'

export const TAB = 0x09
export const LINE_FEED = 0x0a
export const VERTICAL_TAB = 0x0b
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
export const NO_BREAK_SPACE = 0xa0

/** White space as HTML means it. A carriage return is a line feed by the time a browser's tokenizer sees it. */
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

/** Whether the code is an ASCII letter. Setting the bit 0x20 makes a capital small and no other code a letter. */
export function isLetter(code: number): boolean {
  const small = code | 0x20
  return small >= 0x61 && small <= 0x7a
}

/** Whether the code is an ASCII digit. */
export function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39
}

/** Whether a name of a tag stops at this code. */
export function endsTagName(code: number): boolean {
  // Letters and what else stands in names is larger than '>', so that most calls end at the first comparison.
  return code <= GREATER_THAN && (code === GREATER_THAN || code === SLASH || isSpace(code))
}

/**
 * Whether `word` stands at `start`, in capitals or not. `word` is of small letters and hyphens; the caller has made
 * sure that no white space stands there, since a carriage return would pass for a hyphen.
 */
export function isWordAt(html: string, start: number, word: string): boolean {
  for (let k = 0; k < word.length; k++) {
    if ((html.charCodeAt(start + k) | 0x20) !== word.charCodeAt(k)) return false
  }
  return true
}

/** The same where the page is there as codes. */
export function hasWordAt(codes: Codes, start: number, word: string): boolean {
  for (let k = 0; k < word.length; k++) {
    if ((codes[start + k]! | 0x20) !== word.charCodeAt(k)) return false
  }
  return true
}
