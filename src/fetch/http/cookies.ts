/**
 * Cookies, for crawls that enable them. Each host has its own jar: a cookie is sent only to the host that set it, even
 * if it was set for the whole domain. A crawler needs cookies for pages that redirect a visitor until it sends one back,
 * and those redirects stay on one host. Shared cookies would let hosts track the crawler, and the result of a crawl
 * would depend on which hosts happen to share a thread or a machine.
 *
 * The rules (domain, path, secure, expiry, prefixes) are tough-cookie's.
 */

import type { Cookie, CookieJar } from 'tough-cookie'
import { require } from '../../require.js'
import { Generations } from '../robots/memory.js'
import { LINE_TEXT, type RawHeaders } from './headers.js'

/** With the limit per host, at most about 80 MB of cookies; a host usually has two. */
const MAX_HOSTS = 10_000

/** The number per domain that RFC 6265 (6.1) requires of a browser. */
const MAX_COOKIES = 50

/** For one cookie with its attributes (RFC 6265, 6.1). */
const MAX_COOKIE_CHARS = 4096

/**
 * Matches nameless cookies that are ignored: those without a value, and those that would look like a cookie with a
 * prefix once sent (RFC 6265bis, 5.7), such as `=__Host-x=1`.
 */
const NAMELESS = /^[\t ]*(?:=?[\t ]*(?:;|$)|(?:=[\t ]*|(?=[^=;]*(?:;|$)))__(?:Secure|Host|Http)-)/i

/** For all cookies of a host: common servers reject header lines of more than 8 KiB. */
const MAX_HOST_CHARS = 8192

export class Cookies {
  readonly #newJar: () => CookieJar
  /** By host. Filled when a host sets its first cookie; the least recently used are evicted. */
  readonly #jars = new Generations<CookieJar>(() => 0)

  private constructor(newJar: () => CookieJar) {
    this.#newJar = newJar
  }

  /** Loads tough-cookie, which only crawls with cookies need. */
  static load(): Cookies {
    const { CookieJar } = require('tough-cookie') as typeof import('tough-cookie')
    // Loose, as browsers are: a cookie may lack its name. Crawls of `localhost` have cookies too.
    return new Cookies(() => new CookieJar(undefined, { looseMode: true, allowSpecialUseDomain: true }))
  }

  /** The value of the `Cookie` header for a URL, if there is anything to send. */
  headerFor(origin: string, path: string): string | undefined {
    const host = hostOf(origin)
    const jar = this.#jars.get(host)
    if (jar === undefined) return undefined
    this.#jars.use(host, jar)
    const text = jar.getCookieStringSync(origin + path)
    return text === '' ? undefined : text
  }

  /** Stores the cookies of a response. Ignores those that break a rule or a limit, as a browser does. */
  keep(origin: string, path: string, headers: RawHeaders): void {
    const lines = headers.lines('set-cookie')
    if (lines.length === 0) return
    const host = hostOf(origin)
    const jar = this.#jars.get(host) ?? this.#newJar()
    for (const line of lines.slice(0, MAX_COOKIES)) {
      if (line.length > MAX_COOKIE_CHARS || !LINE_TEXT.test(line) || NAMELESS.test(line)) continue
      jar.setCookieSync(line, origin + path, { ignoreError: true })
    }
    makeRoom(jar)
    this.#jars.use(host, jar)
    this.#jars.fit(MAX_HOSTS, 0)
  }
}

/** Appends cookies to those that the user set, in the one header line that HTTP allows. */
export function withCookies(headers: string[], cookies: string | undefined): string[] {
  if (cookies === undefined) return headers
  const sent = [...headers]
  const at = sent.findIndex((text, i) => i % 2 === 0 && text === 'cookie')
  if (at < 0) sent.push('cookie', cookies)
  else sent[at + 1] += `; ${cookies}`
  return sent
}

/** Removes the oldest cookies until the rest is within the limits. */
function makeRoom(jar: CookieJar): void {
  const cookies = cookiesOf(jar)
  let count = cookies.length
  let chars = cookies.reduce((sum, cookie) => sum + cookie.toString().length, 0)
  for (const cookie of cookies) {
    if (count <= MAX_COOKIES && chars <= MAX_HOST_CHARS) break
    jar.store.removeCookie(cookie.domain, cookie.path, cookie.key, () => {})
    count--
    chars -= cookie.toString().length
  }
}

/** Oldest first. The store is in memory, so its callback is called synchronously. */
function cookiesOf(jar: CookieJar): Cookie[] {
  let found: Cookie[] = []
  jar.store.getAllCookies((_, cookies) => {
    found = cookies ?? []
  })
  return found
}

function hostOf(origin: string): string {
  return origin.slice(origin.indexOf('//') + 2)
}
