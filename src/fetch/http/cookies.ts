/**
 * Cookies, for crawls that enable them. Each host has its own jar: a cookie is sent only to the host that set it, even
 * if it was set for the whole domain. A crawler needs cookies for pages that redirect a visitor until it sends one back,
 * and for a session, and both stay on one host. Shared cookies would let hosts track the crawler, and the result of a
 * crawl would depend on which hosts happen to share a thread or a machine.
 *
 * The rules (domain, path, secure, prefixes) are tough-cookie's. The jar of a host is a record of the store that belongs
 * to the host: it is read when the host is first visited, written when it changes, and moves with the host.
 */

import type { Cookie, CookieJar } from 'tough-cookie'
import { require } from '../../require.js'
import type { StateSpace } from '../../stores/contract.js'
import { type Clock, systemClock } from '../../time.js'
import type { MaybePromise } from '../../types.js'
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

/** The largest time that a `Date` can hold. */
const MAX_DATE_MS = 8.64e15

/** The key of the record of a host. */
const RECORD = 'jar'

/** The cookies of a host. */
interface HostJar {
  /** Undefined: the host has set none. */
  jar: CookieJar | undefined
  /** The record in the store, as text; undefined if there is none. */
  saved: string | undefined
}

export interface CookieOptions {
  /** Where jars are kept. Absent: in memory only. */
  readonly space?: StateSpace | undefined
  /** The hosts whose cookies are kept. Default: all. */
  keeps?(host: string): boolean
}

export class Cookies {
  readonly #tough: typeof import('tough-cookie')
  readonly #space: StateSpace | undefined
  readonly #keeps: (host: string) => boolean
  /** tough-cookie also reads the system's time. */
  readonly #clock: Clock = systemClock()
  /** By host. Filled when a host is first visited; the least recently used are evicted and read again if needed. */
  readonly #jars = new Generations<HostJar>(() => 0)
  /** Jars that are being read. */
  readonly #reading = new Map<string, Promise<void>>()

  private constructor(tough: typeof import('tough-cookie'), options: CookieOptions) {
    this.#tough = tough
    this.#space = options.space
    this.#keeps = options.keeps ?? (() => true)
  }

  /** Loads tough-cookie, which only crawls with cookies need. */
  static load(options: CookieOptions = {}): Cookies {
    return new Cookies(require('tough-cookie') as typeof import('tough-cookie'), options)
  }

  /** Reads the stored cookies of an origin's host, unless they are in memory. Call it before `headerFor`. */
  ready(origin: string): Promise<void> | undefined {
    const host = hostOf(origin)
    if (this.#space === undefined || this.#jars.get(host) !== undefined || !this.#keeps(host))
      return undefined
    return this.#reading.get(host) ?? this.#read(host, this.#space.get(RECORD, host))
  }

  /** The value of the `Cookie` header for a URL, if there is anything to send. */
  headerFor(origin: string, path: string): string | undefined {
    const host = hostOf(origin)
    const known = this.#jars.get(host)
    if (known?.jar === undefined) return undefined
    this.#jars.use(host, known)
    const text = known.jar.getCookieStringSync(origin + path)
    return text === '' ? undefined : text
  }

  /** Stores the cookies of a response. Ignores those that break a rule or a limit, as a browser does. */
  keep(origin: string, path: string, headers: RawHeaders): void {
    const lines = headers.lines('set-cookie')
    const host = hostOf(origin)
    if (lines.length === 0 || !this.#keeps(host)) return
    const known = this.#jars.get(host)
    const reading = known === undefined ? this.ready(origin) : undefined
    // Evicted while the request was under way: what is stored must not be overwritten.
    if (reading !== undefined) void reading.then(() => this.#set(host, origin + path, lines)).catch(() => {})
    else this.#set(host, origin + path, lines)
  }

  /** Forgets the hosts that moved to another shard. Their cookies are in the store, which took them along. */
  forget(isGone: (host: string) => boolean): void {
    for (const [host] of [...this.#jars]) if (isGone(host)) this.#jars.delete(host)
  }

  #set(host: string, url: string, lines: readonly string[]): void {
    const known = this.#jars.get(host) ?? { jar: undefined, saved: undefined }
    known.jar ??= this.#newJar()
    for (const line of lines.slice(0, MAX_COOKIES)) {
      if (line.length > MAX_COOKIE_CHARS || !LINE_TEXT.test(line) || NAMELESS.test(line)) continue
      const cookie = this.#parse(line)
      if (cookie !== undefined) known.jar.setCookieSync(cookie, url, { ignoreError: true })
    }
    makeRoom(known.jar)
    this.#remember(host, known)
    this.#save(host, known)
  }

  /** `Max-Age` becomes a time: tough-cookie would count it from the last use. */
  #parse(line: string): Cookie | undefined {
    const cookie = this.#tough.Cookie.parse(line, { loose: true })
    if (typeof cookie?.maxAge !== 'number') return cookie
    const age = cookie.maxAge > 0 ? cookie.maxAge * 1000 : Number.NEGATIVE_INFINITY
    cookie.expires = new Date(Math.min(Math.max(this.#clock.now() + age, 0), MAX_DATE_MS))
    cookie.maxAge = null
    return cookie
  }

  #read(host: string, answer: MaybePromise<unknown>): Promise<void> | undefined {
    if (!(answer instanceof Promise)) {
      this.#restore(host, answer)
      return undefined
    }
    const reading = answer
      .then((record) => this.#restore(host, record))
      .finally(() => this.#reading.delete(host))
    this.#reading.set(host, reading)
    return reading
  }

  #restore(host: string, record: unknown): void {
    const known: HostJar = { jar: undefined, saved: undefined }
    if (Array.isArray(record)) {
      known.jar = this.#newJar()
      known.saved = JSON.stringify(record)
      for (const each of record.slice(0, MAX_COOKIES)) {
        const cookie = this.#tough.Cookie.fromJSON(each)
        if (cookie) known.jar.store.putCookie(cookie, () => {})
      }
    }
    this.#remember(host, known)
  }

  #remember(host: string, known: HostJar): void {
    this.#jars.use(host, known)
    this.#jars.fit(MAX_HOSTS, 0)
  }

  #save(host: string, known: HostJar): void {
    if (this.#space === undefined) return
    const now = this.#clock.now()
    const left = cookiesOf(known.jar!).filter(
      (cookie) => (cookie.expiryTime() ?? Number.POSITIVE_INFINITY) > now,
    )
    const record = left.map(recordOf)
    const text = left.length === 0 ? undefined : JSON.stringify(record)
    if (text === known.saved) return
    known.saved = text
    if (text === undefined) this.#space.delete(RECORD, host)
    else this.#space.put(RECORD, record, host)
  }

  /** Loose, as browsers are: a cookie may lack its name. Crawls of `localhost` have cookies too. */
  #newJar(): CookieJar {
    return new this.#tough.CookieJar(undefined, { looseMode: true, allowSpecialUseDomain: true })
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

/** The cookie as a record. When it was last sent is left out, so that the record changes only if the cookie does. */
function recordOf(cookie: Cookie): object {
  const { lastAccessed: _, ...record } = cookie.toJSON()
  return record
}

function hostOf(origin: string): string {
  return origin.slice(origin.indexOf('//') + 2)
}
