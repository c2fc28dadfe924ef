/**
 * Glob patterns for URLs, as an alternative to `^https:\/\/([^/]+\.)?example\.com\/`. Patterns are canonicalized like URLs,
 * so `/café` and `/caf%c3%a9` mean the same.
 */

import { KumoError } from '../../errors.js'
import { canonicalizeUrl, hostOf, pathOf, spellEscapes, spellPath } from '../canonicalize.js'
import { globForFiles, isFileName } from './file-names.js'
import { compileWildcard } from './wildcard.js'

/**
 * Compiles a glob to a test for canonical URLs.
 *
 * | in a pattern | means |
 * |---|---|
 * | `*` | any characters except `/`, including none |
 * | `**` | any characters |
 * | `**` between slashes | any number of directories, including none |
 * | `{a,b}` | `a` or `b`; alternatives can be empty (`{,a}`) and nested |
 * | `?` | itself: the start of the query |
 *
 * - A pattern that starts with `/` matches path and query, on every host.
 * - A pattern with a scheme (`https://…`, `*://…`) matches the whole URL.
 * - Any other pattern starts with a host. Without a path it matches the whole host.
 * - Queries are ignored unless the pattern has a `?`. Then the URL must have a matching query; `*` matches slashes there. A
 *   pattern that ends with `?` matches URLs without a query.
 *
 * @example
 * compileGlob('/blog/*')('https://example.com/blog/a?page=2')  // true: the pattern has no query
 * compileGlob('/blog/*')('https://example.com/blog/a/b')       // false: * does not match a slash
 * compileGlob('*.example.com')('https://a.b.example.com/c')    // true
 * compileGlob('/**?*sort=*')('https://example.com/a?b&sort=c') // true
 * compileGlob('/list?')('https://example.com/list?page=2')     // false: only without a query
 */
export function compileGlob(pattern: string): (canonicalUrl: string) => boolean {
  check(pattern)
  const tests = alternatives(pattern).map((plain) => compilePlain(plain, pattern))
  const [only] = tests
  return tests.length === 1 ? only! : (url) => tests.some((test) => test(url))
}

/** Each alternative is tested on its own, so a pattern with too many would slow down every link. */
const MOST_ALTERNATIVES = 256

function check(pattern: unknown): asserts pattern is string {
  if (typeof pattern !== 'string' || pattern === '') {
    throw unusable(pattern, 'it must be a string such as "/blog/**" or "*.example.com"')
  }
  if (/\p{Surrogate}/u.test(pattern)) throw unusable(pattern, 'it contains half of a surrogate pair')
  if (pattern.includes('#'))
    throw unusable(pattern, 'URLs are matched without their fragment, so "#" never matches')
  if (pattern.includes('\\'))
    throw unusable(pattern, 'backslashes have no meaning here; "?" and "." are literal already')
}

/** The pattern without braces, once for each combination of choices. */
function alternatives(pattern: string): string[] {
  const found: string[] = []
  // After `:/` there is a host, not a directory.
  expand(pattern.replace(/(?<!\/)(?:\/\*\*)+\//g, '{/,/**/}'))
  return found

  function expand(text: string): void {
    const open = text.indexOf('{')
    const stray = text.indexOf('}')
    if (stray >= 0 && (open < 0 || stray < open)) throw unusable(pattern, 'a "}" has no matching "{"')
    if (open >= 0) {
      const { choices, end } = readBraces(text, open, pattern)
      for (const choice of choices) expand(text.slice(0, open) + choice + text.slice(end))
    } else if (found.push(text) > MOST_ALTERNATIVES) {
      throw unusable(
        pattern,
        `its braces expand to more than ${MOST_ALTERNATIVES} alternatives; combine globs with any()`,
      )
    }
  }
}

function readBraces(text: string, open: number, pattern: string): { choices: string[]; end: number } {
  const choices: string[] = []
  let depth = 0
  let from = open + 1
  for (let at = open; at < text.length; at++) {
    if (text[at] === '{') depth++
    const closes = text[at] === '}' && --depth === 0
    if (closes || (text[at] === ',' && depth === 1)) {
      choices.push(text.slice(from, at))
      from = at + 1
    }
    if (closes) return { choices, end: from }
  }
  throw unusable(pattern, 'a "{" has no matching "}"')
}

/** Compiles a pattern without braces. */
function compilePlain(plain: string, pattern: string): (url: string) => boolean {
  const question = plain.indexOf('?')
  const address = question < 0 ? plain : plain.slice(0, question)
  const query = question < 0 ? '' : spellQuery(plain.slice(question + 1))
  const scheme = /^([a-z*]+):\/\//i.exec(address)?.[1]?.toLowerCase()
  const subject = address.startsWith('/') ? pathOf : scheme === undefined ? hostAndPathOf : wholeUrl
  const spelled = spellAddress(address, scheme, question >= 0, pattern)
  const fits = compileWildcard(query === '' ? spelled : `${spelled}?${query}`)
  if (query !== '') return (url) => fits(subject(url))
  return (url) => {
    const end = url.indexOf('?')
    if (end < 0) return fits(subject(url))
    return question < 0 && fits(subject(url.slice(0, end)))
  }
}

const wholeUrl = (url: string) => url
const hostAndPathOf = (url: string) => url.slice(url.indexOf('/') + '//'.length)

/** Canonicalizes everything before the query. */
function spellAddress(
  address: string,
  scheme: string | undefined,
  hasQuery: boolean,
  pattern: string,
): string {
  if (address.startsWith('/')) return spellPathPattern(address)
  const front = scheme === undefined ? '' : `${scheme}://`
  if (scheme !== undefined && !['http', 'https'].some(compileWildcard(scheme))) {
    throw unusable(pattern, 'only http and https URLs are crawled')
  }
  const slash = address.indexOf('/', front.length)
  const host = slash < 0 ? address.slice(front.length) : address.slice(front.length, slash)
  if (slash < 0 && isFileName(host)) {
    const meant = globForFiles(pattern.replace(/^[^/]*:\/\//, ''))
    throw unusable(pattern, `without a slash it matches hosts; for files write "${meant}"`)
  }
  const path = slash < 0 ? (hasQuery ? '/' : '/**') : address.slice(slash)
  return front + spellHost(host, scheme, pattern) + spellPathPattern(path)
}

function spellHost(host: string, scheme: string | undefined, pattern: string): string {
  if (host === '' || /[\s@%<>"^`|]/.test(host)) throw unusable(pattern, `"${host}" cannot be a host`)
  const ownPort = scheme === 'https' ? ':443' : scheme === 'http' ? ':80' : undefined
  const name = ownPort !== undefined && host.endsWith(ownPort) ? host.slice(0, -ownPort.length) : host
  return name.split('.').map(spellLabel).join('.').toLowerCase()

  function spellLabel(label: string): string {
    if (isAscii(label)) return label
    const url = label.includes('*') ? undefined : canonicalizeUrl(`http://${label}/`)
    if (url === undefined) throw unusable(pattern, `write the host label "${label}" in ASCII (xn--…)`)
    return hostOf(url)
  }
}

function isAscii(text: string): boolean {
  return /^[\x20-\x7e]*$/.test(text)
}

function spellPathPattern(path: string): string {
  return spellPath(path.replace(/[^\x21-\x7e]|["<>`]/gu, encodeURIComponent))
}

function spellQuery(query: string): string {
  const escaped = query.replace(/[^\x21-\x7e]|["<>]/gu, encodeURIComponent)
  return spellEscapes(escaped.replaceAll("'", '%27'))
}

function unusable(pattern: unknown, reason: string): KumoError {
  return new KumoError('KUMO_INVALID_OPTION', `Invalid glob ${JSON.stringify(pattern)}: ${reason}.`)
}
