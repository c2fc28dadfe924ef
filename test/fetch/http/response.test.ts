import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import {
  failureOf,
  fixedServer,
  makeFetcher,
  type RawServer,
  rawServer,
  reply,
  requestFor,
  responseOf,
  sleep,
  TestContext,
  textOf,
  until,
} from '../support.js'

/** Buffers of the sockets, code that was compiled on the way. */
const CONSTANT_BYTES = 16 * 1024 * 1024

setFlagsFromString('--expose-gc')
const collect: () => void = runInNewContext('gc')

/** What is in use once garbage is gone. */
function usedBytes(): number {
  collect()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

const HTML = { wants: (mediaType: string) => mediaType === 'text/html' }
const get = (url: string, options = {}, context = new TestContext()) =>
  makeFetcher(options).fetch(requestFor(url), context)
const getHtml = (url: string) => get(url, {}, new TestContext(HTML.wants))

describe('bodies', () => {
  it('reads a chunked body, byte for byte', async () => {
    const server = await fixedServer(
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n',
      '5\r\nhello\r\n1;x=y\r\n \r\n5\r\nworld\r\n0\r\nTrailer: x\r\n\r\n',
    )
    const outcome = await get(server.url())
    expect(textOf(outcome)).toBe('hello world')
    expect(responseOf(outcome).wireBytes).toBe(11)
  })

  it('reads a body that ends with the connection', async () => {
    const server = await rawServer(({ socket }) => void socket.end('HTTP/1.0 200 OK\r\n\r\nto the end'))
    expect(textOf(await get(server.url()))).toBe('to the end')
  })

  it('puts many pieces together in their order', async () => {
    const page = Buffer.from(Array.from({ length: 200_000 }, (_, i) => i).join())
    const server = await rawServer(async ({ socket }) => {
      const whole = reply(page)
      for (let at = 0; at < whole.length; at += 50_000) {
        socket.write(whole.subarray(at, at + 50_000))
        await sleep(1)
      }
    })
    const { body } = responseOf(await get(server.url()))
    const hash = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')
    expect(hash(body)).toBe(hash(page))
  })

  it('pins little more memory than the body is long', async () => {
    for (const size of [100, 5000, 14_000, 300_000]) {
      const server = await fixedServer(reply('x'.repeat(size)))
      const { body } = responseOf(await get(server.url()))
      expect(body.length).toBe(size)
      expect(body.buffer.byteLength).toBeLessThanOrEqual(Math.max(size * 1.25, size + 2048))
    }
  })

  it.each([
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['deflate', deflateRawSync],
    ['br', brotliCompressSync],
  ])('undoes %s', async (encoding, encode) => {
    const wire = encode(Buffer.from('<p>Grüße</p>'.repeat(100)))
    const server = await fixedServer(reply(wire, { 'Content-Encoding': encoding }))
    const outcome = await get(server.url())
    expect(textOf(outcome)).toBe('<p>Grüße</p>'.repeat(100))
    expect(responseOf(outcome).wireBytes).toBe(wire.length)
  })

  it('fails for a broken and for an unknown encoding, naming host and encoding', async () => {
    const broken = await fixedServer(reply('not gzip', { 'Content-Encoding': 'gzip' }))
    expect(await get(broken.url())).toMatchObject({ ok: false, code: 'decode-failed' })
    const unknown = await fixedServer(reply('x', { 'Content-Encoding': 'zstd' }))
    const { code, message } = failureOf(await get(unknown.url()))
    expect(code).toBe('decode-failed')
    expect(message).toMatch(
      /^127\.0\.0\.1:\d+ sent a body in the content encoding "zstd", which was not asked for/,
    )
  })

  it('keeps the readable beginning of a broken encoding, and says so', async () => {
    const page = Buffer.from('<p>Grüße</p>'.repeat(1000))
    const wire = gzipSync(page)
    const get200 = async (body: Uint8Array) => {
      const server = await fixedServer(reply(body, { 'Content-Encoding': 'gzip' }))
      return responseOf(await get(server.url()))
    }
    expect(await get200(wire)).toMatchObject({ truncated: false, wireBytes: wire.length })
    const cut = await get200(wire.subarray(0, -20))
    expect(cut).toMatchObject({ truncated: true, wireBytes: wire.length - 20 })
    expect(cut.body.length).toBeGreaterThan(0)
    expect(Buffer.compare(cut.body, page.subarray(0, cut.body.length))).toBe(0)
  })

  it.each(['', 'Content-Length: 5\r\n', 'Content-Length: 900000000\r\n', 'Transfer-Encoding: chunked\r\n'])(
    'accepts a success without content, whatever it says of its length: %j',
    async (header) => {
      const server = await fixedServer(`HTTP/1.1 204 No Content\r\n${header}\r\n`)
      expect(await get(server.url())).toMatchObject({
        ok: true,
        status: 204,
        wireBytes: 0,
        skippedBody: false,
      })
      expect(await getHtml(server.url())).toMatchObject({ ok: true, status: 204, skippedBody: false })
    },
  )

  it.each<[string, (body: Buffer) => Buffer]>([
    ['a body', (body) => body],
    ['a compressed body', (body) => gzipSync(body, { level: 0 })],
  ])(
    'takes no more memory for %s than twice its bytes, however small its pieces',
    async (_, encode) => {
      const body = encode(Buffer.alloc(3_000_000, 'abc'))
      let isLookedAt = false
      let sent = 0
      const server = await rawServer(async ({ socket }) => {
        const encoding = body.length === 3_000_000 ? 'identity' : 'gzip'
        socket.write(`HTTP/1.1 200 OK\r\nContent-Encoding: ${encoding}\r\nTransfer-Encoding: chunked\r\n\r\n`)
        for (; sent < body.length && !socket.destroyed; sent += 10_000) {
          const bytes = [...body.subarray(sent, sent + 10_000)].map((byte) => [0x31, 13, 10, byte, 13, 10])
          if (!socket.write(Buffer.from(bytes.flat()))) await once(socket, 'drain')
        }
        await until(() => isLookedAt, 'the test has looked', 60_000)
        socket.write('0\r\n\r\n')
      })
      const before = usedBytes()
      const outcome = get(server.url())
      await until(() => sent >= body.length, 'all is sent', 60_000)
      await sleep(100)
      const used = usedBytes() - before
      isLookedAt = true
      expect(responseOf(await outcome).body.length).toBe(3_000_000)
      // Pieces that are kept take more than a hundred times their bytes.
      expect(used).toBeLessThan(2 * body.length + CONSTANT_BYTES)
    },
    120_000,
  )

  it.each([
    'HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n',
    'HTTP/1.1 100 Continue\r\n\r\n',
    'HTTP/1.1 199 Whatever\r\nContent-Length: 5\r\n\r\n',
  ])('passes over interim responses, but not without end: %j', async (hint) => {
    const hinting = await fixedServer(hint, hint, reply('page'))
    const fetcher = makeFetcher()
    for (let i = 0; i < 3; i++) {
      expect(textOf(await fetcher.fetch(requestFor(hinting.url()), new TestContext()))).toBe('page')
    }
    expect(hinting.accepted, 'the connection is used again').toBe(1)
    const endless = await rawServer(async ({ socket }) => {
      while (!socket.destroyed) {
        socket.write(hint)
        await sleep(1)
      }
    })
    expect(await get(endless.url())).toMatchObject({ ok: false, code: 'bad-response' })
    await until(() => endless.open === 0, 'the connection is destroyed')
  })
})

describe('limits', () => {
  it('fails at once for an announced body that is too large', async () => {
    const server = await fixedServer('HTTP/1.1 200 OK\r\nContent-Length: 1001\r\n\r\n')
    const failure = failureOf(await get(server.url(), { maxBodyBytes: 1000 }))
    expect(failure.code).toBe('body-too-large')
    expect(failure.message).toContain('1000 bytes')
    await until(() => server.open === 0, 'the connection is destroyed')
  })

  it('takes a body of exactly the limit', async () => {
    const server = await fixedServer(reply('x'.repeat(1000)))
    expect(await get(server.url(), { maxBodyBytes: 1000 })).toMatchObject({ ok: true })
  })

  it('fails soon after the limit for a body without end', async () => {
    let sent = 0
    const server = await rawServer(async ({ socket }) => {
      socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n')
      const piece = `1000\r\n${'x'.repeat(0x1000)}\r\n`
      while (!socket.destroyed) {
        sent += 0x1000
        if (!socket.write(piece))
          await new Promise((resolve) => socket.once('drain', resolve).once('close', resolve))
      }
    })
    const failure = failureOf(await get(server.url(), { maxBodyBytes: 100_000 }))
    expect(failure.code).toBe('body-too-large')
    expect(failure.wireBytes).toBeLessThan(400_000)
    await until(() => server.open === 0, 'the connection is destroyed')
    expect(sent).toBeLessThan(20_000_000)
  })

  it('bounds what comes out of a small compressed body', async () => {
    const bomb = gzipSync(gzipSync(Buffer.alloc(50_000_000)))
    const server = await fixedServer(reply(bomb, { 'Content-Encoding': 'gzip, gzip' }))
    expect(await get(server.url(), { maxBodyBytes: 1_000_000 })).toMatchObject({
      ok: false,
      code: 'body-too-large',
    })
  })

  it.each([
    ['many headers', () => 'X-Flood: 0123456789\r\n'],
    ['one header without end', () => 'x'.repeat(1000)],
  ])('stops %s', async (_, more) => {
    const server = await rawServer(async ({ socket }) => {
      socket.write('HTTP/1.1 200 OK\r\nX-A: ')
      while (!socket.destroyed) {
        socket.write(more().repeat(10))
        await sleep(0)
      }
    })
    expect(await get(server.url(), { maxHeaderBytes: 8192 })).toMatchObject({
      ok: false,
      code: 'headers-too-large',
    })
    await until(() => server.open === 0, 'the connection is destroyed')
  })

  it('takes headers below the limit', async () => {
    const server = await fixedServer(reply('page', { 'X-Long': 'x'.repeat(20_000) }))
    expect(textOf(await get(server.url(), { maxHeaderBytes: 24_000 }))).toBe('page')
  })
})

describe('bodies that are not wanted', () => {
  async function twice(server: RawServer, context = () => new TestContext()) {
    const fetcher = makeFetcher()
    const first = responseOf(await fetcher.fetch(requestFor(server.url()), context()))
    await fetcher.fetch(requestFor(server.url()), context())
    return first
  }

  it.each(['301 Moved', '404 Not Found', '503 Busy'])('are read to the end after %s', async (status) => {
    const server = await fixedServer(reply('x'.repeat(20_000), { Location: '/b' }, status))
    const first = await twice(server)
    expect(first).toMatchObject({ status: Number(status.slice(0, 3)), skippedBody: false })
    expect(first.body.length).toBe(0)
    expect(first.headers.get('location')).toBe('/b')
    expect(server.accepted, 'the connection is used again').toBe(1)
  })

  it('of another media type are skipped, and the connection is used again if they are small', async () => {
    const server = await fixedServer(reply('x'.repeat(20_000), { 'Content-Type': 'Image/PNG; x=y' }))
    const asked: string[] = []
    const first = await twice(server, () => new TestContext((type) => asked.push(type) < 0))
    expect(first).toMatchObject({ status: 200, skippedBody: true })
    expect(first.body.length).toBe(0)
    expect(asked).toEqual(['image/png', 'image/png'])
    expect(server.accepted).toBe(1)
  })

  it('of a large announced size end the connection before they are sent', async () => {
    let written = 0
    const server = await rawServer(async ({ socket }) => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Type: video/mp4\r\nContent-Length: 900000000\r\n\r\n')
      for (const piece = Buffer.alloc(65_536); written < 9e8 && !socket.destroyed; written += piece.length) {
        if (!socket.write(piece))
          await new Promise((resolve) => socket.once('drain', resolve).once('close', resolve))
      }
    })
    const outcome = await getHtml(server.url())
    expect(outcome).toMatchObject({ ok: true, status: 200, skippedBody: true, wireBytes: 0 })
    await until(() => server.open === 0, 'the server sees the connection end')
    expect(written).toBeLessThan(50_000_000)
  })

  it('of unknown size are read up to a bound only', async () => {
    const server = await rawServer(async ({ socket }) => {
      socket.write('HTTP/1.1 404 Not Found\r\nTransfer-Encoding: chunked\r\n\r\n')
      while (!socket.destroyed) {
        socket.write(`1000\r\n${'x'.repeat(0x1000)}\r\n`)
        await sleep(0)
      }
    })
    const response = responseOf(await get(server.url()))
    expect(response.status).toBe(404)
    expect(response.wireBytes).toBeLessThan(300_000)
    await until(() => server.open === 0, 'the connection is destroyed')
  })

  it('do not matter when they break off or the deadline passes: the answer is there', async () => {
    const partial = 'HTTP/1.1 404 Not Found\r\nContent-Length: 100\r\n\r\npart'
    const cut = await rawServer(({ socket }) => void socket.end(partial))
    expect(await get(cut.url())).toMatchObject({ ok: true, status: 404 })
    const slow = await fixedServer(partial)
    const context = new TestContext()
    const outcome = get(slow.url(), {}, context)
    await until(() => slow.requests.length > 0, 'the request arrives')
    await sleep(50)
    context.abort()
    expect(await outcome).toMatchObject({ ok: true, status: 404 })
    await until(() => slow.open === 0, 'the connection is destroyed')
  })

  it('without a media type count as HTML', async () => {
    const server = await fixedServer('HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\npage')
    expect(textOf(await getHtml(server.url()))).toBe('page')
  })

  it('are a failure of the caller when its question throws', async () => {
    const server = await fixedServer(reply('page'))
    const context = new TestContext(() => {
      throw new Error('no idea')
    })
    const failure = failureOf(await get(server.url(), {}, context))
    expect(failure).toMatchObject({ code: 'fetcher-failed', message: expect.stringContaining('no idea') })
  })
})

describe('what servers do wrong', () => {
  const CASES: [name: string, code: string, parts: string[], end: 'end' | 'reset'][] = [
    ['closes without a word', 'connection-lost', [], 'end'],
    ['resets without a word', 'connection-lost', [], 'reset'],
    ['closes in the headers', 'connection-lost', ['HTTP/1.1 200 OK\r\nContent-Ty'], 'end'],
    ['resets in the headers', 'connection-lost', ['HTTP/1.1 200 OK\r\nContent-Ty'], 'reset'],
    ['closes in the body', 'connection-lost', ['HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf'], 'end'],
    ['resets in the body', 'connection-lost', ['HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf'], 'reset'],
    [
      'says close and sends less than announced',
      'connection-lost',
      ['HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 9\r\n\r\nhalf'],
      'end',
    ],
    [
      'sends half of a gzip body and closes',
      'connection-lost',
      ['HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 99\r\n\r\n\x1f\x8b\x08'],
      'end',
    ],
    [
      'closes in a chunk',
      'connection-lost',
      ['HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nhalf'],
      'end',
    ],
    [
      'resets before the last chunk',
      'connection-lost',
      ['HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n0\r\n'],
      'reset',
    ],
    [
      'closes between chunks',
      'connection-lost',
      ['HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n'],
      'end',
    ],
    ['speaks another protocol', 'bad-response', ['220 mail.example.com ESMTP\r\n'], 'end'],
    [
      'sends a bad header',
      'bad-response',
      ['HTTP/1.1 200 OK\r\nContent-Length: 9\r\nbad\x01 name: x\r\n\r\n'],
      'end',
    ],
    [
      'has two lengths',
      'bad-response',
      ['HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx'],
      'end',
    ],
    [
      'upgrades unasked',
      'bad-response',
      ['HTTP/1.1 101 X\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n'],
      'end',
    ],
    ['switches protocols unasked', 'bad-response', ['HTTP/1.1 101 X\r\n\r\n', 'x'], 'end'],
    ['has no status', 'bad-response', ['HTTP/1.1 000 X\r\nContent-Length: 0\r\n\r\n'], 'end'],
    ['has a status below 100', 'bad-response', ['HTTP/1.1 099 X\r\n\r\n'], 'end'],
    [
      'has a bad chunk',
      'bad-response',
      ['HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n'],
      'end',
    ],
  ]

  it.each(CASES)('%s: %s', async (_, code, parts, end) => {
    const server = await rawServer(async ({ socket }) => {
      for (const part of parts) socket.write(part)
      if (parts.length > 0) await sleep(20)
      if (end === 'end') socket.end()
      else socket.resetAndDestroy()
    })
    const failure = failureOf(await get(server.url()))
    expect(failure.code).toBe(code)
    expect(failure.message).toMatch(/^127\.0\.0\.1:\d+ .*\.$/)
    expect(failure.message, 'no word of undici').not.toMatch(/assert|expression/)
    expect(server.requests.length, 'one call is one request').toBe(1)
  })

  it('resets in a body that ends with the connection: connection-lost', async () => {
    let hasHeaders = () => {}
    const headers = new Promise<void>((resolve) => {
      hasHeaders = resolve
    })
    // A reset that comes together with bytes is an end like any other for Node.js, so it comes after them.
    const server = await rawServer(async ({ socket }) => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\n\r\nhalf')
      await headers
      await sleep(20)
      socket.resetAndDestroy()
    })
    const context = new TestContext(() => {
      hasHeaders()
      return true
    })
    expect(failureOf(await get(server.url(), {}, context)).code).toBe('connection-lost')
    expect(server.requests).toHaveLength(1)
  })

  it('keeps the beginning of a broken answer in the failure, and not all of it', async () => {
    const server = await fixedServer(`HTTP/1.1 two hundred\r\n\r\n${'x'.repeat(30_000)}`)
    const { code, cause } = failureOf(await get(server.url()))
    expect(code).toBe('bad-response')
    expect((cause as { data: string }).data).toMatch(/^.{0,20}two hundred/)
    expect((cause as { data: string }).data).toHaveLength(200)
  })

  it.each<[string, string, string, string]>([
    ['a folded header', 'X-A: one\r\n  two\r\nContent-Length: 4\r\n', 'x-a', 'one    two'],
    [
      'a folded media type',
      'Content-Type: text/html;\r\n\tcharset=x\r\nContent-Length: 4\r\n',
      'content-type',
      'text/html;   charset=x',
    ],
    ['a length that is named twice', 'Content-Length: 4\r\nX-A: b\r\nContent-Length: 4\r\n', 'x-a', 'b'],
    ['a list of equal lengths', 'Content-Length: 4, 4\r\n', 'content-length', '4'],
  ])('is forgiven %s', async (_, headers, name, value) => {
    const server = await fixedServer(`HTTP/1.1 200 OK\r\n${headers}\r\npage`)
    const outcome = await get(server.url())
    expect(textOf(outcome)).toBe('page')
    expect(responseOf(outcome).headers.get(name)).toBe(value)
  })

  it('ignores what comes after the announced length, and does not take it for the next answer', async () => {
    const server = await rawServer(({ socket, path }) => {
      socket.write(Buffer.concat([reply(path), reply('forged')]))
    })
    const fetcher = makeFetcher()
    for (const path of ['/a', '/b', '/c']) {
      expect(textOf(await fetcher.fetch(requestFor(server.url(path)), new TestContext()))).toBe(path)
    }
  })
})
