/**
 * Reads the attributes that a page's digest uses. `TagReader` reads those of the link scan; these belong to fewer tags, so
 * one pass records them all and the caller picks.
 */

import { DOUBLE_QUOTE, EQUALS, GREATER_THAN, isSpace, SINGLE_QUOTE, SLASH } from '../html/characters.js'
import type { Codes } from '../html/codes.js'
import { extendKey, keyOf } from '../html/name-keys.js'

/** Index of each attribute. */
export const HREF = 0
export const SRC = 1
export const ALT = 2
export const REL = 3
export const NAME = 4
export const CONTENT = 5
export const TYPE = 6
export const VALUE = 7
export const DATETIME = 8
export const HTTP_EQUIV = 9
export const URL = 10

const ATTRIBUTE_NAMES = [
  'href',
  'src',
  'alt',
  'rel',
  'name',
  'content',
  'type',
  'value',
  'datetime',
  'http-equiv',
  'url',
]
const INDEXES = new Map(ATTRIBUTE_NAMES.map((name, place) => [keyOf(name), place]))

/** Positions of the attribute values of the last tag. */
export class AttributeReader {
  /** By index; -1 if the tag does not have the attribute. */
  readonly starts = new Int32Array(ATTRIBUTE_NAMES.length)
  readonly ends = new Int32Array(ATTRIBUTE_NAMES.length)
  selfClosing = false

  constructor(
    private readonly html: string,
    private readonly codes: Codes,
  ) {}

  /** Reads a tag from the end of its name; returns the position after its `>`, or -1 if the page ends first. */
  read(from: number): number {
    const { codes } = this
    this.starts.fill(-1)
    this.selfClosing = false
    let at = from
    while (at < codes.length) {
      const code = codes[at]!
      if (code === GREATER_THAN) return at + 1
      if (code === SLASH || isSpace(code)) {
        this.selfClosing = code === SLASH && codes[at + 1] === GREATER_THAN
        at++
      } else {
        at = this.#attribute(at)
        if (at === -1) return -1
      }
    }
    return -1
  }

  #attribute(start: number): number {
    const { codes } = this
    let key = extendKey(0, codes[start]!)
    let at = start + 1
    for (; at < codes.length && !endsName(codes[at]!); at++) key = extendKey(key, codes[at]!)
    const place = INDEXES.get(key)
    const nameEnd = at
    at = this.#afterSpace(at)
    if (codes[at] !== EQUALS) {
      this.#note(place, nameEnd, nameEnd)
      return at
    }
    at = this.#afterSpace(at + 1)
    const quote = codes[at]
    if (quote === DOUBLE_QUOTE || quote === SINGLE_QUOTE) {
      const close = this.html.indexOf(quote === DOUBLE_QUOTE ? '"' : "'", at + 1)
      this.#note(place, at + 1, close)
      return close === -1 ? -1 : close + 1
    }
    const valueStart = at
    while (at < codes.length && codes[at] !== GREATER_THAN && !isSpace(codes[at]!)) at++
    this.#note(place, valueStart, at)
    return at
  }

  /** Of repeated attributes, the first counts. */
  #note(place: number | undefined, start: number, end: number): void {
    if (place === undefined || this.starts[place] !== -1) return
    this.starts[place] = start
    this.ends[place] = end
  }

  #afterSpace(at: number): number {
    while (at < this.codes.length && isSpace(this.codes[at]!)) at++
    return at
  }
}

function endsName(code: number): boolean {
  return code <= GREATER_THAN && (code >= EQUALS || code === SLASH || isSpace(code))
}
