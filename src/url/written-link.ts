/**
 * Links as written, compared without resolving them. Most links of a page were also on an earlier page, and those are
 * recognized by their text. Whether equal texts lead to equal URLs depends on where their pages are: `/a` means the same
 * on all pages of an origin, `a.html` on all pages of a directory, `?a` on one page only.
 */

import { fingerprint, fingerprintCodes } from './fingerprint.js'

/** Not written as an attribute of markup, so its text must not be compared. */
export const NOT_COMPARABLE = 0
/** Not worth remembering: the text begins with something that a parser would remove or decode. */
export const NOT_REMEMBERED = 1
/** The same on all pages of an origin: `/path`, `//host/path`. */
export const OF_ORIGIN = 2
/** The same on all pages of a directory: `a.html`, `../a`. Everything else that is no query is, too. */
export const OF_DIRECTORY = 3
/** The same on one page: `?query`. */
export const OF_DOCUMENT = 4
/** The page itself, or what its `base` names: `#fragment` and an empty link. */
export const OF_PAGE = 5
/** The same on all pages: `https://…`. */
export const ABSOLUTE = 6

/** How far the text of a link determines its URL: one of the constants above. */
export type LinkReach = 0 | 1 | 2 | 3 | 4 | 5 | 6

/** One number per character or byte. */
type Codes = Uint8Array | Uint16Array

const SPACE = 0x20
const HASH = 0x23
const AMPERSAND = 0x26
const SLASH = 0x2f
const COLON = 0x3a
const QUESTION = 0x3f
const SMALL_H = 0x68
const SMALL_T = 0x74
const SMALL_P = 0x70
const SMALL_S = 0x73

/**
 * Writes the fingerprint of a link without its fragment, and tells what the link depends on. The codes are those of the
 * attribute as written, from `start` to `end`: character references are not decoded.
 */
export function readLink(codes: Codes, start: number, end: number, into: Uint32Array): LinkReach {
  const reach = reachOf(codes, start, end)
  if (reach === OF_PAGE) return OF_PAGE
  let cut = start
  // The hash of `&#38;` begins no fragment.
  while (cut < end && (codes[cut] !== HASH || codes[cut - 1] === AMPERSAND)) cut++
  // A space before a fragment stays, while one at the end of a link is removed.
  fingerprintCodes(codes, start, codes[cut - 1]! <= SPACE ? end : cut, into)
  return reach
}

/** The same for a link that is a string, in which character references are decoded. */
export function readLinkText(href: string, into: Uint32Array): LinkReach {
  const codes = new Uint16Array(href.length)
  for (let i = 0; i < href.length; i++) codes[i] = href.charCodeAt(i)
  fingerprint(href, into)
  return reachOf(codes, 0, codes.length)
}

/** Text is a link to the page itself, or a query, also after spaces and as a character reference. */
function reachOf(codes: Codes, start: number, end: number): LinkReach {
  if (start === end) return OF_PAGE
  const first = codes[start]!
  switch (first) {
    case HASH:
      return OF_PAGE
    case QUESTION:
      return OF_DOCUMENT
    case SLASH:
      return OF_ORIGIN
    case AMPERSAND:
      return NOT_REMEMBERED
    case SMALL_H:
      return beginsWithScheme(codes, start) ? ABSOLUTE : OF_DIRECTORY
    default:
      return first <= SPACE ? NOT_REMEMBERED : OF_DIRECTORY
  }
}

/** `http://` or `https://`. Behind the end of the page there are no codes. */
function beginsWithScheme(codes: Codes, at: number): boolean {
  if (codes[at + 1] !== SMALL_T || codes[at + 2] !== SMALL_T || codes[at + 3] !== SMALL_P) return false
  const colon = codes[at + 4] === SMALL_S ? at + 5 : at + 4
  return codes[colon] === COLON && codes[colon + 1] === SLASH && codes[colon + 2] === SLASH
}
