/**
 * Failures that only exist because of how a server is reached: through a proxy, over HTTP/2, or not at all. What a
 * plain connection does is told by failures.ts.
 */

import { messageOf } from '../../../errors.js'
import type { FailureKind } from '../failures.js'

/** Thrown before a request is made, by what decides how to make it; it becomes the outcome of that request. */
export class AccessRefused extends Error {
  readonly kind: FailureKind

  constructor(kind: FailureKind, cause?: unknown) {
    super(kind.what, { cause })
    this.kind = kind
  }
}

/** The way to the server ended at its proxy. Without a code, so that undici takes it as final and does not reconnect. */
export class ProxyError extends Error {
  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options)
    this.name = 'ProxyError'
  }
}

/** How an exchange over HTTP/2 failed. */
export class Http2Error extends Error {
  readonly kind: FailureKind
  /** The server has not begun to work on the request, as far as can be seen, and may be asked again. */
  readonly isUnheard: boolean

  constructor(kind: FailureKind, isUnheard = false) {
    super(kind.what)
    this.name = 'Http2Error'
    this.kind = kind
    this.isUnheard = isUnheard
  }
}

/** How undici says that a proxy asked for credentials when a page was requested from it without a tunnel. */
const PROXY_WANTS_CREDENTIALS = 'Proxy Authentication Required (407)'

/** The failure that `error` is because of the way it took; undefined if the way is not what failed. Pure. */
export function accessFailure(error: unknown): FailureKind | undefined {
  const message = messageOf(error)
  if (error instanceof ProxyError) return { code: 'proxy-failed', what: `was not reached: ${message}` }
  if (message === PROXY_WANTS_CREDENTIALS) {
    return { code: 'proxy-failed', what: 'was not reached: the proxy wants other credentials (407)' }
  }
  return error instanceof Http2Error ? error.kind : undefined
}
