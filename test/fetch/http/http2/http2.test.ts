import {
  constants,
  type Http2ServerRequest,
  type Http2ServerResponse,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { ManualClock } from '../../../engine/manual-clock.js'
import { CA, http2Server, httpsServer, SERVER } from '../../certificates/index.js'
import {
  failureOf,
  makeFetcher,
  requestFor,
  responseOf,
  sleep,
  TestContext,
  textOf,
  until,
} from '../../support.js'

const TLS = { ca: CA }

/** Larger than every window. */
const LARGE = Buffer.alloc(3_000_000, 'abcdefg')

/** A server with a route for each way to answer. */
async function server() {
  const sessions: ServerHttp2Session[] = []
  const started: string[] = []
  const options = { ...SERVER, allowHTTP1: true, maxSendHeaderBlockLength: 1_000_000 }
  const made = await http2Server((request, response) => {
    started.push(request.url)
    answer(request, response)
  }, options)
  made.server.on('session', (session) => {
    sessions.push(session)
    session.on('error', () => {})
  })
  return Object.assign(made, { sessions, started })
}

/** By the clock and not by `drain`: from Node.js 22 on, one write no longer fills the buffer that `drain` empties. */
function writeWithoutEnd(stream: ServerHttp2Stream): void {
  const timer = setInterval(() => stream.write('x'.repeat(16_384)), 1)
  stream.on('close', () => clearInterval(timer))
}

function answer(request: Http2ServerRequest, response: Http2ServerResponse): void {
  const { httpVersion, headers, stream } = request
  stream?.on('error', () => {})
  switch (request.url) {
    case '/version':
      response.end(`${httpVersion} ${headers['user-agent']} ${headers[':authority'] ?? headers.host}`)
      break
    case '/zip':
      response.setHeader('content-encoding', 'gzip')
      response.end(gzipSync('unzipped '.repeat(1000)))
      break
    case '/moved':
      response.writeHead(302, { location: '/version', 'x-two': ['a', 'b'] })
      response.end('moved')
      break
    case '/moved-utf8':
      response.writeHead(302, { location: Buffer.from('/caf\u00e9').toString('latin1') })
      response.end()
      break
    case '/image':
      response.setHeader('content-type', 'image/png')
      response.end('pixels')
      break
    case '/endless':
      response.setHeader('content-type', request.headers['x-type'] ?? 'text/html')
      writeWithoutEnd(stream)
      break
    case '/large':
      response.end(LARGE)
      break
    case '/half':
      response.write('half')
      break
    case '/reset':
      stream.close(constants.NGHTTP2_INTERNAL_ERROR)
      break
    case '/half-reset':
      response.write('half')
      setTimeout(() => stream.close(constants.NGHTTP2_INTERNAL_ERROR), 20)
      break
    case '/goaway':
      setTimeout((session) => session?.close(), 20, stream.session)
      response.end('bye')
      break
    case '/hang-up':
      stream.session?.destroy()
      break
    case '/headers':
      for (let i = 0; i < 60; i++) response.setHeader(`x-${i}`, 'y'.repeat(2000))
      response.end('page')
      break
    case '/hang':
      break
    default:
      response.end('page')
  }
}

describe('HTTP/2', () => {
  it.each([
    [undefined, '1.1'],
    [false, '1.1'],
    [true, '2.0'],
  ])('with the option %j speaks %s', async (http2, version) => {
    const { url, port } = await server()
    const fetcher = makeFetcher({ http2, tls: TLS })
    const outcome = await fetcher.fetch(requestFor(url('/version')), new TestContext())
    expect(textOf(outcome)).toBe(`${version} Kumo/0.1 (+https://example.com/bot) 127.0.0.1:${port}`)
  })

  it('is not forced on a server that speaks HTTP/1.1 only', async () => {
    const { url } = await httpsServer((request, response) => response.end(request.httpVersion))
    const fetcher = makeFetcher({ http2: true, tls: TLS })
    expect(textOf(await fetcher.fetch(requestFor(url()), new TestContext()))).toBe('1.1')
  })

  it('carries bodies, headers and statuses as HTTP/1.1 does', async () => {
    const { url } = await server()
    const fetcher = makeFetcher({ http2: true, tls: TLS })
    const get = (path: string) =>
      fetcher.fetch(requestFor(url(path)), new TestContext((type) => type !== 'image/png'))
    expect(textOf(await get('/zip'))).toBe('unzipped '.repeat(1000))
    expect(Buffer.compare(responseOf(await get('/large')).body, LARGE)).toBe(0)
    const moved = responseOf(await get('/moved'))
    expect([moved.status, moved.headers.get('location'), moved.body.length]).toEqual([302, '/version', 0])
    expect(moved.headers.get('x-two')).toBe('a, b')
    expect(responseOf(await get('/moved-utf8')).headers.get('location')).toBe('/café')
    expect(responseOf(await get('/image'))).toMatchObject({ status: 200, skippedBody: true })
  })

  it('makes one request at a time on one connection', async () => {
    const made = await server()
    const fetcher = makeFetcher({ http2: true, tls: TLS })
    const visits = Array.from({ length: 20 }, () => fetcher.fetch(requestFor(made.url()), new TestContext()))
    expect((await Promise.all(visits)).map(textOf)).toEqual(Array(20).fill('page'))
    expect([made.accepted, fetcher.stats.openConnections]).toEqual([1, 1])
  })

  it('keeps the limit of a body', async () => {
    const { url, ...made } = await server()
    const fetcher = makeFetcher({ http2: true, tls: TLS, maxBodyBytes: 100_000 })
    const large = await fetcher.fetch(requestFor(url('/endless')), new TestContext())
    expect(failureOf(large).code).toBe('body-too-large')
    const unwanted = await fetcher.fetch(requestFor(url('/endless')), new TestContext(() => false))
    expect(responseOf(unwanted)).toMatchObject({ status: 200, skippedBody: true })
    await until(
      () => fetcher.stats.openConnections === 0 && made.sessions.every((s) => s.destroyed),
      'all is let go',
    )
  })

  it.each([
    ['/reset', 'connection-lost'],
    ['/half-reset', 'connection-lost'],
    ['/headers', 'headers-too-large'],
  ])('%s is the failure %s, and the next request succeeds', async (path, code) => {
    const { url } = await server()
    const fetcher = makeFetcher({ http2: true, tls: TLS })
    const failure = failureOf(await fetcher.fetch(requestFor(url(path)), new TestContext()))
    expect(failure).toMatchObject({ code, message: expect.stringContaining('127.0.0.1') })
    expect(textOf(await fetcher.fetch(requestFor(url()), new TestContext()))).toBe('page')
  })

  it('replaces a connection that the server has closed', async () => {
    const made = await server()
    const fetcher = makeFetcher({ http2: true, tls: TLS })
    for (let i = 0; i < 3; i++) {
      expect(textOf(await fetcher.fetch(requestFor(made.url('/goaway')), new TestContext()))).toBe('bye')
      await sleep(50)
    }
    const [first] = made.sessions
    expect(first!.destroyed).toBe(true)
    const session = made.sessions.at(-1)!
    await fetcher.fetch(requestFor(made.url()), new TestContext())
    session.destroy()
    await sleep(20)
    expect(textOf(await fetcher.fetch(requestFor(made.url()), new TestContext()))).toBe('page')
  })

  it('tries once more on a new connection when a used one is closed instead of an answer', async () => {
    const made = await server()
    const fetcher = makeFetcher({ http2: true, tls: TLS, clock: new ManualClock() })
    await fetcher.fetch(requestFor(made.url()), new TestContext())
    const outcome = await fetcher.fetch(requestFor(made.url('/hang-up')), new TestContext())
    expect(failureOf(outcome)).toMatchObject({ code: 'connection-lost', resent: 1 })
    expect(made.started).toEqual(['/', '/hang-up', '/hang-up'])
  })

  it('closes an idle connection after keepAliveMs, and not while it is used', async () => {
    const made = await server()
    const fetcher = makeFetcher({ http2: true, tls: TLS, keepAliveMs: 100 })
    await fetcher.fetch(requestFor(made.url()), new TestContext())
    const context = new TestContext()
    const hanging = fetcher.fetch(requestFor(made.url('/hang')), context)
    await sleep(300)
    expect([made.accepted, fetcher.stats.openConnections]).toEqual([1, 1])
    context.abort()
    await hanging
    await fetcher.fetch(requestFor(made.url()), new TestContext())
    await until(() => fetcher.stats.openConnections === 0 && made.open === 0, 'the idle connection closes')
  })

  it.each(['/hang', '/half', '/endless'])('lets go of %s when it is aborted', async (path) => {
    const made = await server()
    const fetcher = makeFetcher({ http2: true, tls: TLS })
    const context = new TestContext()
    const outcome = fetcher.fetch(requestFor(made.url(path)), context)
    await until(() => made.started.length === 1, 'the request arrives')
    await sleep(30)
    context.abort()
    expect(failureOf(await outcome).code).toMatch(/^(aborted|body-too-large)$/)
    await until(() => fetcher.stats.openConnections === 0 && made.open === 0, 'the socket is gone')
  })

  it('ends with close, whatever is in flight', async () => {
    const made = await server()
    const fetcher = makeFetcher({ http2: true, tls: TLS, connectionsPerHost: 3 })
    const flying = ['/hang', '/half', '/hang', '/waits'].map((path) =>
      fetcher.fetch(requestFor(made.url(path)), new TestContext()),
    )
    await until(() => made.started.length === 3, 'the requests arrive')
    await fetcher.close()
    expect(fetcher.stats.openConnections).toBe(0)
    for (const outcome of await Promise.all(flying)) expect(failureOf(outcome).code).toBe('aborted')
    await until(() => made.open === 0, 'the server sees it too')
    expect(process.getActiveResourcesInfo().filter((name) => name === 'TLSWRAP')).toEqual([])
  })
})
