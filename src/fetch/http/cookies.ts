/**
 * Cookies, for crawls that ask for them. Each host has a jar of its own: what one host sets, even for its whole domain,
 * is sent to that host only. A crawler needs cookies for pages that send a visitor in circles until it brings one back,
 * and those circles stay on a host. Sharing them would let hosts follow the crawler, and the pages that a crawl finds
 * would depend on which hosts happen to share a thread or a machine.
 *
 * The rules (domain, path, secure, expiry, prefixes) are tough-cookie's.
 */

import type { Cookie, CookieJar } from 'tough-cookie'
import { require } from '../../require.js'
import { Generations } from '../robots/memory.js'
import { LINE_TEXT, type RawHeaders } from './headers.js'

/** With the bound of a host, about 80 MB of cookies at the very worst; usually a host has two. */
const MAX_HOSTS = 10_000

/** What RFC 6265 (6.1) asks of a browser for one domain. */
const MAX_COOKIES = 50

/** Of one cookie with its attributes (RFC 6265, 6.1). */
const MAX_COOKIE_CHARS = 4096

/**
 * A cookie without a name is kept if it has a value, but not one that could pass for a cookie with a prefix once it is
 * sent (RFC 6265bis, 5.7), such as `=__Host-x=1`; and `=` alone is no cookie.
 */
const NAMELESS = /^[\t ]*(?:=?[\t ]*(?:;|$)|(?:=[\t ]*|(?=[^=;]*(?:;|$)))__(?:Secure|Host|Http)-)/i

/** Of all cookies of a host: common servers refuse a request with a header line of more than 8 KiB. */
const MAX_HOST_CHARS = 8192

export class Cookies {
  readonly #newJar: () => CookieJar
  /** By host. Filled when a host sets its first cookie; those not used lately are forgotten when there are too many. */
  readonly #jars = new Generations<CookieJar>(() => 0)

  private constructor(newJar: () => CookieJar) {
    this.#newJar = newJar
  }

  /** Loads tough-cookie, which only crawls that want cookies need. */
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

  /** Takes what a response sets. Cookies that break a rule or a bound are left out, as a browser does. */
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

/** Request headers with the cookies of a jar behind those that the user set, in the one line that HTTP allows. */
export function withCookies(headers: string[], cookies: string | undefined): string[] {
  if (cookies === undefined) return headers
  const sent = [...headers]
  const at = sent.findIndex((text, i) => i % 2 === 0 && text === 'cookie')
  if (at < 0) sent.push('cookie', cookies)
  else sent[at + 1] += `; ${cookies}`
  return sent
}

/** The oldest go first. */
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

/** Oldest first. The store is in memory and answers at once, though its signature is that of a slow one. */
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
