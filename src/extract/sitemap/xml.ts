/**
 * Turns tags and text into entries, for every XML format. It reads only the direct children of an entry, relies on no end
 * tag, and takes the start of an entry as the end of the previous one.
 */

import type { SitemapEntry } from '../contract.js'
import { dateOf } from './date.js'
import { DIALECTS, type Dialect, type Field } from './dialects.js'
import { attributesOf, Markup, type MarkupListener } from './markup.js'
import type { SitemapOutput } from './output.js'
import { ValueCollector } from './value.js'

const HTTP = /^https?:\/\//i
/** Values of `changefreq` in the protocol. */
const FREQUENCIES = new Set(['always', 'hourly', 'daily', 'weekly', 'monthly', 'yearly', 'never'])
/** Per entry. There are about two hundred languages, some of them spoken in several countries. */
const MOST_ALTERNATES = 1000

/** The start of XML, also after something else, such as a PHP warning. */
export const LOOKS_LIKE_XML = /^<|<(?:\?xml|(?:\w{1,20}:)?(?:urlset|sitemapindex|rss|feed|rdf))[\s>]/i

export class XmlSitemap implements MarkupListener {
  readonly #output: SitemapOutput
  readonly #alternates: boolean
  readonly #markup = new Markup(this)
  readonly #value = new ValueCollector()
  /** Text directly in the entry. */
  readonly #bare = new ValueCollector()
  #dialect: Dialect | undefined
  /** The name of the root element while it is open. */
  #root: string | undefined
  /** The name of the open entry. */
  #entry: string | undefined
  #kind: SitemapEntry['kind'] = 'page'
  /** The open field and its name. Text belongs to it; elements in it are transparent. */
  #field: Field | undefined
  #fieldName = ''
  /** Number of open elements in a field that have the same name as the entry. */
  #namesakes = 0
  /** The open element of the entry that has no meaning for us, and how many of that name are open. */
  #foreign: string | undefined
  #foreignDepth = 0
  #url: string | undefined
  #identifier: string | undefined
  #lastmod: number | undefined
  #published: number | undefined
  #changefreq: string | undefined
  #priority: number | undefined
  #alternateUrls: string[] = []
  #tooLong = false

  constructor(output: SitemapOutput, alternates: boolean) {
    this.#output = output
    this.#alternates = alternates
  }

  push(text: string): void {
    this.#markup.push(text)
  }

  /** Adds an entry that is cut off if its URL is complete. `cut`: it is known why the file may end early. */
  end(cut: boolean): void {
    if (this.#field !== undefined && this.#markup.endsInEndTag) this.#endField()
    if (this.#dialect === undefined) this.#output.stop('not-a-sitemap')
    this.#field = undefined
    this.#value.clear()
    if (this.#entry !== undefined && this.#knownUrl() !== undefined) this.#endEntry()
    if (this.#root !== undefined && !cut) this.#output.note('truncated')
  }

  open(name: string, attributes: string, empty: boolean): void {
    if (this.#entry === undefined) this.#openOutside(name, empty)
    else this.#openInside(name, attributes, empty)
  }

  #openInside(name: string, attributes: string, empty: boolean): void {
    const meaning = this.#meaning(name)
    const field = this.#dialect!.fields.get(meaning)
    if (this.#field !== undefined) {
      if (field === undefined) {
        if (name === this.#entry && !empty) this.#namesakes++
        return
      }
      // The end tag is missing.
      this.#endField()
    }
    if (this.#foreign !== undefined) {
      if (name === this.#foreign && !empty) this.#foreignDepth++
      return
    }
    if (field !== undefined) this.#openField(field, name, attributes, empty)
    else if (this.#dialect!.entries.has(meaning)) {
      this.#endEntry()
      this.#openOutside(name, empty)
    } else if (meaning.endsWith(':link')) this.#addAlternate(attributes)
    // Elements with another prefix need no tracking: their children have a prefix too.
    else if (!empty && !meaning.includes(':')) {
      this.#foreign = name
      this.#foreignDepth = 1
    }
  }

  close(name: string): void {
    if (name === this.#root) {
      if (this.#entry !== undefined) this.#endEntry()
      this.#root = undefined
    } else if (name === this.#entry) {
      if (this.#field !== undefined && this.#namesakes > 0) this.#namesakes--
      else this.#endEntry()
    } else if (this.#field !== undefined) {
      if (name === this.#fieldName) this.#endField()
    } else if (name === this.#foreign) {
      if (--this.#foreignDepth === 0) this.#foreign = undefined
    }
  }

  text(text: string, verbatim: boolean): void {
    if (this.#field !== undefined) this.#value.add(text, verbatim)
    else if (this.#entry !== undefined && this.#mayBeBareUrl() && text.trim() !== '') {
      this.#bare.add(text, verbatim)
    }
  }

  declaresEntities(): void {
    this.#value.entitiesDeclared = true
    this.#bare.entitiesDeclared = true
  }

  /** The local name if the element belongs to the entry's vocabulary, otherwise the full name. */
  #meaning(name: string): string {
    const colon = name.indexOf(':')
    if (colon === -1) return name
    return this.#entry!.startsWith(name.slice(0, colon + 1)) ? name.slice(colon + 1) : name
  }

  #openOutside(name: string, empty: boolean): void {
    const local = name.slice(name.indexOf(':') + 1)
    const dialect = DIALECTS.get(local)
    if (dialect !== undefined) {
      this.#dialect = dialect
      this.#root = empty ? undefined : name
      return
    }
    const kind = this.#dialect?.entries.get(local)
    if (kind !== undefined) {
      this.#entry = name
      this.#kind = kind
      if (empty) this.#endEntry()
    } else if (this.#dialect === undefined && name === 'html') {
      // A page instead of a sitemap, usually an error page.
      this.#output.stop('not-a-sitemap')
    }
  }

  #openField(field: Field, name: string, attributes: string, empty: boolean): void {
    if (field === 'link') this.#readLink(attributes)
    if (field === 'link' || empty) return
    this.#field = field
    this.#fieldName = name
    this.#namesakes = 0
  }

  #endField(): void {
    const field = this.#field
    const value = this.#value.take()
    this.#field = undefined
    if (value === undefined) this.#tooLong ||= field === 'url'
    else if (value !== '') this.#setField(field!, value)
  }

  #setField(field: Field, value: string): void {
    switch (field) {
      case 'url':
        // Several URLs in one entry: each owns the fields that follow it.
        if (this.#url !== undefined) this.#addEntry()
        this.#url = value
        break
      case 'identifier':
        if (HTTP.test(value)) this.#identifier = value
        break
      case 'lastmod':
        this.#lastmod = this.#date(value) ?? this.#lastmod
        break
      case 'published':
        this.#published = this.#date(value) ?? this.#published
        break
      case 'changefreq':
        if (FREQUENCIES.has(value.toLowerCase())) this.#changefreq = value.toLowerCase()
        break
      case 'priority': {
        const priority = Number(value)
        if (priority >= 0 && priority <= 1) this.#priority = priority
        else this.#output.note('bad-priority')
      }
    }
  }

  #date(value: string): number | undefined {
    const date = dateOf(value)
    if (date === undefined) this.#output.note('bad-date')
    return date
  }

  /** Atom: the first link to the page itself. */
  #readLink(written: string): void {
    const attributes = attributesOf(written)
    const rel = attributes.get('rel') ?? 'alternate'
    if (this.#url === undefined && rel.toLowerCase() === 'alternate') this.#url = this.#href(attributes)
  }

  #addAlternate(written: string): void {
    if (!this.#alternates || this.#alternateUrls.length === MOST_ALTERNATES) return
    const attributes = attributesOf(written)
    const url = attributes.has('hreflang') ? this.#href(attributes) : undefined
    if (url !== undefined) this.#alternateUrls.push(url)
  }

  #href(attributes: Map<string, string>): string | undefined {
    this.#value.add(attributes.get('href') ?? '', false)
    return this.#value.take() || undefined
  }

  #mayBeBareUrl(): boolean {
    return this.#dialect!.bareUrls && this.#url === undefined && this.#foreign === undefined
  }

  #knownUrl(): string | undefined {
    return this.#url ?? this.#identifier
  }

  #endEntry(): void {
    if (this.#field !== undefined) this.#endField()
    const bare = this.#bare.take() ?? ''
    if (HTTP.test(bare)) this.#url ??= bare
    if (this.#knownUrl() !== undefined) this.#addEntry()
    else this.#output.note(this.#tooLong ? 'url-too-long' : 'no-url')
    for (const url of this.#alternateUrls) this.#output.add({ kind: 'page', url })
    if (this.#alternateUrls.length > 0) this.#alternateUrls = []
    this.#entry = undefined
    this.#foreign = undefined
    this.#tooLong = false
    this.#resetFields()
  }

  #addEntry(): void {
    this.#output.add({
      kind: this.#kind,
      url: this.#knownUrl()!,
      lastmod: this.#lastmod ?? this.#published,
      changefreq: this.#changefreq,
      priority: this.#priority,
    })
    this.#resetFields()
  }

  #resetFields(): void {
    this.#url = undefined
    this.#identifier = undefined
    this.#lastmod = undefined
    this.#published = undefined
    this.#changefreq = undefined
    this.#priority = undefined
  }
}
