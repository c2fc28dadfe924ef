/** What the digest of a page makes of a tag, told from its name without making a string of it. */

import { BANG, isLetter, QUESTION_MARK, SLASH } from '../html/characters.js'

const HASH = 0x23

/** Stands within a line, or is not seen at all: ends no word. */
export const WITHIN = 1
export const A = 2
/** Leads somewhere by `href`: `area`, `base`, `link`. */
export const REFERENCE = 3
/** Shows something by `src`. */
export const SHOWN = 4
export const META = 5
export const TIME = 6
const INPUT = 7
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
  ['title', 'xmp', 'style', 'textarea', 'noembed', 'noframes', 'iframe'].map((name) => [
    keyOfName(name),
    name,
  ]),
)

/**
 * The key of a name that goes on with `code`, in capitals or not. It is a small number of which every character
 * changes all bits: two names of this file never share one, and a made-up name hardly does with any of them.
 */
export function withCode(key: number, code: number): number {
  return (Math.imul(key ^ (isLetter(code) ? code | 0x20 : code), 0x9e3779b1) ^ (key >>> 15)) | 0
}

/** The key of a whole name. */
export function keyOfName(name: string): number {
  let key = 0
  for (let at = 0; at < name.length; at++) key = withCode(key, name.charCodeAt(at))
  return key
}

function byKey(kinds: typeof KINDS): ReadonlyMap<number, number> {
  return new Map(
    kinds.flatMap(([kind, names]) => names.split(' ').map((name) => [keyOfName(name), kind] as const)),
  )
}

/** Whether markup begins with a `<` before this character. */
export function beginsMarkup(next: number | undefined): boolean {
  return next !== undefined && (isLetter(next) || next === SLASH || next === BANG || next === QUESTION_MARK)
}

/** Whether a character reference may begin with an `&` before this one. */
export function beginsReference(next: number | undefined): boolean {
  return next !== undefined && (isLetter(next) || next === HASH)
}
