import { rootCertificates, type TLSSocket } from 'node:tls'
import { describe, expect, it } from 'vitest'
import { httpFetcher } from '../../../../src/fetch/http/http.js'
import { CA, CLIENT, httpsServer, OTHER, SERVER } from '../../certificates/index.js'
import { failureOf, makeFetcher, requestFor, TestContext, textOf, until } from '../../support.js'

const page = (_: unknown, response: { end(text: string): void }) => response.end('page')

describe('certificates of servers', () => {
  it('are verified by default', async () => {
    const server = await httpsServer(page)
    const failure = failureOf(await makeFetcher().fetch(requestFor(server.url()), new TestContext()))
    expect(failure).toMatchObject({ code: 'tls-failed', message: expect.stringContaining('certificate') })
  })

  it.each(['127.0.0.1', 'localhost'])('of an authority that is given are accepted for %s', async (host) => {
    const server = await httpsServer(page)
    for (const ca of [CA, Buffer.from(CA), [...rootCertificates, CA]]) {
      const fetcher = makeFetcher({ tls: { ca } })
      expect(textOf(await fetcher.fetch(requestFor(server.url('/', host)), new TestContext()))).toBe('page')
    }
  })

  it('must have the name of the server', async () => {
    const server = await httpsServer(page, OTHER)
    const fetcher = makeFetcher({ tls: { ca: CA } })
    const failure = failureOf(await fetcher.fetch(requestFor(server.url()), new TestContext()))
    expect(failure).toMatchObject({ code: 'tls-failed', message: expect.stringContaining('another name') })
    await until(() => fetcher.stats.openConnections === 0, 'the socket is gone')
  })

  it('are not verified if the operator says so', async () => {
    const server = await httpsServer(page, OTHER)
    const fetcher = makeFetcher({ tls: { rejectUnauthorized: false } })
    expect(textOf(await fetcher.fetch(requestFor(server.url()), new TestContext()))).toBe('page')
  })
})

it('shows a certificate of its own to servers that ask for one', async () => {
  const server = await httpsServer(
    (request, response) => {
      const socket = request.socket as TLSSocket
      response.end(socket.authorized ? String(socket.getPeerCertificate().subject.CN) : 'a stranger')
    },
    { ...SERVER, ca: CA, requestCert: true, rejectUnauthorized: false },
  )
  const known = makeFetcher({ tls: { ca: CA, ...CLIENT } })
  expect(textOf(await known.fetch(requestFor(server.url()), new TestContext()))).toBe('crawler')
  const unknown = makeFetcher({ tls: { ca: CA } })
  expect(textOf(await unknown.fetch(requestFor(server.url()), new TestContext()))).toBe('a stranger')
})

it.each<[unknown, RegExp]>([
  ['PEM', /httpFetcher\.tls: .*ca, cert, key/],
  [{ ca: 'not a certificate' }, /httpFetcher\.tls\.ca/],
  [{ ca: [CA, 5] }, /httpFetcher\.tls\.ca/],
  [{ cert: CLIENT.cert }, /httpFetcher\.tls: .*cert alone/],
  [{ key: CLIENT.key }, /httpFetcher\.tls: .*key alone/],
  [{ cert: CLIENT.cert, key: SERVER.key }, /httpFetcher\.tls: .*cannot be used/],
  [{ rejectUnauthorized: 'no' }, /httpFetcher\.tls\.rejectUnauthorized/],
  [{ servername: 'x' }, /httpFetcher\.tls: got 'servername'/],
])('the options %# are refused by name', (tls, message) => {
  const attempt = () => httpFetcher({ userAgent: 'Kumo', tls: tls as object })
  expect(attempt).toThrow(expect.objectContaining({ code: 'KUMO_INVALID_OPTION' }))
  expect(attempt).toThrow(message)
  expect(attempt).not.toThrow(/PRIVATE KEY/)
})
