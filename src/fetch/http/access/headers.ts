/**
 * Which headers go to which origin. What identifies the crawler goes everywhere; what was set for some origins, and
 * passwords, go there and nowhere else. The headers of an origin are put together once and then only looked up.
 */

import { messageOf } from '../../../errors.js'
import { owned } from '../../../owned.js'
import { requestHeaders } from '../headers.js'
import { AccessRefused } from './failures.js'

/** For basic authentication. */
export interface Credentials {
  readonly username: string
  readonly password: string
}

/** What the headers of a request are made from. */
export interface IdentityOptions {
  readonly userAgent: string
  readonly from?: string | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly headersFor?: ((origin: string) => Readonly<Record<string, string>> | undefined) | undefined
  readonly auth?: Readonly<Record<string, Credentials>> | undefined
}

/** About 5 MB at most. Beyond it all are forgotten: putting headers together again takes some microseconds. */
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
    this.#common = this.#compose(undefined)
    this.#sameForAll = options.headersFor === undefined && this.#auth.size === 0
  }

  /**
   * The flat array that undici takes; the same one for every request to the origin, so nobody may change it.
   *
   * @throws AccessRefused if `headersFor` threw or returned what cannot be sent.
   */
  of(origin: string): string[] {
    return this.#sameForAll ? this.#common : (this.#known.get(origin) ?? this.#learn(origin))
  }

  #learn(origin: string): string[] {
    const headers = this.#own(origin)
    // An origin that has none of its own may still be named by a later seed.
    if (headers === this.#common) return headers
    if (this.#known.size >= MAX_ORIGINS) this.#known.clear()
    this.#known.set(owned(origin), headers)
    return headers
  }

  #own(origin: string): string[] {
    try {
      const extra = this.#options.headersFor?.(origin)
      const authorization = this.#auth.get(origin)
      if (extra === undefined && authorization === undefined) return this.#common
      return this.#compose(authorization === undefined ? extra : { ...extra, authorization })
    } catch (error) {
      const what = `was not asked, because headersFor gave no usable headers: ${messageOf(error)}`
      throw new AccessRefused({ code: 'fetcher-failed', what }, error)
    }
  }

  #compose(extra: Readonly<Record<string, string>> | undefined): string[] {
    const { userAgent, from, headers } = this.#options
    return requestHeaders(userAgent, from === undefined ? {} : { from }, headers ?? {}, extra ?? {})
  }
}

/** UTF-8, as RFC 7617 prefers and browsers send. */
export function basic({ username, password }: Credentials): string {
  return `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`
}
