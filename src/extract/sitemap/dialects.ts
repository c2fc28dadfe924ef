/** The XML formats that serve as sitemaps: which elements are entries, and what their children mean. */

import type { SitemapEntry } from '../contract.js'

/** What an element of an entry says. */
export type Field =
  | 'url'
  /** A URL if it looks like one, and there is no other: identifiers of feeds. */
  | 'identifier'
  | 'lastmod'
  /** Stands in for `lastmod` where there is none. */
  | 'published'
  | 'changefreq'
  | 'priority'
  /** The URL is an attribute (Atom). */
  | 'link'

export interface Dialect {
  /** By local name in lower case. */
  readonly entries: ReadonlyMap<string, SitemapEntry['kind']>
  /** By local name, or by full name where another vocabulary is meant. */
  readonly fields: ReadonlyMap<string, Field>
  /** Whether the text of an entry may be its URL: some sitemaps forget `<loc>`. */
  readonly bareUrls: boolean
}

/** Either kind of entry in either kind of file: authors mistake them. */
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

/** Atom 1.0, and 0.3 with its other names for dates. */
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

/** By the local name of the root element; namespaces are wrong too often to be asked. */
export const DIALECTS: ReadonlyMap<string, Dialect> = new Map([
  ['urlset', SITEMAP],
  ['sitemapindex', SITEMAP],
  ['rss', RSS],
  ['rdf', RSS],
  ['feed', ATOM],
])
