import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import { httpFetcher } from '../../../src/fetch/http/http.js'
import { literalAddress, parseProxy } from '../../../src/fetch/http/proxy.js'
import { CA, http2Server, httpsServer, OTHER, SERVER } from '../certificates/index.js'
import {
  failureOf,
  fixedServer,
  makeFetcher,
  rawServer,
  reply,
  requestFor,
  responseOf,
  sleep,
  TestContext,
  textOf,
  until,
} from '../support.js'

const TLS = { ca: CA }

interface ProxyOptions {
  /** What to say instead of doing what is asked; undefined does it, '' hangs up, 'silence' never answers. */
  readonly answer?: (head: string) => string | undefined
  readonly tls?: boolean
}

/** A proxy for pages and tunnels, at 127.0.0.1; names are all looked up as 127.0.0.1. */
async function proxyServer({ answer = () => undefined, tls = false }: ProxyOptions = {}) {
  const heads: string[] = []
  const sockets = new Set<Socket>()
  let mostOpen = 0
  const serve = (socket: Socket) => {
    sockets.add(socket)
    mostOpen = Math.max(mostOpen, sockets.size)
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
    const onData = (data: Buffer) => {
      const head = data.toString('latin1')
      heads.push(head)
      const instead = answer(head)
      if (instead === 'silence') return
      if (instead !== undefined) {
        socket.end(instead)
        return
      }
      const [method, target] = head.split(' ') as [string, string]
      const isTunnel = method === 'CONNECT'
      const url = new URL(isTunnel ? `http://${target}` : target)
      const upstream = connect(Number(url.port), '127.0.0.1')
      upstream.on('error', () => socket.destroy())
      socket.on('close', () => upstream.destroy())
      upstream.on('close', () => socket.destroy())
      if (isTunnel) {
        socket.off('data', onData)
        upstream.once('connect', () => socket.write('HTTP/1.1 200 Connected\r\n\r\n'))
        socket.pipe(upstream)
      } else {
        upstream.write(head.replace(target, url.pathname + url.search))
      }
      upstream.pipe(socket)
    }
    socket.on('data', onData)
  }
  const server: Server = tls ? createTlsServer(SERVER, serve) : createServer(serve)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy()
    server.close()
    await once(server, 'close')
  })
  const { port } = server.address() as AddressInfo
  return {
    heads,
    host: `127.0.0.1:${port}`,
    url: `${tls ? 'https' : 'http'}://127.0.0.1:${port}`,
    get open() {
      return sockets.size
    },
    get mostOpen() {
      return mostOpen
    },
  }
}

const requestLines = (heads: readonly string[]) => heads.map((head) => head.split('\r\n', 1)[0])

describe('a page through a proxy', () => {
  it.each([false, true])('over http is asked of the proxy itself, unless that is https (%j)', async (tls) => {
    const server = await fixedServer(reply('page'))
    const proxy = await proxyServer({ tls })
    const fetcher = makeFetcher({ proxy: proxy.url, tls: TLS })
    for (let i = 0; i < 3; i++) {
      const outcome = await fetcher.fetch(requestFor(server.url('/a?b=c')), new TestContext())
      expect(textOf(outcome)).toBe('page')
    }
    const target = `127.0.0.1:${server.port}`
    const [first] = proxy.heads
    if (tls) expect(requestLines(proxy.heads)).toEqual([`CONNECT ${target} HTTP/1.1`])
    else expect(requestLines(proxy.heads)).toEqual(Array(3).fill(`GET http://${target}/a?b=c HTTP/1.1`))
    expect(first!.toLowerCase()).toContain(`host: ${target}\r\n`)
    expect(server.lastRequest).toContain('Kumo/0.1')
    expect([proxy.open, fetcher.stats.openConnections], 'the connection is kept').toEqual([1, 1])
  })

  it.each([false, true])('over https goes through a tunnel (proxy https: %j)', async (tls) => {
    const server = await httpsServer((request, response) => response.end(`page ${request.headers.host}`))
    const proxy = await proxyServer({ tls })
    const fetcher = makeFetcher({ proxy: new URL(proxy.url), tls: TLS })
    for (let i = 0; i < 3; i++) {
      const outcome = await fetcher.fetch(requestFor(server.url('/', 'localhost')), new TestContext())
      expect(textOf(outcome)).toBe(`page localhost:${server.port}`)
    }
    expect(requestLines(proxy.heads)).toEqual([`CONNECT localhost:${server.port} HTTP/1.1`])
    expect(server.accepted).toBe(1)
  })

  it('over HTTP/2', async () => {
    const server = await http2Server((request, response) => response.end(request.httpVersion))
    const proxy = await proxyServer()
    const fetcher = makeFetcher({ proxy: proxy.url, http2: true, keepAliveMs: 100, tls: TLS })
    expect(textOf(await fetcher.fetch(requestFor(server.url()), new TestContext()))).toBe('2.0')
    expect(textOf(await fetcher.fetch(requestFor(server.url()), new TestContext()))).toBe('2.0')
    expect(server.accepted).toBe(1)
    await until(() => proxy.open === 0 && fetcher.stats.openConnections === 0, 'the idle tunnel closes')
  })

  it('lets the proxy look the name up', async () => {
    const server = await fixedServer(reply('page'))
    const proxy = await proxyServer()
    const fetcher = makeFetcher({ proxy: proxy.url })
    const url = `http://known-to-the-proxy.invalid:${server.port}/`
    expect(textOf(await fetcher.fetch(requestFor(url), new TestContext()))).toBe('page')
  })

  it.each(['http:', 'https:'])(
    'over %s brings the credentials to the proxy and not to the server',
    async (scheme) => {
      const seen: string[] = []
      const plain = await rawServer(({ socket }) => {
        seen.push(plain.lastRequest)
        socket.write(reply('page'))
      })
      const secure = await httpsServer((request, response) => {
        seen.push(request.rawHeaders.join(' '))
        response.end('page')
      })
      // A real proxy takes the header off; this one passes plain requests on as they are.
      const proxy = await proxyServer()
      const fetcher = makeFetcher({ proxy: proxy.url.replace('//', '//us%40er:p%3Aass@'), tls: TLS })
      const url = scheme === 'http:' ? plain.url() : secure.url()
      expect(textOf(await fetcher.fetch(requestFor(url), new TestContext()))).toBe('page')
      const token = Buffer.from('us@er:p:ass').toString('base64')
      expect(proxy.heads[0]!.toLowerCase()).toContain(`proxy-authorization: basic ${token}`.toLowerCase())
      if (scheme === 'https:') expect(seen.join()).not.toMatch(/proxy-authorization/i)
    },
  )
})

describe('a proxy by URL', () => {
  it('is chosen for each URL, and connections of one way do not serve another', async () => {
    const server = await fixedServer(reply('page'))
    const [one, two] = [await proxyServer(), await proxyServer()]
    const fetcher = makeFetcher({
      connectionsPerHost: 1,
      proxy: (url) =>
        url.endsWith('/direct') ? undefined : url.endsWith('/one') ? one.url : new URL(two.url),
    })
    for (const path of ['/one', '/two', '/direct', '/one', '/two', '/two']) {
      expect(textOf(await fetcher.fetch(requestFor(server.url(path)), new TestContext()))).toBe('page')
      expect(fetcher.stats.openConnections, 'within the bound of the host').toBeLessThanOrEqual(2)
      await until(() => fetcher.stats.openConnections === 1, 'the other way is closed')
    }
    const paths = (heads: string[]) => heads.map((head) => new URL(head.split(' ')[1]!).pathname)
    expect([paths(one.heads), paths(two.heads)]).toEqual([
      ['/one', '/one'],
      ['/two', '/two', '/two'],
    ])
  })

  it('keeps one connection for each way if the host may have several', async () => {
    const server = await fixedServer(reply('page'))
    const [one, two] = [await proxyServer(), await proxyServer()]
    const fetcher = makeFetcher({
      connectionsPerHost: 2,
      proxy: (url) => (url.endsWith('/one') ? one.url : two.url),
    })
    for (const path of ['/one', '/two', '/one', '/two', '/one', '/two'])
      await fetcher.fetch(requestFor(server.url(path)), new TestContext())
    expect([one.mostOpen, two.mostOpen, server.accepted]).toEqual([1, 1, 6])
    expect(fetcher.stats.openConnections).toBe(2)
  })

  it.each<[string, () => unknown]>([
    [
      'throws',
      () => {
        throw new Error('no idea')
      },
    ],
    ['returns nonsense', () => 'nowhere'],
    ['returns another scheme', () => 'socks5://127.0.0.1:1'],
    ['returns null', () => null],
  ])('that %s is a failure of that page', async (_, choose) => {
    const fetcher = makeFetcher({ proxy: choose as () => string })
    const failure = failureOf(await fetcher.fetch(requestFor('http://127.0.0.1:1/'), new TestContext()))
    expect(failure).toMatchObject({ code: 'proxy-failed', message: expect.stringContaining('proxy') })
  })
})

describe('a proxy that does not help', () => {
  const SCHEMES = ['http:', 'https:']
  const targetOf = (scheme: string) => `${scheme}//127.0.0.1:9/`

  it.each(SCHEMES)('because nobody listens is proxy-failed (%s)', async (scheme) => {
    const fetcher = makeFetcher({ proxy: 'http://127.0.0.1:9' })
    const failure = failureOf(await fetcher.fetch(requestFor(targetOf(scheme)), new TestContext()))
    expect(failure).toMatchObject({ code: 'proxy-failed', message: expect.stringContaining('127.0.0.1:9') })
    await until(() => fetcher.stats.openConnections === 0, 'the socket is gone')
  })

  it('because its certificate is not trusted is proxy-failed', async () => {
    const proxy = await proxyServer({ tls: true })
    const fetcher = makeFetcher({ proxy: proxy.url })
    for (const scheme of SCHEMES) {
      const failure = failureOf(await fetcher.fetch(requestFor(targetOf(scheme)), new TestContext()))
      expect(failure.code).toBe('proxy-failed')
    }
  })

  it.each([
    ['https:', 'HTTP/1.1 407 Proxy Authentication Required\r\n\r\n', 'proxy-failed'],
    ['https:', 'HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno', 'proxy-failed'],
    ['https:', 'HTTP/1.1 502 Bad Gateway\r\n\r\n', 'proxy-failed'],
    ['https:', '', 'proxy-failed'],
    ['https:', 'SSH-2.0-OpenSSH\r\n\r\n', 'proxy-failed'],
    ['http:', 'HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n', 'proxy-failed'],
    ['http:', '', 'connection-lost'],
  ])('to an %s page with %j is %s', async (scheme, text, code) => {
    const proxy = await proxyServer({ answer: () => text })
    const fetcher = makeFetcher({ proxy: proxy.url.replace('//', '//user:secret@') })
    const failure = failureOf(await fetcher.fetch(requestFor(targetOf(scheme)), new TestContext()))
    expect(failure.code).toBe(code)
    expect(`${failure.message} ${failure.cause}`).not.toContain('secret')
    await until(() => fetcher.stats.openConnections === 0, 'the socket is gone')
    await sleep(50)
    expect(proxy.heads.length, 'it is asked once').toBe(1)
  })

  it('because it never answers is proxy-failed after the connect timeout', async () => {
    const proxy = await proxyServer({ answer: () => 'silence' })
    const fetcher = makeFetcher({ proxy: proxy.url, connectTimeoutMs: 300 })
    const failure = failureOf(await fetcher.fetch(requestFor(targetOf('https:')), new TestContext()))
    expect(failure.code).toBe('proxy-failed')
  })

  it('leaves failures of the server behind it what they are', async () => {
    const plain = createServer((socket) => socket.on('error', () => {}).end('HTTP/1.1 400 Bad\r\n\r\n'))
    plain.listen(0, '127.0.0.1')
    await once(plain, 'listening')
    onTestFinished(() => void plain.close())
    const stranger = await httpsServer((_, response) => response.end('page'), OTHER)
    const broken = await rawServer(
      ({ socket }) => void socket.end('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf'),
    )
    const proxy = await proxyServer()
    const fetcher = makeFetcher({ proxy: proxy.url, tls: TLS })
    const codeOf = async (url: string) =>
      failureOf(await fetcher.fetch(requestFor(url), new TestContext())).code
    expect(await codeOf(stranger.url())).toBe('tls-failed')
    expect(await codeOf(broken.url())).toBe('connection-lost')
    expect(await codeOf(`https://127.0.0.1:${(plain.address() as AddressInfo).port}/`)).toBe('tls-failed')
  })
})

describe('connections through a proxy', () => {
  it('stay within both bounds', async () => {
    const server = await httpsServer((_, response) => setTimeout(() => response.end('page'), 2))
    const plain = await rawServer(async ({ socket }) => {
      await sleep(2)
      socket.write(reply('page'))
    })
    const proxy = await proxyServer()
    const fetcher = makeFetcher({ proxy: proxy.url, tls: TLS, connectionsPerHost: 2, maxConnections: 3 })
    const urls = Array.from(
      { length: 40 },
      (_, i) =>
        [server.url(), server.url('/', 'localhost'), plain.url(), plain.url('/', 'a.invalid')][i % 4]!,
    )
    const outcomes = await Promise.all(urls.map((url) => fetcher.fetch(requestFor(url), new TestContext())))
    expect(outcomes.map(textOf)).toEqual(Array(40).fill('page'))
    // One that is being closed may still be seen beside the one that takes its place.
    expect(proxy.mostOpen).toBeLessThanOrEqual(5)
    expect(fetcher.stats.openConnections).toBeLessThanOrEqual(3)
  })

  it('that broke while idle are replaced', async () => {
    const server = await httpsServer((_, response) => response.end('page'))
    const proxy = await proxyServer()
    const fetcher = makeFetcher({ proxy: proxy.url, tls: TLS })
    for (let i = 0; i < 3; i++) {
      expect(textOf(await fetcher.fetch(requestFor(server.url()), new TestContext()))).toBe('page')
      server.server.closeAllConnections()
      await sleep(30)
    }
    expect(server.accepted).toBe(3)
  })

  it.each(['tunnel', 'tls', 'page'])('in the state "%s" end with an abort, and with close', async (state) => {
    const silent = await rawServer(() => {})
    const deaf = createServer((socket) => socket.on('error', () => {})).listen(0, '127.0.0.1')
    await once(deaf, 'listening')
    onTestFinished(() => void deaf.close())
    const proxy = await proxyServer({ answer: () => (state === 'tunnel' ? 'silence' : undefined) })
    const url = state === 'page' ? silent.url() : `https://127.0.0.1:${(deaf.address() as AddressInfo).port}/`
    const fetcher = makeFetcher({ proxy: proxy.url, connectionsPerHost: 2, tls: TLS })
    const context = new TestContext()
    const aborted = fetcher.fetch(requestFor(url), context)
    const closed = fetcher.fetch(requestFor(url), new TestContext())
    await until(() => proxy.heads.length === 2, 'both reach the proxy')
    await sleep(30)
    context.abort()
    expect(failureOf(await aborted).code).toBe('aborted')
    await until(() => fetcher.stats.openConnections === 1 && proxy.open === 1, 'one socket is gone')
    await fetcher.close()
    expect(failureOf(await closed).code).toBe('aborted')
    expect(fetcher.stats.openConnections).toBe(0)
    await until(() => proxy.open === 0, 'the proxy sees it too')
  })
})

it.each<[string, { http2?: boolean; proxy?: boolean; cookies?: boolean }]>([
  ['over HTTP/2', { http2: true }],
  ['through a proxy', { proxy: true }],
  ['over HTTP/2 through a proxy with cookies', { http2: true, proxy: true, cookies: true }],
])('nothing is left behind %s, so that the process ends by itself', async (_, { proxy, ...options }) => {
  const server = await http2Server((request, response) => {
    if (request.url === '/page') response.end('page')
  })
  // Nobody is at the third address, in the proxy's world neither.
  const through = await proxyServer({
    answer: (head) => (head.includes('192.0.2.1') ? 'silence' : undefined),
  })
  const given = { ...options, tls: TLS, ...(proxy ? { proxy: through.url } : {}) }
  const root = fileURLToPath(new URL('../../../', import.meta.url))
  const script = fileURLToPath(new URL('./exits-by-itself.ts', import.meta.url))
  const child = spawn(process.execPath, ['--import', 'tsx', script, server.url(), JSON.stringify(given)], {
    cwd: root,
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => void (output += data))
  const [code] = await once(child, 'exit')
  expect(output.trim()).toBe('["200","aborted"] sockets:0')
  expect(code).toBe(0)
})

describe('the address guard behind a proxy', () => {
  const resolver = { resolve: () => Promise.resolve([{ address: '127.0.0.1', family: 4 } as const]) }

  it.each([
    ['http://10.0.0.1', '10.0.0.1'],
    ['https://[::1]:8443', '::1'],
    ['http://localhost:1', '127.0.0.1'],
    ['http://sub.localhost.', '127.0.0.1'],
    ['http://example.com', undefined],
    ['http://notlocalhost', undefined],
  ])('knows that %s is at %s', (origin, address) => {
    expect(literalAddress(origin)?.address).toBe(address)
  })

  it('refuses literal addresses, lets names pass, and never refuses the proxy', async () => {
    const server = await fixedServer(reply('page'))
    const proxy = await proxyServer()
    const fetcher = makeFetcher({
      proxy: proxy.url,
      resolver,
      allowsAddress: (hostname) => hostname === '127.0.0.2',
    })
    const get = (host: string) =>
      fetcher.fetch(requestFor(`http://${host}:${server.port}/`), new TestContext())
    expect(failureOf(await get('127.0.0.1')).code).toBe('address-refused')
    expect(failureOf(await get('localhost')).code).toBe('address-refused')
    expect(proxy.heads).toEqual([])
    expect(textOf(await get('127.0.0.2'))).toBe('page')
    expect(responseOf(await get('a-name.invalid')).status).toBe(200)
  })
})

describe('the option', () => {
  it('takes a proxy apart', () => {
    expect(parseProxy('http://user:p%40ss@Proxy.example:3128/')).toEqual({
      origin: 'http://proxy.example:3128',
      name: 'proxy.example:3128',
      token: `Basic ${Buffer.from('user:p@ss').toString('base64')}`,
    })
    expect(parseProxy(new URL('https://proxy.example')).token).toBeUndefined()
  })

  it.each([
    5,
    {},
    '',
    'proxy.example:3128',
    'socks5://secret:secret@p',
    'http://secret:secret@p/path',
    'http://secret:%zz@p',
  ])('refuses %j by name and without its credentials', (proxy) => {
    const attempt = () => httpFetcher({ userAgent: 'Kumo', proxy: proxy as string })
    expect(attempt).toThrow(expect.objectContaining({ code: 'KUMO_INVALID_OPTION' }))
    expect(attempt).toThrow(/httpFetcher\.proxy/)
    expect(attempt).not.toThrow(/secret/)
  })
})
