import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { OriginHeaders } from '../../../../src/fetch/http/access/headers.js'
import { type HttpFetcherOptions, httpFetcher } from '../../../../src/fetch/http/http.js'
import {
  failureOf,
  fixedServer,
  makeFetcher,
  type RawServer,
  reply,
  requestFor,
  responseOf,
  TestContext,
  textOf,
  until,
} from '../../support.js'

const headerOf = (server: RawServer, name: string) =>
  new RegExp(`^${name}: (.*)$`, 'im').exec(server.lastRequest)?.[1]?.trim()

describe('headers by origin', () => {
  it('name a contact in From, which a header of that name replaces', async () => {
    const server = await fixedServer(reply('page'))
    await makeFetcher({ from: 'bot@example.com' }).fetch(requestFor(server.url()), new TestContext())
    expect(headerOf(server, 'from')).toBe('bot@example.com')
    const other = makeFetcher({ from: 'bot@example.com', headers: { From: 'me@example.com' } })
    await other.fetch(requestFor(server.url()), new TestContext())
    expect(headerOf(server, 'from')).toBe('me@example.com')
  })

  it('are asked for once where there are any, and sent to their origin only', async () => {
    const [mine, other] = [await fixedServer(reply('page')), await fixedServer(reply('page'))]
    const asked: string[] = []
    const fetcher = makeFetcher({
      headers: { 'X-All': 'all' },
      headersFor: (origin) => {
        asked.push(origin)
        return origin === mine.url('') ? { 'X-Key': 'secret', 'X-All': 'mine' } : undefined
      },
    })
    for (const path of ['/1', '/2']) {
      await fetcher.fetch(requestFor(mine.url(path)), new TestContext())
      await fetcher.fetch(requestFor(other.url(path)), new TestContext())
      expect([headerOf(mine, 'x-key'), headerOf(mine, 'x-all')]).toEqual(['secret', 'mine'])
      expect([headerOf(other, 'x-key'), headerOf(other, 'x-all')]).toEqual([undefined, 'all'])
    }
    // The other may yet become an origin that has some.
    expect(asked).toEqual([mine.url(''), other.url(''), other.url('')])
  })

  it('are asked for again where a host has headers of its own, until there are any', () => {
    let extra: Record<string, string> | undefined
    const headers = new OriginHeaders({
      userAgent: 'test/1.0',
      headersFor: () => extra,
      hosts: () => ({ headers: { 'X-Host': 'a' } }),
    })
    expect(headers.of('https://a.example')).toContain('x-host')
    extra = { 'X-Seed': 'b' }
    expect(headers.of('https://a.example')).toEqual(expect.arrayContaining(['x-host', 'x-seed']))
  })

  it.each<[string, (origin: string) => unknown]>([
    [
      'throws',
      () => {
        throw new Error('no idea')
      },
    ],
    ['sets a header that is reserved', () => ({ Host: 'x' })],
    ['sets a line break', () => ({ 'X-A': 'a\r\nX-B: b' })],
    ['returns text', () => 'X-A: b'],
  ])('that cannot be had because headersFor %s fail that request only', async (_, headersFor) => {
    const server = await fixedServer(reply('page'))
    const fetcher = makeFetcher({
      headersFor: (origin) =>
        origin.includes('127.0.0.1') ? (headersFor(origin) as Record<string, string>) : undefined,
    })
    const failure = failureOf(await fetcher.fetch(requestFor(server.url()), new TestContext()))
    expect(failure).toMatchObject({ code: 'fetcher-failed', message: expect.stringContaining('headersFor') })
    const url = server.url('/', 'localhost')
    expect(textOf(await fetcher.fetch(requestFor(url), new TestContext()))).toBe('page')
  })

  it('carry credentials to their origin only', async () => {
    const [mine, other] = [await fixedServer(reply('page')), await fixedServer(reply('page'))]
    const auth = { [mine.url('/')]: { username: 'mé', password: 'pa:ss' } }
    const fetcher = makeFetcher({ auth, headersFor: () => ({ Authorization: 'Bearer x' }) })
    await fetcher.fetch(requestFor(mine.url()), new TestContext())
    await fetcher.fetch(requestFor(other.url()), new TestContext())
    expect(headerOf(mine, 'authorization')).toBe(`Basic ${Buffer.from('mé:pa:ss').toString('base64')}`)
    expect(headerOf(other, 'authorization')).toBe('Bearer x')
    await makeFetcher({ auth }).fetch(requestFor(other.url()), new TestContext())
    expect(headerOf(other, 'authorization')).toBeUndefined()
  })

  it('are remembered for a bounded number of origins', () => {
    let asked = 0
    const headers = new OriginHeaders({
      userAgent: 'Kumo',
      headersFor: () => {
        asked++
        return { 'X-Count': String(asked) }
      },
    })
    const first = headers.of('http://first.example')
    expect(headers.of('http://first.example')).toBe(first)
    for (let i = 0; i < 10_000; i++) headers.of(`http://host${i}.example`)
    expect(headers.of('http://first.example')).not.toBe(first)
    expect(asked).toBe(10_002)
  })
})

describe('options that cannot be', () => {
  it.each<[keyof HttpFetcherOptions, unknown, string]>([
    ['from', 'nobody', 'httpFetcher.from'],
    ['from', 'a@b\r\nX: y', 'httpFetcher.from'],
    ['from', 5, 'httpFetcher.from'],
    ['headersFor', {}, 'httpFetcher.headersFor'],
    ['auth', 'secret', 'httpFetcher.auth'],
    ['auth', { 'example.com': { username: 'a', password: 'secret' } }, 'httpFetcher.auth["example.com"]'],
    ['auth', { 'https://a.example/path': { username: 'a', password: 'secret' } }, 'httpFetcher.auth['],
    ['auth', { 'https://me:secret@a.example': { username: 'a', password: 'b' } }, 'httpFetcher.auth['],
    ['auth', { 'https://a.example': { username: 'a:secret', password: 'b' } }, '.username'],
    ['auth', { 'https://a.example': { username: 'a', password: 'secret\n' } }, '.password'],
    ['auth', { 'https://a.example': { username: 'a' } }, '.password'],
    ['auth', { 'https://a.example': 'a:secret' }, '.username'],
    ['cookies', 'yes', 'httpFetcher.cookies'],
    ['http2', 1, 'httpFetcher.http2'],
    ['allowsAddress', () => true, 'httpFetcher.allowsAddress'],
    ['resolver', () => [], 'httpFetcher.resolver'],
    ['resolver', null, 'httpFetcher.resolver'],
  ])('%s: %j is refused by name', (key, value, name) => {
    const attempt = () => httpFetcher({ userAgent: 'Kumo', [key]: value })
    expect(attempt).toThrow(expect.objectContaining({ code: 'KUMO_INVALID_OPTION' }))
    expect(attempt).toThrow(name)
    expect(attempt).not.toThrow(/secret/)
  })

  it('are not those that are undefined', () => {
    const options = { from: undefined, auth: undefined, proxy: undefined, tls: undefined, cookies: undefined }
    expect(() => httpFetcher({ userAgent: 'Kumo', ...options })).not.toThrow()
  })
})

describe('one call', () => {
  it('may have a limit of its own, smaller or larger', async () => {
    const server = await fixedServer(reply(gzipSync('x'.repeat(1000)), { 'Content-Encoding': 'gzip' }))
    const fetcher = makeFetcher({ maxBodyBytes: 500 })
    const get = (maxBodyBytes: number | undefined) =>
      fetcher.fetch(requestFor(server.url()), Object.assign(new TestContext(), { maxBodyBytes }))
    expect(failureOf(await get(undefined)).code).toBe('body-too-large')
    expect(textOf(await get(1000))).toBe('x'.repeat(1000))
    expect(failureOf(await get(10)).code).toBe('body-too-large')
  })

  it('says whether its body is whole', async () => {
    const body = gzipSync('whole '.repeat(500))
    const whole = await fixedServer(reply(body, { 'Content-Encoding': 'gzip' }))
    const cut = await fixedServer(reply(body.subarray(0, body.length - 12), { 'Content-Encoding': 'gzip' }))
    const get = async (server: RawServer) =>
      responseOf(await makeFetcher().fetch(requestFor(server.url()), new TestContext()))
    expect((await get(whole)).truncated).toBe(false)
    expect((await get(cut)).truncated).toBe(true)
  })
})

describe('a resolver', () => {
  const LOOPBACK = [{ address: '127.0.0.1', family: 4 } as const]

  it('looks names up in place of the system', async () => {
    const server = await fixedServer(reply('page'))
    const asked: string[] = []
    const resolver = {
      resolve: async (host: string) => {
        asked.push(host)
        return LOOPBACK
      },
    }
    const fetcher = makeFetcher({ resolver })
    const url = server.url('/', 'made-up.invalid')
    for (let i = 0; i < 3; i++)
      expect(textOf(await fetcher.fetch(requestFor(url), new TestContext()))).toBe('page')
    expect(asked).toEqual(['made-up.invalid'])
    expect(headerOf(server, 'host')).toBe(`made-up.invalid:${server.port}`)
    expect([server.accepted, fetcher.stats.openConnections]).toEqual([1, 1])
  })

  it('with allowsAddress keeps the crawl from addresses that are not public', async () => {
    const server = await fixedServer(reply('page'))
    const resolver = { resolve: async () => LOOPBACK }
    const fetcher = makeFetcher({ resolver, allowsAddress: (hostname) => hostname === 'mine.invalid' })
    const get = (host: string) => fetcher.fetch(requestFor(server.url('/', host)), new TestContext())
    expect(textOf(await get('mine.invalid'))).toBe('page')
    for (const host of ['other.invalid', '127.0.0.1']) {
      expect(failureOf(await get(host))).toMatchObject({ code: 'address-refused' })
    }
    expect(server.requests.length).toBe(1)
    await until(() => fetcher.stats.openConnections === 1, 'those that were refused leave nothing')
  })

  it('that does not answer is let go of by abort and by close', async () => {
    const fetcher = makeFetcher({ resolver: { resolve: () => new Promise(() => {}) } })
    const context = new TestContext()
    const outcomes = ['a', 'b'].map((name, i) =>
      fetcher.fetch(requestFor(`http://${name}.invalid/`), i === 0 ? context : new TestContext()),
    )
    await until(() => fetcher.stats.openConnections === 2, 'both are looked up')
    context.abort()
    expect(failureOf(await outcomes[0]!).code).toBe('aborted')
    await until(() => fetcher.stats.openConnections === 1, 'the first is gone')
    await fetcher.close()
    expect(failureOf(await outcomes[1]!).code).toBe('aborted')
    expect(fetcher.stats.openConnections).toBe(0)
  })
})
