import { errors } from 'undici'
import { describe, expect, it } from 'vitest'
import { type ExchangePhase, failureKind, isShortage } from '../../../src/fetch/http/failures.js'
import type { FailureCode } from '../../../src/types.js'

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

describe('a shortage of our own', () => {
  const at = (code: string, address?: string, port = 80) => Object.assign(system(code), { address, port })

  it.each<[error: unknown, isOurs: boolean]>([
    [system('EMFILE'), true],
    [system('ENFILE'), true],
    [system('ENOBUFS'), true],
    [system('ENOMEM'), true],
    [at('EADDRNOTAVAIL', '192.0.2.1'), true],
    [at('EMFILE', '2001:db8::1'), true],
    // Where there is no IPv6, every address of it is "not available".
    [at('EADDRNOTAVAIL', '2001:db8::1'), false],
    [at('EADDRNOTAVAIL', '192.0.2.1', 0), false],
    [new AggregateError([at('ECONNREFUSED', '192.0.2.1'), at('EADDRNOTAVAIL', '2001:db8::1')]), false],
    [new AggregateError([at('ECONNREFUSED', '192.0.2.1'), at('EMFILE', '2001:db8::1')]), true],
    [new Error('the proxy could not be talked to', { cause: system('EMFILE') }), true],
    [new Error('the proxy could not be talked to', { cause: new AggregateError([system('ENFILE')]) }), true],
    [system('ECONNREFUSED'), false],
    [system('ETIMEDOUT'), false],
    [new Error('EMFILE'), false],
    [undefined, false],
    ['EMFILE', false],
  ])('%#: %s is one: %s', (error, isOurs) => {
    expect(isShortage(error)).toBe(isOurs)
  })

  it('is not looked for without end', () => {
    const error = new Error('round')
    error.cause = error
    expect(isShortage(error)).toBe(false)
  })
})
