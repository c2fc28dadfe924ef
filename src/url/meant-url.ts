/** Guesses what somebody meant who wrote a URL without its scheme, for error messages only. */

import { canonicalizeUrl } from './canonicalize.js'

/** A name with a dot, `localhost` or an address, then a port, a path, a query or nothing. */
const STARTS_WITH_HOST = /^(?:\/\/)?((?:[\p{L}\p{N}_-]+\.)+[\p{L}\p{N}-]+|localhost)(?::\d+)?(?:[/?#]|$)/iu
/** Servers on the programmer's own machine or network seldom have certificates. */
const IS_NEAR = /^(?:localhost$|[\d.]+$)/i

/** The URL that a text without a scheme stands for; undefined if it does not look like one. */
function meantUrl(text: string): string | undefined {
  const written = text.trim()
  const host = STARTS_WITH_HOST.exec(written)?.[1]
  if (host === undefined) return undefined
  return canonicalizeUrl(`${IS_NEAR.test(host) ? 'http' : 'https'}://${written.replace(/^\/\//, '')}`)
}

/**
 * The end of an error message, or nothing.
 *
 * @example
 * didYouMeanUrl('example.com/a') // '; did you mean https://example.com/a'
 */
export function didYouMeanUrl(given: unknown): string {
  const url = typeof given === 'string' ? meantUrl(given) : undefined
  return url === undefined ? '' : `; did you mean ${url}`
}
