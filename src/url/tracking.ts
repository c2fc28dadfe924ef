/**
 * Parameters that say who is reading or how they came, not what they read. A link with a session id is a new URL on
 * every visit, and a campaign's links are so many spellings of one page; which names mean that is known by convention
 * only, so it is a list, and the operator's choice.
 */

import { invalidOption } from '../errors.js'
import { canonicalizeUrl, spellEscapes } from './canonicalize.js'
import { compileWildcard } from './scope/wildcard.js'

/**
 * Names with which advertising and statistics mark links. Each belongs to one known product and never chooses
 * content; words that some site may use for content (`ref`, `source`, `campaign`) are left out.
 */
export const TRACKING_PARAMETERS: readonly string[] = Object.freeze([
  // Google, and all that followed its campaign parameters.
  ...['utm_*', 'gclid', 'gclsrc', 'dclid', 'gbraid', 'wbraid', 'gad_source', 'gad_campaignid', 'srsltid'],
  ...['_ga', '_gl', '_gac'],
  // Other networks' click identifiers.
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
 * Names that well known server software gives its session ids. Short words such as `sid` or `session` mean a session
 * on one site and a conference talk on the next: add them where you know.
 */
export const SESSION_PARAMETERS: readonly string[] = Object.freeze([
  ...['jsessionid', 'PHPSESSID', 'ASPSESSIONID*', 'ASP.NET_SessionId', 'CFID', 'CFTOKEN'],
  ...['osCsid', 'XTCsid', 'zenid', 'BV_SessionID', 'BV_EngineID'],
])

/** Is the parameter whose text stands in `url` from `start` to `end` (`name` or `name=value`) one of the list? */
export type ParameterTest = (url: string, start: number, end: number) => boolean

const ASCII = 128
const EQUALS = 0x3d
const TO_LOWER = 0x20
/** Places for pairs of letters: a power of two, many times the names of a usual list. */
const BEGINNINGS = 1024
/** More names than this are a mistake, e.g. a list of URLs. */
const MOST_NAMES = 1000

/**
 * The test for a list of names, in which `*` stands for any text. Upper and lower case do not matter, because those
 * who copy links by hand do not mind them either. A parameter that begins with
 * two other letters costs no more than that look.
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
    // Behind a question mark a star stands for slashes as well.
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

/** The place of a parameter's first two letters; a name of one letter is followed by its `=`. */
function beginning(text: string, start: number, end: number): number {
  return pairOf(text.charCodeAt(start), start + 1 < end ? text.charCodeAt(start + 1) : EQUALS)
}

function pairOf(first: number, second: number): number {
  return ((first | TO_LOWER) * 31 + (second | TO_LOWER)) & (BEGINNINGS - 1)
}

/** A name as canonical URLs spell it, in lower case. */
function spellName(written: string, option: string): string {
  const given = typeof written === 'string' && /^[^\s&=#?;/]+$/.test(written)
  const url = given ? canonicalizeUrl(`http://any.example/?${written}`) : undefined
  if (url === undefined) {
    throw invalidOption(option, written, "names of parameters such as 'utm_*' or 'sid'")
  }
  return url.slice(url.indexOf('?') + 1).toLowerCase()
}

/**
 * A function that takes parameters out of canonical URLs: those of the query, and those that stand behind a semicolon
 * in the path with a value (`/a;jsessionid=1`). All else stays as it is spelled, an emptied query disappears, and a URL
 * in which nothing matches is returned itself. The answer is canonical, and given again, unchanged.
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
    // A stray '%' keeps the escape behind it as it is written; if it went with a parameter, that escape may change.
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
  // A host name may contain a semicolon, strange as it looks.
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

/** Without a value it may be a word of the title. */
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
  // Left alone, the dots would lead to another directory.
  if (kept.length === 0 && (name === '.' || name === '..')) return segment
  return [name, ...kept].join(';')
}

/** The slash behind the host. */
function pathStart(url: string): number {
  return url.indexOf('/', 'https://'.length)
}
