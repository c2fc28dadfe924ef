/** Recognizes the tags that matter to the scanner by name, without making a string of the name. */

import { hasWordAt } from './characters.js'
import type { Codes } from './codes.js'

/**
 * Tags to read per page: more than twice as many as the largest pages written by people have. A tag costs up to 0.1 µs, and
 * a body of the default limit can hold three million; the rest of the page is ignored.
 */
export const MOST_TAGS = 2 ** 18
/** Extra cost, in tags, of a tag in SVG or MathML, a template, a meta or a base: they take that much longer. */
export const COST_OF_RARE = 4
/** Longer titles are cut. */
export const LONGEST_TITLE = 2 ** 16

/** A tag that the scanner skips. */
export const OTHER = 0
export const A = 1
export const AREA = 2
export const BASE = 3
export const FRAME = 4
export const IFRAME = 5
export const LINK = 6
export const MATH = 7
export const META = 8
export const NOEMBED = 9
export const NOFRAMES = 10
export const PLAINTEXT = 11
export const SCRIPT = 12
export const STYLE = 13
export const SVG = 14
export const TEMPLATE = 15
export const TEXTAREA = 16
export const TITLE = 17
export const XMP = 18
/** An `a` in SVG, whose link may be in `xlink:href`. `tagNamed` never returns it. */
export const SVG_A = 19

/**
 * For each first letter, as its place in the alphabet, the lengths of the names below as bits: a look-up tells nearly all
 * tags of a page that do not matter.
 */
const NAMES =
  'a area base frame iframe link math meta noembed noframes plaintext script style svg template textarea title xmp'
const LONGEST_NAME = 'plaintext'.length
const LENGTHS = new Uint16Array(32)
for (const name of NAMES.split(' ')) LENGTHS[name.charCodeAt(0) & 31]! |= 1 << name.length

/** The tag whose name is from `start` to `end`. */
export function tagNamed(codes: Codes, start: number, end: number): number {
  const length = end - start
  if (length > LONGEST_NAME || (LENGTHS[codes[start]! & 31]! & (1 << length)) === 0) return OTHER
  switch (length) {
    case 1:
      return hasWordAt(codes, start, 'a') ? A : OTHER
    case 3:
      if (hasWordAt(codes, start, 'svg')) return SVG
      return hasWordAt(codes, start, 'xmp') ? XMP : OTHER
    case 4:
      if (hasWordAt(codes, start, 'link')) return LINK
      if (hasWordAt(codes, start, 'meta')) return META
      if (hasWordAt(codes, start, 'area')) return AREA
      if (hasWordAt(codes, start, 'base')) return BASE
      return hasWordAt(codes, start, 'math') ? MATH : OTHER
    case 5:
      if (hasWordAt(codes, start, 'style')) return STYLE
      if (hasWordAt(codes, start, 'title')) return TITLE
      return hasWordAt(codes, start, 'frame') ? FRAME : OTHER
    case 6:
      if (hasWordAt(codes, start, 'script')) return SCRIPT
      return hasWordAt(codes, start, 'iframe') ? IFRAME : OTHER
    case 7:
      return hasWordAt(codes, start, 'noembed') ? NOEMBED : OTHER
    case 8:
      if (hasWordAt(codes, start, 'template')) return TEMPLATE
      if (hasWordAt(codes, start, 'textarea')) return TEXTAREA
      return hasWordAt(codes, start, 'noframes') ? NOFRAMES : OTHER
    case 9:
      return hasWordAt(codes, start, 'plaintext') ? PLAINTEXT : OTHER
    default:
      return OTHER
  }
}
