import { brotliCompressSync, constants, deflateRawSync, deflateSync, gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { decodeBody } from '../../../src/fetch/http/decode.js'
import { seededRandom } from '../../../src/time.js'
import { suiteFile } from '../support.js'

const LIMIT = 10_000_000
const random = seededRandom(3)
const WORDS = Array.from({ length: 400 }, () => Math.floor(random.next() * 1e9).toString(36))
const word = () => WORDS[Math.floor(random.next() * WORDS.length)]!
const paragraphs = (count: number) =>
  Buffer.from(
    Array.from({ length: count }, () => `<p>${word()} <a href="/${word()}">${word()}</a>`).join('\n'),
  )

const PAGE = paragraphs(800)
/** Beyond what is decoded at once, in input and in output. */
const LARGE = paragraphs(30_000)

const FAST = { [constants.BROTLI_PARAM_QUALITY]: 5 }
const FORMATS: [name: string, encoding: string, encode: (body: Uint8Array, options?: object) => Buffer][] = [
  ['gzip', 'gzip', gzipSync],
  ['zlib', 'deflate', deflateSync],
  ['raw deflate', 'deflate', deflateRawSync],
  ['brotli', 'br', (body, options) => brotliCompressSync(body, { ...options, params: FAST })],
]

async function decoded(encoding: string, body: Uint8Array, limit = LIMIT) {
  const result = await decodeBody(encoding, body, limit)
  if (!result.ok) throw new Error(`${result.code}: ${result.what}`)
  return result
}

const isPrefix = (body: Uint8Array, of: Buffer) => Buffer.compare(body, of.subarray(0, body.length)) === 0

describe.each(FORMATS)('cut-off %s', (_, encoding, encode) => {
  it('keeps what can be read, more of it the later it was cut', async () => {
    const wire = encode(PAGE)
    let before = 0
    for (let percent = 10; percent < 100; percent += 10) {
      const cut = wire.subarray(0, Math.floor((wire.length * percent) / 100))
      const { body, truncated } = await decoded(encoding, cut)
      expect(truncated).toBe(true)
      expect(isPrefix(body, PAGE)).toBe(true)
      expect(body.length).toBeGreaterThan(before)
      before = body.length
    }
    expect(before).toBeGreaterThan(PAGE.length * 0.8)
  })

  it('does so on the pool too', async () => {
    const wire = encode(LARGE)
    const { body, truncated } = await decoded(encoding, wire.subarray(0, wire.length / 2))
    expect(truncated).toBe(true)
    expect(isPrefix(body, LARGE)).toBe(true)
    expect(body.length).toBeGreaterThan(LARGE.length * 0.4)
  })

  it('fails when nothing can be read', async () => {
    for (const length of [1, 2, 3]) {
      expect(await decodeBody(encoding, encode(PAGE).subarray(0, length), LIMIT)).toMatchObject({
        ok: false,
        code: 'decode-failed',
      })
    }
  })

  it('still obeys the limit', async () => {
    for (const page of [PAGE, LARGE]) {
      const cut = encode(page).subarray(0, -10)
      expect(await decodeBody(encoding, cut, 5000)).toMatchObject({ ok: false, code: 'body-too-large' })
    }
  })
})

describe.each(FORMATS)('broken %s', (_, encoding, encode) => {
  it('keeps everything before the break, to the byte', async () => {
    for (const page of [PAGE, LARGE]) {
      // Flushed to a byte's end, and then a block of a kind that does not exist.
      const finishFlush = encoding === 'br' ? constants.BROTLI_OPERATION_FLUSH : constants.Z_FULL_FLUSH
      const broken = Buffer.concat([encode(page, { finishFlush }), Buffer.alloc(3000, 0xff), encode(page)])
      const { body, truncated } = await decoded(encoding, broken)
      expect(truncated).toBe(true)
      expect(Buffer.compare(body, page)).toBe(0)
    }
  })

  it('has an outcome wherever a byte is wrong, and never more than the limit', async () => {
    const wire = encode(PAGE.subarray(0, 5000))
    for (let at = 0; at < wire.length; at += 7) {
      const broken = Buffer.from(wire)
      broken[at] = broken[at]! ^ 0x55
      const result = await decodeBody(encoding, broken, 20_000)
      if (result.ok) expect(result.body.length).toBeLessThanOrEqual(20_000)
      else expect(['decode-failed', 'body-too-large']).toContain(result.code)
    }
  })
})

describe('checksums', () => {
  it.each([
    ['gzip', gzipSync, -8],
    ['gzip', gzipSync, -1],
    ['deflate', deflateSync, -1],
  ] as const)('of %s that are wrong cost nothing of the body', async (encoding, encode, at) => {
    const wire = encode(PAGE)
    wire[wire.length + at] = wire[wire.length + at]! ^ 1
    const { body, truncated } = await decoded(encoding, wire)
    expect(Buffer.compare(body, PAGE)).toBe(0)
    expect(truncated).toBe(true)
  })
})

describe('after the end', () => {
  const GARBAGE = [
    '\n',
    '\r\n',
    '\0\0\0',
    '\0x',
    'A',
    'garbage',
    '\x1f',
    '\x1fab',
    '\x1f\x8bab',
    '<!-- 0.1 s -->',
  ]

  it.each(FORMATS)('of %s everything is ignored', async (_, encoding, encode) => {
    for (const page of [PAGE, LARGE]) {
      const sound = encode(page)
      for (const garbage of GARBAGE) {
        const wire = Buffer.concat([sound, Buffer.from(garbage, 'latin1')])
        const { body, truncated } = await decoded(encoding, wire)
        expect(Buffer.compare(body, page), JSON.stringify(garbage)).toBe(0)
        expect(truncated, JSON.stringify(garbage)).toBe(false)
      }
    }
  })

  it('of a gzip member another is read, and what follows that is ignored', async () => {
    const two = Buffer.concat([gzipSync('first '), gzipSync('second')])
    for (const garbage of ['', ...GARBAGE]) {
      const wire = Buffer.concat([two, Buffer.from(garbage, 'latin1')])
      const { body, truncated } = await decoded('gzip', wire)
      expect(Buffer.from(body).toString()).toBe('first second')
      expect(truncated).toBe(false)
    }
  })

  it('of an empty gzip member too', async () => {
    const { body, truncated } = await decoded('gzip', Buffer.concat([gzipSync(''), Buffer.from('garbage')]))
    expect([body.length, truncated]).toEqual([0, false])
  })

  it('a second gzip member that is cut off is missed', async () => {
    const wire = Buffer.concat([gzipSync(PAGE), gzipSync(PAGE).subarray(0, 1000)])
    const { body, truncated } = await decoded('gzip', wire)
    expect(truncated).toBe(true)
    expect(body.length).toBeGreaterThan(PAGE.length)
    expect(isPrefix(body, Buffer.concat([PAGE, PAGE]))).toBe(true)
  })
})

describe('nested encodings', () => {
  it('keep the beginning through every layer', async () => {
    const nested = deflateSync(brotliCompressSync(gzipSync(PAGE)))
    const { body, truncated } = await decoded('gzip, br, deflate', nested.subarray(0, nested.length / 2))
    expect(truncated).toBe(true)
    expect(body.length).toBeGreaterThan(1000)
    expect(isPrefix(body, PAGE)).toBe(true)
  })

  it('say so when only the outer one is broken', async () => {
    const outer = gzipSync(gzipSync(PAGE))
    outer[outer.length - 1]! ^= 1
    const { body, truncated } = await decoded('gzip, gzip', outer)
    expect(Buffer.compare(body, PAGE)).toBe(0)
    expect(truncated).toBe(true)
  })

  it('fail when an inner one is not what it says', async () => {
    const wire = gzipSync('plain text')
    expect(await decodeBody('gzip, gzip', wire, LIMIT)).toMatchObject({ ok: false, code: 'decode-failed' })
  })
})

describe('plain text under a wrong label', () => {
  const TEXTS = [
    '<!doctype html><p>x</p>',
    '{"a":1,"b":[1,2,3]}',
    '\n\n<html><head></head>',
    'body { color: red }',
  ]
  it.each(['gzip', 'deflate', 'br'])(
    '%s is not mistaken for the beginning of something',
    async (encoding) => {
      for (const text of TEXTS) {
        expect(await decodeBody(encoding, Buffer.from(text.repeat(20)), LIMIT)).toMatchObject({
          ok: false,
          code: 'decode-failed',
        })
      }
    },
  )
})

const FILES = 'security/compressed/'
describe.skipIf(suiteFile(`${FILES}html-gzip.bin`) === undefined)(
  'files of others (skipped without ../shared/suites)',
  () => {
    it.each([
      ['html-gzip.bin', 'gzip'],
      ['html-br.bin', 'br'],
      ['html-rawdeflate.bin', 'deflate'],
      ['html-zlibdeflate.bin', 'deflate'],
      ['html-gzip-deflate.bin', 'gzip, deflate'],
      ['html-gzip-deflate-gzip.bin', 'gzip, deflate, gzip'],
    ])('%s is a page', async (file, encoding) => {
      const { body, truncated } = await decoded(encoding, suiteFile(FILES + file)!)
      expect(Buffer.from(body).toString()).toContain('<html')
      expect(truncated).toBe(false)
    })

    // What zlib itself reads of each when it is asked to flush at the end of the input.
    it.each([
      ['truncated-crc-error.gz', 25_542],
      ['truncated-crc-error-short.gz', 3741],
      ['unexpected-eof.gz', 8576],
    ])('%s is read up to its end', async (file, length) => {
      const { body, truncated } = await decoded('gzip', suiteFile(FILES + file)!)
      expect([body.length, truncated]).toEqual([length, true])
    })

    it.each([
      'html-zstd-static-content-size.bin',
      'html-zstd-static-no-content-size.bin',
      'html-zstd-streaming-no-content-size.bin',
    ])('%s is refused, because it is zstd', async (file) => {
      expect(await decodeBody('zstd', suiteFile(FILES + file)!, LIMIT)).toMatchObject({
        ok: false,
        code: 'decode-failed',
        what: expect.stringContaining('"zstd"'),
      })
    })
  },
)
