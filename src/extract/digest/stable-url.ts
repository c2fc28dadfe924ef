/**
 * URLs in a page's digest: without the parts that differ from visit to visit although they lead to the same page. The list
 * of parameters is longer than that of tracking.ts. There, dropping one too many means that a page is never fetched; here,
 * only that a changed link with the same text goes unnoticed.
 */

import {
  type ParameterTest,
  parameterTest,
  SESSION_PARAMETERS,
  TRACKING_PARAMETERS,
} from '../../url/tracking.js'
import { decodeAttribute } from '../html/entities.js'

/** Parameters that identify the visitor, the time or a permission. */
const VISIT_PARAMETERS = [
  ...['sid', 's_id', 'session', 'sessionid', 'session_id', 'sess', 'sess_id', 'sessid', 'visitor_id'],
  ...['csrf*', '_csrf*', 'xsrf*', '_xsrf*', 'nonce', '_nonce', '_wpnonce', '_ajax_nonce', 'form_build_id'],
  ...['token', '_token', 'access_token', 'auth_token', 'authenticity_token', 'form_token', 'form_key'],
  // Cache busters.
  ...['_', 'cb', 'cachebuster', 'cache_buster', 'cachebust', 'nocache', 'no_cache', 'bust', 'buster', 'ord'],
  ...['rand', 'random', 'rnd', 'dummy', '__cf_chl_*', '__cb'],
  // Signed URLs of object stores and CDNs.
  ...['x-amz-*', 'x-goog-*', 'expires', 'signature', 'sig', 'hmac', 'key-pair-id', 'awsaccesskeyid'],
]
const isVolatile = parameterTest(
  [...TRACKING_PARAMETERS, ...SESSION_PARAMETERS, ...VISIT_PARAMETERS],
  'digest',
)

/** Dropped if the value is a version: `v` selects the video on one site and the edition of the style sheet on most. */
const isVersionName = parameterTest(['v', 'ver', 'version', 'rev', 'build', 'release'], 'digest')
const VERSION = /^(?:[0-9a-f]+|v?\d[\d._-]*)?$/i
/** Dropped if the value is a timestamp: `t` and `time` have other meanings as well. */
const isTimeName = parameterTest(
  ['t', 'ts', 'time', 'timestamp', 'now', 'date', 'dt', 'd', 'r', 'v'],
  'digest',
)
/** Seconds or milliseconds since the epoch, from 2001 to 2033, with or without a fraction. */
const INSTANT = /^1\d{9}(?:\d{3})?(?:\.\d+)?$/

const EQUALS = 0x3d

/** Cloudflare obfuscates email addresses behind this path, with a different key on every visit. */
const HIDDEN_MAIL = '/cdn-cgi/l/email-protection'

/**
 * A URL without its volatile parts: parameters of the query and of the path (`;jsessionid=1`), and fragments, unless they
 * are a route of a client-side application (`#!/a`, `#/a`).
 *
 * @example
 * stableUrl('/a;jsessionid=1F?id=7&utm_source=x#top') // '/a?id=7'
 */
export function stableUrl(written: string): string {
  let address = written.trim()
  if (address.includes('\n')) address = address.replace(/[\t\n\r]+/g, '')
  const hash = address.indexOf('#')
  if (hash !== -1 && address[hash + 1] !== '!' && address[hash + 1] !== '/') address = address.slice(0, hash)
  const question = address.indexOf('?')
  const pathEnd = question === -1 ? address.length : question
  const semicolon = address.indexOf(';')
  const path =
    semicolon === -1 || semicolon >= pathEnd
      ? address.slice(0, pathEnd)
      : stablePath(address.slice(0, pathEnd))
  const hidden = path.indexOf(HIDDEN_MAIL)
  if (hidden !== -1) return path.slice(0, hidden + HIDDEN_MAIL.length)
  return question === -1 ? path : path + stableQuery(address, question + 1)
}

/** The same for a URL in an attribute. */
export function stableUrlOf(written: string): string {
  return stableUrl(written.includes('&') ? decodeAttribute(written) : written)
}

/** The text of an attribute. */
export function attributeText(written: string): string {
  return decodeAttribute(written).trim()
}

function stableQuery(address: string, start: number): string {
  let query = ''
  for (let at = start; at <= address.length; ) {
    let end = address.indexOf('&', at)
    if (end === -1) end = address.length
    if (end > at && !isDropped(address, at, end))
      query += `${query === '' ? '?' : '&'}${address.slice(at, end)}`
    at = end + 1
  }
  return query
}

const KEPT = 0
const VOLATILE = 1
const VERSION_NAME = 2
const TIME_NAME = 4

/** Kinds of parameter names seen so far: most links of most pages use the same few. */
const known = new Map<string, number>()
const MOST_KNOWN = 2000
/** Longer names are not remembered. */
const LONGEST_KNOWN = 32

function isDropped(text: string, start: number, end: number): boolean {
  let nameEnd = start
  while (nameEnd < end && text.charCodeAt(nameEnd) !== EQUALS) nameEnd++
  const name = text.slice(start, nameEnd)
  const kind = known.get(name) ?? kindOf(name)
  if (kind === KEPT || kind === VOLATILE) return kind === VOLATILE
  const value = text.slice(nameEnd + 1, end)
  return (
    ((kind & VERSION_NAME) !== 0 && VERSION.test(value)) || ((kind & TIME_NAME) !== 0 && INSTANT.test(value))
  )
}

function kindOf(name: string): number {
  const is = (test: ParameterTest) => test(name, 0, name.length)
  const kind = is(isVolatile)
    ? VOLATILE
    : (is(isVersionName) ? VERSION_NAME : 0) | (is(isTimeName) ? TIME_NAME : 0)
  if (name.length <= LONGEST_KNOWN) {
    if (known.size >= MOST_KNOWN) known.clear()
    // Copy the name: a slice would keep the whole page in memory.
    known.set(Buffer.from(name).toString(), kind)
  }
  return kind
}

function stablePath(path: string): string {
  let stable = ''
  for (let at = 0; at < path.length; ) {
    let end = at + 1
    while (end < path.length && path[end] !== ';' && path[end] !== '/') end++
    if (path[at] !== ';' || !isVolatile(path, at + 1, end)) stable += path.slice(at, end)
    at = end
  }
  return stable
}
