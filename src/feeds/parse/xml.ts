/** Reads feeds in XML: RSS, RDF, Atom, CDF. What an element means is in vocabulary.ts; this file follows the structure. */

import { owned } from '../../owned.js'
import type { Feed, FeedEntry, FeedKind, FeedProblem, NoFeed } from '../contract.js'
import { type Content, ContentReader, localName } from './content.js'
import { Cursor } from './cursor.js'
import { isoDate } from './dates.js'
import { Draft } from './draft.js'
import { HintDraft } from './hints.js'
import { absoluteUrl, isHttpUrl, nestedBase } from './links.js'
import { collapsed, isBareMail, personOf } from './people.js'
import { References } from './references.js'
import { constructValue } from './text-construct.js'
import { MEANINGS, type Meaning, type TextMeaning, usualPrefix } from './vocabulary.js'

/** Where a link comes from: the lower, the better. */
const URL_RANK = {
  link: 0,
  otherNamespace: 1,
  otherType: 2,
  permalink: 3,
  about: 4,
  source: 5,
  id: 6,
} as const
const ABOUT_RANK = 1
/** An RSS item with a summary and a description: the description is the longer one. */
const DESCRIPTION_AS_CONTENT = 4
const DESCRIPTION_RANK = 1
const BARE_MAIL_RANK = 5
/** A guid that is said to be a link and is written without the host. */
const RELATIVE_PATH = /^\.{0,2}\/(?!\/)/
const RELATION = /^http:\/\/www\.iana\.org\/assignments\/relation\//i
const NO_PREFIX = ''

/** How a document is read. */
export interface XmlOptions {
  readonly base: string | undefined
  readonly maxEntries: number
}

/** The feed in a document; the reason if it is none. */
export function readXml(text: string, options: XmlOptions): Feed | NoFeed['reason'] {
  return new XmlFeed(text, options).run()
}

class XmlFeed {
  readonly #references = new References()
  readonly #cursor: Cursor
  readonly #contents: ContentReader
  readonly #options: XmlOptions
  readonly #problems = new Set<FeedProblem>()
  readonly #hints = new HintDraft()
  readonly #entries: FeedEntry[] = []
  /** Meanings by name as written. */
  readonly #meanings = new Map<string, Meaning | undefined>()
  /** Usual prefixes by declared prefix; undefined for unknown namespaces. */
  readonly #prefixes = new Map<string, string | undefined>()
  #xhtmlPrefixes: string[] = []
  #kind: FeedKind | undefined
  #version: string | undefined
  #root = ''
  #rootClosed = false
  readonly #feed: Draft
  #entry: Draft | undefined
  #entryName = ''

  constructor(text: string, options: XmlOptions) {
    this.#cursor = new Cursor(text, this.#references)
    this.#contents = new ContentReader(this.#cursor)
    this.#options = options
    this.#feed = new Draft(options.base)
  }

  run(): Feed | NoFeed['reason'] {
    const cursor = this.#cursor
    while (!this.#rootClosed && cursor.next()) {
      if (this.#kind === undefined) {
        if (!cursor.closes && !this.#begin()) return 'html'
      } else if (cursor.closes) this.#close()
      else if (this.#entries.length >= this.#options.maxEntries) {
        this.#problems.add('too-many-entries')
        break
      } else this.#open()
    }
    if (this.#kind === undefined) return 'unknown'
    if (!this.#rootClosed && !this.#problems.has('too-many-entries')) this.#problems.add('truncated')
    // An entry that is cut off counts if there is enough of it.
    if (this.#entry?.isNamed) this.#endEntry()
    if (this.#references.exceeded) this.#problems.add('too-many-entities')
    return this.#result(this.#kind)
  }

  /** Looks for the root; false if it is a page. */
  #begin(): boolean {
    const cursor = this.#cursor
    const local = localName(cursor.name)
    if (local === 'html' || local === 'head' || local === 'body') return false
    const kind = this.#kindOf(local)
    if (kind === undefined) return true
    this.#kind = kind
    this.#root = cursor.name
    this.#open()
    return true
  }

  #kindOf(local: string): FeedKind | undefined {
    switch (local) {
      case 'rss':
      case 'item':
        return 'rss'
      case 'rdf':
        return 'rdf'
      case 'feed':
      case 'entry':
        return 'atom'
      case 'channel':
        return this.#cursor.name === 'CHANNEL' || this.#cursor.attribute('href') !== undefined ? 'cdf' : 'rss'
      default:
        return undefined
    }
  }

  #open(): void {
    const cursor = this.#cursor
    const meaning = this.#meaning(cursor.name)
    if (meaning === undefined) {
      if (!cursor.empty) this.#skip()
      return
    }
    switch (meaning.is) {
      case 'container':
        this.#openContainer()
        break
      case 'entry':
        this.#openEntry()
        break
      case 'transparent':
        break
      case 'skipped':
        if (!cursor.empty) this.#skip()
        break
      case 'link':
        this.#link()
        break
      default:
        this.#field(meaning, this.#entry ?? this.#feed)
    }
  }

  #close(): void {
    const { name } = this.#cursor
    if (this.#entry !== undefined && sameName(name, this.#entryName)) this.#endEntry()
    if (sameName(name, this.#root)) this.#rootClosed = true
  }

  #openContainer(): void {
    if (this.#entry !== undefined) return
    const draft = this.#feed
    const isRoot = this.#version === undefined
    let base = draft.base
    this.#cursor.eachAttribute((name, value) => {
      if (name === 'xml:base') base = nestedBase(value, base)
      else if (name === 'xml:lang') draft.setText('language', owned(value.trim()), 2)
      else if (name === 'version' && isRoot) this.#version = value.trim() || undefined
      else if (name === 'href') draft.setUrl(absoluteUrl(value, base), URL_RANK.link)
      else if (name === 'lastmod') this.#date(draft, 'updated', value, 0)
      else if (name === 'xmlns' && this.#kind === 'atom' && /2005\/atom/i.test(value)) this.#version ??= '1.0'
      else if (name === 'xmlns' && this.#kind === 'rdf') this.#version ??= rdfVersion(value)
      else this.#declare(name, value)
    })
    draft.base = base
  }

  #openEntry(): void {
    const cursor = this.#cursor
    if (this.#entry !== undefined) this.#endEntry()
    let base = this.#feed.base
    let about: string | undefined
    let href: string | undefined
    let modified: string | undefined
    if (cursor.hasAttributes) {
      cursor.eachAttribute((name, value) => {
        if (name === 'xml:base') base = nestedBase(value, base)
        else if (localName(name) === 'about') about = owned(value.trim())
        else if (name === 'href') href = value
        else if (name === 'lastmod') modified = value
        else this.#declare(name, value)
      })
    }
    const entry = new Draft(base)
    this.#entry = entry
    this.#entryName = cursor.name
    if (about !== undefined) {
      entry.setText('id', about, ABOUT_RANK)
      if (isHttpUrl(about)) entry.setUrl(about, URL_RANK.about)
    }
    if (href !== undefined) entry.setUrl(absoluteUrl(href, base), URL_RANK.link)
    if (modified !== undefined) this.#date(entry, 'updated', modified, 0)
    if (cursor.empty) this.#endEntry()
  }

  #endEntry(): void {
    const entry = this.#entry!
    this.#entry = undefined
    this.#entries.push(entry.entry())
  }

  #field(meaning: Meaning, draft: Draft): void {
    switch (meaning.is) {
      case 'plain':
        if (meaning.field === 'id') this.#id(draft, meaning.rank)
        else this.#plain(meaning, draft)
        break
      case 'markup':
        this.#markup(meaning, draft)
        break
      case 'date': {
        const { text, isCut } = this.#contents.read(true)
        if (!isCut && text !== '') this.#date(draft, meaning.field, text, meaning.rank)
        break
      }
      case 'person':
        this.#person(meaning.rank, draft)
        break
      case 'category':
        this.#category(draft, meaning.list)
        break
      case 'enclosure':
      case 'media':
        this.#enclosure(draft)
        break
      case 'hint':
        if (this.#entry === undefined) this.#hints.set(meaning.hint, this.#contents.read(true).text)
    }
  }

  #person(rank: number, draft: Draft): void {
    const content = this.#contents.read(false)
    if (content.isCut) return
    const decode = (text: string) => (content.isMarkup ? this.#references.decode(text) : text)
    const person = personOf(content.text, decode)
    draft.addAuthor(person, isBareMail(person) ? BARE_MAIL_RANK : rank)
  }

  #plain(meaning: TextMeaning, draft: Draft): void {
    const { text, isCut } = this.#contents.read(true)
    if (isCut) return
    if (meaning.field === 'author') draft.addAuthor(collapsed(text), meaning.rank)
    else draft.setText(meaning.field, collapsed(text), meaning.rank)
  }

  #id(draft: Draft, rank: number): void {
    const cursor = this.#cursor
    const isGuid = localName(cursor.name) === 'guid'
    const written = isGuid ? cursor.attribute('ispermalink')?.trim().toLowerCase() : undefined
    const isPermalink = isGuid && written !== 'false'
    const { text, isCut } = this.#contents.read(true)
    if (isCut || text === '') return
    draft.setText('id', text, rank)
    if (isHttpUrl(text)) {
      if (isPermalink) draft.setUrl(text, URL_RANK.permalink)
      else if (!isGuid && draft !== this.#feed) draft.setUrl(text, URL_RANK.id)
    } else if (written === 'true' && RELATIVE_PATH.test(text)) {
      draft.setUrl(absoluteUrl(text, draft.base), URL_RANK.permalink)
    }
  }

  #markup(meaning: TextMeaning, draft: Draft): void {
    const cursor = this.#cursor
    let type = ''
    let mode = ''
    let base = draft.base
    let source: string | undefined
    if (cursor.hasAttributes) {
      cursor.eachAttribute((name, value) => {
        if (name === 'type') type = value.trim().toLowerCase()
        else if (name === 'mode') mode = value.trim().toLowerCase()
        else if (name === 'src') source = value
        else if (name === 'xml:base') base = nestedBase(value, base)
      })
    }
    const content = this.#contents.read(false)
    const { field, rank } = meaning
    if (source !== undefined && field === 'content') draft.setUrl(absoluteUrl(source, base), URL_RANK.source)
    if (content.isCut && field === 'title') return
    const construct = { type, mode, base, xhtmlPrefixes: this.#xhtmlPrefixes }
    const value = constructValue(content, construct, this.#references)
    if (field === 'title') draft.setText(field, collapsed(value), rank)
    else if (field === 'summary' && draft !== this.#feed) setSummary(draft, value, rank)
    else draft.setText(field, value, rank)
  }

  #date(draft: Draft, field: 'published' | 'updated' | 'date', written: string, rank: number): void {
    const date = isoDate(written)
    if (date === undefined) this.#problems.add('bad-date')
    else draft.setDate(field, date, rank)
  }

  #link(): void {
    const cursor = this.#cursor
    const draft = this.#entry ?? this.#feed
    let rel: string | undefined
    let href: string | undefined
    let type: string | undefined
    let length: string | undefined
    let base = draft.base
    if (cursor.hasAttributes) {
      cursor.eachAttribute((name, value) => {
        if (name === 'rel') rel = value.trim().toLowerCase().replace(RELATION, '')
        else if (name === 'href') href = value
        else if (name === 'type') type = value
        else if (name === 'length') length = value
        else if (name === 'xml:base') base = nestedBase(value, base)
      })
    }
    if (href === undefined) {
      this.#linkText(draft, base)
      return
    }
    const url = absoluteUrl(href, base)
    const hinted = draft === this.#feed && this.#hints.setLink(rel ?? '', url)
    if (hinted) return
    if (rel === 'enclosure') draft.addEnclosure(url, type, length)
    else if (rel === undefined || rel === '' || rel === 'alternate') {
      const foreign = this.#kind !== 'atom' && cursor.name.includes(':')
      const isPage = type === undefined || /html/i.test(type)
      draft.setUrl(url, foreign ? URL_RANK.otherNamespace : isPage ? URL_RANK.link : URL_RANK.otherType)
    }
  }

  /** RSS: the URL is the text. `<link/>http://…` is what an HTML serializer makes of it. */
  #linkText(draft: Draft, base: string | undefined): void {
    const cursor = this.#cursor
    const content: Content = cursor.empty ? this.#textBehind() : this.#contents.read(true)
    if (!content.isCut) draft.setUrl(absoluteUrl(content.text, base), URL_RANK.link)
  }

  #textBehind(): Content {
    const { text, at } = this.#cursor
    const end = text.indexOf('<', at)
    const behind = end === -1 ? '' : text.slice(at, end).trim()
    return { text: isHttpUrl(behind) ? this.#references.decode(behind) : '', isMarkup: false, isCut: false }
  }

  #category(draft: Draft, isList: boolean): void {
    const cursor = this.#cursor
    const named = cursor.hasAttributes
      ? (cursor.attribute('term') ?? cursor.attribute('text') ?? cursor.attribute('label'))
      : undefined
    // A category of iTunes contains others.
    const nests =
      named !== undefined &&
      !cursor.empty &&
      localName(cursor.name) === 'category' &&
      cursor.name.includes(':')
    const { text, isCut } = nests ? { text: '', isCut: false } : this.#contents.read(true)
    if (isCut) return
    const name = collapsed(named ?? text)
    if (isList) for (const each of name.split(',')) draft.addCategory(each.trim())
    else draft.addCategory(name)
  }

  #enclosure(draft: Draft): void {
    const cursor = this.#cursor
    const url = cursor.attribute('url') ?? cursor.attribute('href')
    const length = cursor.attribute('length') ?? cursor.attribute('filesize')
    if (url !== undefined) draft.addEnclosure(absoluteUrl(url, draft.base), cursor.attribute('type'), length)
  }

  /** Moves behind an element whose content has no meaning. If it is not closed, its content is read after all. */
  #skip(): void {
    const cursor = this.#cursor
    const { name, at } = cursor
    let depth = 1
    if (!cursor.isPatient) return
    while (cursor.next()) {
      if (sameName(cursor.name, name)) {
        if (!cursor.closes && !cursor.empty) depth++
        else if (cursor.closes && --depth === 0) return
      } else if (cursor.closes ? this.#isEnclosing(cursor.name) : this.#meaning(cursor.name)?.is === 'entry')
        break
    }
    cursor.goBack(at)
  }

  #isEnclosing(name: string): boolean {
    const is = this.#meaning(name)?.is
    return is === 'entry' || is === 'container'
  }

  #meaning(name: string): Meaning | undefined {
    let meaning = this.#meanings.get(name)
    if (meaning !== undefined || this.#meanings.has(name)) return meaning
    const lower = name.toLowerCase()
    const colon = lower.indexOf(':')
    if (colon > 0 && !this.#prefixes.has(lower.slice(0, colon)) && this.#cursor.hasAttributes) {
      this.#cursor.eachAttribute((each, value) => this.#declare(each, value))
    }
    meaning = MEANINGS.get(this.#usualName(lower, colon))
    this.#meanings.set(name, meaning)
    return meaning
  }

  /** The name with the prefix that is usual for its namespace. */
  #usualName(lower: string, colon: number): string {
    if (colon <= 0) return lower
    const prefix = lower.slice(0, colon)
    const local = lower.slice(colon + 1)
    // A prefix that is not declared is what it usually stands for.
    const usual = this.#prefixes.has(prefix) ? this.#prefixes.get(prefix) : prefix
    if (usual === undefined) return `?:${local}`
    if (usual === NO_PREFIX || (usual === 'atom' && this.#kind === 'atom')) return local
    if (usual === 'rss' || usual === 'feed') return local
    return usual === 'rdf' && local === 'rdf' ? local : `${usual}:${local}`
  }

  #declare(attribute: string, namespace: string): void {
    if (!attribute.startsWith('xmlns:')) return
    const prefix = attribute.slice('xmlns:'.length)
    const usual = usualPrefix(namespace)
    if (this.#prefixes.get(prefix) === usual && this.#prefixes.has(prefix)) return
    this.#prefixes.set(prefix, usual)
    this.#meanings.clear()
    if (usual === 'xhtml') this.#xhtmlPrefixes.push(prefix)
  }

  #result(kind: FeedKind): Feed {
    const feed = this.#feed
    return {
      kind,
      version: this.#version,
      title: feed.text('title'),
      link: feed.url,
      id: feed.text('id'),
      description: feed.text('summary'),
      author: feed.author,
      language: feed.text('language'),
      published: feed.published,
      updated: feed.updated,
      generator: feed.text('generator'),
      entries: this.#entries,
      hints: this.#hints.hints(),
      problems: [...this.#problems],
    }
  }
}

function setSummary(draft: Draft, value: string, rank: number): void {
  const known = draft.rankOf('summary')
  if (rank === DESCRIPTION_RANK && known < rank) draft.setText('content', value, DESCRIPTION_AS_CONTENT)
  else if (rank < DESCRIPTION_RANK && known === DESCRIPTION_RANK) {
    draft.setText('content', draft.text('summary')!, DESCRIPTION_AS_CONTENT)
  }
  draft.setText('summary', value, rank)
}

function sameName(a: string, b: string): boolean {
  return a === b || (a.length === b.length && a.toLowerCase() === b.toLowerCase())
}

function rdfVersion(namespace: string): string | undefined {
  return /rss\/1\.0/.test(namespace) ? '1.0' : /netscape/.test(namespace) ? '0.90' : undefined
}
