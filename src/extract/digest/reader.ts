/**
 * One pass over markup that keeps what a reader would see of it, and where it leads: words with one blank between them,
 * and notes of addresses, pictures' descriptions and the like. All else of a tag is stepped over. It is the text pass
 * of text.ts with other rules: what is not seen (a script, a template) may stand in the middle of a word, and no
 * lines are told apart, since a page that is only laid out anew says the same.
 *
 * Every position moves forward only, and what is dear (decoding, cleaning addresses) is done for a bounded number of
 * characters, so that no page costs more than its size.
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
import { addressOf, stableAddress, wordsOf } from './links.js'
import * as names from './names.js'
import { Scratch } from './scratch.js'

/** Characters of addresses and descriptions that are decoded and cleaned; what comes after these counts as written. */
const MOST_CARE = 2 ** 17
/** Names of characters that are looked up in one page. */
const MOST_NAMES = 50_000

/** What stands before a note, so that a description is not taken for an address. */
const ADDRESS = 1
const WORDS = 2

/** What a page loads for its looks or its speed. Its address changes with each edition of the site's software. */
const LOADED = /\b(?:stylesheet|preload|modulepreload|prefetch|prerender|preconnect|icon|manifest)\b/i
const SHOWS_VALUE = /^(?:submit|button|reset)$/i
const TELLING_META = /^(?:description|robots)$/i
const REFRESH = /^refresh$/i

const words = new Scratch()
const notes = new Scratch()

/**
 * Reads markup into a buffer that is used again for the next page: the canonical content of this one stands in it from
 * 0 to the number that is returned.
 */
export function readCanonical(html: string, isXml: boolean): { codes: Uint16Array; length: number } {
  // Not the page's bytes, although those of ASCII are its characters: loops that meet arrays of two kinds take twice
  // as long as this copy.
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

/** Methods that take a position step over what stands there and return the position after it, or -1 at the end. */
class CanonicalReader {
  readonly #tags: TagReader
  readonly #attributes: at.NotedAttributes
  #tagsLeft = MOST_TAGS
  #namesLeft = MOST_NAMES
  #careLeft = MOST_CARE
  /** Open templates, and open drawings: in those a tag may close itself. */
  #templates = 0
  #drawings = 0
  /** Within a time that is told twice, or one that means nothing: its text does not count. */
  #isHushed = false
  #isInEntry = false

  constructor(
    readonly html: string,
    readonly codes: Codes,
    readonly isXml: boolean,
  ) {
    this.#tags = new TagReader(html, codes)
    this.#attributes = new at.NotedAttributes(html, codes)
  }

  run(): void {
    const { codes } = this
    let position = 0
    while (position !== -1) {
      const isSilent = this.#isHushed || this.#templates > 0
      position = isSilent ? this.#silence(position) : this.#text(position)
      if (position >= codes.length) return
      position = codes[position] === LESS_THAN ? this.#markup(position) : this.#reference(position)
    }
  }

  /** Up to what looks like markup or a reference. */
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

  #silence(start: number): number {
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
    if (!this.#isHushed)
      for (let position = start; position < close; position++) words.word(this.codes[position]!)
    return close + ']]>'.length
  }

  #startTag(start: number): number {
    const { codes } = this
    let key = 0
    let end = start
    for (; end < codes.length && !endsTagName(codes[end]!); end++) key = extendKey(key, codes[end]!)
    if (this.isXml) return this.#xmlTag(names.XML_TAGS.get(key), end)
    const kind = names.TAGS.get(key)
    switch (kind) {
      case undefined:
        this.#gap()
        return this.#tags.skip(end)
      case names.WITHIN:
        return this.#tags.skip(end)
      case names.A: {
        const after = this.#tags.seek(end, HREF)
        if (after !== -1) this.#noteAddress(this.#tags.linkStart, this.#tags.linkEnd)
        return after
      }
      case names.SCRIPT: {
        const after = this.#tags.skip(end)
        return after === -1 || this.#closesItself ? after : endOfScript(this.html, after)
      }
      case names.TEMPLATE:
        this.#templates++
        return this.#tags.skip(end)
      case names.SVG: {
        this.#gap()
        const after = this.#tags.skip(end)
        if (!this.#tags.selfClosing) this.#drawings++
        return after
      }
      case names.UNREAD:
      case names.VERBATIM:
        return this.#rawText(this.#tags.skip(end), key, kind === names.VERBATIM)
      default:
        return this.#tellingTag(kind, key, end)
    }
  }

  /** A tag with attributes that count. */
  #tellingTag(kind: number, key: number, end: number): number {
    const after = this.#attributes.read(end)
    if (after === -1) return -1
    switch (kind) {
      case names.REFERENCE:
        if (!LOADED.test(this.#written(at.REL))) this.#noteAddressOf(at.HREF)
        this.#noteWords(at.ALT)
        return after
      case names.SHOWN:
        this.#gap()
        this.#noteAddressOf(at.SRC)
        this.#noteWords(at.ALT)
        return names.RAW_NAMES.has(key) ? this.#rawText(after, key, false) : after
      case names.META:
        this.#meta()
        return after
      case names.TIME:
        this.#isHushed = this.#attributes.starts[at.DATETIME] !== -1
        this.#noteWords(at.DATETIME)
        return after
      default:
        this.#input()
        return after
    }
  }

  #meta(): void {
    if (TELLING_META.test(this.#written(at.NAME))) this.#noteWords(at.CONTENT)
    if (!REFRESH.test(this.#written(at.HTTP_EQUIV))) return
    const url = refreshUrl(decodeAttribute(this.#written(at.CONTENT)))
    if (url !== undefined) this.#note(ADDRESS, stableAddress(url))
  }

  /** Hidden ones hold keys that are new at each visit, and others what somebody may type: only buttons are read. */
  #input(): void {
    const type = this.#written(at.TYPE)
    if (SHOWS_VALUE.test(type)) this.#noteWords(at.VALUE)
    else this.#noteWords(at.ALT)
  }

  #xmlTag(kind: number | undefined, end: number): number {
    words.gap()
    const after = this.#attributes.read(end)
    if (after === -1) return -1
    for (const place of [at.HREF, at.SRC, at.URL]) this.#noteAddressOf(place)
    const opens = !this.#attributes.selfClosing
    if (kind === names.ENTRY && opens) this.#isInEntry = true
    this.#isHushed = opens && (kind === names.MADE_AT || (kind === names.DATED && !this.#isInEntry))
    return after
  }

  #endTag(start: number): number {
    const { codes } = this
    let key = 0
    let end = start
    for (; end < codes.length && !endsTagName(codes[end]!); end++) key = extendKey(key, codes[end]!)
    if (this.isXml) {
      this.#gap()
      if (names.XML_TAGS.get(key) === names.ENTRY) this.#isInEntry = false
      return this.#tags.skip(end)
    }
    switch (names.TAGS.get(key)) {
      case names.TIME:
        this.#isHushed = false
        break
      case names.TEMPLATE:
        if (this.#templates > 0) this.#templates--
        break
      case names.SVG:
        if (this.#drawings > 0) this.#drawings--
        this.#gap()
        break
      case undefined:
      case names.VERBATIM:
        this.#gap()
    }
    return this.#tags.skip(end)
  }

  /** A word ends, and with it a time that has no end tag. */
  #gap(): void {
    if (this.#templates === 0) words.gap()
    this.#isHushed = false
  }

  /** Raw text that begins at `start` ends at its end tag, which is read as any other. */
  #rawText(start: number, key: number, isRead: boolean): number {
    if (start === -1 || this.#closesItself) return start
    if (isRead) this.#gap()
    const close = endOfRawText(this.html, start, names.RAW_NAMES.get(key)!)
    if (isRead && this.#templates === 0) {
      words.text(this.#careful(start, close === -1 ? this.html.length : close, decodeText))
    }
    return close
  }

  /** Nothing but a drawing's tags can. */
  get #closesItself(): boolean {
    return this.#drawings > 0 && this.#tags.selfClosing
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

  /** The value of an attribute as written; empty where there is none, and its beginning where it is long. */
  #written(place: number): string {
    const start = this.#attributes.starts[place]!
    return start === -1 ? '' : this.html.slice(start, Math.min(this.#attributes.ends[place]!, start + 1024))
  }

  #noteAddressOf(place: number): void {
    this.#noteAddress(this.#attributes.starts[place]!, this.#attributes.ends[place]!)
  }

  /** Nearly all addresses are plain, and copied without a string being made of them. */
  #noteAddress(start: number, end: number): void {
    if (start === -1 || this.#templates > 0 || hasWordAt(this.codes, start, 'javascript:')) return
    if (!notes.plainAddress(ADDRESS, this.codes, start, end)) {
      this.#note(ADDRESS, this.#careful(start, end, addressOf))
    }
  }

  #noteWords(place: number): void {
    const start = this.#attributes.starts[place]!
    if (start === -1 || this.#templates > 0) return
    notes.add(WORDS)
    notes.text(this.#careful(start, this.#attributes.ends[place]!, wordsOf))
  }

  #note(mark: number, value: string): void {
    if (this.#templates > 0) return
    notes.add(mark)
    for (let position = 0; position < value.length; position++) notes.add(value.charCodeAt(position))
  }

  /** What `clean` makes of a stretch of the page, as long as the page has not had its share of that. */
  #careful(start: number, end: number, clean: (written: string) => string): string {
    this.#careLeft -= end - start
    const written = this.html.slice(start, end)
    return this.#careLeft < 0 ? written : clean(written)
  }
}
