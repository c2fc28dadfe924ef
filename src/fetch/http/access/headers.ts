/**
 * Request headers by origin. Headers that identify the crawler are sent everywhere; headers and credentials of an origin
 * only there. The headers of an origin are composed once and cached.
 */

import { messageOf } from '../../../errors.js'
import { owned } from '../../../owned.js'
import { requestHeaders } from '../headers.js'
import { AccessRefused } from './failures.js'

/** See `HostAccess.auth`. */
const WITHHELD = 'withheld'

/** For basic authentication. */
export interface Credentials {
  readonly username: string
  readonly password: string
}

/** How one origin is reached, if not like all others. */
export interface HostAccess {
  readonly userAgent?: string | undefined
  /** Names in lower case. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** The value of `Authorization`; `withheld`: there is one, but the origin is not trusted yet. */
  readonly auth?: string | undefined
  /** The URL of a proxy; false: none. */
  readonly proxy?: string | false | undefined
  readonly connections?: number | undefined
}

/** What the headers of a request are made from. */
export interface IdentityOptions {
  readonly userAgent: string
  readonly from?: string | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly headersFor?: ((origin: string) => Readonly<Record<string, string>> | undefined) | undefined
  readonly auth?: Readonly<Record<string, Credentials>> | undefined
  readonly hosts?: ((origin: string) => HostAccess | undefined) | undefined
}

/** About 5 MB at most. Beyond it the cache is cleared: composing headers takes some microseconds. */
const MAX_ORIGINS = 10_000

export class OriginHeaders {
  readonly #options: IdentityOptions
  /** By origin, the value of `Authorization`. */
  readonly #auth: ReadonlyMap<string, string>
  readonly #common: string[]
  /** Filled by `of`, emptied by it when full. */
  readonly #known = new Map<string, string[]>()
  readonly #sameForAll: boolean

  /** @throws KumoError `KUMO_INVALID_OPTION` for what cannot be sent. */
  constructor(options: IdentityOptions) {
    this.#options = options
    const auth = Object.entries(options.auth ?? {})
    this.#auth = new Map(auth.map(([origin, credentials]) => [new URL(origin).origin, basic(credentials)]))
    this.#common = this.#compose([])
    this.#sameForAll = options.headersFor === undefined && !options.hosts && this.#auth.size === 0
  }

  /**
   * The flat array that undici accepts. It is shared by all requests to the origin and must not be changed.
   *
   * @throws AccessRefused if `headersFor` threw or returned what cannot be sent.
   */
  of(origin: string): string[] {
    return this.#sameForAll ? this.#common : (this.#known.get(origin) ?? this.#learn(origin))
  }

  #learn(origin: string): string[] {
    const host = this.#options.hosts?.(origin)
    const headers = this.#own(origin, host)
    // Not cached: a later seed may still set headers for this origin.
    if (headers === this.#common || host?.auth === WITHHELD) return headers
    if (this.#known.size >= MAX_ORIGINS) this.#known.clear()
    this.#known.set(owned(origin), headers)
    return headers
  }

  #own(origin: string, host: HostAccess | undefined): string[] {
    try {
      const extra = this.#options.headersFor?.(origin)
      const ofHost = host?.auth === WITHHELD ? undefined : host?.auth
      const authorization = this.#auth.get(origin) ?? ofHost
      if (extra === undefined && authorization === undefined && host === undefined) return this.#common
      const credentials = authorization === undefined ? {} : { authorization }
      return this.#compose([extra ?? {}, host?.headers ?? {}, credentials], host?.userAgent)
    } catch (error) {
      const what = `was not fetched, because headersFor returned no usable headers: ${messageOf(error)}`
      throw new AccessRefused({ code: 'fetcher-failed', what }, error)
    }
  }

  #compose(own: readonly Readonly<Record<string, string>>[], agent?: string): string[] {
    const { userAgent, from, headers } = this.#options
    return requestHeaders(agent ?? userAgent, from === undefined ? {} : { from }, headers ?? {}, ...own)
  }
}

/** UTF-8, as RFC 7617 prefers and browsers send. */
export function basic({ username, password }: Credentials): string {
  return `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`
}
