/**
 * Query parameters that identify the visitor or the way they came, not the content. A link with a session ID is a new URL
 * on every visit, and the links of campaigns are many spellings of one page. Which names mean that is known only by
 * convention, so it is a list and the operator's choice.
 */

import { invalidOption } from '../errors.js'
import { canonicalizeUrl, spellEscapes } from './canonicalize.js'
import { compileWildcard } from './scope/wildcard.js'

/**
 * Parameters that advertising and analytics tools add to links. Each belongs to a known product and never selects content;
 * words that a site may use for content (`ref`, `source`, `campaign`) are not included.
 */
export const TRACKING_PARAMETERS: readonly string[] = Object.freeze([
  // Google, and tools that use its campaign parameters.
  ...['utm_*', 'gclid', 'gclsrc', 'dclid', 'gbraid', 'wbraid', 'gad_source', 'gad_campaignid', 'srsltid'],
  ...['_ga', '_gl', '_gac'],
  // Click identifiers of other networks.
  ...[
    'fbclid',
    'msclkid',
    'yclid',
    'ysclid',
    'ymclid',
    '_openstat',
    'twclid',
    'ttclid',
    'li_fat_id',
    'igshid',
  ],
  ...['epik', 'rdt_cid', 'ScCid', 'irclickid', '_branch_match_id', 'wickedid'],
  // Newsletters and marketing suites.
  ...['mc_cid', 'mc_eid', 'mkt_tok', '_hsenc', '_hsmi', '__hssc', '__hstc', '__hsfp', 'hsCtaTracking'],
  ...['vero_id', 'vero_conv', 'oly_anon_id', 'oly_enc_id', '_kx', 'ml_subscriber', 'ml_subscriber_hash'],
  // Matomo, formerly Piwik.
  ...['mtm_*', 'matomo_*', 'pk_*', 'piwik_*'],
])

/**
 * Session parameters of common server software. Short words such as `sid` or `session` mean a session on one site and a
 * conference talk on the next: add them where you know.
 */
export const SESSION_PARAMETERS: readonly string[] = Object.freeze([
  ...['jsessionid', 'PHPSESSID', 'ASPSESSIONID*', 'ASP.NET_SessionId', 'CFID', 'CFTOKEN'],
  ...['osCsid', 'XTCsid', 'zenid', 'BV_SessionID', 'BV_EngineID'],
])

/** Whether the parameter in `url` from `start` to `end` (`name` or `name=value`) is in the list. */
export type ParameterTest = (url: string, start: number, end: number) => boolean

const ASCII = 128
const EQUALS = 0x3d
const TO_LOWER = 0x20
/** Size of the table of first letter pairs: a power of two, many times the names of a usual list. */
const BEGINNINGS = 1024
/** More names are a mistake, such as a list of URLs. */
const MOST_NAMES = 1000

/**
 * The test for a list of names, in which `*` matches any text. Case-insensitive, because people who type links do not care
 * about case. For a parameter that starts with two other letters, it costs one table lookup.
 *
 * @example
 * const isDropped = parameterTest(['utm_*', 'sid'], 'drop')
 * isDropped('utm_source=mail', 0, 15) // true
 */
export function parameterTest(names: readonly string[], option: string): ParameterTest {
  if (!Array.isArray(names) || names.length > MOST_NAMES) {
    throw invalidOption(option, names, `an array of up to ${MOST_NAMES} parameter names`)
  }
  const exact = new Set<string>()
  const patterns: ((text: string) => boolean)[] = []
  const beginnings = new Uint8Array(BEGINNINGS)
  for (const written of names) {
    const name = spellName(written, option)
    if (name.startsWith('*')) beginnings.fill(1)
    else if (name[1] !== '*') beginnings[beginning(name, 0, name.length)] = 1
    else for (let code = 0; code < ASCII; code++) beginnings[pairOf(name.charCodeAt(0), code)] = 1
    // After a question mark, a star also matches slashes.
    if (name.includes('*')) patterns.push(compileWildcard(`?${name}`))
    else exact.add(name)
  }
  return (url, start, end) => {
    if (start === end || beginnings[beginning(url, start, end)] !== 1) return false
    let nameEnd = start
    while (nameEnd < end && url.charCodeAt(nameEnd) !== EQUALS) nameEnd++
    const name = url.slice(start, nameEnd).toLowerCase()
    if (exact.has(name)) return true
    for (const matches of patterns) if (matches(`?${name}`)) return true
    return false
  }
}

/** Table index of a parameter's first two letters; a name of one letter is followed by its `=`. */
function beginning(text: string, start: number, end: number): number {
  return pairOf(text.charCodeAt(start), start + 1 < end ? text.charCodeAt(start + 1) : EQUALS)
}

function pairOf(first: number, second: number): number {
  return ((first | TO_LOWER) * 31 + (second | TO_LOWER)) & (BEGINNINGS - 1)
}

/** A name in canonical form, in lower case. */
function spellName(written: string, option: string): string {
  const given = typeof written === 'string' && /^[^\s&=#?;/]+$/.test(written)
  const url = given ? canonicalizeUrl(`http://any.example/?${written}`) : undefined
  if (url === undefined) {
    throw invalidOption(option, written, "names of parameters such as 'utm_*' or 'sid'")
  }
  return url.slice(url.indexOf('?') + 1).toLowerCase()
}

/**
 * Returns a function that removes parameters from canonical URLs: from the query, and after a semicolon in the path if they
 * have a value (`/a;jsessionid=1`). The rest is unchanged, an empty query is removed, and a URL without a match is returned
 * as it is. The result is canonical, and filtering it again changes nothing.
 *
 * @example
 * const clean = parameterFilter([...TRACKING_PARAMETERS, ...SESSION_PARAMETERS, 'sid'])
 * clean('https://example.com/a;jsessionid=1F?utm_source=x&id=7') // 'https://example.com/a?id=7'
 */
export function parameterFilter(names: readonly string[]): (url: string) => string {
  const isDropped = parameterTest(names, 'urls.drop')
  const filter = (url: string): string => {
    const query = url.indexOf('?')
    const semicolon = url.indexOf(';')
    if (query < 0 && semicolon < 0) return url
    const pathEnd = query < 0 ? url.length : query
    const inPath = semicolon >= 0 && semicolon < pathEnd && hasInPath(url, semicolon, pathEnd, isDropped)
    const inQuery = query >= 0 && hasInQuery(url, query + 1, isDropped)
    if (!inPath && !inQuery) return url
    const path = inPath ? cleanPath(url.slice(0, pathEnd), isDropped) : url.slice(0, pathEnd)
    const search = inQuery ? cleanQuery(url.slice(query + 1), isDropped) : url.slice(pathEnd)
    const left = path + search
    // A stray '%' protects the escape after it; if it was removed with a parameter, that escape may change.
    const spelled = left.includes('%') ? spellEscapes(path) + spellEscapes(search) : left
    return spelled === left ? left : filter(spelled)
  }
  return filter
}

function hasInQuery(url: string, start: number, isDropped: ParameterTest): boolean {
  for (let at = start; at <= url.length; ) {
    let end = url.indexOf('&', at)
    if (end < 0) end = url.length
    if (isDropped(url, at, end)) return true
    at = end + 1
  }
  return false
}

function cleanQuery(query: string, isDropped: ParameterTest): string {
  const kept = query.split('&').filter((parameter) => !isDropped(parameter, 0, parameter.length))
  const text = kept.join('&')
  return text === '' ? '' : `?${text}`
}

function hasInPath(url: string, semicolon: number, pathEnd: number, isDropped: ParameterTest): boolean {
  // Host names can contain a semicolon.
  const path = pathStart(url)
  for (let at = semicolon; at >= 0 && at < pathEnd; at = url.indexOf(';', at + 1)) {
    if (at > path && isPathParameter(url, at + 1, endOfParameter(url, at + 1, pathEnd), isDropped))
      return true
  }
  return false
}

function endOfParameter(url: string, start: number, pathEnd: number): number {
  let end = start
  while (end < pathEnd && url[end] !== '/' && url[end] !== ';') end++
  return end
}

/** Without a value, it may be part of the title. */
function isPathParameter(text: string, start: number, end: number, isDropped: ParameterTest): boolean {
  const equals = text.indexOf('=', start)
  return equals >= 0 && equals < end && isDropped(text, start, end)
}

function cleanPath(url: string, isDropped: ParameterTest): string {
  const path = pathStart(url)
  const segments = url.slice(path).split('/')
  return url.slice(0, path) + segments.map((segment) => cleanSegment(segment, isDropped)).join('/')
}

function cleanSegment(segment: string, isDropped: ParameterTest): string {
  if (!segment.includes(';')) return segment
  const [name, ...parameters] = segment.split(';')
  const kept = parameters.filter((each) => !isPathParameter(each, 0, each.length, isDropped))
  // Without the parameter, the dots would lead to another directory.
  if (kept.length === 0 && (name === '.' || name === '..')) return segment
  return [name, ...kept].join(';')
}

/** The slash after the host. */
function pathStart(url: string): number {
  return url.indexOf('/', 'https://'.length)
}
