import { once } from 'node:events'
import { createServer as createHttpServer, request as httpRequest } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { FetchContext } from '../../../src/fetch/contract.js'
import type { RequestExtras } from '../../../src/types.js'
import { CA, http2Server, httpsServer } from '../certificates/index.js'
import { echo, echoServer, type Received } from '../echo.js'
import {
  failureOf,
  makeFetcher,
  rawServer,
  reply,
  requestFor,
  responseOf,
  TestContext,
  textOf,
  until,
} from '../support.js'

const TEXT = Buffer.from('q=蜘蛛')
const POST: RequestExtras = { method: 'POST', headers: { 'x-own': 'yes' }, body: 'q=蜘蛛' }
const BYTES = Buffer.from([0, 1, 255, 13, 10, 128])

/** A proxy for plain requests and tunnels. */
async function proxy() {
  const heads: string[] = []
  const server = createHttpServer((request, response) => {
    heads.push(`${request.method} ${request.url}`)
    const { method, headers } = request
    const upstream = httpRequest(request.url!, { method, headers }, (answer) => {
      response.writeHead(answer.statusCode!, answer.headers)
      answer.pipe(response)
    })
    request.pipe(upstream)
  })
  server.on('connect', (request, socket, head) => {
    heads.push(`${request.method} ${request.url}`)
    const [host, port] = request.url!.split(':')
    const upstream = connect(Number(port), host)
    upstream.on('error', () => socket.destroy())
    socket.on('error', () => upstream.destroy())
    socket.write('HTTP/1.1 200 Connected\r\n\r\n')
    upstream.write(head)
    upstream.pipe(socket).pipe(upstream)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { heads, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

const WAYS: Record<string, () => Promise<{ url: string; options: object; version: string }>> = {
  'HTTP/1': async () => ({ url: (await echoServer()).url(), options: {}, version: '1.1' }),
  HTTPS: async () => ({
    url: (await httpsServer(echo())).url(),
    options: { tls: { ca: CA } },
    version: '1.1',
  }),
  'HTTP/2': async () => ({
    url: (await http2Server(echo())).url(),
    options: { tls: { ca: CA }, http2: true },
    version: '2.0',
  }),
  'a proxy': async () => ({
    url: (await echoServer()).url(),
    options: { proxy: (await proxy()).url },
    version: '1.1',
  }),
  'a tunnel': async () => ({
    url: (await httpsServer(echo())).url(),
    options: { proxy: (await proxy()).url, tls: { ca: CA } },
    version: '1.1',
  }),
  'HTTP/2 in a tunnel': async () => ({
    url: (await http2Server(echo())).url(),
    options: { proxy: (await proxy()).url, tls: { ca: CA }, http2: true },
    version: '2.0',
  }),
}

describe.each(Object.entries(WAYS))('over %s', (_, way) => {
  it('a request has its method, headers and body, and the next has none of them', async () => {
    const { url, options, version } = await way()
    const fetcher = makeFetcher({ headers: { accept: 'text/x-crawl', 'x-own': 'crawl' }, ...options })
    const ask = async (extras?: RequestExtras): Promise<Received> =>
      JSON.parse(textOf(await fetcher.fetch({ ...requestFor(url), extras }, new TestContext())))

    const post = await ask(POST)
    expect(post).toMatchObject({ method: 'POST', version, body: TEXT.toString('base64') })
    expect(post.headers).toMatchObject({ 'x-own': 'yes', accept: 'text/x-crawl', 'content-length': '8' })
    const get = await ask()
    expect(get).toMatchObject({ method: 'GET', body: '' })
    expect(get.headers['x-own']).toBe('crawl')
    expect(get.headers).not.toHaveProperty('content-length')
    const bytes = { method: 'PUT', body: BYTES.toString('base64'), binary: true } as const
    expect(await ask(bytes)).toMatchObject({ method: 'PUT', body: bytes.body })
    expect(await ask({ method: 'DELETE' })).toMatchObject({ method: 'DELETE', body: '' })
    const empty = await ask({ method: 'POST' })
    expect(empty).toMatchObject({ method: 'POST', body: '' })
    expect(empty.headers['content-length']).toBe('0')
  })

  it('HEAD ends with the headers', async () => {
    const { url, options } = await way()
    const fetcher = makeFetcher({ ...options, maxBodyBytes: 10 })
    const head = await fetcher.fetch(
      { ...requestFor(url), extras: { method: 'HEAD', body: 'x' } },
      new TestContext(),
    )
    const { status, headers, body, skippedBody } = responseOf(head)
    expect([status, body.length, skippedBody]).toEqual([200, 0, false])
    expect(Number(headers.get('content-length'))).toBeGreaterThan(10)
  })

  it('a large body arrives whole', async () => {
    const { url, options } = await way()
    const fetcher = makeFetcher(options)
    const body = 'x'.repeat(1024 * 1024)
    const outcome = await fetcher.fetch(
      { ...requestFor(url), extras: { method: 'POST', body } },
      new TestContext(),
    )
    const received = JSON.parse(textOf(outcome)) as Received
    expect(Buffer.from(received.body, 'base64').length).toBe(body.length)
  })
})

describe('HEAD', () => {
  it('has no body, whatever the headers say, and the media type is not judged', async () => {
    const server = await rawServer(({ socket }) =>
      socket.write(
        'HTTP/1.1 200 OK\r\nContent-Type: video/mp4\r\nContent-Encoding: gzip\r\nContent-Length: 99999999\r\n\r\n',
      ),
    )
    const fetcher = makeFetcher()
    const request = { ...requestFor(server.url()), extras: { method: 'HEAD' } }
    const outcome = await fetcher.fetch(request, new TestContext(() => false))
    expect(responseOf(outcome)).toMatchObject({ status: 200, skippedBody: false, truncated: false })
  })
})

describe('a connection that closes before the response', () => {
  /** Answers the first request on a connection, and hangs up at the second. */
  const fickle = () =>
    rawServer(({ socket, earlier }) => {
      if (earlier === 0) socket.write(reply('<p>fine</p>'))
      else socket.destroy()
    })

  it.each(['GET', 'HEAD', 'PUT', 'DELETE'])('has %s resent', async (method) => {
    const server = await fickle()
    const fetcher = makeFetcher()
    await fetcher.fetch(requestFor(server.url('/first')), new TestContext())
    const outcome = await fetcher.fetch(
      { ...requestFor(server.url()), extras: { method } },
      new TestContext(),
    )
    expect(responseOf(outcome).resent).toBe(1)
  })

  it('is not used for a POST, which gets a new one', async () => {
    const server = await fickle()
    const fetcher = makeFetcher()
    await fetcher.fetch(requestFor(server.url('/first')), new TestContext())
    const outcome = await fetcher.fetch(
      { ...requestFor(server.url()), extras: { method: 'POST' } },
      new TestContext(),
    )
    expect(responseOf(outcome).resent).toBe(0)
    expect(server.requests).toEqual(['GET /first HTTP/1.1', 'POST / HTTP/1.1'])
    await until(() => server.open === 1, 'the old connection is closed')
    expect(server.accepted).toBe(2)
  })

  it('loses a POST, which is not resent', async () => {
    const server = await rawServer(({ socket }) => void socket.destroy())
    const fetcher = makeFetcher()
    const outcome = await fetcher.fetch(
      { ...requestFor(server.url()), extras: { method: 'POST' } },
      new TestContext(),
    )
    expect(failureOf(outcome).code).toBe('connection-lost')
    expect(server.requests).toHaveLength(1)
  })
})

it('only GET and HEAD are conditional', async () => {
  const { url } = await echoServer()
  const fetcher = makeFetcher()
  const context = () => Object.assign(new TestContext(), { known: { etag: '"1"' } }) as FetchContext
  const ask = async (method: string) =>
    JSON.parse(
      textOf(await fetcher.fetch({ ...requestFor(url()), extras: { method } }, context())),
    ) as Received
  expect((await ask('GET')).headers['if-none-match']).toBe('"1"')
  expect((await ask('POST')).headers).not.toHaveProperty('if-none-match')
})

it('a header that the fetcher sets itself is a failure that names it, without its value', async () => {
  const { url, log } = await echoServer()
  const request = { ...requestFor(url()), extras: { headers: { 'proxy-authorization': 'Basic c2VjcmV0' } } }
  const failure = failureOf(await makeFetcher().fetch(request, new TestContext()))
  expect(failure.code).toBe('fetcher-failed')
  expect(failure.message).toContain("'proxy-authorization'")
  expect(failure.message).not.toContain('c2VjcmV0')
  expect(log).toEqual([])
})
