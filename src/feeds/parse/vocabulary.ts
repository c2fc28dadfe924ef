/**
 * What the elements of all formats mean. Formats are not told apart: an Atom element in RSS means the same as in Atom, and
 * feeds mix them. Names are local names in lower case; those of modules have the prefix that is usual for their namespace.
 */

/** A text that a feed or an entry has. If several elements give it, the one with the lowest rank counts. */
export type TextField = 'title' | 'id' | 'summary' | 'content' | 'author' | 'language' | 'generator'
export type DateField = 'published' | 'updated' | 'date'

/** `plain` texts have white space collapsed; `markup` may contain elements. */
export interface TextMeaning {
  readonly is: 'plain' | 'markup'
  readonly field: TextField
  readonly rank: number
}

/** What an element means. */
export type Meaning =
  | TextMeaning
  | { readonly is: 'date'; readonly field: DateField; readonly rank: number }
  | { readonly is: 'person'; readonly rank: number }
  | { readonly is: 'category'; readonly list: boolean }
  | { readonly is: 'hint'; readonly hint: HintName }
  | { readonly is: 'entry' | 'container' | 'link' | 'enclosure' | 'media' | 'skipped' | 'transparent' }

export type HintName =
  | 'ttl'
  | 'hour'
  | 'day'
  | 'updatePeriod'
  | 'updateFrequency'
  | 'complete'
  | 'archive'
  | 'itunesComplete'

const TEXTS: Readonly<Record<string, readonly string[]>> = {
  'plain title': ['', 'dc:title', 'media:title', 'itunes:title'],
  'plain id': ['guid id', '', 'dc:identifier'],
  'plain language': ['language', 'dc:language'],
  'plain generator': ['generator'],
  'plain author': ['', 'dc:creator dc:author', 'itunes:author'],
  'markup title': ['title'],
  'markup summary': [
    'summary tagline subtitle abstract atom:summary atom:subtitle',
    'description',
    'dc:description',
    'itunes:summary',
    'media:description',
    'itunes:subtitle',
  ],
  'markup content': ['content content:encoded atom:content', 'fullitem body xhtml:body xhtml:div'],
}

const DATES: Readonly<Record<string, readonly string[]>> = {
  published: [
    'published pubdate atom:published',
    'issued dcterms:issued dcterms:available',
    'created dcterms:created',
  ],
  updated: ['updated modified lastbuilddate atom:updated atom:modified', 'dcterms:modified'],
  date: ['dc:date date dcterms:date'],
}

const OTHERS: Readonly<Record<string, string>> = {
  entry: 'item entry rss:item atom:entry',
  container: 'rss feed rdf rdf:rdf channel atom:feed',
  link: 'link atom:link atom10:link',
  enclosure: 'enclosure',
  media: 'media:content',
  // They have titles, links and names of their own.
  skipped:
    'image textinput cloud source atom:source items itunes:owner itunes:image media:thumbnail contributor',
  transparent: 'media:group skiphours skipdays',
}

const HINTS: Readonly<Record<string, HintName>> = {
  ttl: 'ttl',
  hour: 'hour',
  day: 'day',
  'sy:updateperiod': 'updatePeriod',
  'sy:updatefrequency': 'updateFrequency',
  'fh:complete': 'complete',
  'fh:archive': 'archive',
  'itunes:complete': 'itunesComplete',
}

/** Meanings by name. */
export const MEANINGS: ReadonlyMap<string, Meaning> = table()

function table(): Map<string, Meaning> {
  const meanings = new Map<string, Meaning>()
  const add = (names: string, meaning: Meaning) => {
    for (const name of names.split(' ')) if (name !== '') meanings.set(name, meaning)
  }
  for (const [key, ranks] of Object.entries(TEXTS)) {
    const [is, field] = key.split(' ') as ['plain' | 'markup', TextField]
    for (const [rank, names] of ranks.entries()) add(names, { is, field, rank })
  }
  for (const [field, ranks] of Object.entries(DATES)) {
    for (const [rank, names] of ranks.entries()) add(names, { is: 'date', field: field as DateField, rank })
  }
  for (const [is, names] of Object.entries(OTHERS)) add(names, { is: is as 'entry' })
  for (const [name, hint] of Object.entries(HINTS)) add(name, { is: 'hint', hint })
  add('author atom:author managingeditor', { is: 'person', rank: 0 })
  add('category dc:subject itunes:category media:category', { is: 'category', list: false })
  add('itunes:keywords media:keywords', { is: 'category', list: true })
  return meanings
}

/** Usual prefixes by a part of the namespace's name that all its spellings have. Empty: the format's own elements. */
const NAMESPACES: readonly (readonly [RegExp, string])[] = [
  [/purl\.org\/dc\/elements\/|purl\.org\/metadata\/dublin_core|dublincore\.org/i, 'dc'],
  [/purl\.org\/dc\/terms/i, 'dcterms'],
  [/purl\.org\/rss\/1\.0\/modules\/content/i, 'content'],
  [/purl\.org\/rss\/1\.0\/modules\/syndication/i, 'sy'],
  [/purl\.org\/syndication\/history/i, 'fh'],
  [/itunes\.com\/dtds\/podcast|itunes\.apple\.com/i, 'itunes'],
  [/search\.yahoo\.com\/mrss/i, 'media'],
  [/w3\.org\/1999\/xhtml/i, 'xhtml'],
  [/w3\.org\/1999\/02\/22-rdf-syntax-ns/i, 'rdf'],
  [/w3\.org\/2005\/atom|purl\.org\/(?:atom|echo|pie|net\/atom)|example\.com\/newformat|necho/i, 'atom'],
  [
    /purl\.org\/rss\/1\.0\/?$|purl\.org\/net\/rss|channel\.netscape\.com|my\.netscape\.com|backend\.userland\.com|blogs\.law\.harvard\.edu|cyber\.(?:law\.)?harvard\.edu|rssboard\.org/i,
    '',
  ],
]

/** The usual prefix for a namespace; undefined if it is unknown. */
export function usualPrefix(namespace: string): string | undefined {
  return NAMESPACES.find(([pattern]) => pattern.test(namespace))?.[1]
}
