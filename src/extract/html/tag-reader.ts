/**
 * Reads one tag from the end of its name to its `>`, by the rules of the HTML tokenizer. It takes values only of the
 * attributes that the caller wants, and skips everything else without allocating.
 */

import {
  DOUBLE_QUOTE,
  EQUALS,
  GREATER_THAN,
  hasWordAt,
  isLetter,
  isSpace,
  SINGLE_QUOTE,
  SLASH,
  SPACE,
} from './characters.js'
import type { Codes, EncodedText } from './codes.js'
import { decodeAttribute, normalizeInput } from './entities.js'

/** Attributes to read, as a bit set. */
export const HREF = 1
export const REL = 2
export const SRC = 4
export const NAME = 8
export const CONTENT = 16
export const HTTP_EQUIV = 32
export const ENCODING = 64
/** Any of `color`, `face` and `size`; only its presence matters. */
export const FONT_STYLE = 128
/** Used if there is no `href`. */
export const XLINK_HREF = 256

/**
 * A longer value is not a URL that a server would accept, nor a name, nor a robots directive. It is not decoded, because
 * that may take a hundred times as long as skipping it.
 */
const LONGEST_VALUE = 2 ** 16

const SMALL_H = 0x68
/** Turns a letter into a small one. */
const TO_LOWER = 0x20
const LAST_OF_ASCII = 0x7f

/**
 * Holds the attributes of the last tag; each `read` replaces them. If an attribute is repeated, the first one wins; an
 * attribute without a value has an empty one.
 */
export class TagReader {
  /** Position of the value of `href` or `src`, whichever was requested; -1 if the tag has none. */
  linkStart = -1
  linkEnd = -1
  private xlinkStart = -1
  private xlinkEnd = -1
  rel: string | undefined
  name: string | undefined
  content: string | undefined
  httpEquiv: string | undefined
  encoding: string | undefined
  fontStyle: string | undefined
  /** Whether the last tag, read or skipped, ended in `/>`. */
  selfClosing = false

  /** @param encoded The same bytes as text, if `html` is bytes that are not ASCII, one character for each. */
  constructor(
    readonly html: string,
    private readonly codes: Codes,
    readonly encoded?: EncodedText | undefined,
  ) {}

  /**
   * Skips a tag from `from`, the end of its name or of a quoted value: returns the position after its `>`, or -1 if the
   * page ends first, in which case there is no tag.
   *
   * Nearly all attributes are written `name="value"`; for these a loop that looks only for `=` and `>` does half the
   * work. It leaves anything else to `walk`.
   */
  skip(from: number): number {
    const { codes } = this
    if (codes[from] === GREATER_THAN) {
      this.selfClosing = false
      return from + 1
    }
    const length = codes.length
    let at = from
    while (at < length) {
      const code = codes[at++]!
      if (code > GREATER_THAN) continue
      if (code === GREATER_THAN) {
        this.selfClosing = codes[at - 2] === SLASH
        return at
      }
      if (code === EQUALS) {
        const quote = codes[at]!
        const opens = quote === DOUBLE_QUOTE || quote === SINGLE_QUOTE
        if (!opens || codes[at - 2]! <= GREATER_THAN) return this.walk(from, 0)
        const close = this.closingQuote(at + 1, quote)
        if (close === -1) return -1
        at = close + 1
      } else if (code === DOUBLE_QUOTE || code === SINGLE_QUOTE) {
        return this.walk(from, 0)
      }
    }
    return -1
  }

  /** Like `skip`, and finds the value of `attribute`, HREF or SRC. */
  seek(from: number, attribute: number): number {
    this.linkStart = -1
    if (attribute !== HREF) return this.walk(from, attribute)
    const { codes } = this
    let at = from
    // Attributes written `name="value"`, up to the href. `walk` reads anything else, from where it begins.
    while (!this.hrefIsNext(at)) {
      const first = codes[at + 1]!
      if (codes[at] !== SPACE || !isLetter(first) || (first | TO_LOWER) === SMALL_H)
        return this.walk(at, attribute)
      let end = at + 2
      while (end < codes.length && !endsAttributeName(codes[end]!)) end++
      if (codes[end] !== EQUALS || codes[end + 1] !== DOUBLE_QUOTE) return this.walk(at, attribute)
      const close = this.closingQuote(end + 2, DOUBLE_QUOTE)
      if (close === -1) return -1
      at = close + 1
    }
    const start = at + ' href="'.length
    const close = this.closingQuote(start, DOUBLE_QUOTE)
    if (close === -1) return -1
    this.linkStart = start
    this.linkEnd = close
    return this.skip(close + 1)
  }

  /** The common case. Beyond the end of the page, a code is undefined and equals nothing. */
  private hrefIsNext(at: number): boolean {
    const { codes } = this
    return (
      codes[at] === SPACE &&
      codes[at + 1] === 0x68 &&
      codes[at + 2] === 0x72 &&
      codes[at + 3] === 0x65 &&
      codes[at + 4] === 0x66 &&
      codes[at + 5] === EQUALS &&
      codes[at + 6] === DOUBLE_QUOTE
    )
  }

  /** Like `skip`, and keeps the `wanted` attributes. */
  read(from: number, wanted: number): number {
    this.linkStart = -1
    this.rel = undefined
    this.name = this.content = this.httpEquiv = undefined
    this.encoding = this.fontStyle = undefined
    if ((wanted & XLINK_HREF) === 0) return this.walk(from, wanted)
    this.xlinkStart = -1
    const after = this.walk(from, wanted)
    if (this.linkStart === -1) {
      this.linkStart = this.xlinkStart
      this.linkEnd = this.xlinkEnd
    }
    return after
  }

  /** Whether the last tag has the requested link. */
  get hasLink(): boolean {
    return this.linkStart !== -1 && this.linkEnd - this.linkStart <= LONGEST_VALUE
  }

  /** The requested link, decoded. */
  get link(): string | undefined {
    return this.linkStart === -1 ? undefined : this.value(this.linkStart, this.linkEnd)
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
        // Only a slash here closes the tag: in `<a b=c/>` it is part of the value.
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
          if (attribute !== 0) this.keep(attribute, at, at)
          continue
        }
      }

      at = this.afterSpace(at + 1)
      if (at === length) return -1
      code = codes[at]!
      if (code === DOUBLE_QUOTE || code === SINGLE_QUOTE) {
        const close = this.closingQuote(at + 1, code)
        if (close === -1) return -1
        if (attribute !== 0) this.keep(attribute, at + 1, close)
        at = close + 1
      } else {
        const valueStart = at
        while (at < length && (code = codes[at]!) !== GREATER_THAN && !isSpace(code)) at++
        if (attribute !== 0) this.keep(attribute, valueStart, at)
      }
    }
    return -1
  }

  /** Also for short values, `indexOf` is faster than a loop over the codes. */
  private closingQuote(from: number, quote: number): number {
    if (this.codes[from] === quote) return from
    return this.html.indexOf(quote === DOUBLE_QUOTE ? '"' : "'", from)
  }

  private afterSpace(at: number): number {
    const { codes } = this
    while (at < codes.length && isSpace(codes[at]!)) at++
    return at
  }

  private value(start: number, end: number): string {
    if (end - start > LONGEST_VALUE) return ''
    const value = normalizeInput(this.text(start, end))
    return value.includes('&') ? decodeAttribute(value) : value
  }

  /** Part of the page. */
  text(start: number, end: number): string {
    const { codes, encoded } = this
    if (encoded !== undefined) {
      for (let at = start; at < end; at++) if (codes[at]! > LAST_OF_ASCII) return encoded.slice(start, end)
    }
    return this.html.slice(start, end)
  }

  private keep(attribute: number, start: number, end: number): void {
    switch (attribute) {
      case HREF:
      case SRC:
        if (this.linkStart !== -1) break
        this.linkStart = start
        this.linkEnd = end
        break
      case XLINK_HREF:
        if (this.xlinkStart !== -1) break
        this.xlinkStart = start
        this.xlinkEnd = end
        break
      case REL:
        this.rel ??= this.value(start, end)
        break
      case NAME:
        this.name ??= this.value(start, end)
        break
      case CONTENT:
        this.content ??= this.value(start, end)
        break
      case HTTP_EQUIV:
        this.httpEquiv ??= this.value(start, end)
        break
      case ENCODING:
        this.encoding ??= this.value(start, end)
        break
      default:
        this.fontStyle ??= ''
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
      if (hasWordAt(codes, start, 'http-equiv')) return HTTP_EQUIV
      return hasWordAt(codes, start, 'xlink:href') ? XLINK_HREF : 0
    default:
      return 0
  }
}
