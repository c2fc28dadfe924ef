/** The XML formats of sitemaps and feeds: which elements are entries, and what their children mean. */

import type { SitemapEntry } from '../contract.js'

/** The meaning of an element in an entry. */
export type Field =
  | 'url'
  /** An identifier of a feed, which is the URL if it looks like one and there is no other. */
  | 'identifier'
  | 'lastmod'
  /** Used if there is no `lastmod`. */
  | 'published'
  | 'changefreq'
  | 'priority'
  /** The URL is an attribute (Atom). */
  | 'link'

export interface Dialect {
  /** By local name in lower case. */
  readonly entries: ReadonlyMap<string, SitemapEntry['kind']>
  /** By local name, or by full name for other vocabularies. */
  readonly fields: ReadonlyMap<string, Field>
  /** Whether the text of an entry may be its URL: some sitemaps omit `<loc>`. */
  readonly bareUrls: boolean
}

/** Both kinds of entries in both kinds of files: authors confuse them. */
const SITEMAP: Dialect = {
  entries: new Map([
    ['url', 'page'],
    ['sitemap', 'sitemap'],
  ]),
  fields: new Map<string, Field>([
    ['loc', 'url'],
    ['lastmod', 'lastmod'],
    ['changefreq', 'changefreq'],
    ['priority', 'priority'],
  ]),
  bareUrls: true,
}

/** RSS 0.9x and 2.0, and RSS 1.0, which is RDF. */
const RSS: Dialect = {
  entries: new Map([['item', 'page']]),
  fields: new Map<string, Field>([
    ['link', 'url'],
    ['guid', 'identifier'],
    ['pubdate', 'lastmod'],
    ['dc:date', 'published'],
  ]),
  bareUrls: false,
}

/** Atom 1.0, and 0.3 with different names for dates. */
const ATOM: Dialect = {
  entries: new Map([['entry', 'page']]),
  fields: new Map<string, Field>([
    ['link', 'link'],
    ['id', 'identifier'],
    ['updated', 'lastmod'],
    ['modified', 'lastmod'],
    ['published', 'published'],
    ['issued', 'published'],
  ]),
  bareUrls: false,
}

/** By local name of the root element; namespaces are wrong too often to rely on. */
export const DIALECTS: ReadonlyMap<string, Dialect> = new Map([
  ['urlset', SITEMAP],
  ['sitemapindex', SITEMAP],
  ['rss', RSS],
  ['rdf', RSS],
  ['feed', ATOM],
])
