/**
 * Maps errors of undici, Node and OpenSSL to failure codes. One table, because the codes decide what is retried and
 * when.
 */

import { isIPv6 } from 'node:net'
import { messageOf } from '../../errors.js'
import { owned } from '../../owned.js'
import type { FailureCode } from '../../types.js'
import { AddressRefusedError } from './address-guard.js'

/** How far a request had come when the error occurred; some errors mean different things in different phases. */
export type ExchangePhase = 'connecting' | 'waiting' | 'headers' | 'body'

/** A failure code, and what happened, as the rest of a sentence that begins with the host. */
export interface FailureKind {
  readonly code: FailureCode
  readonly what: string
}

/** For requests in flight when the fetcher closes, and for later ones. */
export const CLOSED: FailureKind = {
  code: 'aborted',
  what: 'was aborted because the fetcher was closed',
}

const BY_CODE: Readonly<Record<string, FailureKind>> = {
  ENOTFOUND: { code: 'dns-failed', what: 'has no address' },
  EAI_AGAIN: { code: 'dns-failed', what: 'could not be looked up, the name server did not answer' },
  EAI_NODATA: { code: 'dns-failed', what: 'has no address' },
  EAI_NONAME: { code: 'dns-failed', what: 'has no address' },
  EAI_FAIL: { code: 'dns-failed', what: 'could not be looked up, the name server failed' },
  ECANCELLED: CLOSED,
  ECONNREFUSED: { code: 'connect-failed', what: 'refused the connection' },
  EHOSTUNREACH: { code: 'connect-failed', what: 'cannot be reached' },
  EHOSTDOWN: { code: 'connect-failed', what: 'is down' },
  ENETUNREACH: { code: 'connect-failed', what: 'is on a network that cannot be reached' },
  ENETDOWN: { code: 'connect-failed', what: 'cannot be reached, the network is down' },
  EADDRNOTAVAIL: { code: 'connect-failed', what: 'cannot be connected to, no local address or port is free' },
  EACCES: { code: 'connect-failed', what: 'may not be connected to from this machine' },
  EPERM: { code: 'connect-failed', what: 'may not be connected to from this machine' },
  EMFILE: { code: 'connect-failed', what: 'was not connected to, this process has too many open files' },
  ENFILE: { code: 'connect-failed', what: 'was not connected to, this machine has too many open files' },
  ENOBUFS: { code: 'connect-failed', what: 'was not connected to, this machine has no memory left for it' },
  ENOMEM: { code: 'connect-failed', what: 'was not connected to, this machine has no memory left for it' },
  UND_ERR_CONNECT_TIMEOUT: { code: 'connect-failed', what: 'did not accept the connection in time' },
  ECONNRESET: { code: 'connection-lost', what: 'reset the connection' },
  ECONNABORTED: { code: 'connection-lost', what: 'lost the connection' },
  EPIPE: { code: 'connection-lost', what: 'closed the connection before the request was sent' },
  UND_ERR_SOCKET: { code: 'connection-lost', what: 'closed the connection before the response was complete' },
  HPE_INVALID_EOF_STATE: {
    code: 'connection-lost',
    what: 'closed the connection before the response was complete',
  },
  UND_ERR_HEADERS_OVERFLOW: { code: 'headers-too-large', what: 'sent more headers than the limit allows' },
  HPE_HEADER_OVERFLOW: { code: 'headers-too-large', what: 'sent more headers than the limit allows' },
  UND_ERR_DESTROYED: CLOSED,
  UND_ERR_CLOSED: CLOSED,
  EPROTO: { code: 'tls-failed', what: 'failed the TLS handshake' },
  HOSTNAME_MISMATCH: { code: 'tls-failed', what: 'has a certificate for another name' },
  ERR_TLS_CERT_ALTNAME_INVALID: { code: 'tls-failed', what: 'has a certificate for another name' },
  CERT_HAS_EXPIRED: { code: 'tls-failed', what: 'has a certificate that has expired' },
  DEPTH_ZERO_SELF_SIGNED_CERT: { code: 'tls-failed', what: 'has a certificate that it signed itself' },
  SELF_SIGNED_CERT_IN_CHAIN: { code: 'tls-failed', what: 'has a certificate from an unknown authority' },
  UNABLE_TO_GET_ISSUER_CERT: { code: 'tls-failed', what: 'has a certificate from an unknown authority' },
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: {
    code: 'tls-failed',
    what: 'has a certificate from an unknown authority',
  },
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: { code: 'tls-failed', what: 'has a certificate that cannot be verified' },
}

/** OpenSSL and Node have some forty more codes for certificates and handshakes, with these prefixes. */
const TLS_CODE =
  /^(?:ERR_TLS_|ERR_SSL_|ERR_OSSL_|CERT_|CRL_|UNABLE_TO_|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH_)/

/** undici uses UND_ERR_SOCKET for these too, although the response was invalid and not the connection lost. */
const WRONG_ANSWER = /^bad (?:response|upgrade)$/

/** What an error means in a phase. Pure. */
export function failureKind(error: unknown, phase: ExchangePhase): FailureKind {
  if (error instanceof AddressRefusedError) return { code: 'address-refused', what: error.what }
  const code = codeOf(error)
  const message = messageOf(error)
  if (code === 'UND_ERR_SOCKET' && WRONG_ANSWER.test(message)) {
    return { code: 'bad-response', what: `sent an invalid response (${message})` }
  }
  if (code === 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH') return lengthMismatch(phase)
  if (code === 'ETIMEDOUT') {
    return phase === 'connecting'
      ? { code: 'connect-failed', what: 'did not accept the connection in time' }
      : { code: 'connection-lost', what: 'stopped answering' }
  }
  // undici has assertions about responses, which fail for a status below 100 and an unrequested 101.
  if (code === 'ERR_ASSERTION' && phase !== 'connecting') {
    return { code: 'bad-response', what: 'sent an invalid response' }
  }
  const known = BY_CODE[code]
  if (known !== undefined) return known
  if (code.startsWith('HPE_') || (error as Error | null)?.name === 'HTTPParserError') {
    return { code: 'bad-response', what: `sent invalid HTTP (${code || message})` }
  }
  if (TLS_CODE.test(code)) return { code: 'tls-failed', what: `failed the TLS handshake (${code})` }
  if (isSystemError(error)) {
    const lost = phase === 'connecting' ? 'connect-failed' : 'connection-lost'
    return { code: lost, what: `could not be reached (${code})` }
  }
  return { code: 'fetcher-failed', what: `could not be fetched: ${message}` }
}

const SHORTAGES: ReadonlySet<unknown> = new Set(['EMFILE', 'ENFILE', 'EADDRNOTAVAIL', 'ENOBUFS', 'ENOMEM'])

/** Errors are nested by the proxy, by several addresses and by TLS, but not deeper than this. */
const DEEPEST = 5

/** Whether an error means that this machine has run out of a resource, which says nothing about the host. Pure. */
export function isShortage(error: unknown, depth = 0): boolean {
  if (typeof error !== 'object' || error === null || depth > DEEPEST) return false
  const { code, address, port, errors, cause } = error as Record<string, unknown>
  if (SHORTAGES.has(code)) return code !== 'EADDRNOTAVAIL' || !hasNoWay(address, port)
  const inside = Array.isArray(errors) ? errors : [cause]
  return inside.some((each) => isShortage(each, depth + 1))
}

/** Systems without IPv6 report EADDRNOTAVAIL too, and some do so for port 0. Those errors are permanent. */
function hasNoWay(address: unknown, port: unknown): boolean {
  return port === 0 || isIPv6(String(address))
}

/**
 * undici reports every parse error after a Content-Length as a length mismatch. While headers arrive, it cannot be one.
 */
function lengthMismatch(phase: ExchangePhase): FailureKind {
  return phase === 'body'
    ? { code: 'connection-lost', what: 'closed the connection before the announced length was reached' }
    : { code: 'bad-response', what: 'sent invalid HTTP headers' }
}

/** Characters of an invalid response that are kept. */
const SHOWN_OF_ANSWER = 200

/** Shortens the received data that undici attaches to an error, which would stay in memory with the failure. */
export function withoutAnswer(error: Error & { data?: unknown }): Error {
  if (typeof error.data === 'string') error.data = owned(error.data.slice(0, SHOWN_OF_ANSWER))
  return error
}

/** The code of an error, or of the first of an AggregateError: connecting to several addresses fails with one. */
function codeOf(error: unknown): string {
  const { code, errors } = (error ?? {}) as { code?: unknown; errors?: unknown }
  if (typeof code === 'string') return code
  return Array.isArray(errors) && errors.length > 0 ? codeOf(errors[0]) : ''
}

function isSystemError(error: unknown): boolean {
  return typeof (error as { syscall?: unknown } | null)?.syscall === 'string'
}
