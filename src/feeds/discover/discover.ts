/** Finds the feeds of a page: those that it declares, links that look like one, and common paths. */

import { ReferenceBudget } from '../../extract/content/reference-budget.js'
import { TagScanner } from '../../extract/content/tag-scanner.js'
import type { Attributes } from '../../extract/content/tree.js'
import { isLetter } from '../../extract/html/characters.js'
import { codesOf } from '../../extract/html/codes.js'
import { decodeText } from '../../extract/html/entities.js'
import { endOfComment, endOfRawText, endOfScript } from '../../extract/html/raw-text.js'
import { canonicalizeUrl, originOf } from '../../url/canonicalize.js'
import { baseFor, resolve, resolveBase } from '../../url/resolve.js'
import type { DiscoverOptions, FeedPage, FoundFeed } from '../contract.js'

const FEED_TYPE =
  /^(?:application\/(?:rss|atom|rdf|x\.atom|x-rss)\+xml|application\/feed\+json|text\/(?:rss|atom)(?:\+xml)?)$/
/** Types that a feed may have, and much else too. */
const VAGUE_TYPE = /^(?:application|text)\/(?:xml|json)$/
/** The interface of WordPress, which it declares as an alternate of every page. */
const NO_FEED = /\/wp-json\/|\/oembed\b|\/xmlrpc\.php|\/sitemap[^/]*\.xml|opensearch/i
/** Paths and queries of feeds: `/feed`, `/blog/rss.xml`, `/atom`, `?feed=rss2`, `feed.json`, `/index.rdf`. */
const FEED_PATH =
  /(?:^|[/._?&=-])(?:rss2?|atom|feeds?|rdf|jsonfeed)(?:$|[/.?&=_-])|\.(?:rss|rdf|atom)(?:$|[?])|\/index\.xml$/i
/** Hosts of feeds of other sites. */
const FEED_HOST = /^https?:\/\/(?:feeds?|rss)\d*\./i
const FEED_TEXT = /\b(?:rss|atom|web ?feed|xml feed|json feed)\b|^feeds?$|^subscribe$/i
const LONGEST_TEXT = 60
const NOT_PAGES = /\.(?:png|jpe?g|gif|svg|webp|css|js|pdf|zip|mp3|mp4)(?:$|\?)/i

/** Relative to the root and to the directory of the page, the most common first. */
const COMMON_PATHS = [
  'feed',
  'rss.xml',
  'atom.xml',
  'feed.xml',
  'index.xml',
  'rss',
  'feed.json',
  'feed/',
  'index.rdf',
]
const MOST_FEEDS = 100
const MOST_TAGS = 200_000

/**
 * The feeds of a page, the most certain first: `link` elements, then links that look like a feed, then, if you ask for it,
 * common paths. Each URL once. Only the first are known to be feeds; fetch and parse the others before you rely on them.
 *
 * @example
 * const [feed] = discoverFeeds({ url: 'https://example.com/', html })
 * for await (const page of crawl) console.log(page.url, discoverFeeds(page, { anchors: false }))
 */
export function discoverFeeds(page: FeedPage, options: DiscoverOptions = {}): FoundFeed[] {
  const { anchors = true, guess = false } = options
  const found = new Map<string, FoundFeed>()
  const url = canonicalizeUrl(page.url)
  if (url === undefined) return []
  const add = (feed: FoundFeed) => {
    if (found.size < MOST_FEEDS && !found.has(feed.url)) found.set(feed.url, feed)
  }
  const html = 'html' in page ? page.html : page.content
  const { links, likely } = new FeedSearch(html, url).run()
  for (const feed of links) add(feed)
  if (anchors) for (const feed of likely) add(feed)
  if (guess)
    for (const path of commonPaths(url)) add({ url: path, type: undefined, title: undefined, from: 'guess' })
  return [...found.values()]
}

function commonPaths(url: string): string[] {
  const directory = url.slice(0, url.replace(/\?.*$/, '').lastIndexOf('/') + 1)
  const places = new Set([`${originOf(url)}/`, directory])
  return [...places].flatMap((place) => COMMON_PATHS.map((path) => place + path))
}

class FeedSearch {
  readonly #html: string
  readonly #tags: TagScanner
  readonly #links: FoundFeed[] = []
  readonly #likely: FoundFeed[] = []
  readonly #url: string
  #base: ReturnType<typeof baseFor>
  #hasBase = false

  constructor(html: string, url: string) {
    this.#html = html
    this.#url = url
    this.#tags = new TagScanner(html, codesOf(html), new ReferenceBudget())
    this.#base = baseFor(url)
  }

  run(): { readonly links: readonly FoundFeed[]; readonly likely: readonly FoundFeed[] } {
    const html = this.#html
    let at = html.indexOf('<')
    for (let left = MOST_TAGS; at !== -1 && left > 0; left--) {
      const end = this.#read(at)
      if (end === -1) break
      at = html.indexOf('<', end)
    }
    return { links: this.#links, likely: this.#likely }
  }

  /** Reads what starts at a `<` and returns where to continue; -1 if the page ends in it. */
  #read(at: number): number {
    const html = this.#html
    if (html.startsWith('<!--', at)) return endOfComment(html, at)
    if (!isLetter(html.charCodeAt(at + 1))) return at + 1
    const end = this.#tags.read(at + 1)
    const { name, attributes } = this.#tags
    if (end === -1) return -1
    switch (name) {
      case 'base':
        this.#readBase(attribute(attributes, 'href'))
        break
      case 'link':
        this.#readLink(attributes)
        break
      case 'a':
        this.#readAnchor(attributes, end)
        break
      case 'script':
        return endOfScript(html, end)
      case 'style':
      case 'textarea':
      case 'title':
        return endOfRawText(html, end, name)
    }
    return end
  }

  /** The first base counts. */
  #readBase(href: string | undefined): void {
    if (href === undefined || this.#hasBase) return
    this.#hasBase = true
    this.#base = baseFor(resolveBase(href, baseFor(this.#url)))
  }

  #readLink(attributes: Attributes): void {
    const rel = (attribute(attributes, 'rel') ?? '').toLowerCase().split(/\s+/)
    const type = mediaType(attributes)
    const url = this.#resolved(attributes)
    if (url === undefined || NO_FEED.test(url) || rel.includes('stylesheet')) return
    const declared = rel.includes('alternate') || rel.includes('feed')
    const isFeed =
      type === undefined
        ? rel.includes('feed')
        : FEED_TYPE.test(type) || (VAGUE_TYPE.test(type) && FEED_PATH.test(pathOf(url)))
    if (declared && isFeed) {
      const title = attribute(attributes, 'title')?.trim() || undefined
      this.#links.push({ url, type, title, from: 'link' })
    }
  }

  #readAnchor(attributes: Attributes, end: number): void {
    if (this.#likely.length >= MOST_FEEDS) return
    const url = this.#resolved(attributes)
    if (url === undefined || NO_FEED.test(url) || NOT_PAGES.test(url)) return
    const type = mediaType(attributes)
    const text = this.#textBehind(end) || (attribute(attributes, 'title') ?? '').trim()
    const own = originOf(url) === originOf(this.#url)
    const looksIt =
      (type !== undefined && FEED_TYPE.test(type)) ||
      FEED_HOST.test(url) ||
      FEED_PATH.test(pathOf(url)) ||
      (own && FEED_TEXT.test(text))
    if (looksIt) this.#likely.push({ url, type, title: text || undefined, from: 'anchor' })
  }

  /** The short text of a link; empty if it is longer than the name of a feed. */
  #textBehind(start: number): string {
    const piece = this.#html.slice(start, start + 5 * LONGEST_TEXT)
    const close = piece.search(/<\/a[\s>]/i)
    if (close === -1) return ''
    const text = decodeText(piece.slice(0, close).replace(/<[^<>]*>/g, ' '))
      .replace(/\s+/g, ' ')
      .trim()
    return text.length > LONGEST_TEXT ? '' : text
  }

  #resolved(attributes: Attributes): string | undefined {
    const href = attribute(attributes, 'href')?.trim()
    if (href === undefined || href === '') return undefined
    // Readers of the past had a scheme of their own.
    return resolve(
      href.replace(/^feed:(?:\/\/)?(?=https?:)/i, '').replace(/^feed:\/\//i, 'http://'),
      this.#base,
    )
  }
}

function pathOf(url: string): string {
  return url.slice(originOf(url).length)
}

function mediaType(attributes: Attributes): string | undefined {
  const written = attribute(attributes, 'type') ?? ''
  return written.replace(/;.*$/s, '').trim().toLowerCase() || undefined
}

/** Names and values alternate. */
function attribute(attributes: Attributes, name: string): string | undefined {
  for (let at = 0; at < attributes.length; at += 2) if (attributes[at] === name) return attributes[at + 1]
  return undefined
}
