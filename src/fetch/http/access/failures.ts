/**
 * Failures of a proxy, of HTTP/2, and of requests that were never sent. Failures of plain connections are in
 * ../failures.ts.
 */

import { messageOf } from '../../../errors.js'
import type { FailureKind } from '../failures.js'

/** Thrown while a request is prepared; it becomes the outcome of the request. */
export class AccessRefused extends Error {
  readonly kind: FailureKind

  constructor(kind: FailureKind, cause?: unknown) {
    super(kind.what, { cause })
    this.kind = kind
  }
}

/** The proxy failed. It has no `code`, so that undici treats it as final and does not reconnect. */
export class ProxyError extends Error {
  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options)
    this.name = 'ProxyError'
  }
}

/** A failure of HTTP/2. */
export class Http2Error extends Error {
  readonly kind: FailureKind
  /** As far as can be seen, the server has not processed the request, so it may be resent. */
  readonly isUnprocessed: boolean

  constructor(kind: FailureKind, isUnprocessed = false) {
    super(kind.what)
    this.name = 'Http2Error'
    this.kind = kind
    this.isUnprocessed = isUnprocessed
  }
}

/** undici's error message when a proxy without a tunnel requires credentials. */
const PROXY_WANTS_CREDENTIALS = 'Proxy Authentication Required (407)'

/** The failure that `error` stands for; undefined if neither a proxy nor HTTP/2 caused it. Pure. */
export function accessFailure(error: unknown): FailureKind | undefined {
  const message = messageOf(error)
  if (error instanceof ProxyError) return { code: 'proxy-failed', what: `was not reached: ${message}` }
  if (message === PROXY_WANTS_CREDENTIALS) {
    return { code: 'proxy-failed', what: 'was not reached: the proxy wants other credentials (407)' }
  }
  return error instanceof Http2Error ? error.kind : undefined
}
