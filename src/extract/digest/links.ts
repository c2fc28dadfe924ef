/**
 * Addresses as a page's digest takes them: without what differs from visit to visit although they lead to the same.
 * It is a longer list than the one by which URLs are cleaned for visiting. There a parameter too many means that a page
 * is never fetched; here only that a change of a link is overlooked whose text stayed the same.
 */

import {
  type ParameterTest,
  parameterTest,
  SESSION_PARAMETERS,
  TRACKING_PARAMETERS,
} from '../../url/tracking.js'
import { decodeAttribute } from '../html/entities.js'

/** Who reads, when, and with which permission. */
const OF_THE_VISIT = [
  ...['sid', 's_id', 'session', 'sessionid', 'session_id', 'sess', 'sess_id', 'sessid', 'visitor_id'],
  ...['csrf*', '_csrf*', 'xsrf*', '_xsrf*', 'nonce', '_nonce', '_wpnonce', '_ajax_nonce', 'form_build_id'],
  ...['token', '_token', 'access_token', 'auth_token', 'authenticity_token', 'form_token', 'form_key'],
  // Cache busters.
  ...['_', 'cb', 'cachebuster', 'cache_buster', 'cachebust', 'nocache', 'no_cache', 'bust', 'buster', 'ord'],
  ...['rand', 'random', 'rnd', 'dummy', '__cf_chl_*', '__cb'],
  // Signed addresses of object stores and of networks that deliver pictures.
  ...['x-amz-*', 'x-goog-*', 'expires', 'signature', 'sig', 'hmac', 'key-pair-id', 'awsaccesskeyid'],
]
const isVolatile = parameterTest([...TRACKING_PARAMETERS, ...SESSION_PARAMETERS, ...OF_THE_VISIT], 'digest')

/** Dropped where the value is a version: `v` chooses the film on one site, and the style sheet's edition on most. */
const isVersionName = parameterTest(['v', 'ver', 'version', 'rev', 'build', 'release'], 'digest')
const VERSION = /^(?:[0-9a-f]+|v?\d[\d._-]*)?$/i
/** Dropped where the value is an instant: `t` and `time` choose other things as well. */
const isTimeName = parameterTest(
  ['t', 'ts', 'time', 'timestamp', 'now', 'date', 'dt', 'd', 'r', 'v'],
  'digest',
)
/** Seconds or milliseconds since the epoch, from 2001 to 2033, with or without a fraction. */
const INSTANT = /^1\d{9}(?:\d{3})?(?:\.\d+)?$/

const EQUALS = 0x3d

/** Cloudflare hides mail addresses behind this, with another key at each visit. */
const HIDDEN_MAIL = '/cdn-cgi/l/email-protection'

/**
 * An address without its volatile parts: parameters of the query and of the path (`;jsessionid=1`), and fragments, of which
 * only those count that take a program to a page of its own (`#!/a`, `#/a`).
 *
 * @example
 * stableAddress('/a;jsessionid=1F?id=7&utm_source=x#top') // '/a?id=7'
 */
export function stableAddress(written: string): string {
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

/** The same of an address as it stands in an attribute. */
export function addressOf(written: string): string {
  return stableAddress(written.includes('&') ? decodeAttribute(written) : written)
}

/** The words of an attribute. */
export function wordsOf(written: string): string {
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

/** What is known of names that were met: the same few stand in most links of most pages. */
const known = new Map<string, number>()
const MOST_KNOWN = 2000
/** A longer name is not remembered. */
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
    // A slice would keep all of its page in memory.
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
