/**
 * The link scanner: one pass over a page that finds its links, title, base and robots meta elements without building a
 * tree. It runs for every page of a crawl, so it jumps from `<` to `<`, decides by the tag name whether a tag matters,
 * and reads the attributes of those only. It finds what a browser's tree holds with scripting disabled; differential
 * tests against parse5 prove it and list the few cases that need a tree.
 *
 * Positions only move forward: the time is linear in the length of the page, whatever it contains.
 */

import { BANG, endsTagName, GREATER_THAN, isLetter, LESS_THAN, QUESTION_MARK, SLASH } from './characters.js'
import { type Codes, codesOf, type EncodedText } from './codes.js'
import { decodeText, normalizeInput } from './entities.js'
import { ForeignContent } from './foreign-content.js'
import { FoundLinks, Scanned } from './found-links.js'
import { refreshUrl } from './meta-refresh.js'
import { endOfComment, endOfRawText, endOfScript } from './raw-text.js'
import * as tags from './tag-names.js'
import {
  CONTENT,
  ENCODING,
  FONT_STYLE,
  HREF,
  HTTP_EQUIV,
  NAME,
  SRC,
  TagReader,
  XLINK_HREF,
} from './tag-reader.js'

/** What a page says about itself, and its links. */
export interface Scan {
  /**
   * In document order, as written; character references are decoded on access: `a`, `area`, `link` (href; for an `a` in
   * SVG also `xlink:href`), `iframe`, `frame` (src) and `meta-refresh`. Links in a `<template>` are included, because
   * scripts insert them into the page. The canonical URL is a `link` whose rel is `canonical`.
   */
  readonly links: FoundLinks
  /** The href of the first `<base>` with one. */
  readonly base: string | undefined
  /** Content of the first `<title>`, as written: see `titleOf`. */
  readonly rawTitle: string | undefined
  /** Content of `<meta name="robots">` and of those that name the product, joined with commas. */
  readonly robots: string | undefined
}

/** Options for pages other than plain HTML in UTF-8. */
export interface ScanOptions {
  /** Salt of link fingerprints: see `FoundLinks`. */
  readonly salt?: number | undefined
  /** XHTML that is not well-formed: HTML's rules apply, but `/>` closes an element and CDATA sections are text. */
  readonly isXhtml?: boolean
  /** If the page is scanned as bytes that are not ASCII: `html` has one character for each. */
  readonly encoded?: EncodedText | undefined
}

const PLAIN: ScanOptions = {}

/**
 * Scans a page.
 *
 * Strings in the result may be slices, which keep all of `html` alive. That is fine for a scan, which is used and
 * dropped; anything that outlives the page (a URL in the frontier) must be a copy, and resolving a link makes one.
 *
 * `codes` are the character codes of the page, if the caller has them already. `product` is the lower-case name by
 * which pages address this crawler in particular.
 *
 * @example
 * [...scan('<title>Home</title><a href="/a?x=1&amp;y=2" rel=next>').links]
 * // [{ href: '/a?x=1&y=2', tag: 'a', rel: 'next' }]
 */
export function scan(
  html: string,
  codes: Codes = codesOf(html),
  product?: string,
  options: ScanOptions = PLAIN,
): Scan {
  return new Scanner(html, codes, product, options).run()
}

/** Whether a space-separated list, such as the value of `rel`, contains a token; case-insensitive. */
export function hasToken(list: string, token: string): boolean {
  return list
    .toLowerCase()
    .split(/[\t\n\f\r ]+/)
    .includes(token)
}

/** Returned instead of a position if the page ends inside a tag, comment or raw text. */
export const END = -1

/**
 * Methods that take a position and return a number skip one construct of markup: they return the position after it, or
 * `END`.
 */
export class Scanner {
  protected readonly links: FoundLinks
  private base: string | undefined
  private title: string | undefined
  private robots: string | undefined

  protected readonly tag: TagReader
  private readonly isXhtml: boolean
  private tagsLeft = tags.MOST_TAGS
  private foreign = new ForeignContent()
  /** The foreign content around each open `<template>`: an end tag inside cannot reach beyond the template. */
  private readonly aroundTemplates: ForeignContent[] = []

  constructor(
    protected readonly html: string,
    protected readonly codes: Codes,
    private readonly product: string | undefined,
    { salt, isXhtml = false, encoded }: ScanOptions,
  ) {
    this.tag = new TagReader(html, codes, encoded)
    this.links = new FoundLinks(this.tag, codes, salt)
    this.isXhtml = isXhtml
  }

  run(): Scan {
    const { html, codes } = this
    // A `<` at the end of the page is text, so there is always a next character.
    const last = html.length - 1
    let at = 0
    while (at !== END && at < last && --this.tagsLeft >= 0) {
      if (codes[at] !== LESS_THAN) {
        at = html.indexOf('<', at)
        if (at === -1 || at === last) break
      }
      const next = codes[at + 1]!
      if (isLetter(next)) at = this.startTag(at + 1)
      else if (next === SLASH) at = this.endTag(at + 2)
      else if (next === BANG) at = this.declaration(at)
      else if (next === QUESTION_MARK) at = this.afterGreaterThan(at + 2)
      else at++
    }
    return new Scanned(this.links.complete(), this.base, this.title, this.robots)
  }

  protected startTag(start: number): number {
    const { codes } = this
    let end = start + 1
    while (end < codes.length && !endsTagName(codes[end]!)) end++
    if (this.foreign.entered) return this.startTagNearForeign(start, end)
    const tag = tags.tagNamed(codes, start, end)
    return tag === tags.OTHER ? this.tag.skip(end) : this.htmlTag(tag, end)
  }

  /** `end` is the end of the tag name. */
  private htmlTag(tag: number, end: number): number {
    switch (tag) {
      case tags.OTHER:
        return this.tag.skip(end)
      case tags.A:
      case tags.AREA:
      case tags.LINK:
        return this.linkTag(tag, end, HREF)
      case tags.FRAME:
        return this.linkTag(tag, end, SRC)
      case tags.IFRAME:
        return this.afterRawText(this.linkTag(tag, end, SRC), 'iframe')
      case tags.SCRIPT:
        return this.afterScript(this.tag.skip(end))
      case tags.STYLE:
        return this.afterRawText(this.tag.skip(end), 'style')
      case tags.TITLE:
        return this.titleTag(end)
      case tags.TEXTAREA:
        return this.afterRawText(this.tag.skip(end), 'textarea')
      case tags.XMP:
        return this.afterRawText(this.tag.skip(end), 'xmp')
      case tags.NOEMBED:
        return this.afterRawText(this.tag.skip(end), 'noembed')
      case tags.NOFRAMES:
        return this.afterRawText(this.tag.skip(end), 'noframes')
      case tags.PLAINTEXT:
        return this.afterPlaintext(this.tag.skip(end))
      case tags.BASE:
        return this.baseTag(end)
      case tags.META:
        return this.metaTag(end)
      case tags.TEMPLATE:
        return this.templateTag(end)
      case tags.SVG:
        return this.foreignRoot('svg', end)
      case tags.MATH:
        return this.foreignRoot('math', end)
      default:
        return END
    }
  }

  private linkTag(tag: number, end: number, attribute: number): number {
    const after = this.tag.seek(end, attribute)
    if (after !== END && this.tag.hasLink) this.links.push(tag, end)
    return after
  }

  private svgLinkTag(end: number): number {
    const after = this.tag.read(end, HREF | XLINK_HREF)
    if (after !== END && this.tag.hasLink) this.links.push(tags.SVG_A, end)
    return after
  }

  private baseTag(end: number): number {
    this.tagsLeft -= tags.COST_OF_RARE
    const after = this.tag.read(end, HREF)
    if (after !== END && this.inDocument) this.base ??= this.tag.link
    return after
  }

  private metaTag(end: number): number {
    this.tagsLeft -= tags.COST_OF_RARE
    const after = this.tag.read(end, NAME | CONTENT | HTTP_EQUIV)
    const { name, content, httpEquiv } = this.tag
    if (after === END || content === undefined) return after
    if (httpEquiv?.toLowerCase() === 'refresh') {
      if (refreshUrl(content) !== undefined) this.links.push(tags.META, end)
    }
    if (name !== undefined && this.isOurName(name.toLowerCase()) && this.inDocument) {
      this.robots = this.robots === undefined ? content : `${this.robots},${content}`
    }
    return after
  }

  private isOurName(name: string): boolean {
    return name === 'robots' || name === this.product
  }

  private titleTag(end: number): number {
    const start = this.tag.skip(end)
    if (start === END) return END
    if (this.isEmptyTag) {
      if (this.inDocument) this.title ??= ''
      return start
    }
    const close = endOfRawText(this.html, start, 'title')
    if (this.title === undefined && this.inDocument) {
      this.title = this.tag.text(start, close === -1 ? this.html.length : close)
    }
    return close === -1 ? END : this.tag.skip(close + '</title'.length)
  }

  private templateTag(end: number): number {
    const after = this.tag.skip(end)
    if (after !== END && !this.isEmptyTag) {
      this.tagsLeft -= tags.COST_OF_RARE
      this.aroundTemplates.push(this.foreign)
      this.foreign = new ForeignContent()
    }
    return after
  }

  /** The content of a template is not part of the document: its links may be followed, its title is not the page's. */
  protected get inDocument(): boolean {
    return this.aroundTemplates.length === 0
  }

  /** Whether the last tag is a complete element. In HTML, the slash in `<script/>` is ignored. */
  private get isEmptyTag(): boolean {
    return this.isXhtml && this.tag.selfClosing
  }

  private afterPlaintext(start: number): number {
    return start === END || this.isEmptyTag ? start : this.html.length
  }

  private afterRawText(start: number, name: string): number {
    if (start === END || this.isEmptyTag) return start
    const close = endOfRawText(this.html, start, name)
    return close === -1 ? END : this.tag.skip(close + 2 + name.length)
  }

  private afterScript(start: number): number {
    if (start === END || this.isEmptyTag) return start
    const close = endOfScript(this.html, start)
    return close === -1 ? END : this.tag.skip(close + '</script'.length)
  }

  private foreignRoot(language: 'svg' | 'math', end: number): number {
    const after = this.tag.skip(end)
    if (after !== END && !this.tag.selfClosing) this.foreign.enter(language)
    return after
  }

  /** A start tag inside SVG or MathML. These are rare, so their names become strings. */
  private startTagNearForeign(start: number, end: number): number {
    this.tagsLeft -= tags.COST_OF_RARE
    const name = this.html.slice(start, end).toLowerCase()
    if (this.foreign.foreign) {
      if (!this.isHtmlInForeign(name, end)) return this.foreignTag(name, end)
      if (name !== 'svg') this.foreign.breakOut()
    }
    const tag = tags.tagNamed(this.codes, start, end)
    if (tag === tags.OTHER || tag === tags.A) this.foreign.openHtml(name)
    return this.htmlTag(tag, end)
  }

  private isHtmlInForeign(name: string, end: number): boolean {
    if (name === 'svg') return this.foreign.beginsSvg
    if (name !== 'font') return this.foreign.breaksOut(name)
    return this.tag.read(end, FONT_STYLE) !== END && this.tag.fontStyle !== undefined
  }

  private foreignTag(name: string, end: number): number {
    let encoding: string | undefined
    let after: number
    if (name === 'a') {
      after = this.foreign.isSvg ? this.svgLinkTag(end) : this.linkTag(tags.A, end, HREF)
    } else {
      after = this.tag.read(end, ENCODING)
      encoding = this.tag.encoding
    }
    if (after !== END && !this.tag.selfClosing) this.foreign.openElement(name, encoding)
    return after
  }

  /** `start` is the position after `</`. */
  protected endTag(start: number): number {
    const { html, codes } = this
    if (!isLetter(codes[start]!)) {
      // `</>` is nothing, `</ anything>` is a bogus comment, `</` at the end is text: all end at the next `>`.
      return this.afterGreaterThan(start)
    }
    let end = start + 1
    while (end < codes.length && !endsTagName(codes[end]!)) end++
    const isNested = this.foreign.entered || this.aroundTemplates.length > 0
    // Nearly all end tags.
    if (codes[end] === GREATER_THAN && !isNested) return end + 1
    const after = this.tag.skip(end)
    if (after !== END && isNested) {
      const name = html.slice(start, end).toLowerCase()
      if (name === 'template') this.foreign = this.aroundTemplates.pop() ?? this.foreign
      else this.foreign.close(name)
    }
    return after
  }

  /** A comment, a CDATA section, a doctype or a bogus comment. */
  protected declaration(at: number): number {
    const html = this.html
    if (html.startsWith('--', at + 2)) return endOfComment(html, at)
    if ((this.foreign.allowsCdata || this.isXhtml) && html.startsWith('[CDATA[', at + 2)) {
      const close = html.indexOf(']]>', at + '<![CDATA['.length)
      return close === -1 ? END : close + 3
    }
    return this.afterGreaterThan(at + 2)
  }

  protected afterGreaterThan(from: number): number {
    const close = this.html.indexOf('>', from)
    return close === -1 ? END : close + 1
  }
}

/** The title, decoded, with white space collapsed. Separate from the scan because few crawls use it. */
export function titleOf({ rawTitle }: Scan): string | undefined {
  if (rawTitle === undefined) return undefined
  return decodeText(normalizeInput(rawTitle.slice(0, tags.LONGEST_TITLE)))
    .replace(/[\t\n\f\r ]+/g, ' ')
    .replace(/^ | $/g, '')
}
