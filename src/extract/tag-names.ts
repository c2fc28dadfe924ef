/** Tells from its name whether a tag matters to the scanner, without making a string of the name. */

import { isWordAt } from './characters.js'

/** A tag that the scanner only steps over. */
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

/** The tag whose name stands from `start` to `end`. Most names are told apart by their length and first letters. */
export function tagNamed(html: string, start: number, end: number): number {
  switch (end - start) {
    case 1:
      return isWordAt(html, start, 'a') ? A : OTHER
    case 3:
      if (isWordAt(html, start, 'svg')) return SVG
      return isWordAt(html, start, 'xmp') ? XMP : OTHER
    case 4:
      if (isWordAt(html, start, 'link')) return LINK
      if (isWordAt(html, start, 'meta')) return META
      if (isWordAt(html, start, 'area')) return AREA
      if (isWordAt(html, start, 'base')) return BASE
      return isWordAt(html, start, 'math') ? MATH : OTHER
    case 5:
      if (isWordAt(html, start, 'style')) return STYLE
      if (isWordAt(html, start, 'title')) return TITLE
      return isWordAt(html, start, 'frame') ? FRAME : OTHER
    case 6:
      if (isWordAt(html, start, 'script')) return SCRIPT
      return isWordAt(html, start, 'iframe') ? IFRAME : OTHER
    case 7:
      return isWordAt(html, start, 'noembed') ? NOEMBED : OTHER
    case 8:
      if (isWordAt(html, start, 'template')) return TEMPLATE
      if (isWordAt(html, start, 'textarea')) return TEXTAREA
      return isWordAt(html, start, 'noframes') ? NOFRAMES : OTHER
    case 9:
      return isWordAt(html, start, 'plaintext') ? PLAINTEXT : OTHER
    default:
      return OTHER
  }
}
