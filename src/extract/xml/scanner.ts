/**
 * The link scanner for XHTML: browsers treat a page sent as `application/xhtml+xml` as XML. There, `<script src="a.js"/>` is
 * a complete element, CDATA sections are text, and names have namespaces and are case-sensitive.
 */

import type { Link } from '../../types.js'
import { FoundLinks, MOST_LINKS, REFRESH, Scanned } from '../html/found-links.js'
import { refreshUrl } from '../html/meta-refresh.js'
import type { Scan } from '../html/scanner.js'
import { hasToken } from '../html/scanner.js'
import { LONGEST_TITLE } from '../html/tag-names.js'
import { LONGEST_VALUE, XmlReader } from './reader.js'

const XHTML = 'http://www.w3.org/1999/xhtml'
const SVG = 'http://www.w3.org/2000/svg'
const XLINK = 'http://www.w3.org/1999/xlink'

/** Prefixes in scope. They are copied when one is declared, and pages have five. */
const MOST_PREFIXES = 50

/** Namespaces by prefix; '' is the default namespace. */
type Namespaces = ReadonlyMap<string, string>

/** Without a declaration, the namespace is XHTML: the media type says so. */
const DEFAULT_NAMESPACES: Namespaces = new Map([['', XHTML]])

interface OpenElement {
  readonly local: string
  readonly namespaces: Namespaces
  readonly isHtml: boolean
}

/** The scan, and the canonical URL that the head declares, as written. */
export interface XmlScan {
  readonly scan: Scan
  readonly canonical: string | undefined
}

/** Scans an XHTML page; undefined if it is not well-formed. `product` and `salt` as for `scan`. */
export function scanXml(xml: string, product: string | undefined, salt: number): XmlScan | undefined {
  return new XmlScanner(xml, product).run(salt)
}

class XmlScanner {
  readonly #reader: XmlReader
  readonly #product: string | undefined
  readonly #links: Link[] = []
  readonly #open: OpenElement[] = []
  #base: string | undefined
  #title: string | undefined
  #robots: string | undefined
  #canonical: string | undefined
  /** Depth of the open title, head and template; 0 if there is none. */
  #titleDepth = 0
  #headDepth = 0
  #templateDepth = 0
  #hadHead = false

  constructor(xml: string, product: string | undefined) {
    this.#reader = new XmlReader(xml)
    this.#product = product
  }

  run(salt: number): XmlScan | undefined {
    const reader = this.#reader
    while (reader.next()) {
      if (reader.kind === 'start') this.#start()
      else if (reader.kind === 'end') this.#end()
      else if (this.#titleDepth > 0) this.#addToTitle()
    }
    if (!reader.isWellFormed) return undefined
    const links = FoundLinks.listed(this.#links, salt)
    // `Scan` holds titles as written in HTML.
    const title = this.#title?.replaceAll('&', '&amp;')
    return { scan: new Scanned(links, this.#base, title, this.#robots), canonical: this.#canonical }
  }

  #start(): void {
    const reader = this.#reader
    const namespaces = this.#namespacesHere()
    const colon = reader.name.indexOf(':')
    const local = reader.name.slice(colon + 1)
    const namespace = namespaces.get(colon === -1 ? '' : reader.name.slice(0, colon))
    const isHtml = namespace === XHTML
    if (isHtml) this.#htmlElement(local)
    else if (namespace === SVG && local === 'a') this.#svgLink(namespaces)
    if (reader.isEmpty) return
    this.#open.push({ local, namespaces, isHtml })
    const depth = this.#open.length
    if (!isHtml) return
    if (local === 'template' && this.#templateDepth === 0) this.#templateDepth = depth
    else if (local === 'title' && this.#title === '' && !this.#isTemplate) this.#titleDepth = depth
    else if (local === 'head' && depth === 2 && !this.#hadHead) {
      this.#headDepth = depth
      this.#hadHead = true
    }
  }

  #end(): void {
    const depth = this.#open.length
    if (depth === this.#titleDepth) this.#titleDepth = -1
    if (depth === this.#headDepth) this.#headDepth = 0
    if (depth === this.#templateDepth) this.#templateDepth = 0
    this.#open.pop()
  }

  /** The content of a template is not part of the document. */
  get #isTemplate(): boolean {
    return this.#templateDepth > 0
  }

  #htmlElement(local: string): void {
    switch (local) {
      case 'a':
      case 'area':
      case 'link':
        this.#link(local, this.#url('href'), this.#reader.valueOf('rel'))
        break
      case 'iframe':
      case 'frame':
        this.#link(local, this.#url('src'))
        break
      case 'base':
        if (!this.#isTemplate) this.#base ??= this.#url('href')
        break
      case 'title':
        if (!this.#isTemplate) this.#title ??= ''
        break
      case 'meta':
        this.#meta()
    }
  }

  #link(tag: string, href: string | undefined, rel?: string): void {
    if (href === undefined) return
    if (this.#links.length <= MOST_LINKS) this.#links.push({ href, tag, rel })
    if (tag !== 'link' || rel === undefined || this.#headDepth === 0 || this.#isTemplate) return
    if (hasToken(rel, 'canonical')) this.#canonical ??= href
  }

  #svgLink(namespaces: Namespaces): void {
    let href = this.#url('href')
    for (const name of this.#reader.attributes.keys()) {
      if (href !== undefined) break
      if (name.endsWith(':href') && namespaces.get(name.slice(0, -':href'.length)) === XLINK) {
        href = this.#url(name)
      }
    }
    this.#link('a', href, this.#reader.valueOf('rel'))
  }

  #meta(): void {
    const content = this.#reader.valueOf('content')
    if (content === undefined) return
    if (this.#reader.valueOf('http-equiv')?.toLowerCase() === 'refresh') {
      this.#link(REFRESH, refreshUrl(content))
    }
    const name = this.#reader.valueOf('name')?.toLowerCase()
    if (name === undefined || this.#isTemplate) return
    if (name === 'robots' || name === this.#product) {
      this.#robots = this.#robots === undefined ? content : `${this.#robots},${content}`
    }
  }

  #url(attribute: string): string | undefined {
    const written = this.#reader.attributes.get(attribute)
    return written === undefined || written.length > LONGEST_VALUE
      ? undefined
      : this.#reader.valueOf(attribute)
  }

  #addToTitle(): void {
    const { kind, xml, start, end } = this.#reader
    // Only text directly in the title counts.
    if (this.#titleDepth !== this.#open.length || this.#title!.length > LONGEST_TITLE) return
    if (kind === 'text') {
      const text = this.#reader.decode(xml.slice(start, end))
      if (text === undefined) this.#reader.isWellFormed = false
      this.#title += text ?? ''
    } else if (kind === 'cdata') this.#title += xml.slice(start + '<![CDATA['.length, end - ']]>'.length)
  }

  #namespacesHere(): Namespaces {
    const around = this.#open.at(-1)?.namespaces ?? DEFAULT_NAMESPACES
    let own: Map<string, string> | undefined
    for (const name of this.#reader.attributes.keys()) {
      if (!name.startsWith('xmlns') || (name.length > 5 && name[5] !== ':')) continue
      const prefix = name.slice('xmlns:'.length)
      const value = this.#reader.valueOf(name) ?? ''
      const known = own ?? around
      // Copies for many elements would be much larger than the page.
      if (known.get(prefix) === value || (known.size >= MOST_PREFIXES && !known.has(prefix))) continue
      own ??= new Map(around)
      own.set(prefix, value)
    }
    return own ?? around
  }
}
