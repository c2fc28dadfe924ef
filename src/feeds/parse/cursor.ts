/**
 * Walks over the tags of a feed, in one pass and without a tree. It tolerates what XML forbids, because feeds are written by
 * templates: bare ampersands, tags that are never closed, a cut in the middle. docs/decisions/0028 says why it is not a package.
 */

import {
  BANG,
  DOUBLE_QUOTE,
  EQUALS,
  endsTagName,
  GREATER_THAN,
  isLetter,
  isSpace,
  LESS_THAN,
  QUESTION_MARK,
  SINGLE_QUOTE,
  SLASH,
} from '../../extract/html/characters.js'
import type { References } from './references.js'

const CDATA = '<![CDATA['
const CDATA_END = ']]>'
const UNDERSCORE = 0x5f
const FIRST_BEYOND_ASCII = 0x80
/** Declarations of a document type are read up to here. */
const LONGEST_SUBSET = 100_000

const LEAST_REREAD = 100_000

/** Each `next` replaces what the previous one found. */
export class Cursor {
  /** Where to continue. */
  at = 0
  /** Position of the `<` of the tag. */
  start = 0
  /** Name as written, with its prefix. */
  name = ''
  closes = false
  /** `<br/>`: there is no end tag. */
  empty = false
  /** Characters that were read again, because an element was not closed. */
  #reread = 0
  #nameEnd = 0
  #end = 0
  /** The search for the end of CDATA failed: there is none in the rest of the text. */
  #noCdataEnd = false

  constructor(
    readonly text: string,
    readonly references: References,
  ) {}

  /** Moves to the next tag; false at the end of the text, also if it is within a tag. */
  next(): boolean {
    const { text } = this
    for (;;) {
      const start = text.indexOf('<', this.at)
      if (start === -1) {
        this.at = text.length
        return false
      }
      const code = text.charCodeAt(start + 1)
      if (code === SLASH || startsName(code)) return this.#tag(start, code === SLASH)
      this.at = this.skipOther(start)
    }
  }

  /** The position after a comment, declaration, instruction or stray `<` at `start`. */
  skipOther(start: number): number {
    const { text } = this
    const code = text.charCodeAt(start + 1)
    if (code === QUESTION_MARK) return after(text, '>', start)
    if (code !== BANG) return start + 1
    if (text.startsWith('<!--', start)) return after(text, '-->', start + 4)
    if (text.startsWith(CDATA, start)) return this.cdataEnd(start) + CDATA_END.length
    if (/^<!doctype/i.test(text.slice(start, start + 9))) return this.#documentType(start)
    return after(text, '>', start)
  }

  /** The position of the end of CDATA that starts at `start`, or the end of the text. */
  cdataEnd(start: number): number {
    if (this.#noCdataEnd) return this.text.length
    const end = this.text.indexOf(CDATA_END, start)
    if (end !== -1) return end
    this.#noCdataEnd = true
    return this.text.length
  }

  #documentType(start: number): number {
    const { text } = this
    const end = after(text, '>', start)
    const open = text.slice(start, end).indexOf('[')
    if (open === -1) return end
    const close = text.indexOf(']', start + open)
    if (close === -1 || close - start > LONGEST_SUBSET) return end
    this.references.declare(text.slice(start + open, close))
    return after(text, '>', close)
  }

  #tag(start: number, closes: boolean): boolean {
    const { text } = this
    const nameStart = start + (closes ? 2 : 1)
    let at = nameStart
    while (at < text.length && !endsName(text.charCodeAt(at))) at++
    this.start = start
    this.closes = closes
    this.name = text.slice(nameStart, at)
    this.#nameEnd = at
    let quote = 0
    for (; at < text.length; at++) {
      const code = text.charCodeAt(at)
      if (quote !== 0) {
        if (code === quote) quote = 0
      } else if (code === GREATER_THAN || code === LESS_THAN) break
      // A quote that is not a value's is a mistake, such as `<a href="b"">`.
      else if ((code === DOUBLE_QUOTE || code === SINGLE_QUOTE) && followsEquals(text, at)) quote = code
    }
    if (quote !== 0) at = this.#endOfBrokenTag()
    if (at >= text.length) {
      // The feed is cut off in this tag: half a URL is worse than none.
      this.at = text.length
      return false
    }
    this.#end = at
    this.empty = text.charCodeAt(at - 1) === SLASH && at > this.#nameEnd
    this.at = text.charCodeAt(at) === GREATER_THAN ? at + 1 : at
    return true
  }

  /** The tag has an unclosed quote: it ends with the first bracket. */
  #endOfBrokenTag(): number {
    const { text } = this
    const end = text.indexOf('>', this.#nameEnd)
    return end === -1 ? text.length : end
  }

  /** Whether there is time to look for an end tag that may be missing: all in all, the text is read about twice. */
  get isPatient(): boolean {
    return this.#reread <= Math.max(this.text.length, LEAST_REREAD)
  }

  /** Goes back to a position, because the end tag was missing. */
  goBack(to: number): void {
    this.#reread += Math.max(0, this.at - to)
    this.at = to
  }

  get hasAttributes(): boolean {
    return this.#end - this.#nameEnd > 1
  }

  /** Value of an attribute, by its name in lower case with its prefix. */
  attribute(name: string): string | undefined {
    let found: string | undefined
    this.eachAttribute((each, value) => {
      if (each === name) found ??= value
    })
    return found
  }

  /** Attributes with names in lower case and decoded values. */
  eachAttribute(visit: (name: string, value: string) => void): void {
    const { text } = this
    const end = this.#end
    let at = this.#nameEnd
    while (at < end) {
      while (at < end && isSpace(text.charCodeAt(at))) at++
      const nameStart = at
      while (at < end && !endsAttributeName(text.charCodeAt(at))) at++
      const nameEnd = at
      while (at < end && isSpace(text.charCodeAt(at))) at++
      if (text.charCodeAt(at) !== EQUALS) {
        if (at === nameStart) at++
        continue
      }
      at++
      while (at < end && isSpace(text.charCodeAt(at))) at++
      const quote = text.charCodeAt(at)
      let valueStart = at
      let valueEnd: number
      if (quote === DOUBLE_QUOTE || quote === SINGLE_QUOTE) {
        valueStart = at + 1
        valueEnd = text.indexOf(quote === DOUBLE_QUOTE ? '"' : "'", valueStart)
        if (valueEnd === -1 || valueEnd > end) valueEnd = end
        at = valueEnd + 1
      } else {
        while (at < end && !isSpace(text.charCodeAt(at))) at++
        valueEnd = at
        if (this.empty && valueEnd === end) valueEnd--
      }
      const value = this.references.decode(text.slice(valueStart, valueEnd))
      visit(text.slice(nameStart, nameEnd).toLowerCase(), value)
    }
  }
}

function after(text: string, mark: string, from: number): number {
  const at = text.indexOf(mark, from)
  return at === -1 ? text.length : at + mark.length
}

function followsEquals(text: string, at: number): boolean {
  let before = at - 1
  while (isSpace(text.charCodeAt(before))) before--
  return text.charCodeAt(before) === EQUALS
}

function startsName(code: number): boolean {
  return isLetter(code) || code === UNDERSCORE || code >= FIRST_BEYOND_ASCII
}

function endsName(code: number): boolean {
  return endsTagName(code) || code === LESS_THAN
}

function endsAttributeName(code: number): boolean {
  return code === EQUALS || code === SLASH || code === DOUBLE_QUOTE || code === SINGLE_QUOTE || isSpace(code)
}
