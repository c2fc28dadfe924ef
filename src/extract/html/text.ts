/**
 * The readable text of a page, for search and for reading along: tags gone, scripts and styles gone, entities decoded,
 * white space collapsed, a line break where a block ends. One pass without a tree, because indexing asks it of
 * every page; it goes from character to character, so that no page, however odd, costs more than its size.
 */

import {
  AMPERSAND,
  beginsMarkup,
  beginsReference,
  COLON,
  endsTagName,
  HASH,
  isBlank,
  isLetter,
  LESS_THAN,
  LINE_FEED,
  SEMICOLON,
  SLASH,
  SPACE,
} from './characters.js'
import { type Codes, codesOf, textOf } from './codes.js'
import { codePointOf, endOfNamed, endOfNumber, namedCharacters } from './entities.js'
import { extendKey, keyOf } from './name-keys.js'
import { endOfComment, endOfRawText, endOfScript } from './raw-text.js'
import { MOST_TAGS } from './tag-names.js'
import { TagReader } from './tag-reader.js'

/** Elements whose content nobody reads. */
const UNREAD = ['style', 'xmp', 'iframe', 'noembed', 'noframes', 'textarea', 'title', 'script']
/** Elements that stand within a line; all others end one. */
const INLINE =
  'a abbr acronym b bdi bdo big cite code data del dfn em font i ins kbd label mark nobr q rb ruby s samp small span strike strong sub sup time tt u var wbr'.split(
    ' ',
  )
/** By the name's key: what is not read, or '' for what stands within a line. */
const TAGS = new Map([
  ...UNREAD.map((name) => [keyOf(name), name] as const),
  ...INLINE.map((name) => [keyOf(name), ''] as const),
])

/** UTF-16 units that are read of a page: more than most books have. A unit takes up to 10 ns. */
const MOST_CHARACTERS = 2 * 1024 * 1024
/**
 * Names looked up in one page, but for the few that every page uses. A look-up takes up to 0.4 µs where the name is
 * none; beyond this number references stay as they are written.
 */
const MOST_NAMES = 50_000

const CDATA = '<![CDATA['
const CDATA_END = ']]>'

/**
 * In XHTML a tag that ends in `/>` is a whole element, names may have a prefix, and CDATA holds text.
 *
 * @example readableText('<p>Fish &amp; chips</p><script>x</script><p>Tea') // 'Fish & chips\nTea'
 */
export function readableText(html: string, isXhtml = false): string {
  return new TextReader(html.slice(0, MOST_CHARACTERS), isXhtml).run()
}

/** Methods that take a position step over what stands there and return the position after it, or -1 at the end. */
class TextReader {
  readonly #codes: Codes
  readonly #tags: TagReader
  /** Every reference is longer than what it stands for, and every tag than a line break: the text fits in. */
  readonly #text: Uint16Array
  #length = 0
  /** What is to be written before the next word: nothing, a blank, or a line break. */
  #gap = 0
  #tagsLeft = MOST_TAGS
  #namesLeft = MOST_NAMES

  constructor(
    readonly html: string,
    readonly isXhtml: boolean,
  ) {
    this.#codes = codesOf(html)
    this.#tags = new TagReader(html, this.#codes)
    this.#text = new Uint16Array(html.length)
  }

  run(): string {
    const codes = this.#codes
    let at = this.#words(0)
    while (at < codes.length) {
      const after = codes[at] === LESS_THAN ? this.#markup(at) : this.#reference(at)
      if (after < 0) break
      at = this.#words(after)
    }
    return textOf(this.#text.subarray(0, this.#length))
  }

  /**
   * Up to what looks like markup or a reference. Nearly all of a text passes here, so that what `put` does is done
   * without leaving the loop.
   */
  #words(start: number): number {
    const codes = this.#codes
    const text = this.#text
    let length = this.#length
    let gap = this.#gap
    let at = start
    for (; at < codes.length; at++) {
      const code = codes[at]!
      if (isBlank(code)) {
        if (gap === 0) gap = SPACE
        continue
      }
      if (code === LESS_THAN && beginsMarkup(codes[at + 1])) break
      if (code === AMPERSAND && beginsReference(codes[at + 1])) break
      if (gap !== 0) {
        if (length > 0) text[length++] = gap
        gap = 0
      }
      text[length++] = code
    }
    this.#length = length
    this.#gap = gap
    return at
  }

  #put(code: number): void {
    if (isBlank(code)) {
      if (this.#gap === 0) this.#gap = SPACE
      return
    }
    if (this.#gap !== 0) {
      if (this.#length > 0) this.#text[this.#length++] = this.#gap
      this.#gap = 0
    }
    this.#text[this.#length++] = code
  }

  #putCodePoint(code: number): void {
    if (code > 0xffff) {
      this.#put(0xd7c0 + (code >> 10))
      this.#put(0xdc00 + (code & 0x3ff))
    } else {
      this.#put(code)
    }
  }

  #markup(at: number): number {
    if (--this.#tagsLeft < 0) return -1
    const { html } = this
    const codes = this.#codes
    const next = codes[at + 1]!
    if (isLetter(next)) return this.#tag(at + 1, false)
    if (next === SLASH && isLetter(codes[at + 2] ?? 0)) return this.#tag(at + 2, true)
    if (html.startsWith('<!--', at)) return endOfComment(html, at)
    if (this.isXhtml && html.startsWith(CDATA, at)) return this.#verbatim(at + CDATA.length)
    // A doctype, or what browsers take for a comment: `<?xml …>`, `</ …>`, `</3>`.
    return html.indexOf('>', at) + 1 || -1
  }

  #tag(start: number, isEnd: boolean): number {
    const { html } = this
    const codes = this.#codes
    let end = start
    let key = 0
    for (; end < codes.length && !endsTagName(codes[end]!); end++) {
      key = this.isXhtml && codes[end] === COLON ? 0 : extendKey(key, codes[end]!)
    }
    const name = TAGS.get(key)
    if (name !== '') this.#gap = LINE_FEED
    const after = this.#tags.skip(end)
    if (!name || isEnd || after < 0) return after
    if (this.isXhtml) return this.#tags.selfClosing ? after : this.#afterUnread(html.slice(start, end), after)
    return name === 'script' ? endOfScript(html, after) : endOfRawText(html, after, name)
  }

  /** An end tag that stands in CDATA is text. */
  #afterUnread(name: string, from: number): number {
    const { html } = this
    // Each search begins where the one before ended, so that all of them read the text once.
    let close = html.indexOf(`</${name}`, from)
    let cdata = html.indexOf(CDATA, from)
    while (close !== -1 && cdata !== -1 && cdata < close) {
      const end = html.indexOf(CDATA_END, cdata)
      if (end === -1) return -1
      if (end > close) close = html.indexOf(`</${name}`, end)
      cdata = html.indexOf(CDATA, end)
    }
    return close
  }

  #verbatim(start: number): number {
    const end = this.html.indexOf(CDATA_END, start)
    const last = end === -1 ? this.#codes.length : end
    for (let at = start; at < last; at++) this.#put(this.#codes[at]!)
    return end === -1 ? -1 : end + CDATA_END.length
  }

  #reference(at: number): number {
    const { html } = this
    const start = at + 1
    if (this.#codes[start] === HASH) {
      const end = endOfNumber(html, start + 1)
      if (end !== -1) {
        this.#putCodePoint(codePointOf(html, start + 1, end))
        return this.#afterSemicolon(end)
      }
    } else {
      const common = COMMON[this.#codes[start]!]
      if (common !== undefined && html.startsWith(common.name, start)) {
        this.#put(common.code)
        return start + common.name.length
      }
      const end = --this.#namesLeft >= 0 ? endOfNamed(html, start, false) : -1
      if (end !== -1) {
        const characters = namedCharacters(html, start, end)
        for (let k = 0; k < characters.length; k++) this.#put(characters.charCodeAt(k))
        return this.#afterSemicolon(end)
      }
    }
    this.#put(AMPERSAND)
    return start
  }

  #afterSemicolon(end: number): number {
    return this.#codes[end] === SEMICOLON ? end + 1 : end
  }
}

/** Nearly all references, by the first letter of their names: told without making a string of the name. */
const COMMON: Readonly<Record<number, { readonly name: string; readonly code: number }>> = Object.fromEntries(
  ['amp;&', 'lt;<', 'gt;>', 'quot;"', 'nbsp;\xa0'].map((each) => [
    each.charCodeAt(0),
    { name: each.slice(0, -1), code: each.charCodeAt(each.length - 1) },
  ]),
)
