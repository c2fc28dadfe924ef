/** Makes the relative links of a piece of HTML absolute. */

import { DOUBLE_QUOTE, SINGLE_QUOTE } from '../../extract/html/characters.js'
import { decodeAttribute } from '../../extract/html/entities.js'
import { parseUrl } from '../../url/canonicalize.js'
import { nestedBase } from './links.js'

/** Attributes that hold one URL. */
const NAMES = 'href|src|poster|cite|action|longdesc|background|data|usemap|codebase|formaction'
/** A relative value of such an attribute: it has no scheme. Anchors within the text stay. */
const RELATIVE = new RegExp(
  `(\\s(?:${NAMES})\\s*=\\s*)(?:"(?!\\s*(?:[a-z][a-z\\d+.-]*:|#|"))([^"<>]*)"|'(?!\\s*(?:[a-z][a-z\\d+.-]*:|#|'))([^'<>]*)'|(?!["']|[a-z][a-z\\d+.-]*:|#)([^\\s"'<>]+))`,
  'gi',
)
/** The end of such a name, before the equals sign. */
const NAME_BEFORE = new RegExp(`\\s(?:${NAMES})\\s*$`, 'i')
const LONGEST_NAME = 20
/** Bounded by the next bracket, so that text without an end costs no more than its length. */
const TAG = /<(\/?)([a-z][\w:.-]*)((?:[^<>"']|"[^"<>]*"|'[^'<>]*')*)>/gi
const XML_BASE = /\sxml:base\s*=\s*(?:"([^"]*)"|'([^']*)')/i
const UNSAFE = /["<>]/g
/** Elements with their own `xml:base` inside each other. */
const MOST_BASES = 100

/** The markup with absolute links. What is not in a tag stays as it is. */
export function withAbsoluteLinks(markup: string, base: string | undefined): string {
  if (markup.includes('xml:base')) return withNestedBases(markup, base)
  if (base === undefined || !mayHaveRelative(markup)) return markup
  const resolve = resolver(base)
  return markup.replace(TAG, (tag) => tag.replace(RELATIVE, resolve))
}

/** A quick look at each attribute: nearly all links are absolute, and a regular expression reads the text around them too. */
function mayHaveRelative(markup: string): boolean {
  for (let at = markup.indexOf('='); at !== -1; at = markup.indexOf('=', at + 1)) {
    const quote = markup.charCodeAt(at + 1)
    const start = quote === DOUBLE_QUOTE || quote === SINGLE_QUOTE ? at + 2 : at + 1
    if (
      !markup.startsWith('http', start) &&
      NAME_BEFORE.test(markup.slice(Math.max(0, at - LONGEST_NAME), at))
    ) {
      return true
    }
  }
  return false
}

function resolver(base: string): (...match: string[]) => string {
  return (written, before, double, single, bare) => {
    const value = double ?? single ?? bare ?? ''
    const url = parseUrl(decodeAttribute(value.trim()), base)?.href
    if (url === undefined || value.trim() === '') return written!
    const quote = single === undefined ? '"' : "'"
    return `${before}${quote}${url.replace(UNSAFE, encodeURIComponent).replaceAll('&', '&amp;').replaceAll("'", '%27')}${quote}`
  }
}

/** The same where elements set a base of their own, which holds until they end. */
function withNestedBases(markup: string, outer: string | undefined): string {
  const bases: { readonly name: string; readonly base: string | undefined; depth: number }[] = []
  return markup.replace(TAG, (tag, slash: string, name: string, attributes: string) => {
    const inner = bases.at(-1)
    const base = inner === undefined ? outer : inner.base
    const empty = attributes.endsWith('/')
    if (slash === '') {
      if (inner?.name === name && !empty) inner.depth++
      const [, double, single] = XML_BASE.exec(attributes) ?? []
      const own = double ?? single
      const here = own === undefined ? base : nestedBase(decodeAttribute(own), base)
      if (own !== undefined && !empty && bases.length < MOST_BASES) bases.push({ name, base: here, depth: 1 })
      return here === undefined ? tag : tag.replace(RELATIVE, resolver(here))
    }
    if (inner?.name === name && --inner.depth === 0) bases.pop()
    return tag
  })
}
