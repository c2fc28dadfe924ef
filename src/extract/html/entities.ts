/**
 * Character references (`&amp;`, `&#8364;`, `&eacute`) in attribute values and text, decoded as browsers do. Only values
 * with an ampersand get here, and nearly all of them contain only `&amp;`.
 */

import { EQUALS, isDigit, isLetter } from './characters.js'
import { namedReferences } from './entity-names.js'

/** `CounterClockwiseContourIntegral`. A longer run of letters is not a name and is not read to its end. */
const LONGEST_NAME = 31
/** Of the names that need no semicolon, such as `Aacute` and `lt`. */
const LONGEST_BARE_NAME = 6
const SHORTEST_BARE_NAME = 2

const LAST_CODE_POINT = 0x10ffff
const REPLACEMENT = '\ufffd'

/**
 * What the numbers 0x80 to 0x9F stand for: authors took them from windows-1252. The five that are unassigned there stand
 * for themselves.
 */
export const WINDOWS_1252 =
  '\u20ac\u0081\u201a\u0192\u201e\u2026\u2020\u2021\u02c6\u2030\u0160\u2039\u0152\u008d\u017d\u008f' +
  '\u0090\u2018\u2019\u201c\u201d\u2022\u2013\u2014\u02dc\u2122\u0161\u203a\u0153\u009d\u017e\u0178'

/** Decodes an attribute value, where `&copy=1` stays as it is: it is more likely part of a query. */
export function decodeAttribute(value: string): string {
  return decode(value, true)
}

/** Decodes text, where `&copy=1` starts with ©. */
export function decodeText(text: string): string {
  return decode(text, false)
}

/** Input stream preprocessing: normalizes newlines and replaces NUL. To be done before decoding. */
export function normalizeInput(value: string): string {
  if (value.includes('\r')) value = value.replaceAll('\r\n', '\n').replaceAll('\r', '\n')
  // Match runs: a million NULs would be a million matches.
  return value.includes('\0') ? value.replace(/\0+/g, (nuls) => REPLACEMENT.repeat(nuls.length)) : value
}

function decode(value: string, inAttribute: boolean): string {
  let decoded = ''
  let copied = 0
  let at = value.indexOf('&')
  while (at !== -1) {
    let end: number
    if (value.startsWith('amp;', at + 1)) {
      decoded += value.slice(copied, at + 1)
      copied = end = at + 5
    } else if (value.charCodeAt(at + 1) === 0x23) {
      end = endOfNumber(value, at + 2)
      if (end !== -1) {
        decoded += value.slice(copied, at) + String.fromCodePoint(codePointOf(value, at + 2, end))
        copied = end += value[end] === ';' ? 1 : 0
      }
    } else {
      end = endOfNamed(value, at + 1, inAttribute)
      if (end !== -1) {
        decoded += value.slice(copied, at) + namedCharacters(value, at + 1, end)
        copied = end += value[end] === ';' ? 1 : 0
      }
    }
    at = value.indexOf('&', end === -1 ? at + 1 : end)
  }
  return copied === 0 ? value : decoded + value.slice(copied)
}

/** End of the name that starts at `start`, or -1 if it is not a character reference. */
export function endOfNamed(value: string, start: number, inAttribute: boolean): number {
  let end = start
  while (end - start <= LONGEST_NAME && isAlphanumeric(value.charCodeAt(end))) end++
  if (end === start) return -1
  const { byName, withoutSemicolon } = namedReferences()
  if (value[end] === ';' && byName.has(value.slice(start, end))) return end
  if (inAttribute) {
    const bare = value.charCodeAt(end) !== EQUALS && withoutSemicolon.has(value.slice(start, end))
    return bare ? end : -1
  }
  for (let bare = Math.min(end, start + LONGEST_BARE_NAME); bare - start >= SHORTEST_BARE_NAME; bare--) {
    if (withoutSemicolon.has(value.slice(start, bare))) return bare
  }
  return -1
}

/** The characters of the name from `start` to `end`, found by `endOfNamed`. */
export function namedCharacters(value: string, start: number, end: number): string {
  return namedReferences().byName.get(value.slice(start, end))!
}

/** End of the number that starts after `&#`, or -1 if there are no digits. */
export function endOfNumber(value: string, start: number): number {
  const hexadecimal = (value.charCodeAt(start) | 0x20) === 0x78
  const first = hexadecimal ? start + 1 : start
  let end = first
  while (hexadecimal ? isHexDigit(value.charCodeAt(end)) : isDigit(value.charCodeAt(end))) end++
  return end === first ? -1 : end
}

/** The code point of the number from `start` to `end`, found by `endOfNumber`. */
export function codePointOf(value: string, start: number, end: number): number {
  const hexadecimal = (value.charCodeAt(start) | 0x20) === 0x78
  const base = hexadecimal ? 16 : 10
  let code = 0
  for (let k = hexadecimal ? start + 1 : start; k < end && code <= LAST_CODE_POINT; k++) {
    code = code * base + digitOf(value.charCodeAt(k))
  }
  if (code === 0 || code > LAST_CODE_POINT || (code >= 0xd800 && code <= 0xdfff))
    return REPLACEMENT.charCodeAt(0)
  return code >= 0x80 && code <= 0x9f ? WINDOWS_1252.charCodeAt(code - 0x80) : code
}

function digitOf(code: number): number {
  return isDigit(code) ? code - 0x30 : (code | 0x20) - 0x61 + 10
}

function isAlphanumeric(code: number): boolean {
  return isLetter(code) || isDigit(code)
}

function isHexDigit(code: number): boolean {
  return isDigit(code) || (isLetter(code) && (code | 0x20) <= 0x66)
}
