/** A host that misbehaves, next to one that does not: the healthy one's pages arrive without waiting for the other. */

import type { Socket } from 'node:net'
import type { FailureCode } from 'kumo'
import { describe, expect, test } from 'vitest'
import { crawl, direct, hastyClock, linksTo, quick, rawServer, reply, site } from './support.js'

const HEAD = 'HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n'
const PAGES = 12
const BAD = '127.0.0.66'

/** Pages in a chain, so that each is a visit of its own after the one before. */
function chain(path: string): Buffer {
  const n = Number(path.slice(1))
  return reply(n + 1 < PAGES ? linksTo(`/${n + 1}`) : 'end')
}

/** Calls until the socket is gone. */
function repeatedly(socket: Socket, everyMs: number, act: () => void): void {
  const timer = setInterval(act, everyMs)
  socket.on('close', () => clearInterval(timer))
}

describe('a bad host', () => {
  /** `slow`: the trouble is only known when time is up, so that waiting for it would show. */
  test.each<[string, (socket: Socket) => void, FailureCode, 'slow' | 'quick']>([
    ['never answers', () => {}, 'timeout', 'slow'],
    ['answers half a status line', (socket) => socket.write('HTTP/1.'), 'timeout', 'slow'],
    [
      'sends a byte at a time',
      (socket) => {
        socket.write(`${HEAD}Content-Length: 100000\r\n\r\n`)
        repeatedly(socket, 50, () => socket.write('x'))
      },
      'timeout',
      'slow',
    ],
    [
      'never ends its headers',
      (socket) => {
        socket.write(HEAD)
        repeatedly(socket, 50, () => socket.write('X-More: 1\r\n'))
      },
      'timeout',
      'slow',
    ],
    [
      'sends a body without end',
      (socket) => {
        socket.write(`${HEAD}Transfer-Encoding: chunked\r\n\r\n`)
        const piece = `10000\r\n${'x'.repeat(0x10000)}\r\n`
        repeatedly(socket, 1, () => socket.write(piece))
      },
      'body-too-large',
      'quick',
    ],
    ['resets the connection', (socket) => socket.resetAndDestroy(), 'connection-lost', 'quick'],
    ['hangs up without a word', (socket) => socket.destroy(), 'connection-lost', 'quick'],
    [
      'resets in the middle of the body',
      (socket) => {
        socket.write(`${HEAD}Content-Length: 1000\r\n\r\nhalf`)
        setTimeout(() => socket.resetAndDestroy(), 20)
      },
      'connection-lost',
      'quick',
    ],
    [
      'does not speak HTTP',
      (socket) => socket.write('220 mail.example.com ESMTP\r\n'),
      'bad-response',
      'quick',
    ],
    [
      'sends headers without end',
      (socket) => {
        socket.write(HEAD)
        repeatedly(socket, 1, () => socket.write(`X: ${'x'.repeat(20_000)}\r\n`))
      },
      'headers-too-large',
      'quick',
    ],
    [
      'lies about its compression',
      (socket) => socket.write(reply('not gzip', { 'Content-Encoding': 'gzip' })),
      'decode-failed',
      'quick',
    ],
  ])('that %s fails with its code and holds nobody up', async (_, answer, code, pace) => {
    const bad = await rawServer(({ socket }) => answer(socket))
    const healthy = await rawServer(({ socket, path }) => socket.write(chain(path)))
    const order: string[] = []
    const { pages, failures, summary } = await crawl(
      direct
        .retries(0)
        .timeout('1500ms')
        .maxBodyBytes(200_000)
        .seeds(bad.url('/', BAD), healthy.url('/0'))
        .on('page', ({ url }) => void order.push(url))
        .on('failure', ({ url }) => void order.push(url)),
    )
    expect(pages).toHaveLength(PAGES)
    expect(pages.every(({ url }) => url.startsWith(healthy.url('/')))).toBe(true)
    expect(failures).toMatchObject([{ url: bad.url('/', BAD), code, final: true }])
    expect(failures[0]!.message).not.toBe('')
    expect(summary).toMatchObject({ pages: PAGES, failed: 1, failures: { [code]: 1 }, reason: 'done' })
    if (pace === 'slow') expect(order.at(-1)).toBe(bad.url('/', BAD))
  })

  test('keeps one slot, not all of them, however many pages it has', async () => {
    const bad = await rawServer(() => {})
    const healthy = await rawServer(({ socket, path }) => socket.write(chain(path)))
    const seeds = Array.from({ length: 50 }, (_, i) => bad.url(`/${i}`, BAD))
    const controller = new AbortController()
    let arrived = 0
    const summary = await direct
      .concurrency(4)
      .seeds(seeds, healthy.url('/0'))
      .on('page', () => void (++arrived === PAGES && controller.abort()))
      .run({ signal: controller.signal })
    expect(summary).toMatchObject({ pages: PAGES, pending: 50, failed: 0 })
    expect(bad.requests).toHaveLength(1)
  })

  test('that does not answer for robots.txt holds nobody up, and is let be in the end', async () => {
    const bad = await rawServer(({ socket }) => socket.destroy())
    const healthy = await site({ '/': linksTo('/a'), '/a': 'end' })
    const { pages, failures, summary } = await crawl(
      quick.retries(0).seeds(bad.url('/', BAD), healthy.url()).clock(hastyClock(10)),
    )
    expect(pages.map(({ url }) => url)).toEqual([healthy.url('/'), healthy.url('/a')])
    expect(failures).toMatchObject([{ url: bad.url('/', BAD), code: 'connection-lost', final: true }])
    expect(bad.requests.every((line) => line.includes('/robots.txt'))).toBe(true)
    expect(summary).toMatchObject({ robots: 4, reason: 'done' })
  })

  test('whose name nobody knows is a failure like any other', async () => {
    const healthy = await site({ '/': 'end' })
    const { pages, failures } = await crawl(direct.retries(0).seeds('http://nowhere.invalid/', healthy.url()))
    expect(pages).toHaveLength(1)
    expect(failures).toMatchObject([{ url: 'http://nowhere.invalid/', code: 'dns-failed', final: true }])
  })
})
