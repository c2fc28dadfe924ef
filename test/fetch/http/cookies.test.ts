import { describe, expect, it } from 'vitest'
import { Cookies, withCookies } from '../../../src/fetch/http/cookies.js'
import { RawHeaders } from '../../../src/fetch/http/headers.js'
import { seededRandom } from '../../../src/time.js'
import { CA, httpsServer } from '../certificates/index.js'
import {
  failureOf,
  makeFetcher,
  rawServer,
  reply,
  requestFor,
  responseOf,
  TestContext,
  textOf,
} from '../support.js'

const setting = (...lines: string[]) =>
  new RawHeaders(lines.flatMap((line) => [Buffer.from('Set-Cookie'), Buffer.from(line, 'latin1')]))

describe('a jar', () => {
  it.each<[string, string, string, string | undefined]>([
    ['a=b', 'http://example.com/x/y', 'http://example.com/', undefined],
    ['a=b', 'http://example.com/x/y', 'http://example.com/x/z', 'a=b'],
    ['a=b; Path=/', 'http://example.com/x/y', 'http://example.com/', 'a=b'],
    ['a=b; Path=/; Secure', 'https://example.com/', 'https://example.com/', 'a=b'],
    ['a=b; Path=/; Secure', 'https://example.com/', 'http://example.com/', undefined],
    ['a=b; Path=/; HttpOnly; SameSite=Strict', 'http://example.com/', 'http://example.com/', 'a=b'],
    ['a=b; Domain=example.com', 'http://www.example.com/', 'http://www.example.com/', 'a=b'],
    ['a=b; Domain=example.com', 'http://www.example.com/', 'http://shop.example.com/', undefined],
    ['a=b; Domain=example.com', 'http://www.example.com/', 'http://example.com/', undefined],
    ['a=b; Domain=other.example', 'http://www.example.com/', 'http://www.example.com/', undefined],
    ['a=b; Domain=co.uk', 'http://www.example.co.uk/', 'http://www.example.co.uk/', undefined],
    ['a=b; Max-Age=0', 'http://example.com/', 'http://example.com/', undefined],
    ['a=b; Expires=Thu, 01 Jan 1970 00:00:00 GMT', 'http://example.com/', 'http://example.com/', undefined],
    ['a=b; Expires=Fri, 01 Jan 2100 00:00:00 GMT', 'http://example.com/', 'http://example.com/', 'a=b'],
    ['__Host-a=b; Path=/', 'http://example.com/', 'http://example.com/', undefined],
    ['a=b', 'http://127.0.0.1:8080/', 'http://127.0.0.1:8080/', 'a=b'],
    ['a=b', 'http://127.0.0.1:8080/', 'http://127.0.0.1:9090/', undefined],
    ['a=b', 'http://[::1]/', 'http://[::1]/', 'a=b'],
    ['a=b', 'http://localhost/', 'http://localhost/', 'a=b'],
    ['nameless', 'http://example.com/', 'http://example.com/', 'nameless'],
    ['=nameless', 'http://example.com/', 'http://example.com/', 'nameless'],
    ['=', 'http://example.com/', 'http://example.com/', undefined],
    [' = ; Path=/', 'http://example.com/', 'http://example.com/', undefined],
    ['; Path=/', 'http://example.com/', 'http://example.com/', undefined],
    ['', 'http://example.com/', 'http://example.com/', undefined],
    ['a=', 'http://example.com/', 'http://example.com/', 'a='],
    ['=__Host-a=b; Path=/; Secure', 'https://example.com/', 'https://example.com/', undefined],
    ['__secure-a; Path=/; Secure', 'https://example.com/', 'https://example.com/', undefined],
    ['__Host-a=b; Path=/; Secure', 'https://example.com/', 'https://example.com/', '__Host-a=b'],
    ['a=caf\xe9', 'http://example.com/', 'http://example.com/', 'a=caf\xe9'],
    ['a=b\x01c', 'http://example.com/', 'http://example.com/', undefined],
    [`a=${'b'.repeat(5000)}`, 'http://example.com/', 'http://example.com/', undefined],
  ])('that took %j from %s sends to %s: %j', async (line, from, to, expected) => {
    const cookies = await Cookies.load()
    const [origin, path] = parts(from)
    cookies.keep(origin, path, setting(line))
    expect(cookies.headerFor(...parts(to))).toBe(expected)
  })

  it('sends nothing for a cookie without name and value', async () => {
    const cookies = await Cookies.load()
    cookies.keep('http://a.example', '/', setting('a=1', '=', '; Path=/', 'b=2'))
    expect(cookies.headerFor('http://a.example', '/')).toBe('a=1; b=2')
  })

  it('replaces and forgets a cookie when the host says so', async () => {
    const cookies = await Cookies.load()
    cookies.keep('http://a.example', '/', setting('a=1', 'b=1'))
    cookies.keep('http://a.example', '/', setting('a=2'))
    expect(cookies.headerFor('http://a.example', '/')).toBe('a=2; b=1')
    cookies.keep('http://a.example', '/', setting('b=; Max-Age=0'))
    expect(cookies.headerFor('http://a.example', '/')).toBe('a=2')
  })

  it('holds 50 cookies and 8 KiB, the newest', async () => {
    const cookies = await Cookies.load()
    for (let i = 0; i < 200; i += 40) {
      cookies.keep('http://a.example', '/', setting(...Array.from({ length: 40 }, (_, k) => `c${i + k}=x`)))
    }
    const sent = cookies.headerFor('http://a.example', '/')!.split('; ')
    expect([sent.length, sent.at(-1)]).toEqual([50, 'c199=x'])
    for (let i = 0; i < 10; i++) cookies.keep('http://a.example', '/', setting(`l${i}=${'x'.repeat(3000)}`))
    expect(cookies.headerFor('http://a.example', '/')!.length).toBeLessThanOrEqual(8192)
    expect(cookies.headerFor('http://a.example', '/')).toContain('l9=')
  })

  it('takes at most 50 lines of a response', async () => {
    const cookies = await Cookies.load()
    cookies.keep('http://a.example', '/', setting(...Array.from({ length: 3000 }, (_, i) => `c${i}=x`)))
    expect(cookies.headerFor('http://a.example', '/')!.split('; ')).toHaveLength(50)
  })

  it('is forgotten when there are too many, those in use last', async () => {
    const cookies = await Cookies.load()
    const origin = (i: number) => `http://host${i}.example`
    for (let i = 0; i < 25_000; i++) {
      cookies.keep(origin(i), '/', setting('a=b'))
      expect(cookies.headerFor(origin(0), '/')).toBe('a=b')
    }
    const kept = Array.from({ length: 25_000 }, (_, i) => i).filter((i) => cookies.headerFor(origin(i), '/'))
    expect(kept.length).toBeLessThanOrEqual(10_000)
    expect(kept).toEqual(expect.arrayContaining([0, 24_999]))
  })

  it('withstands what servers make up', async () => {
    const cookies = await Cookies.load()
    const random = seededRandom(7)
    const words = [
      'a',
      '=',
      ';',
      'Domain',
      'Path',
      '/',
      '.',
      'Expires',
      'Max-Age',
      '-',
      '9',
      '[',
      ']',
      ',',
      ' ',
      '%',
      '\xff',
      '__Host-',
      'xn--',
      'Secure',
      '"',
    ]
    for (let i = 0; i < 5000; i++) {
      const line = Array.from({ length: 12 }, () => words[Math.floor(random.next() * words.length)]).join('')
      cookies.keep('https://a.example', '/x', setting(line))
    }
    expect(cookies.headerFor('https://a.example', '/x')?.split('; ').length ?? 0).toBeLessThanOrEqual(50)
  })
})

it.each<[string[], string | undefined, string[]]>([
  [['user-agent', 'x'], undefined, ['user-agent', 'x']],
  [['user-agent', 'cookie'], 'a=b', ['user-agent', 'cookie', 'cookie', 'a=b']],
  [['cookie', 'own=1', 'accept', 'x'], 'a=b', ['cookie', 'own=1; a=b', 'accept', 'x']],
])('%j with %j are %j', (headers, cookies, expected) => {
  const before = [...headers]
  expect(withCookies(headers, cookies)).toEqual(expected)
  expect(headers, 'the headers of other requests stay').toEqual(before)
})

describe('a fetcher', () => {
  const cookieOf = (request: string) => /^cookie: (.*)$/im.exec(request)?.[1]

  /** Sends visitors in circles until they bring a cookie. */
  const gate = () =>
    rawServer(({ socket, path }) => {
      const cookie = cookieOf(server.lastRequest)
      if (path === '/error') socket.write(reply('', { 'Set-Cookie': 'seen=error' }, '404 Not Found'))
      else if (path === '/large') socket.write(reply('x'.repeat(100), { 'Set-Cookie': 'seen=large' }))
      else if (cookie) socket.write(reply(cookie))
      else socket.write(reply('', { 'Set-Cookie': 'pass=yes', Location: path }, '302 Found'))
    })
  let server: Awaited<ReturnType<typeof gate>>

  it('keeps no cookies by default', async () => {
    server = await gate()
    const fetcher = makeFetcher()
    for (let i = 0; i < 3; i++) {
      const outcome = await fetcher.fetch(requestFor(server.url()), new TestContext())
      expect(responseOf(outcome).status).toBe(302)
    }
  })

  it('brings back what a redirect has set', async () => {
    server = await gate()
    const fetcher = makeFetcher({ cookies: true, headers: { Cookie: '' } })
    await fetcher.fetch(requestFor(server.url()), new TestContext())
    expect(textOf(await fetcher.fetch(requestFor(server.url('/page')), new TestContext()))).toContain(
      'pass=yes',
    )
  })

  it('brings back what errors and unreadable pages have set', async () => {
    server = await gate()
    const fetcher = makeFetcher({ cookies: true, maxBodyBytes: 50 })
    await fetcher.fetch(requestFor(server.url('/error')), new TestContext())
    expect(textOf(await fetcher.fetch(requestFor(server.url()), new TestContext()))).toBe('seen=error')
    const large = await fetcher.fetch(requestFor(server.url('/large')), new TestContext())
    expect(failureOf(large).code).toBe('body-too-large')
    expect(textOf(await fetcher.fetch(requestFor(server.url()), new TestContext()))).toBe('seen=large')
  })

  it.skipIf(process.platform !== 'linux')('brings them to no other host', async () => {
    server = await gate()
    const fetcher = makeFetcher({ cookies: true })
    await fetcher.fetch(requestFor(server.url()), new TestContext())
    const other = await fetcher.fetch(requestFor(server.url('/', '127.0.0.2')), new TestContext())
    expect(responseOf(other).status).toBe(302)
  })

  it('has the cookie in the request that waited for the one that set it', async () => {
    server = await gate()
    const fetcher = makeFetcher({ cookies: true })
    const [first, second] = await Promise.all(
      ['/', '/'].map((path) => fetcher.fetch(requestFor(server.url(path)), new TestContext())),
    )
    expect(responseOf(first!).status).toBe(302)
    expect(textOf(second!)).toBe('pass=yes')
  })

  it('keeps secure cookies over https', async () => {
    const secure = await httpsServer((request, response) => {
      response.setHeader('Set-Cookie', ['__Host-a=1; Path=/; Secure', 'b=2; Secure'])
      response.end(request.headers.cookie ?? 'none')
    })
    const fetcher = makeFetcher({ cookies: true, tls: { ca: CA } })
    const get = async () => textOf(await fetcher.fetch(requestFor(secure.url()), new TestContext()))
    expect([await get(), await get()]).toEqual(['none', '__Host-a=1; b=2'])
  })
})

function parts(url: string): [origin: string, path: string] {
  const { origin, pathname } = new URL(url)
  return [origin, pathname]
}
