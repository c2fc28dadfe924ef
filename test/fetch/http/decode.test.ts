import {
  brotliCompressSync,
  constants,
  deflateRawSync,
  deflateSync,
  gzipSync,
  inflateRawSync,
} from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { compact, decodeBody } from '../../../src/fetch/http/decode.js'

const LIMIT = 10_000_000
const PAGE = Buffer.from(`<!doctype html><title>蜘蛛</title>${'<a href="/next">next</a>'.repeat(500)}`)
/** Hard to compress, so that the input is large too. */
const LARGE = Buffer.from(
  Array.from({ length: 300_000 }, (_, i) => ((i * 2654435761) >>> 7).toString(36)).join(),
)

const brotli = (body: Uint8Array, windowBits = 22) =>
  brotliCompressSync(body, {
    params: { [constants.BROTLI_PARAM_LGWIN]: windowBits, [constants.BROTLI_PARAM_QUALITY]: 3 },
  })
const wide = (body: Uint8Array) => brotli(body, 24)

describe('decodeBody', () => {
  it.each<[string | undefined, (body: Buffer) => Uint8Array]>([
    [undefined, (body) => body],
    ['', (body) => body],
    ['identity', (body) => body],
    ['gzip', gzipSync],
    ['x-gzip', gzipSync],
    [' GZip ', gzipSync],
    ['deflate', deflateSync],
    ['deflate', deflateRawSync],
    ['br', (body) => brotli(body)],
    ['br', wide],
    ['deflate, gzip', (body) => gzipSync(deflateSync(body))],
    ['gzip, identity, br', (body) => brotli(gzipSync(body))],
    ['gzip,deflate,gzip', (body) => gzipSync(deflateSync(gzipSync(body)))],
  ])(
    'undoes %j',
    async (encoding, encode) => {
      for (const body of [PAGE, LARGE]) {
        const decoded = await decodeBody(encoding, encode(body), LIMIT)
        if (!decoded.ok) throw new Error(decoded.what)
        expect(decoded.truncated).toBe(false)
        expect(Buffer.compare(decoded.body, body)).toBe(0)
      }
    },
    60_000,
  )

  it('answers at once for a small body, on the pool for a large one', async () => {
    expect(decodeBody('gzip', gzipSync(PAGE), LIMIT)).not.toBeInstanceOf(Promise)
    expect(decodeBody('gzip', gzipSync(LARGE), LIMIT)).toBeInstanceOf(Promise)
    const small = gzipSync(Buffer.alloc(3_000_000))
    const promised = decodeBody('gzip', small, LIMIT)
    expect(promised, 'small, but it swells').toBeInstanceOf(Promise)
    expect(await promised).toMatchObject({ ok: true })
  })

  it('never works on this thread for more than one encoding', async () => {
    const nested = decodeBody('gzip, gzip', gzipSync(gzipSync(PAGE)), LIMIT)
    expect(nested).toBeInstanceOf(Promise)
    expect(await nested).toMatchObject({ ok: true, truncated: false })
  })

  it('accepts an empty body inside an encoding', async () => {
    expect(await decodeBody('br, gzip', gzipSync(''), LIMIT)).toMatchObject({ ok: true, truncated: false })
  })

  it('accepts an empty body under any label', () => {
    expect(decodeBody('gzip', new Uint8Array(0), LIMIT)).toMatchObject({ ok: true })
    expect(decodeBody('zstd', new Uint8Array(0), LIMIT)).toMatchObject({ ok: true })
    expect(decodeBody('gzip, gzip, gzip, gzip', new Uint8Array(0), LIMIT)).toMatchObject({ ok: true })
  })

  it.each([
    ['gzip', 'plain text', /gzip/],
    ['br', 'plain text', /br/],
    ['deflate', '\xff\xff\xff', /deflate/],
    ['zstd', '\x28\xb5\x2f\xfd', /"zstd", which was not asked for/],
    ['gzip, zstd', '\x28\xb5\x2f\xfd', /"zstd"/],
    ['X-Compress', 'x', /"x-compress"/],
    ['none, zstd', 'x', /"zstd"/],
    ['gzip, gzip, gzip, gzip', 'x', /4 content encodings/],
  ])('fails for %j of %j', async (encoding, body, what) => {
    const decoded = await decodeBody(encoding, Buffer.from(body, 'latin1'), LIMIT)
    expect(decoded).toMatchObject({ ok: false, code: 'decode-failed', what: expect.stringMatching(what) })
  })

  it.each(['none', 'UTF-8', 'binary', 'text/html', 'x-nobody', 'chunked', '*', 'none, utf-8, a, b, c'])(
    'takes a body under %j, which is no coding, as it is',
    async (encoding) => {
      const decoded = await decodeBody(encoding, PAGE, LIMIT)
      expect(decoded).toMatchObject({ ok: true, truncated: false })
      expect(decoded.ok && Buffer.compare(decoded.body, PAGE)).toBe(0)
    },
  )

  it.each(['none, gzip', 'X-GZip, utf-8', 'a, b, gzip, c'])(
    'undoes the codings among %j',
    async (encoding) => {
      const decoded = await decodeBody(encoding, gzipSync(PAGE), LIMIT)
      expect(decoded).toMatchObject({ ok: true, truncated: false })
      expect(decoded.ok && Buffer.compare(decoded.body, PAGE)).toBe(0)
    },
  )

  it.each<[string, (body: Buffer) => Uint8Array]>([
    ['gzip', gzipSync],
    ['deflate', deflateRawSync],
    ['br', (body) => brotli(body)],
    ['br', wide],
  ])('lets %s through up to the limit and not a byte further', async (encoding, encode) => {
    for (const size of [5000, 2_000_000]) {
      const encoded = encode(Buffer.alloc(size, 'ab'))
      expect(await decodeBody(encoding, encoded, size)).toMatchObject({ ok: true })
      expect(await decodeBody(encoding, encoded, size - 1)).toMatchObject({
        ok: false,
        code: 'body-too-large',
      })
    }
  })

  it('takes a limit of nothing, and none', async () => {
    for (const body of [PAGE, LARGE]) {
      const wire = gzipSync(body)
      expect(await decodeBody('gzip', wire, 0)).toMatchObject({ ok: false, code: 'body-too-large' })
      const unlimited = await decodeBody('gzip', wire, Number.POSITIVE_INFINITY)
      expect(unlimited).toMatchObject({ ok: true, truncated: false })
    }
  })

  it('stops at the limit between encodings too', async () => {
    const nested = gzipSync(gzipSync(Buffer.alloc(100_000_000)))
    expect(await decodeBody('gzip, gzip', nested, 50_000)).toMatchObject({
      ok: false,
      code: 'body-too-large',
    })
  })
})

/** Deflate that says nothing at great length: empty blocks, each with tables of its own to build. */
function emptyBlocks(bytes: number): Buffer {
  const body = Buffer.alloc(bytes)
  let at = 0
  const put = (value: number, bits: number) => {
    for (let bit = 0; bit < bits && at < bytes * 8; bit++, at++) {
      body[at >> 3]! |= ((value >> bit) & 1) << (at & 7)
    }
  }
  // The lengths of the code for code lengths come in this order; here only 18 (many zeros) and 1 have a code.
  const order = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1]
  const zeros = (count: number) => put(1 | ((count - 11) << 1), 8)
  while (at < bytes * 8) {
    put(0b100, 3)
    put(29, 5)
    put(29, 5)
    put(order.length - 4, 4)
    for (const symbol of order) put(symbol === 18 || symbol === 1 ? 1 : 0, 3)
    // 256 literals without a code, the end of the block with one, and 59 lengths and distances without.
    zeros(138)
    zeros(118)
    put(0, 1)
    zeros(59)
    put(0, 1)
  }
  return body
}

describe('work on this thread', () => {
  const MAX_BLOCKING_MS = 50
  const KB = 1024
  const slow = emptyBlocks(128 * KB)
  const dense = gzipSync(LARGE.subarray(0, KB * KB))

  it('the slow body is what it claims to be', () => {
    expect(() => inflateRawSync(slow)).toThrow('unexpected end of file')
    expect(inflateRawSync(slow, { finishFlush: constants.Z_SYNC_FLUSH }).length).toBe(0)
  })

  it.each<[string, string, Uint8Array]>([
    ['empty blocks, as much as is read at once', 'deflate', slow],
    ['three layers of it', 'deflate, gzip, gzip', gzipSync(gzipSync(slow))],
    ['empty blocks, too large for that', 'deflate', emptyBlocks(500 * KB)],
    ['a bomb', 'gzip', gzipSync(Buffer.alloc(100 * KB * KB))],
    ['a bomb in a wide window', 'br', wide(Buffer.alloc(100 * KB * KB))],
    ['three layers of 1 MB', 'gzip, br, gzip', gzipSync(brotli(dense))],
    ['1 MB, broken at its end', 'gzip', dense.subarray(0, -1)],
  ])('%s: at most 50 ms at a time', async (name, encoding, body) => {
    // The machine may be busy with something else in any one run, so the best of a few counts.
    let best = Number.POSITIVE_INFINITY
    for (let run = 0; run < 20 && best > MAX_BLOCKING_MS / 2; run++) {
      best = Math.min(best, await longestTurnMs(() => decodeBody(encoding, body, LIMIT)))
    }
    console.log(`${name}: ${body.length} bytes, longest turn ${best.toFixed(1)} ms`)
    expect(best).toBeLessThan(MAX_BLOCKING_MS)
  })

  async function longestTurnMs(work: () => unknown): Promise<number> {
    let longest = 0
    let last = performance.now()
    let done = false
    const tick = () => {
      const now = performance.now()
      longest = Math.max(longest, now - last)
      last = now
      if (!done) setImmediate(tick)
    }
    const result = work()
    tick()
    await result
    done = true
    tick()
    return longest
  }
})

describe('compact', () => {
  it('keeps a view that wastes little and copies one that pins much', () => {
    const large = Buffer.alloc(64 * 1024)
    const most = large.subarray(300)
    expect(compact(most)).toBe(most)
    const few = compact(large.subarray(0, 100))
    expect(few.byteLength).toBe(100)
    expect(few.buffer.byteLength).toBe(100)
  })

  it('holds for decoded bodies', async () => {
    const decoded = await decodeBody('gzip', gzipSync('tiny'), LIMIT)
    if (!decoded.ok) throw new Error(decoded.what)
    expect(decoded.body.buffer.byteLength).toBeLessThan(4096)
  })
})
