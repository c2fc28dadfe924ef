import { errors } from 'undici'
import { describe, expect, it } from 'vitest'
import { type ExchangePhase, failureKind } from '../../src/fetch/failures.js'
import type { FailureCode } from '../../src/types.js'

const system = (code: string) => Object.assign(new Error(`connect ${code}`), { code, syscall: 'connect' })
const coded = (code: string, message = code) => Object.assign(new Error(message), { code })

const CASES: [name: string, error: unknown, phase: ExchangePhase, code: FailureCode][] = [
  ['no such name', system('ENOTFOUND'), 'connecting', 'dns-failed'],
  ['name server silent', system('EAI_AGAIN'), 'connecting', 'dns-failed'],
  ['refused', system('ECONNREFUSED'), 'connecting', 'connect-failed'],
  ['no route', system('EHOSTUNREACH'), 'connecting', 'connect-failed'],
  ['no network', system('ENETUNREACH'), 'connecting', 'connect-failed'],
  ['no local port', system('EADDRNOTAVAIL'), 'connecting', 'connect-failed'],
  ['too many files', system('EMFILE'), 'connecting', 'connect-failed'],
  ['connect timeout', new errors.ConnectTimeoutError(), 'connecting', 'connect-failed'],
  ['timed out while connecting', system('ETIMEDOUT'), 'connecting', 'connect-failed'],
  ['timed out later', system('ETIMEDOUT'), 'body', 'connection-lost'],
  ['unknown while connecting', system('ESOMETHING'), 'connecting', 'connect-failed'],
  ['unknown later', system('ESOMETHING'), 'headers', 'connection-lost'],
  ['reset', system('ECONNRESET'), 'waiting', 'connection-lost'],
  ['broken pipe', system('EPIPE'), 'waiting', 'connection-lost'],
  ['other side closed', new errors.SocketError('other side closed'), 'body', 'connection-lost'],
  ['bad response', new errors.SocketError('bad response'), 'headers', 'bad-response'],
  ['bad upgrade', new errors.SocketError('bad upgrade'), 'headers', 'bad-response'],
  ['cut short', new errors.ResponseContentLengthMismatchError(), 'body', 'connection-lost'],
  ['bad header', new errors.ResponseContentLengthMismatchError(), 'headers', 'bad-response'],
  ['not HTTP', coded('HPE_INVALID_CONSTANT'), 'headers', 'bad-response'],
  ['parser error without code', new errors.HTTPParserError('x'), 'headers', 'bad-response'],
  ['end in the middle', coded('HPE_INVALID_EOF_STATE'), 'body', 'connection-lost'],
  ['many headers', new errors.HeadersOverflowError(), 'headers', 'headers-too-large'],
  ['many headers, says llhttp', coded('HPE_HEADER_OVERFLOW'), 'headers', 'headers-too-large'],
  ['expired', coded('CERT_HAS_EXPIRED'), 'connecting', 'tls-failed'],
  ['self-signed', coded('DEPTH_ZERO_SELF_SIGNED_CERT'), 'connecting', 'tls-failed'],
  ['other name', coded('ERR_TLS_CERT_ALTNAME_INVALID'), 'connecting', 'tls-failed'],
  ['old version', coded('ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION'), 'connecting', 'tls-failed'],
  ['protocol', system('EPROTO'), 'connecting', 'tls-failed'],
  ['revoked', coded('CERT_REVOKED'), 'connecting', 'tls-failed'],
  ['fetcher closed', new errors.ClientDestroyedError(), 'body', 'aborted'],
  ['a defect', new TypeError('x is not a function'), 'headers', 'fetcher-failed'],
  ['not even an error', undefined, 'headers', 'fetcher-failed'],
  ['several addresses', new AggregateError([system('ECONNREFUSED')]), 'connecting', 'connect-failed'],
]

describe('failureKind', () => {
  it.each(CASES)('%s', (_, error, phase, code) => {
    const kind = failureKind(error, phase)
    expect(kind.code).toBe(code)
    expect(kind.what).toMatch(/^[a-z].*[^.]$/)
  })
})
