/** Facts about a page, from the places where pages write them, the most reliable first. */

import { owned } from '../../../owned.js'
import type { StructuredData, StructuredItem, StructuredValue } from '../structured/contract.js'
import { type ContentElement, elementsIn, textIn } from '../tree.js'
import type { AlternateLink, FeedLink, PageMeta } from './contract.js'
import { isoTime } from './times.js'

/** What is known of the page already. */
export interface MetaPlace {
  readonly canonical: string | undefined
  readonly language: string | undefined
  /** The canonical URL of a link, or undefined. */
  readonly resolve: (href: string) => string | undefined
}

const PUBLISHED =
  'article:published_time datepublished article:published og:published_time date dc.date.issued dcterms.issued dc.date.created dcterms.created dc.date dcterms.date pubdate publishdate publish-date publish_date publication_date citation_publication_date citation_date parsely-pub-date sailthru.date'.split(
    ' ',
  )
const MODIFIED =
  'article:modified_time datemodified article:modified og:updated_time dc.date.modified dcterms.modified lastmod last-modified revised'.split(
    ' ',
  )
const FEED = /^application\/(?:rss|atom|feed|rdf)\+(?:xml|json)\b|^application\/feed\+json\b/i
const PAGE_TYPES =
  /Article|BlogPosting|Report|WebPage|Product|Event|Recipe|VideoObject|Book|CreativeWork|Question/
/** Links of each kind to keep. */
const MOST_LINKS = 1000

/** The facts about a page. */
export function metaOf(root: ContentElement, structured: StructuredData, place: MetaPlace): PageMeta {
  return new MetaReader(structured, place).run(root)
}

class MetaReader {
  /** Values of meta elements by name, the first of each. */
  readonly #metas = new Map<string, string>()
  readonly #authors: string[] = []
  readonly #feeds: FeedLink[] = []
  readonly #alternates: AlternateLink[] = []
  readonly #times: ContentElement[] = []
  #imageLink: string | undefined
  readonly #things: readonly StructuredItem[]

  constructor(
    readonly structured: StructuredData,
    readonly place: MetaPlace,
  ) {
    // What describes the page itself comes before what is only on it.
    const things = structured.items
    this.#things = [...things.filter(isPage), ...things.filter((item) => !isPage(item))]
  }

  run(root: ContentElement): PageMeta {
    for (const element of elementsIn(root)) {
      if (element.tag === 'meta') this.#meta(element)
      else if (element.tag === 'link') this.#link(element)
      else if (element.tag === 'time') this.#times.push(element)
    }
    const { canonical, language } = this.place
    return {
      description: this.#first(
        this.#metas.get('description'),
        this.#openGraph('og:description'),
        this.#card('twitter:description'),
        this.#metas.get('dc.description'),
        this.#metas.get('dcterms.abstract'),
        this.#text('description'),
      ),
      author: this.#author(),
      published: this.#time(
        PUBLISHED,
        'datePublished',
        /publish|posted|entry-date|pubdate|dt-published/i,
        true,
      ),
      modified: this.#time(MODIFIED, 'dateModified', /modified|updated/i, false),
      language,
      siteName: this.#first(
        this.#openGraph('og:site_name'),
        this.#siteName(),
        this.#metas.get('application-name'),
      ),
      image: this.#image(),
      feeds: this.#feeds,
      alternates: this.#alternates,
      canonical,
    }
  }

  #meta(element: ContentElement): void {
    const content = element.attribute('content')?.trim()
    const name = element.attribute('name') ?? element.attribute('property') ?? element.attribute('itemprop')
    if (!content || name === undefined) return
    const key = name.toLowerCase()
    if (/^(?:author|dc\.creator|dcterms\.creator|citation_author)$/.test(key)) this.#authors.push(content)
    if (!this.#metas.has(key)) this.#metas.set(key, content)
  }

  #link(element: ContentElement): void {
    const rel = (element.attribute('rel') ?? '').toLowerCase().split(/\s+/)
    const href = element.attribute('href')
    if (href === undefined) return
    if (rel.includes('image_src')) this.#imageLink ??= href
    if (!rel.includes('alternate') || rel.includes('stylesheet')) return
    const url = this.place.resolve(href)
    if (url === undefined) return
    const type = element.attribute('type')?.trim().toLowerCase() ?? ''
    const language = element.attribute('hreflang')?.trim()
    if (FEED.test(type)) {
      const title = element.attribute('title')?.trim()
      if (this.#feeds.length < MOST_LINKS)
        this.#feeds.push({ url, type: owned(type), title: title ? owned(title) : undefined })
    } else if (language && this.#alternates.length < MOST_LINKS) {
      this.#alternates.push({ language: owned(language), url })
    }
  }

  #author(): string | undefined {
    const names = [...this.#authors]
    if (names.length === 0) {
      const thing = this.#things.find(
        ({ properties }) => (properties.author ?? properties.creator) !== undefined,
      )
      for (const value of thing?.properties.author ?? thing?.properties.creator ?? []) {
        const name = this.#name(value)
        if (name !== undefined) names.push(name)
      }
    }
    const own = this.#openGraph('article:author')
    if (names.length === 0 && own !== undefined && !/^https?:/i.test(own)) names.push(own)
    return this.#first([...new Set(names)].slice(0, 100).join(', '))
  }

  /** The name of a person or organisation, also if it is described elsewhere on the page. */
  #name(value: StructuredValue): string | undefined {
    if (typeof value !== 'object') return /^https?:/i.test(String(value)) ? undefined : String(value)
    const name = value.properties.name?.[0]
    if (typeof name === 'string') return name
    const described =
      value.id === undefined ? undefined : this.structured.items.find((item) => item.id === value.id)
    const other = described?.properties.name?.[0]
    return typeof other === 'string' ? other : undefined
  }

  #time(metas: readonly string[], property: string, hint: RegExp, takesAny: boolean): string | undefined {
    for (const name of metas) {
      const time = isoTime(this.#metas.get(name) ?? '')
      if (time !== undefined) return time
    }
    for (const thing of this.#things) {
      const time = isoTime(String(thing.properties[property]?.[0] ?? ''))
      if (time !== undefined) return time
    }
    const said = (element: ContentElement) =>
      `${element.attribute('itemprop') ?? ''} ${element.attribute('class') ?? ''}${element.attribute('pubdate') === undefined ? '' : ' pubdate'}`
    const hinted = this.#times.find((element) => hint.test(said(element)))
    // A page with one time, not in a list of several, has it for itself.
    const element = hinted ?? (takesAny && this.#times.length === 1 ? this.#times[0] : undefined)
    return element && isoTime(element.attribute('datetime') ?? textIn(element))
  }

  #siteName(): string | undefined {
    const site = this.structured.items.find(({ types }) => types.includes('WebSite'))
    const publisher = this.#things.find(({ properties }) => properties.publisher !== undefined)
    const name =
      site?.properties.name?.[0] ?? publisher?.properties.publisher?.map((each) => this.#name(each))[0]
    return typeof name === 'string' ? name : undefined
  }

  #image(): string | undefined {
    const thing = this.#things.filter(isPage).find(({ properties }) => properties.image !== undefined)
    const value = thing?.properties.image?.[0]
    const ofThing = typeof value === 'object' ? (value.properties.url?.[0] ?? value.id) : value
    const candidates = [
      this.#openGraph('og:image:secure_url'),
      this.#openGraph('og:image'),
      this.#openGraph('og:image:url'),
      this.#card('twitter:image'),
      this.#card('twitter:image:src'),
      this.#imageLink,
      typeof ofThing === 'string' ? ofThing : undefined,
    ]
    for (const candidate of candidates) {
      const url = candidate === undefined ? undefined : this.place.resolve(candidate)
      if (url !== undefined) return owned(url)
    }
    return undefined
  }

  #text(property: string): string | undefined {
    for (const thing of this.#things.filter(isPage)) {
      const value = thing.properties[property]?.[0]
      if (typeof value === 'string') return value
    }
    return undefined
  }

  #openGraph(name: string): string | undefined {
    return this.structured.openGraph[name]?.[0]
  }

  #card(name: string): string | undefined {
    return this.structured.twitter[name]?.[0]
  }

  #first(...values: readonly (string | undefined)[]): string | undefined {
    for (const value of values) {
      const text = value?.replace(/\s+/g, ' ').trim()
      if (text) return owned(text)
    }
    return undefined
  }
}

function isPage({ types }: StructuredItem): boolean {
  return types.some((type) => PAGE_TYPES.test(type))
}

/** The facts about a page that is not markup. */
export function bareMeta(canonical: string | undefined, language: string | undefined): PageMeta {
  return {
    description: undefined,
    author: undefined,
    published: undefined,
    modified: undefined,
    language,
    siteName: undefined,
    image: undefined,
    feeds: [],
    alternates: [],
    canonical,
  }
}
