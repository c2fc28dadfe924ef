/**
 * Reads one tag from the end of its name to its `>`, by the rules of the HTML tokenizer: what is a quote, what is a
 * name, what ends a value. Values are taken out only of the attributes that the caller wants; all else is stepped
 * over without allocating.
 */

import { DOUBLE_QUOTE, EQUALS, GREATER_THAN, hasWordAt, isSpace, SINGLE_QUOTE, SLASH } from './characters.js'
import type { Codes } from './codes.js'
import { decodeAttribute, normaliseInput } from './entities.js'

/** Attributes to ask for: a set of bits. */
export const HREF = 1
export const REL = 2
export const SRC = 4
export const NAME = 8
export const CONTENT = 16
export const HTTP_EQUIV = 32
export const ENCODING = 64
/** Any of `color`, `face` and `size`; it is only asked whether one is there. */
export const FONT_STYLE = 128

/** Up to this length a loop over the codes beats `indexOf`. */
const SHORT_VALUE = 32

/**
 * Holds what the last tag said; each `read` forgets the one before. The first of two attributes with the same name
 * wins, and one without a value has an empty one.
 */
export class TagReader {
  href: string | undefined
  rel: string | undefined
  src: string | undefined
  name: string | undefined
  content: string | undefined
  httpEquiv: string | undefined
  encoding: string | undefined
  fontStyle: string | undefined
  /** Whether the last tag, read or skipped, ended in `/>`. */
  selfClosing = false

  /** Whether values need a look for what the input stage changes; most pages hold neither NUL nor CR. */
  private readonly needsNormalising: boolean

  constructor(
    private readonly html: string,
    private readonly codes: Codes,
  ) {
    this.needsNormalising = html.includes('\r') || html.includes('\0')
  }

  /**
   * Steps over a tag from `from`, the end of its name: the position after its `>`, or -1 if the page ends first, in
   * which case there is no tag.
   */
  skip(from: number): number {
    if (this.codes[from] === GREATER_THAN) {
      this.selfClosing = false
      return from + 1
    }
    return this.walk(from, 0)
  }

  /** The same as `skip`, and keeps the attributes of `wanted`. */
  read(from: number, wanted: number): number {
    this.href = this.rel = this.src = undefined
    this.name = this.content = this.httpEquiv = undefined
    this.encoding = this.fontStyle = undefined
    return this.walk(from, wanted)
  }

  private walk(from: number, wanted: number): number {
    const { codes } = this
    const length = codes.length
    let at = from
    while (at < length) {
      let code = codes[at]!
      if (code === GREATER_THAN) {
        this.selfClosing = false
        return at + 1
      }
      if (code === SLASH) {
        // Only a slash in this place closes: that of `<a b=c/>` is part of the value.
        if (codes[at + 1] === GREATER_THAN) {
          this.selfClosing = true
          return at + 2
        }
        at++
        continue
      }
      if (isSpace(code)) {
        at++
        continue
      }

      const nameStart = at++
      while (at < length && !endsAttributeName((code = codes[at]!))) at++
      if (at === length) return -1
      const attribute = wanted === 0 ? 0 : attributeNamed(codes, nameStart, at) & wanted
      if (code !== EQUALS) {
        at = this.afterSpace(at)
        if (at === length) return -1
        if (codes[at] !== EQUALS) {
          if (attribute !== 0) this.keep(attribute, '')
          continue
        }
      }

      at = this.afterSpace(at + 1)
      if (at === length) return -1
      code = codes[at]!
      if (code === DOUBLE_QUOTE || code === SINGLE_QUOTE) {
        const close = this.closingQuote(at + 1, code)
        if (close === -1) return -1
        if (attribute !== 0) this.keep(attribute, this.value(at + 1, close))
        at = close + 1
      } else {
        const valueStart = at
        while (at < length && (code = codes[at]!) !== GREATER_THAN && !isSpace(code)) at++
        if (attribute !== 0) this.keep(attribute, this.value(valueStart, at))
      }
    }
    return -1
  }

  /** Most values are shorter than a search costs to begin; the long ones are left to it. */
  private closingQuote(from: number, quote: number): number {
    const { codes } = this
    const near = Math.min(from + SHORT_VALUE, codes.length)
    for (let at = from; at < near; at++) if (codes[at] === quote) return at
    return this.html.indexOf(quote === DOUBLE_QUOTE ? '"' : "'", near)
  }

  private afterSpace(at: number): number {
    const { codes } = this
    while (at < codes.length && isSpace(codes[at]!)) at++
    return at
  }

  private value(start: number, end: number): string {
    let value = this.html.slice(start, end)
    if (this.needsNormalising) value = normaliseInput(value)
    return value.includes('&') ? decodeAttribute(value) : value
  }

  private keep(attribute: number, value: string): void {
    switch (attribute) {
      case HREF:
        this.href ??= value
        break
      case REL:
        this.rel ??= value
        break
      case SRC:
        this.src ??= value
        break
      case NAME:
        this.name ??= value
        break
      case CONTENT:
        this.content ??= value
        break
      case HTTP_EQUIV:
        this.httpEquiv ??= value
        break
      case ENCODING:
        this.encoding ??= value
        break
      default:
        this.fontStyle ??= value
    }
  }
}

function endsAttributeName(code: number): boolean {
  return code <= GREATER_THAN && (code >= EQUALS || code === SLASH || isSpace(code))
}

function attributeNamed(codes: Codes, start: number, end: number): number {
  switch (end - start) {
    case 3:
      if (hasWordAt(codes, start, 'rel')) return REL
      return hasWordAt(codes, start, 'src') ? SRC : 0
    case 4:
      if (hasWordAt(codes, start, 'href')) return HREF
      if (hasWordAt(codes, start, 'name')) return NAME
      return hasWordAt(codes, start, 'face') || hasWordAt(codes, start, 'size') ? FONT_STYLE : 0
    case 5:
      return hasWordAt(codes, start, 'color') ? FONT_STYLE : 0
    case 7:
      return hasWordAt(codes, start, 'content') ? CONTENT : 0
    case 8:
      return hasWordAt(codes, start, 'encoding') ? ENCODING : 0
    case 10:
      return hasWordAt(codes, start, 'http-equiv') ? HTTP_EQUIV : 0
    default:
      return 0
  }
}
