/** What the digest of a page makes of a tag, told from its name without making a string of it. */

import { keyOf } from '../html/name-keys.js'

/** Ends a word, and means nothing else: most tags. */
export const OTHER = 0
/** Stands within a line, or is not seen at all: ends no word. */
export const WITHIN = 1
export const A = 2
/** Leads somewhere by `href`: `area`, `base`, `link`. */
export const REFERENCE = 3
/** Shows something by `src`. */
export const SHOWN = 4
export const META = 5
export const TIME = 6
export const INPUT = 7
/** Its content is text, whatever looks like markup in it. */
export const VERBATIM = 8
/** Its content is not read. */
export const UNREAD = 9
export const SCRIPT = 10
export const TEMPLATE = 11
export const SVG = 12
/** Of feeds: when the feed was made, which is at each visit. */
export const MADE_AT = 13
/** Of feeds: the same, unless it stands in an entry. */
export const DATED = 14
/** Of feeds. */
export const ENTRY = 15

const KINDS: readonly (readonly [kind: number, names: string])[] = [
  [
    WITHIN,
    'abbr acronym b bdi bdo big cite code data del dfn em font i ins kbd label mark nobr q rb ruby s samp small span strike strong sub sup tt u var wbr',
  ],
  [A, 'a'],
  [REFERENCE, 'area base link'],
  [SHOWN, 'img iframe frame embed audio video source track'],
  [META, 'meta'],
  [TIME, 'time'],
  [INPUT, 'input'],
  [VERBATIM, 'title xmp'],
  [UNREAD, 'style textarea noembed noframes'],
  [SCRIPT, 'script'],
  [TEMPLATE, 'template'],
  [SVG, 'svg'],
]
const KINDS_OF_FEEDS: readonly (readonly [kind: number, names: string])[] = [
  [MADE_AT, 'lastbuilddate'],
  [DATED, 'pubdate updated dc:date'],
  [ENTRY, 'item entry'],
]

/** By a name's key. */
export const TAGS: ReadonlyMap<number, number> = byKey(KINDS)
/** The same for feeds and other XML. */
export const XML_TAGS: ReadonlyMap<number, number> = byKey(KINDS_OF_FEEDS)
/** Names of elements whose content runs to their end tag, by key. */
export const RAW_NAMES: ReadonlyMap<number, string> = new Map(
  ['title', 'xmp', 'style', 'textarea', 'noembed', 'noframes', 'iframe'].map((name) => [keyOf(name), name]),
)

function byKey(kinds: typeof KINDS): ReadonlyMap<number, number> {
  return new Map(
    kinds.flatMap(([kind, names]) => names.split(' ').map((name) => [keyOf(name), kind] as const)),
  )
}
