/**
 * One pass over markup that keeps what a reader would see, and link targets: words separated by single spaces, followed by
 * URLs, alternative texts and the like. It is the text pass of html/text.ts with different rules: invisible content (a
 * script, a template) may be in the middle of a word, and lines are not separated, because a new layout says the same.
 *
 * Positions only move forward, and expensive work (decoding, normalizing URLs) is limited to a number of characters, so the
 * time is linear in the size of the page.
 */

import {
  AMPERSAND,
  beginsMarkup,
  beginsReference,
  endsTagName,
  HASH,
  hasWordAt,
  isLetter,
  LESS_THAN,
  SEMICOLON,
  SLASH,
} from '../html/characters.js'
import { type Codes, codesOf } from '../html/codes.js'
import {
  codePointOf,
  decodeAttribute,
  decodeText,
  endOfNamed,
  endOfNumber,
  namedCharacters,
} from '../html/entities.js'
import { refreshUrl } from '../html/meta-refresh.js'
import { extendKey } from '../html/name-keys.js'
import { endOfComment, endOfRawText, endOfScript } from '../html/raw-text.js'
import { MOST_TAGS } from '../html/tag-names.js'
import { HREF, TagReader } from '../html/tag-reader.js'
import * as at from './attributes.js'
import { attributeText, stableUrl, stableUrlOf } from './stable-url.js'
import * as tags from './tag-kinds.js'
import { TextBuffer } from './text-buffer.js'

/** Characters of URLs and descriptions to decode and normalize; beyond these, they count as written. */
const NORMALIZED_CHARACTERS = 2 ** 17
/** Names of character references to look up per page. */
const MOST_NAMES = 50_000

/** Precede each value, so that a description is never equal to a URL. */
const URL_MARK = 1
const TEXT_MARK = 2

/** Links to resources for style or speed. Their URLs change with every deployment of the site. */
const RESOURCE_REL = /\b(?:stylesheet|preload|modulepreload|prefetch|prerender|preconnect|icon|manifest)\b/i
const SHOWS_VALUE = /^(?:submit|button|reset)$/i
const CONTENT_META = /^(?:description|robots)$/i
const REFRESH = /^refresh$/i

const words = new TextBuffer()
const notes = new TextBuffer()

/** Reads markup into a buffer, which is reused for the next page; the canonical content is its first `length` codes. */
export function readCanonical(html: string, isXml: boolean): { codes: Uint16Array; length: number } {
  // Not the page's bytes, even if they are ASCII: loops over two kinds of arrays take twice as long as this copy.
  const codes = codesOf(html)
  words.begin(codes.length)
  notes.begin(codes.length)
  new CanonicalReader(html, codes, isXml).run()
  words.append(notes)
  const { codes: content, length } = words
  words.end()
  notes.end()
  return { codes: content, length }
}

/** Methods that take a position skip what is there and return the position after it, or -1 at the end. */
class CanonicalReader {
  readonly #tags: TagReader
  readonly #attributes: at.AttributeReader
  #tagsLeft = MOST_TAGS
  #namesLeft = MOST_NAMES
  #charactersLeft = NORMALIZED_CHARACTERS
  /** Depth of open templates, and of open SVG elements, in which tags can be self-closing. */
  #templateDepth = 0
  #svgDepth = 0
  /** In an element whose text does not count: a time with a `datetime` attribute, or a feed's own date. */
  #isIgnored = false
  #isInEntry = false

  constructor(
    readonly html: string,
    readonly codes: Codes,
    readonly isXml: boolean,
  ) {
    this.#tags = new TagReader(html, codes)
    this.#attributes = new at.AttributeReader(html, codes)
  }

  run(): void {
    const { codes } = this
    let position = 0
    while (position !== -1) {
      const isSkipped = this.#isIgnored || this.#templateDepth > 0
      position = isSkipped ? this.#skipText(position) : this.#text(position)
      if (position >= codes.length) return
      position = codes[position] === LESS_THAN ? this.#markup(position) : this.#reference(position)
    }
  }

  /** Copies text up to the next markup or reference. */
  #text(start: number): number {
    const { codes } = this
    let position = start
    for (;;) {
      position = words.plain(codes, position)
      if (position === codes.length) return position
      const code = codes[position]!
      if (code === LESS_THAN && beginsMarkup(codes[position + 1])) return position
      if (code === AMPERSAND && beginsReference(codes[position + 1])) return position
      words.word(code)
      position++
    }
  }

  #skipText(start: number): number {
    let position = this.html.indexOf('<', start)
    while (position !== -1 && !beginsMarkup(this.codes[position + 1])) {
      position = this.html.indexOf('<', position + 1)
    }
    return position === -1 ? this.codes.length : position
  }

  #markup(start: number): number {
    if (--this.#tagsLeft < 0) return -1
    const { html, codes } = this
    const next = codes[start + 1]!
    if (isLetter(next)) return this.#startTag(start + 1)
    if (next === SLASH && isLetter(codes[start + 2] ?? 0)) return this.#endTag(start + 2)
    if (html.startsWith('<!--', start)) return endOfComment(html, start)
    if (this.isXml && html.startsWith('<![CDATA[', start)) return this.#cdata(start + '<![CDATA['.length)
    return html.indexOf('>', start) + 1 || -1
  }

  #cdata(start: number): number {
    const close = this.html.indexOf(']]>', start)
    if (close === -1) return -1
    if (!this.#isIgnored)
      for (let position = start; position < close; position++) words.word(this.codes[position]!)
    return close + ']]>'.length
  }

  #startTag(start: number): number {
    const { codes } = this
    let key = 0
    let end = start
    for (; end < codes.length && !endsTagName(codes[end]!); end++) key = extendKey(key, codes[end]!)
    if (this.isXml) return this.#xmlTag(tags.XML_TAGS.get(key), end)
    const kind = tags.TAGS.get(key)
    switch (kind) {
      case undefined:
        this.#gap()
        return this.#tags.skip(end)
      case tags.INLINE:
        return this.#tags.skip(end)
      case tags.A: {
        const after = this.#tags.seek(end, HREF)
        if (after !== -1) this.#noteUrl(this.#tags.linkStart, this.#tags.linkEnd)
        return after
      }
      case tags.SCRIPT: {
        const after = this.#tags.skip(end)
        return after === -1 || this.#isSelfClosing ? after : endOfScript(this.html, after)
      }
      case tags.TEMPLATE:
        this.#templateDepth++
        return this.#tags.skip(end)
      case tags.SVG: {
        this.#gap()
        const after = this.#tags.skip(end)
        if (!this.#tags.selfClosing) this.#svgDepth++
        return after
      }
      case tags.IGNORED:
      case tags.VERBATIM:
        return this.#rawText(this.#tags.skip(end), key, kind === tags.VERBATIM)
      default:
        return this.#attributeTag(kind, key, end)
    }
  }

  /** A tag whose attributes count. */
  #attributeTag(kind: number, key: number, end: number): number {
    const after = this.#attributes.read(end)
    if (after === -1) return -1
    switch (kind) {
      case tags.REFERENCE:
        if (!RESOURCE_REL.test(this.#written(at.REL))) this.#noteUrlOf(at.HREF)
        this.#noteText(at.ALT)
        return after
      case tags.EMBED:
        this.#gap()
        this.#noteUrlOf(at.SRC)
        this.#noteText(at.ALT)
        return tags.RAW_NAMES.has(key) ? this.#rawText(after, key, false) : after
      case tags.META:
        this.#meta()
        return after
      case tags.TIME:
        this.#isIgnored = this.#attributes.starts[at.DATETIME] !== -1
        this.#noteText(at.DATETIME)
        return after
      default:
        this.#input()
        return after
    }
  }

  #meta(): void {
    if (CONTENT_META.test(this.#written(at.NAME))) this.#noteText(at.CONTENT)
    if (!REFRESH.test(this.#written(at.HTTP_EQUIV))) return
    const url = refreshUrl(decodeAttribute(this.#written(at.CONTENT)))
    if (url !== undefined) this.#note(URL_MARK, stableUrl(url))
  }

  /** Hidden inputs hold tokens that differ on every visit, others what a user may type: only buttons count. */
  #input(): void {
    const type = this.#written(at.TYPE)
    if (SHOWS_VALUE.test(type)) this.#noteText(at.VALUE)
    else this.#noteText(at.ALT)
  }

  #xmlTag(kind: number | undefined, end: number): number {
    words.gap()
    const after = this.#attributes.read(end)
    if (after === -1) return -1
    for (const place of [at.HREF, at.SRC, at.URL]) this.#noteUrlOf(place)
    const opens = !this.#attributes.selfClosing
    if (kind === tags.ENTRY && opens) this.#isInEntry = true
    this.#isIgnored = opens && (kind === tags.GENERATED_AT || (kind === tags.DATED && !this.#isInEntry))
    return after
  }

  #endTag(start: number): number {
    const { codes } = this
    let key = 0
    let end = start
    for (; end < codes.length && !endsTagName(codes[end]!); end++) key = extendKey(key, codes[end]!)
    if (this.isXml) {
      this.#gap()
      if (tags.XML_TAGS.get(key) === tags.ENTRY) this.#isInEntry = false
      return this.#tags.skip(end)
    }
    switch (tags.TAGS.get(key)) {
      case tags.TIME:
        this.#isIgnored = false
        break
      case tags.TEMPLATE:
        if (this.#templateDepth > 0) this.#templateDepth--
        break
      case tags.SVG:
        if (this.#svgDepth > 0) this.#svgDepth--
        this.#gap()
        break
      case undefined:
      case tags.VERBATIM:
        this.#gap()
    }
    return this.#tags.skip(end)
  }

  /** Ends a word, and a `<time>` without an end tag. */
  #gap(): void {
    if (this.#templateDepth === 0) words.gap()
    this.#isIgnored = false
  }

  /** Raw text from `start` to its end tag, which is then read like any other. */
  #rawText(start: number, key: number, isRead: boolean): number {
    if (start === -1 || this.#isSelfClosing) return start
    if (isRead) this.#gap()
    const close = endOfRawText(this.html, start, tags.RAW_NAMES.get(key)!)
    if (isRead && this.#templateDepth === 0) {
      words.text(this.#normalized(start, close === -1 ? this.html.length : close, decodeText))
    }
    return close
  }

  /** Only tags in SVG can be self-closing. */
  get #isSelfClosing(): boolean {
    return this.#svgDepth > 0 && this.#tags.selfClosing
  }

  #reference(start: number): number {
    const { html } = this
    const first = start + 1
    if (this.codes[first] === HASH) {
      const end = endOfNumber(html, first + 1)
      if (end !== -1) {
        words.text(String.fromCodePoint(codePointOf(html, first + 1, end)))
        return this.#afterSemicolon(end)
      }
    } else if (--this.#namesLeft >= 0) {
      const end = endOfNamed(html, first, false)
      if (end !== -1) {
        words.text(namedCharacters(html, first, end))
        return this.#afterSemicolon(end)
      }
    }
    words.word(AMPERSAND)
    return first
  }

  #afterSemicolon(end: number): number {
    return this.codes[end] === SEMICOLON ? end + 1 : end
  }

  /** An attribute value as written: empty if absent, and cut if it is long. */
  #written(place: number): string {
    const start = this.#attributes.starts[place]!
    return start === -1 ? '' : this.html.slice(start, Math.min(this.#attributes.ends[place]!, start + 1024))
  }

  #noteUrlOf(place: number): void {
    this.#noteUrl(this.#attributes.starts[place]!, this.#attributes.ends[place]!)
  }

  /** Nearly all URLs are plain and are copied without making a string. */
  #noteUrl(start: number, end: number): void {
    if (start === -1 || this.#templateDepth > 0 || hasWordAt(this.codes, start, 'javascript:')) return
    if (!notes.plainUrl(URL_MARK, this.codes, start, end)) {
      this.#note(URL_MARK, this.#normalized(start, end, stableUrlOf))
    }
  }

  #noteText(place: number): void {
    const start = this.#attributes.starts[place]!
    if (start === -1 || this.#templateDepth > 0) return
    notes.add(TEXT_MARK)
    notes.text(this.#normalized(start, this.#attributes.ends[place]!, attributeText))
  }

  #note(mark: number, value: string): void {
    if (this.#templateDepth > 0) return
    notes.add(mark)
    for (let position = 0; position < value.length; position++) notes.add(value.charCodeAt(position))
  }

  /** Applies `clean` to a part of the page, until the page has used up its budget for that. */
  #normalized(start: number, end: number, clean: (written: string) => string): string {
    this.#charactersLeft -= end - start
    const written = this.html.slice(start, end)
    return this.#charactersLeft < 0 ? written : clean(written)
  }
}
