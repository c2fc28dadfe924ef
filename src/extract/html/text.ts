/**
 * The readable text of a page: without tags, scripts and styles, character references decoded, white space collapsed
 * except in `<pre>`, with a line break where a block ends. One pass without a tree, because indexing needs it for every page; it moves from
 * character to character, so the time is linear in the size of the page, whatever it contains.
 */

import {
  AMPERSAND,
  beginsMarkup,
  beginsReference,
  CARRIAGE_RETURN,
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
  TAB,
} from './characters.js'
import { type Codes, codesOf, textOf } from './codes.js'
import { codePointOf, endOfNamed, endOfNumber, namedCharacters } from './entities.js'
import { extendKey, keyOf } from './name-keys.js'
import { endOfComment, endOfRawText, endOfScript } from './raw-text.js'
import { MOST_TAGS } from './tag-names.js'
import { TagReader } from './tag-reader.js'

/** Elements whose content is not readable text. */
const SKIPPED = ['style', 'xmp', 'iframe', 'noembed', 'noframes', 'textarea', 'title', 'script']
/** Inline elements; all others end a line. */
const INLINE =
  'a abbr acronym b bdi bdo big cite code data del dfn em font i ins kbd label mark nobr q rb ruby s samp small span strike strong sub sup time tt u var wbr'.split(
    ' ',
  )
/** Elements in which white space stays as written. */
const VERBATIM = new Set(['pre', 'listing'].map(keyOf))
const BR = keyOf('br')
/** By key of the name: the name of an element whose content is skipped, or '' for an inline element. */
const TAGS = new Map([
  ...SKIPPED.map((name) => [keyOf(name), name] as const),
  ...INLINE.map((name) => [keyOf(name), ''] as const),
])

/** UTF-16 units to read: more than most books have. One takes up to 10 ns. */
const MOST_CHARACTERS = 2 * 1024 * 1024
/**
 * Names of character references to look up per page, apart from the few common ones. Looking up an unknown name takes up
 * to 0.4 µs; beyond this number references stay as they are written.
 */
const MOST_NAMES = 50_000

const CDATA = '<![CDATA['
const CDATA_END = ']]>'

/**
 * The readable text of HTML or XHTML. In XHTML, `/>` closes an element, names may have a prefix, and CDATA is text.
 *
 * @example readableText('<p>Fish &amp; chips</p><script>x</script><p>Tea') // 'Fish & chips\nTea'
 */
export function readableText(html: string, isXhtml = false): string {
  return new TextReader(html.slice(0, MOST_CHARACTERS), isXhtml).run()
}

/** Methods that take a position skip what is there and return the position after it, or -1 at the end. */
class TextReader {
  readonly #codes: Codes
  readonly #tags: TagReader
  /** Large enough: a reference is longer than what it stands for, and a tag longer than a line break. */
  readonly #text: Uint16Array
  #length = 0
  /** What to write before the next word: nothing, a space or a line break. */
  #gap = 0
  /** Number of open `<pre>`. */
  #verbatim = 0
  /** Whether a line break here is not part of the text, because it is the first character of a `<pre>`. */
  #skipsLineFeed = false
  /** In a `<pre>`: length of the text up to its last character that is not white space. */
  #solid = 0
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
    if (this.#verbatim > 0) this.#endVerbatim()
    return textOf(this.#text.subarray(0, this.#length))
  }

  /**
   * Copies text up to the next markup or reference. Nearly all text passes through here, so `put` is inlined into the
   * loop.
   */
  #words(start: number): number {
    if (this.#verbatim > 0) return this.#verbatimWords(start)
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

  /** The same in a `<pre>`. */
  #verbatimWords(start: number): number {
    const codes = this.#codes
    let at = start
    for (; at < codes.length; at++) {
      const code = codes[at]!
      if (code === LESS_THAN && beginsMarkup(codes[at + 1])) break
      if (code === AMPERSAND && beginsReference(codes[at + 1])) break
      // A line ends in CR, LF or both.
      if (code !== CARRIAGE_RETURN) this.#putVerbatim(code)
      else if (codes[at + 1] !== LINE_FEED) this.#putVerbatim(LINE_FEED)
    }
    return at
  }

  #putVerbatim(code: number): void {
    const skips = this.#skipsLineFeed && code === LINE_FEED
    this.#skipsLineFeed = false
    if (skips) return
    if (this.#gap !== 0) {
      if (this.#length > 0) this.#text[this.#length++] = this.#gap
      this.#gap = 0
    }
    const blank = isBlank(code)
    this.#text[this.#length++] = blank && code !== LINE_FEED && code !== TAB ? SPACE : code
    if (!blank) this.#solid = this.#length
  }

  /** White space at the end of a `<pre>` is not kept. */
  #endVerbatim(): void {
    this.#length = this.#solid
    this.#gap = LINE_FEED
  }

  #put(code: number): void {
    if (this.#verbatim > 0) {
      this.#putVerbatim(code)
      return
    }
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
    if (this.isXhtml && html.startsWith(CDATA, at)) return this.#cdata(at + CDATA.length)
    // A doctype or a bogus comment: `<?xml …>`, `</ …>`, `</3>`.
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
    if (name !== '') this.#block(key, isEnd)
    const after = this.#tags.skip(end)
    if (!name || isEnd || after < 0) return after
    if (this.isXhtml) return this.#tags.selfClosing ? after : this.#afterUnread(html.slice(start, end), after)
    return name === 'script' ? endOfScript(html, after) : endOfRawText(html, after, name)
  }

  #block(key: number, isEnd: boolean): void {
    const isVerbatim = VERBATIM.has(key)
    if (this.#verbatim > 0) {
      this.#skipsLineFeed = false
      if (key === BR) {
        this.#putVerbatim(LINE_FEED)
        return
      }
      this.#gap = LINE_FEED
      if (isVerbatim) this.#verbatim += isEnd ? -1 : 1
      if (this.#verbatim === 0) this.#endVerbatim()
      return
    }
    this.#gap = LINE_FEED
    if (isVerbatim && !isEnd) {
      this.#verbatim = 1
      this.#skipsLineFeed = true
      this.#solid = this.#length
    }
  }

  /** In CDATA, an end tag is text. */
  #afterUnread(name: string, from: number): number {
    const { html } = this
    // Each search starts where the previous one ended, so together they read the text once.
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

  #cdata(start: number): number {
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

/** The most common references, by the first letter of the name, recognized without making a string of it. */
const COMMON: Readonly<Record<number, { readonly name: string; readonly code: number }>> = Object.fromEntries(
  ['amp;&', 'lt;<', 'gt;>', 'quot;"', 'nbsp;\xa0'].map((each) => [
    each.charCodeAt(0),
    { name: each.slice(0, -1), code: each.charCodeAt(each.length - 1) },
  ]),
)
