/** What programs ask for with `page.follow()`. */

import { KumoError, optionError } from '../errors.js'
import type { FollowOptions, RequestInput, RequestSpec } from '../url/request-options.js'
import { requestSpec } from '../url/request-options.js'
import { type Base, resolve } from '../url/resolve.js'

const OPTION = 'page.follow'
/** As many as the links that are read from one page. */
const MOST_REQUESTS = 50_000
/** In characters: they are in memory until the page is settled. */
const MOST_TEXT = 32 * 1024 * 1024

/** The requests of one page, in the order of the calls. */
export class FollowedRequests {
  #requests: RequestSpec[] = []
  #count = 0
  #text = 0

  /** @throws KumoError `KUMO_INVALID_OPTION` */
  add(given: RequestInput, options: FollowOptions | undefined, base: Base): void {
    const spec = followSpec(given, options, base)
    const { body = '', data = '' } = spec.extras ?? {}
    this.#text += spec.url.length + body.length + data.length
    if (++this.#count > MOST_REQUESTS || this.#text > MOST_TEXT) {
      const allowed = `${MOST_REQUESTS} of them, with ${MOST_TEXT} characters of data; for more use run.add()`
      throw optionError(OPTION, 'more requests than one page may make', allowed)
    }
    this.#requests.push(spec)
  }

  /** Removes and returns all requests. */
  take(): RequestSpec[] {
    const taken = this.#requests
    this.#requests = []
    return taken
  }

  /** Adds what another thread has checked. */
  adopt(requests: readonly RequestSpec[]): void {
    for (const each of requests) this.#requests.push(each)
  }
}

/** Like a link: the base element of the page applies, and so does its encoding of queries. */
function followSpec(given: RequestInput, options: FollowOptions | undefined, base: Base): RequestSpec {
  const isUrl = typeof given === 'string' || given instanceof URL
  if (options !== undefined && (typeof options !== 'object' || options === null))
    return requestSpec(OPTION, options)
  const input = isUrl ? { ...options, url: given } : options === undefined ? given : { ...given, ...options }
  if (typeof input !== 'object' || input === null) return requestSpec(OPTION, input)
  if ('depth' in input && input.depth !== undefined)
    throw optionError(`${OPTION}.depth`, String(input.depth), 'none: it is that of the page and one more')
  const url = typeof input.url === 'string' ? (resolve(input.url.trim(), base) ?? input.url) : input.url
  return requestSpec(OPTION, { ...input, url }, base.url)
}

export function pageSettled(url: string, given: unknown): KumoError {
  const asked = typeof given === 'object' && given !== null && 'url' in given ? given.url : given
  const message =
    `page.follow: ${url} was already settled, so ${String(asked)} cannot be stored with it; ` +
    'call it before your extractor, hook, route, listener or loop is done with the page, or use run.add()'
  return new KumoError('KUMO_PAGE_SETTLED', message)
}
