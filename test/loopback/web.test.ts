/** The witness must be trustworthy before it may testify: the web is whole, the same every time, and misses nothing. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { Agent, get } from 'node:http'
import { connect, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { gunzipSync } from 'node:zlib'
import { parse } from 'parse5'
import { afterEach, describe, expect, test } from 'vitest'
import { rawUndici } from '../../bench/raw.mjs'
import { type LoopbackWeb, startWeb, type WebOptions } from './web.js'

const running: LoopbackWeb[] = []
const agent = new Agent({ keepAlive: true, maxSockets: 1 })

async function start(options: WebOptions): Promise<LoopbackWeb> {
  const web = await startWeb(options)
  running.push(web)
  return web
}

afterEach(async () => {
  await Promise.all(running.splice(0).map((web) => web.close()))
})

interface Answer {
  status: number
  headers: Record<string, unknown>
  body: Buffer
}

function fetchPage(
  url: string,
  headers: Record<string, string> = {},
  by: Agent | false = agent,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    get(url, { agent: by, headers }, async (response) => {
      const chunks: Buffer[] = await response.toArray()
      resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks) })
    }).on('error', reject)
  })
}

const textOf = async (url: string) => (await fetchPage(url)).body.toString()

function linksIn(html: string, base: string): string[] {
  return [...html.matchAll(/<a\b[^>]*?\bhref="([^"]*)"/g)].map(([, href]) => new URL(href!, base).href)
}

/** Follows links breadth first; `follow` says which. */
async function crawl(seed: string, follow: (url: string) => boolean = () => true): Promise<Set<string>> {
  const seen = new Set([seed])
  for (const url of seen) {
    const { status, body } = await fetchPage(url)
    expect(status, url).toBe(200)
    for (const link of linksIn(body.toString(), url)) if (follow(link)) seen.add(link)
  }
  return seen
}

/** Writes `parts` to a new connection, one after the other, and resolves with all that is sent back. */
async function converse(
  web: LoopbackWeb,
  parts: string[],
  until: (text: string) => boolean,
): Promise<string> {
  const socket = connect(web.port, '127.1.0.0')
  let text = ''
  socket.on('data', (chunk) => {
    text += chunk.toString('latin1')
    if (until(text)) socket.end()
  })
  const closed = once(socket, 'close')
  for (const part of parts) {
    socket.write(part)
    await pause(5)
  }
  await closed
  return text
}

const count = (text: string, what: string) => text.split(what).length - 1
const requestFor = (path: string, more = '') => `GET ${path} HTTP/1.1\r\nHost: 127.1.0.0\r\n${more}\r\n`
const titlesIn = (text: string) =>
  [...text.matchAll(/<title>.*?page (\d+) of/g)].map(([, page]) => Number(page))

describe('pages', () => {
  const webs: [string, WebOptions, number][] = [
    ['one host', { pagesPerHost: 400 }, 400],
    ['a host of one page', { pagesPerHost: 1 }, 1],
    ['one link a page', { pagesPerHost: 30, linksPerPage: 1, bytes: 2000 }, 30],
    ['only a navigation', { pagesPerHost: 50, linksPerPage: 8, bytes: 2500 }, 50],
    ['hosts of different sizes', { hosts: 3, pagesPerHost: [1, 90, 20] }, 111],
    ['a few links across', { hosts: 30, pagesPerHost: 10, crossHostShare: 0.001 }, 300],
    ['half of the links across', { hosts: 20, pagesPerHost: 20, crossHostShare: 0.5, linksPerPage: 12 }, 400],
    ['as many links across as can be', { hosts: 9, pagesPerHost: 9, crossHostShare: 1, linksPerPage: 2 }, 81],
    ['127.0.0.1 alone', { bind: '127.0.0.1', pagesPerHost: 70 }, 70],
  ]

  test.each(webs)('%s: every page is reachable from its start page', async (_, options, total) => {
    const web = await start(options)
    expect(web.totalPages).toBe(total)
    const found = await Promise.all(
      web.seeds().map((seed) => crawl(seed, (url) => new URL(url).host === new URL(seed).host)),
    )
    expect(found.reduce((sum, pages) => sum + pages.size, 0)).toBe(total)
    expect(await web.report()).toMatchObject({
      requests: total,
      distinctPages: total,
      duplicates: 0,
      strays: 0,
    })
  })

  test.each(webs.filter(([, { crossHostShare }]) => crossHostShare))(
    '%s: every page is reachable from the first host',
    async (_, options, total) => {
      const web = await start(options)
      expect((await crawl(web.url(0))).size).toBe(total)
      expect((await web.report()).perHost.hosts).toBe(options.hosts)
    },
  )

  test.each(webs)('%s: pages have the size and the links they should, in valid HTML', async (_, options) => {
    const web = await start(options)
    for (const url of [web.url(0), web.url((options.hosts ?? 1) - 1)]) {
      const html = await textOf(url)
      expect(html.length).toBe(options.bytes ?? 14_336)
      expect(linksIn(html, url).length).toBe(options.linksPerPage ?? 60)
      const errors: string[] = []
      parse(html, { onParseError: ({ code }) => errors.push(code) })
      expect(errors).toEqual([])
    }
  })

  test('the share of links that cross hosts is kept', async () => {
    const web = await start({ hosts: 10, pagesPerHost: 100, crossHostShare: 0.3 })
    let crossing = 0
    for (let page = 1; page <= 50; page++) {
      crossing += linksIn(await textOf(web.url(4, page)), web.url(4)).filter(
        (url) => !url.includes('127.1.0.4'),
      ).length
    }
    expect(crossing / (50 * 60)).toBeCloseTo(0.3, 1)
  })

  test('the same seed gives the same web, another seed another', async () => {
    const options = { hosts: 4, pagesPerHost: 50, crossHostShare: 0.2 }
    const sample = async (seed: number) => {
      const web = await start({ ...options, seed })
      const urls = [web.url(0), web.url(0, 1), web.url(3, 49)]
      const pages = await Promise.all(urls.map(textOf))
      // Where ports differ in length, so does the filling; the links tell the pages apart as well.
      return pages.map((html, i) => linksIn(html, urls[i]!).map((url) => url.replace(`:${web.port}/`, '/')))
    }
    const [first, again, other] = [await sample(5), await sample(5), await sample(6)]
    expect(again).toEqual(first)
    for (const i of [0, 1, 2]) expect(other[i]).not.toEqual(first[i])
    expect(new Set([first[0], first[1], first[2]].map(String)).size).toBe(3)
  })

  test('a page is the same byte for byte on every port', async () => {
    const [one, two] = [await start({}), await start({})]
    expect(one.port).not.toBe(two.port)
    expect(await textOf(one.url(0, 42))).toBe(await textOf(two.url(0, 42)))
  })

  test.each<[string, WebOptions, RegExp]>([
    ['too small a page', { bytes: 1000 }, /needs at least \d+ bytes/],
    ['no host', { hosts: 0 }, /hosts must be/],
    ['more hosts than addresses', { hosts: 2 ** 24 }, /hosts must be/],
    ['too few numbers of pages', { hosts: 3, pagesPerHost: [1, 2] }, /one number a host/],
    ['an empty host', { pagesPerHost: 0 }, /a host has/],
    ['too few links', { hosts: 2, crossHostShare: 0.5, linksPerPage: 1 }, /reachable/],
    ['many hosts on one address', { hosts: 2, bind: '127.0.0.1' }, /one host/],
  ])('%s is refused', async (_, options, message) => {
    await expect(start(options)).rejects.toThrow(message)
  })
})

describe('the server', () => {
  test('is many hosts', async () => {
    const web = await start({ hosts: 70_000, pagesPerHost: 1 })
    const asked = [0, 1, 255, 256, 65_535, 65_536, 69_999]
    for (const host of asked) expect(await textOf(web.url(host))).toContain(new URL(web.url(host)).hostname)
    expect(web.url(65_536)).toBe(`http://127.2.0.0:${web.port}/`)
    expect((await web.report()).perHost.hosts).toBe(asked.length)
    expect(await web.pagesServed()).toEqual(asked.map((host) => web.url(host)))
  })

  test('answers pipelined requests in their order, whatever each takes', async () => {
    const web = await start({ latencyMs: [0, 20] })
    const pages = Array.from({ length: 30 }, (_, i) => (i * 37) % 100)
    const requests = pages.map((page) => requestFor(page === 0 ? '/' : `/p/${page}`)).join('')
    const text = await converse(web, [requests], (text) => count(text, '</html>') === pages.length)
    expect(titlesIn(text)).toEqual(pages)
    expect((await web.report()).perHost).toMatchObject({ overlaps: 29, mostOpen: 30 })
  })

  test('reads a request however it is cut', async () => {
    const web = await start({})
    const request = requestFor('/p/7') + requestFor('/p/8')
    for (const cut of [1, 5, 16, 30, 41, 44, 45, 46, 60]) {
      const parts = [request.slice(0, cut), request.slice(cut)]
      const text = await converse(web, parts, (text) => count(text, '</html>') === 2)
      expect(titlesIn(text)).toEqual([7, 8])
    }
  })

  test('closes when it is asked to, after the answer', async () => {
    const web = await start({})
    for (const request of [
      requestFor('/p/1', 'Connection: close\r\n'),
      'GET / HTTP/1.0\r\nHost: 127.1.0.0\r\n\r\n',
    ]) {
      const text = await converse(web, [request], () => false)
      const [head, body] = text.split('\r\n\r\n')
      expect(head).toMatch(/^HTTP\/1.1 200 OK\r\n.*\r\nConnection: close$/s)
      expect(body).toMatch(/^<!doctype html>.*<\/html>\n$/s)
    }
  })

  test('keeps connections otherwise', async () => {
    const web = await start({})
    for (let page = 0; page < 20; page++) await fetchPage(web.url(0, page))
    expect((await web.report()).openConnectionsMax).toBe(1)
  })

  test('refuses what is no GET request', async () => {
    const web = await start({})
    const text = await converse(web, ['POST / HTTP/1.1\r\nHost: 127.1.0.0\r\n\r\n'], () => false)
    expect(text).toMatch(/^HTTP\/1.1 400 /)
  })

  test('knows what it does not have', async () => {
    const web = await start({ pagesPerHost: 10 })
    const unknown = ['/p/10', '/p/0', '/p/01', '/p/1?x', '/p/', '/q', '/robots.txt']
    for (const path of unknown) expect((await fetchPage(web.url(0).slice(0, -1) + path)).status).toBe(404)
    expect((await fetchPage(web.url(1))).status).toBe(404)
    expect(await web.report()).toMatchObject({ requests: 8, robotsRequests: 1, strays: 7, distinctPages: 0 })
  })

  test('serves robots.txt on every host, and counts it for politeness only if asked', async () => {
    const robots = 'User-agent: *\nDisallow: /p/3\n'
    const web = await start({ hosts: 2, robots })
    for (const seed of web.seeds()) {
      const { body, headers } = await fetchPage(`${seed}robots.txt`)
      expect([body.toString(), headers['content-type']]).toEqual([robots, 'text/plain; charset=utf-8'])
      await fetchPage(seed)
    }
    expect((await web.report()).perHost).toMatchObject({ hosts: 2, shortestGapMs: null })
    expect((await web.report(0, { countRobots: true })).perHost.shortestGapMs).toBeGreaterThan(0)
  })

  test('compresses for those who accept it', async () => {
    const web = await start({ gzip: true })
    const plain = await fetchPage(web.url(0, 3))
    const zipped = await fetchPage(web.url(0, 3), { 'accept-encoding': 'gzip, br' })
    expect([plain.headers['content-encoding'], zipped.headers['content-encoding']]).toEqual([
      undefined,
      'gzip',
    ])
    expect(zipped.body.length).toBeLessThan(plain.body.length / 2)
    expect(gunzipSync(zipped.body).equals(plain.body)).toBe(true)
  })

  test('takes the time it is told to', async () => {
    const web = await start({ latencyMs: [30, 60] })
    const times: number[] = []
    for (let page = 0; page < 8; page++) {
      const before = performance.now()
      await fetchPage(web.url(0, page))
      times.push(performance.now() - before)
    }
    expect(Math.min(...times)).toBeGreaterThanOrEqual(29)
    expect(Math.max(...times) - Math.min(...times)).toBeGreaterThan(3)
  })

  test('hands a slow reader what it asked for, though others are served meanwhile', async () => {
    // Too large to be kept, so that pages are written over each other.
    const web = await start({ pagesPerHost: 20_000 })
    const pages = Array.from({ length: 900 }, (_, i) => i + 1)
    const slow = connect(web.port, '127.1.0.0')
    slow.pause()
    slow.write(pages.map((page) => requestFor(`/p/${page}`)).join(''))
    await pause(100)
    await rawUndici({ urls: pages.map((page) => web.url(0, page + 10_000)), concurrency: 10 })
    const text = await readAll(slow, 900 * 14_336)
    expect(titlesIn(text)).toEqual(pages)
    for (const page of [1, 450, 900]) expect(text).toContain(await textOf(web.url(0, page)))
  })
})

/** Reads until a page ends after at least so many bytes. */
async function readAll(socket: Socket, atLeast: number): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of socket.resume()) {
    chunks.push(chunk)
    bytes += chunk.length
    if (bytes > atLeast && chunk.toString('latin1').endsWith('</html>\n')) break
  }
  return Buffer.concat(chunks).toString('latin1')
}

describe('the log', () => {
  test('sees nothing amiss in one request after the other', async () => {
    const web = await start({ hosts: 3, pagesPerHost: 20, latencyMs: 1 })
    for (let page = 0; page < 20; page++) {
      await Promise.all([0, 1, 2].map((host) => fetchPage(web.url(host, page))))
    }
    const { perHost } = await web.report()
    expect(perHost).toMatchObject({ hosts: 3, overlaps: 0, mostOpen: 1, belowGap: 0 })
    expect(perHost.shortestGapMs).toBeGreaterThan(0)
  })

  test.each([
    ['that takes its time', 20],
    ['that answers at once', 0],
  ])('sees requests that overlap at a server %s', async (_, latencyMs) => {
    const web = await start({ hosts: 2, latencyMs })
    // One write, so that both requests are there when the server looks.
    await converse(web, [requestFor('/') + requestFor('/p/1')], (text) => count(text, '</html>') === 2)
    await fetchPage(web.url(1))
    expect((await web.report()).perHost).toMatchObject({ overlaps: 1, mostOpen: 2, shortestGapMs: 0 })
    expect((await web.report(1)).perHost.overlaps).toBe(0)
  })

  test('sees overlaps on separate connections, though answering takes no time', async () => {
    const web = await start({ pagesPerHost: 1000 })
    const urls = Array.from({ length: 1000 }, (_, page) => web.url(0, page))
    await rawUndici({ urls, concurrency: 20 })
    expect((await web.report()).perHost.overlaps).toBeGreaterThan(100)
    expect((await web.report(19)).perHost.overlaps).toBe(0)
  })

  test('counts overlaps against what is allowed', async () => {
    const web = await start({ latencyMs: 150 })
    await Promise.all([1, 2, 3, 4, 5].map((page) => fetchPage(web.url(0, page), {}, false)))
    const overlaps = await Promise.all(
      [0, 1, 2, 3, 4].map(async (n) => (await web.report(n)).perHost.overlaps),
    )
    expect(overlaps).toEqual([4, 3, 2, 1, 0])
  })

  test('measures gaps from the end of a request, never too short', async () => {
    const web = await start({ hosts: 2, latencyMs: 40 })
    await fetchPage(web.url(0))
    await pause(60)
    await fetchPage(web.url(0, 1))
    await fetchPage(web.url(1))
    const polite = await web.report(0, { gapMs: 59 })
    expect(polite.perHost.shortestGapMs).toBeGreaterThanOrEqual(59)
    expect(polite.perHost.belowGap).toBe(0)

    await fetchPage(web.url(0, 2))
    await fetchPage(web.url(0, 3))
    const rude = await web.report(0, { gapMs: 10_000 })
    expect(rude.perHost.shortestGapMs).toBeLessThan(59)
    expect(rude.perHost).toMatchObject({ belowGap: 3, overlaps: 0 })
  })

  test('counts pages, duplicates, bytes and time, and forgets on request', async () => {
    const web = await start({ pagesPerHost: 10 })
    const before = Date.now()
    for (const page of [0, 1, 2, 2, 2, 3, 3]) await fetchPage(web.url(0, page))
    const report = await web.report()
    expect(report).toMatchObject({ requests: 7, distinctPages: 4, duplicates: 2 })
    expect(await web.pagesServed()).toEqual([0, 1, 2, 3].map((page) => web.url(0, page)))
    expect(report.bytesSent).toBeGreaterThan(7 * 14_336)
    expect(report.cpuMs).toBeGreaterThan(0)
    expect(report.firstStart!).toBeGreaterThan(before - 100)
    expect(report.lastEnd!).toBeGreaterThan(report.firstStart!)

    await web.reset()
    const empty = {
      requests: 0,
      distinctPages: 0,
      duplicates: 0,
      bytesSent: 0,
      firstStart: null,
      lastEnd: null,
    }
    expect(await web.report()).toMatchObject({ ...empty, perHost: { hosts: 0, shortestGapMs: null } })
  })

  test('tells of every request: where it went, when, and whether it was answered', async () => {
    const web = await start({ hosts: 2, latencyMs: 100 })
    const arrival = web.nextRequest()
    await fetchPage(web.url(1, 7))
    await fetchPage(`${web.url(1)}robots.txt`)
    await fetchPage(`${web.url(1)}nowhere`)
    const next = web.nextRequest()
    const gone = connect(web.port, '127.1.0.0')
    gone.write(requestFor('/'))
    await next
    const open = (await web.requests()).at(-1)!
    expect(open).toMatchObject({ url: web.url(0), end: Number.POSITIVE_INFINITY, answered: false })
    gone.destroy()
    await pause(60)
    const requests = await web.requests()
    expect(requests.map(({ host, url, answered }) => [host, url, answered])).toEqual([
      [1, web.url(1, 7), true],
      [1, `${web.url(1)}robots.txt`, true],
      [1, undefined, true],
      [0, web.url(0), false],
    ])
    expect(await arrival).toBe(requests[0]!.start)
    for (const { start, end } of requests.slice(0, 3)) expect(end - start).toBeGreaterThanOrEqual(99)
    expect(requests[3]!.end).toBeGreaterThan(requests[3]!.start)
    expect(requests[3]!.end).toBeLessThan(Date.now() + 100)
  })

  test('ends a request whose client went away, without counting its page as served', async () => {
    const web = await start({ latencyMs: 200 })
    const socket = connect(web.port, '127.1.0.0')
    socket.write(requestFor('/'))
    await pause(50)
    socket.destroy()
    await pause(50)
    const { body } = await fetchPage(web.url(0))
    expect(body.length).toBe(14_336)
    expect(await web.report()).toMatchObject({
      requests: 2,
      distinctPages: 1,
      duplicates: 0,
      perHost: { overlaps: 0 },
    })
  })
})

describe('the end', () => {
  const isAlive = (pid: number) => {
    try {
      return process.kill(pid, 0)
    } catch {
      return false
    }
  }
  const refused = (port: number) =>
    new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1', () => resolve(!socket.destroy()))
      socket.on('error', () => resolve(true))
    })

  test('close leaves neither process nor port, with connections open and questions asked', async () => {
    const web = await startWeb({ latencyMs: 10_000 })
    const socket = connect(web.port, '127.1.0.0')
    socket.on('error', () => {})
    socket.write(requestFor('/'))
    const cut = new Promise((resolve) => socket.on('close', resolve))
    await web.report()
    await web.close()
    await cut
    expect([isAlive(web.pid), await refused(web.port)]).toEqual([false, true])
    await expect(web.report()).rejects.toThrow()
    await web.close()
  })

  test('the server leaves when its parent is killed', async () => {
    const server = fileURLToPath(new URL('./server.mjs', import.meta.url))
    const script = `
      const server = require('node:child_process').fork(${JSON.stringify(server)})
      server.on('message', ({ port }) => console.log(port))
      server.send({})`
    const parent = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] })
    const [line] = await once(parent.stdout, 'data')
    const port = Number(line)
    expect(await refused(port)).toBe(false)
    parent.kill('SIGKILL')
    for (let tries = 0; tries < 250 && !(await refused(port)); tries++) await pause(20)
    expect(await refused(port)).toBe(true)
  })
})

describe('raw undici', () => {
  test.each(['request', 'dispatch'] as const)(
    '%s fetches every page once, so many at a time',
    async (flavour) => {
      const web = await start({ hosts: 2, pagesPerHost: 100, latencyMs: 2 })
      const urls = [0, 1].flatMap((host) => Array.from({ length: 100 }, (_, page) => web.url(host, page)))
      const raw = await rawUndici({ urls, concurrency: 10, flavour })
      expect(raw).toMatchObject({ pages: 200, bytes: 200 * 14_336 })
      const report = await web.report(9)
      expect(report).toMatchObject({
        requests: 200,
        distinctPages: 200,
        perHost: { overlaps: 0, mostOpen: 10 },
      })
    },
  )

  test('fails rather than count what is no page', async () => {
    const web = await start({ pagesPerHost: 1 })
    for (const flavour of ['request', 'dispatch'] as const) {
      await expect(rawUndici({ urls: [web.url(0, 1)], concurrency: 1, flavour })).rejects.toThrow('404')
    }
  })
})
