/** What the digest does with each tag, looked up by the key of its name. */

import { keyOf } from '../html/name-keys.js'

/** 0 is for most tags: they end a word, nothing more. This one is inline or invisible: does not end a word. */
export const INLINE = 1
export const A = 2
/** Links with `href`: `area`, `base`, `link`. */
export const REFERENCE = 3
/** Embeds something with `src`. */
export const EMBED = 4
export const META = 5
export const TIME = 6
const INPUT = 7
/** Its content is text, even if it looks like markup. */
export const VERBATIM = 8
/** Its content is ignored. */
export const IGNORED = 9
export const SCRIPT = 10
export const TEMPLATE = 11
export const SVG = 12
/** In feeds: the time at which the feed was generated, which differs on every visit. */
export const GENERATED_AT = 13
/** In feeds: the same, unless it is in an entry. */
export const DATED = 14
/** In feeds: an entry. */
export const ENTRY = 15

const KINDS: readonly (readonly [kind: number, names: string])[] = [
  [
    INLINE,
    'abbr acronym b bdi bdo big cite code data del dfn em font i ins kbd label mark nobr q rb ruby s samp small span strike strong sub sup tt u var wbr',
  ],
  [A, 'a'],
  [REFERENCE, 'area base link'],
  [EMBED, 'img iframe frame embed audio video source track'],
  [META, 'meta'],
  [TIME, 'time'],
  [INPUT, 'input'],
  [VERBATIM, 'title xmp'],
  [IGNORED, 'style textarea noembed noframes'],
  [SCRIPT, 'script'],
  [TEMPLATE, 'template'],
  [SVG, 'svg'],
]
const KINDS_OF_FEEDS: readonly (readonly [kind: number, names: string])[] = [
  [GENERATED_AT, 'lastbuilddate'],
  [DATED, 'pubdate updated dc:date'],
  [ENTRY, 'item entry'],
]

/** HTML tags by key. */
export const TAGS: ReadonlyMap<number, number> = byKey(KINDS)
/** Tags of feeds and other XML by key. */
export const XML_TAGS: ReadonlyMap<number, number> = byKey(KINDS_OF_FEEDS)
/** Elements whose content ends at their end tag, by key. */
export const RAW_NAMES: ReadonlyMap<number, string> = new Map(
  ['title', 'xmp', 'style', 'textarea', 'noembed', 'noframes', 'iframe'].map((name) => [keyOf(name), name]),
)

function byKey(kinds: typeof KINDS): ReadonlyMap<number, number> {
  return new Map(
    kinds.flatMap(([kind, names]) => names.split(' ').map((name) => [keyOf(name), kind] as const)),
  )
}
