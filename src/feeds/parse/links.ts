/** URLs in feeds. Absolute ones stay as written: a fragment, or a spelling, may be all that tells two entries apart. */

import { parseUrl } from '../../url/canonicalize.js'

const ABSOLUTE = /^[a-z][a-z\d+.-]*:/i
const HTTP = /^https?:\/\/[^\s/]/i
/** They run code or are no place at all. */
const NO_PLACE = /^(?:javascript|vbscript|data|about|blob):/i
const WITHOUT_SCHEME = /^www\.[a-z\d-]+\./i
const BLANK = /\s/

/** The absolute URL of a link; undefined if it has none. Without a base a relative link stays as written. */
export function absoluteUrl(href: string, base: string | undefined): string | undefined {
  const text = href.trim()
  if (text === '') return undefined
  if (HTTP.test(text)) return BLANK.test(text) ? parseUrl(text)?.href : text
  if (WITHOUT_SCHEME.test(text)) return parseUrl(`http://${text}`)?.href
  if (ABSOLUTE.test(text)) return NO_PLACE.test(text) ? undefined : (parseUrl(text)?.href ?? undefined)
  return base === undefined ? text : (parseUrl(text, base)?.href ?? undefined)
}

/** Whether a text is the URL of a page. */
export function isHttpUrl(text: string): boolean {
  return HTTP.test(text) && !BLANK.test(text)
}

/** The base that an `xml:base` attribute sets: itself relative to the one around it. */
export function nestedBase(written: string, base: string | undefined): string | undefined {
  return parseUrl(written.trim(), base)?.href ?? base
}
