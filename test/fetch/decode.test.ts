import { brotliCompressSync, constants, deflateRawSync, deflateSync, gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { compact, decodeBody } from '../../src/fetch/decode.js'
import { suiteFile } from './support.js'

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

  it('accepts an empty body under any label', () => {
    expect(decodeBody('gzip', new Uint8Array(0), LIMIT)).toMatchObject({ ok: true })
    expect(decodeBody('zstd', new Uint8Array(0), LIMIT)).toMatchObject({ ok: true })
  })

  it.each([
    ['gzip', 'plain text', /gzip/],
    ['br', 'plain text', /br/],
    ['deflate', '\xff\xff\xff', /deflate/],
    ['zstd', 'x', /"zstd"/],
    ['utf-8', 'x', /"utf-8"/],
    ['gzip, gzip, gzip, gzip', 'x', /4 content encodings/],
  ])('fails for %j of %j', async (encoding, body, what) => {
    const decoded = await decodeBody(encoding, Buffer.from(body, 'latin1'), LIMIT)
    expect(decoded).toMatchObject({ ok: false, code: 'decode-failed', what: expect.stringMatching(what) })
  })

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

  it('stops at the limit between encodings too', async () => {
    const nested = gzipSync(gzipSync(Buffer.alloc(100_000_000)))
    expect(await decodeBody('gzip, gzip', nested, 50_000)).toMatchObject({
      ok: false,
      code: 'body-too-large',
    })
  })
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

const FILES = 'security/compressed/'
describe.skipIf(suiteFile(`${FILES}bomb-gzip.bin`) === undefined)(
  'files of others (../shared/suites)',
  () => {
    it.each([
      ['bomb-gzip.bin', 'gzip'],
      ['bomb-deflate.bin', 'deflate'],
      ['bomb-br.bin', 'br'],
    ])('%s stays bounded', async (file, encoding) => {
      const bomb = suiteFile(FILES + file)!
      const before = process.memoryUsage().arrayBuffers
      const decoded = await decodeBody(encoding, bomb, 1_000_000)
      expect(decoded).toMatchObject({ ok: false, code: 'body-too-large' })
      expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(8_000_000)
    })

    it.each([
      ['html-gzip.bin', 'gzip'],
      ['html-br.bin', 'br'],
      ['html-rawdeflate.bin', 'deflate'],
      ['html-zlibdeflate.bin', 'deflate'],
      ['html-gzip-deflate.bin', 'gzip, deflate'],
      ['html-gzip-deflate-gzip.bin', 'gzip, deflate, gzip'],
    ])('%s is a page', async (file, encoding) => {
      const decoded = await decodeBody(encoding, suiteFile(FILES + file)!, LIMIT)
      if (!decoded.ok) throw new Error(decoded.what)
      expect(Buffer.from(decoded.body).toString()).toContain('<html')
    })

    it.each(['truncated-crc-error.gz', 'truncated-crc-error-short.gz', 'unexpected-eof.gz'])(
      '%s is broken',
      async (file) => {
        const decoded = await decodeBody('gzip', suiteFile(FILES + file)!, LIMIT)
        expect(decoded).toMatchObject({ ok: false, code: 'decode-failed' })
      },
    )
  },
)
