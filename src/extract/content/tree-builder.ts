/**
 * Builds the light tree of a page in one pass. It closes elements whose end tags are omitted or misplaced as browsers do
 * (`<p>a<p>b`, `<li>`, table cells), as far as the content of elements depends on it; it does not repair misnested
 * formatting (`<b><p></b></p>`) and does not move misplaced content out of tables.
 *
 * The time is linear in the size of the page: positions only move forward, and elements are not nested deeper than a limit.
 */

import { KumoError } from '../../errors.js'
import { beginsMarkup, isLetter, SLASH } from '../html/characters.js'
import { codesOf } from '../html/codes.js'
import { decodeText, normalizeInput } from '../html/entities.js'
import { isVoid } from '../html/foreign-content.js'
import { endOfComment, endOfRawText, endOfScript } from '../html/raw-text.js'
import { ReferenceBudget } from './reference-budget.js'
import { TagScanner } from './tag-scanner.js'
import { ContentElement } from './tree.js'

/** Nesting depth, as in Blink; pages written by people stay below 100. Deeper elements become siblings. */
const MOST_DEPTH = 512
/** Elements and texts: five times as many as the largest pages written by people have. They take about 0.2 s. */
const MOST_NODES = 250_000
/** In nodes. */
const COST_OF_END_TAG = 0.25
/** UTF-16 units: the default body limit. It matters only if that limit is raised. */
const MOST_CHARACTERS = 8 * 1024 * 1024

const words = (text: string): ReadonlySet<string> => new Set(text.split(' '))

/** Content is text up to the end tag. */
const RAW_TEXT = words('style xmp iframe noembed noframes textarea title script')
/** Raw text that is kept. */
const KEPT_RAW_TEXT = words('xmp textarea title')
/** Start tags that end an open paragraph. */
const ENDS_PARAGRAPH = words(
  'address article aside blockquote center details dialog dir div dl fieldset figcaption figure footer form h1 h2 h3 ' +
    'h4 h5 h6 header hgroup hr li dd dt listing main menu nav ol p plaintext pre search section summary table ul xmp',
)
/** Blocks: the end tag of an inline element does not close them. */
const SPECIAL = words(
  [...ENDS_PARAGRAPH].join(' ') +
    ' body button caption col colgroup head html iframe noscript object select table tbody td template tfoot th thead tr',
)
/** End tags do not reach beyond these. */
const SCOPE = words('caption html table td th marquee object template')
const TABLE_SCOPE = words('html table template')
const TABLE_PARTS = words('caption colgroup tbody td tfoot th thead tr table')
const LIST_SCOPE = words('ol ul menu dl')
const HEADINGS = words('h1 h2 h3 h4 h5 h6')
/** Elements of the head; any other start tag ends it. */
const IN_HEAD = words('base basefont bgsound link meta noscript script style template title noframes')
/** White space directly in these is not content. */
const NO_TEXT = words('head table thead tbody tfoot tr ul ol dl menu select colgroup picture')
/** Elements of SVG and MathML that contain HTML. In others, a block ends the drawing or formula. */
const HOLDS_HTML = ['foreignobject', 'desc', 'title', 'annotation-xml']
const BLANK = /^[\t\n\f\r ]*$/

/**
 * The tree of an HTML page.
 *
 * @throws KumoError `KUMO_NO_DOCUMENT` if the page is too large. `property` and `url` are for the message.
 */
export function buildTree(html: string, property: string, url: string): ContentElement {
  if (html.length > MOST_CHARACTERS) throw tooLarge(property, url, `${MOST_CHARACTERS} characters`)
  const tree = new TreeBuilder(html).run()
  if (tree === undefined) throw tooLarge(property, url, `${MOST_NODES} elements and texts`)
  return tree
}

function tooLarge(property: string, url: string, bound: string): KumoError {
  const message = `${property}: ${url} has more than ${bound}, which is too large for a tree; use page.links, page.text or page.body`
  return new KumoError('KUMO_NO_DOCUMENT', message)
}

class TreeBuilder {
  readonly #html: string
  readonly #tags: TagScanner
  readonly #references = new ReferenceBudget()
  readonly #needsNormalizing: boolean
  readonly #root = new ContentElement('#document', [])
  /** Open elements; the root is the first. */
  readonly #open: ContentElement[] = [this.#root]
  #top = this.#root
  /** Number of open elements by name, so that an end tag without a start tag does not search. */
  readonly #openByTag = new Map<string, number>()
  /** Open elements that are not nested because of the depth limit. */
  #beyond = 0
  /** Open `svg` and `math`: there, `/>` closes an element. */
  #foreign = 0
  /** Open headings. */
  #headings = 0
  #nodes = 0
  #skipsLineFeed = false

  constructor(html: string) {
    this.#html = html
    this.#tags = new TagScanner(html, codesOf(html), this.#references)
    this.#needsNormalizing = html.includes('\r') || html.includes('\0')
  }

  /** Undefined if there are too many nodes. */
  run(): ContentElement | undefined {
    const html = this.#html
    let at = 0
    while (at >= 0 && at < html.length) {
      const start = this.#nextMarkup(at)
      if (start > at) this.#text(html.slice(at, start))
      if (start === html.length) break
      at = this.#markup(start)
      if (this.#nodes > MOST_NODES) return undefined
    }
    return this.#root
  }

  #nextMarkup(from: number): number {
    const html = this.#html
    let at = html.indexOf('<', from)
    while (at !== -1 && !beginsMarkup(html.charCodeAt(at + 1))) at = html.indexOf('<', at + 1)
    return at === -1 ? html.length : at
  }

  /** Returns the position after the markup at `at`, or -1 if the page ends first. */
  #markup(at: number): number {
    const html = this.#html
    const next = html.charCodeAt(at + 1)
    if (isLetter(next)) return this.#startTag(at + 1)
    if (next === SLASH && isLetter(html.charCodeAt(at + 2))) {
      const after = this.#tags.read(at + 2)
      if (after !== -1) this.#endTag(this.#tags.name)
      return after
    }
    if (html.startsWith('<!--', at)) return endOfComment(html, at)
    if (this.#foreign > 0 && html.startsWith('<![CDATA[', at)) {
      const end = html.indexOf(']]>', at)
      return end === -1 ? -1 : end + 3
    }
    return html.indexOf('>', at) + 1 || -1
  }

  #text(written: string): void {
    if (this.#skipsLineFeed) {
      this.#skipsLineFeed = false
      if (written.startsWith('\r\n')) written = written.slice(2)
      else if (written.startsWith('\n')) written = written.slice(1)
    }
    if (NO_TEXT.has(this.#top.tag) && BLANK.test(written)) return
    if (this.#needsNormalizing) written = normalizeInput(written)
    this.#addText(this.#references.allows(written) ? decodeText(written) : written)
  }

  #addText(text: string): void {
    const { children } = this.#top
    const last = children.at(-1)
    if (typeof last === 'string') {
      children[children.length - 1] = last + text
      return
    }
    if (text === '') return
    if (this.#top.tag === 'head' && !BLANK.test(text)) this.#pop()
    this.#nodes++
    this.#top.children.push(text)
  }

  #startTag(start: number): number {
    const tags = this.#tags
    const after = tags.read(start)
    if (after === -1) return -1
    const { name } = tags
    this.#skipsLineFeed = false
    if (this.#foreign > 0 && SPECIAL.has(name) && !HOLDS_HTML.some((holder) => this.#isOpen(holder))) {
      this.#leaveForeign()
    }
    if (this.#foreign > 0) {
      this.#insert(name, !tags.selfClosing)
      return after
    }
    if (RAW_TEXT.has(name)) return this.#rawText(name, after)
    this.#closeBefore(name)
    if ((name === 'html' || name === 'body' || name === 'head') && this.#isOpen(name)) return after
    this.#insert(name, !isVoid(name) && !((name === 'svg' || name === 'math') && tags.selfClosing))
    this.#skipsLineFeed = name === 'pre' || name === 'listing'
    return after
  }

  #insert(name: string, staysOpen: boolean): void {
    const element = new ContentElement(name === 'image' ? 'img' : name, this.#tags.attributes)
    this.#nodes++
    this.#top.append(element)
    if (!staysOpen) return
    if (this.#open.length > MOST_DEPTH) {
      this.#beyond++
      return
    }
    if (name === 'svg' || name === 'math') this.#foreign++
    if (HEADINGS.has(name)) this.#headings++
    this.#open.push(element)
    this.#top = element
    this.#openByTag.set(name, (this.#openByTag.get(name) ?? 0) + 1)
  }

  /** An element whose content is text. Scripts are kept only if they hold data. */
  #rawText(name: string, after: number): number {
    const html = this.#html
    const element = new ContentElement(name, this.#tags.attributes)
    const end = name === 'script' ? endOfScript(html, after) : endOfRawText(html, after, name)
    const text = html.slice(after, end === -1 ? html.length : end)
    if (name === 'script') {
      if (!/\bjson\b/i.test(element.attribute('type') ?? ''))
        return end === -1 ? -1 : html.indexOf('>', end) + 1 || -1
      element.children.push(text)
    } else if (KEPT_RAW_TEXT.has(name)) {
      element.children.push(name === 'xmp' || !this.#references.allows(text) ? text : decodeText(text))
    }
    if (name !== 'style') {
      if (!IN_HEAD.has(name)) this.#closeBefore(name)
      this.#nodes += 2
      this.#top.append(element)
    }
    return end === -1 ? -1 : html.indexOf('>', end) + 1 || -1
  }

  /** Closes the elements whose end tags may be omitted before this start tag. */
  #closeBefore(name: string): void {
    if (this.#top.tag === 'head' && !IN_HEAD.has(name)) this.#pop()
    if (ENDS_PARAGRAPH.has(name) && this.#isOpen('p')) this.#closeWithin('p', SCOPE, 'button')
    switch (name) {
      case 'li':
        this.#closeWithin('li', LIST_SCOPE)
        break
      case 'dt':
      case 'dd':
        this.#closeWithin('dt', LIST_SCOPE)
        this.#closeWithin('dd', LIST_SCOPE)
        break
      case 'tr':
        this.#closeWithin('tr', TABLE_SCOPE)
        this.#closeWithin('caption', TABLE_SCOPE)
        break
      case 'td':
      case 'th':
        this.#closeWithin('td', TABLE_SCOPE)
        this.#closeWithin('th', TABLE_SCOPE)
        break
      case 'thead':
      case 'tbody':
      case 'tfoot':
        for (const part of ['caption', 'colgroup', 'thead', 'tbody', 'tfoot'])
          this.#closeWithin(part, TABLE_SCOPE)
        break
      case 'option':
      case 'optgroup':
        if (this.#top.tag === 'option') this.#pop()
        if (name === 'optgroup' && this.#top.tag === 'optgroup') this.#pop()
        break
      case 'a':
      case 'button':
        this.#closeInline(name)
        break
      case 'rt':
      case 'rp':
        if (this.#top.tag === 'rt' || this.#top.tag === 'rp') this.#pop()
        break
      default:
        if (HEADINGS.has(name) && HEADINGS.has(this.#top.tag)) this.#pop()
    }
  }

  #endTag(name: string): void {
    this.#skipsLineFeed = false
    if (this.#beyond > 0) {
      if (!isVoid(name)) this.#beyond--
      return
    }
    if (name === 'br') {
      // Browsers take `</br>` for `<br>`.
      this.#insert(name, false)
      return
    }
    if (name === 'html' || name === 'body') return
    // Searching the open elements takes time, too.
    this.#nodes += COST_OF_END_TAG
    if (TABLE_PARTS.has(name)) this.#closeWithin(name, TABLE_SCOPE)
    else if (HEADINGS.has(name)) this.#closeHeading()
    else if (name === 'li') this.#closeWithin(name, LIST_SCOPE)
    else if (SPECIAL.has(name) || this.#foreign > 0) this.#closeWithin(name, SCOPE)
    else this.#closeInline(name)
  }

  /** Closes the innermost open element with this name, and those inside, unless the scope ends before. */
  #closeWithin(name: string, scope: ReadonlySet<string>, alsoEnds?: string): void {
    if (!this.#isOpen(name)) return
    for (let at = this.#open.length - 1; at > 0; at--) {
      const { tag } = this.#open[at]!
      if (tag === name) {
        this.#closeFrom(at)
        return
      }
      if (scope.has(tag) || tag === alsoEnds) return
    }
  }

  /** The same for an inline element, which does not close blocks. */
  #closeInline(name: string): void {
    if (!this.#isOpen(name)) return
    for (let at = this.#open.length - 1; at > 0; at--) {
      const { tag } = this.#open[at]!
      if (tag === name) {
        this.#closeFrom(at)
        return
      }
      if (SPECIAL.has(tag)) return
    }
  }

  /** The end tag of any heading closes an open one. */
  #closeHeading(): void {
    if (this.#headings === 0) return
    for (let at = this.#open.length - 1; at > 0; at--) {
      const { tag } = this.#open[at]!
      if (HEADINGS.has(tag)) {
        this.#closeFrom(at)
        return
      }
      if (SCOPE.has(tag)) return
    }
  }

  #leaveForeign(): void {
    const isForeign = ({ tag }: ContentElement) => tag === 'svg' || tag === 'math'
    const outermost = this.#open.findIndex(isForeign)
    if (outermost > 0) this.#closeFrom(outermost)
  }

  #closeFrom(at: number): void {
    while (this.#open.length > at) this.#pop()
  }

  #pop(): void {
    const { tag } = this.#open.pop()!
    this.#openByTag.set(tag, this.#openByTag.get(tag)! - 1)
    if (tag === 'svg' || tag === 'math') this.#foreign--
    if (HEADINGS.has(tag)) this.#headings--
    this.#top = this.#open.at(-1)!
  }

  #isOpen(name: string): boolean {
    return (this.#openByTag.get(name) ?? 0) > 0
  }
}
