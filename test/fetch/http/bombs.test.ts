/** What a compression bomb costs, as the peak of what its process ever held in memory. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, constants, deflateSync, gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { suiteFile } from '../support.js'

const PROJECT = fileURLToPath(new URL('../../../', import.meta.url))
const MB = 1_000_000
const LIMIT = MB

/**
 * The body comes by stdin, so that only what decoding it takes is measured. The figure is an upper bound: the
 * highest mark that the process ever reached, also while it started, above what it holds when decoding begins.
 * (From mark to mark would be 0 for whatever fits below the one that starting left.)
 */
const PROGRAM = `
import { readFileSync } from 'node:fs'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { decodeBody } from './src/fetch/http/decode.ts'
const [encoding, limit] = process.argv.slice(1)
const body = readFileSync(0)
const page = Buffer.alloc(200_000, 'page ')
await decodeBody('gzip', gzipSync(page), 1e6)
await decodeBody('br, gzip', gzipSync(brotliCompressSync(page)).subarray(0, -9), 1e6)
const before = process.memoryUsage.rss()
const decoded = await decodeBody(encoding, body, Number(limit))
const peakBytes = process.resourceUsage().maxRSS * 1024 - before
const result = decoded.ok ? 'ok' : decoded.code
console.log(JSON.stringify({ result, bytes: decoded.body?.length, peakBytes }))
`

async function cost(encoding: string, body: Uint8Array, limit = LIMIT) {
  const args = ['--import', 'tsx', '--input-type=module', '-e', PROGRAM, encoding, String(limit)]
  const { NODE_OPTIONS: _, ...env } = process.env
  const child = spawn(process.execPath, args, { cwd: PROJECT, env, stdio: ['pipe', 'pipe', 'inherit'] })
  child.stdin.end(body)
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text
  })
  await once(child, 'close')
  return JSON.parse(output) as { result: string; bytes?: number; peakBytes: number }
}

const zeros = Buffer.alloc(300 * MB)
const wideBrotli = (body: Uint8Array) =>
  brotliCompressSync(body, {
    params: { [constants.BROTLI_PARAM_LGWIN]: 24, [constants.BROTLI_PARAM_QUALITY]: 1 },
  })

/** The most that a wanted body may take beyond its limit: pieces, decoder windows, the allocator's slack. */
const MAX_PEAK_BYTES = 12 * MB
/** A decoder of brotli fills the window that the stream asks for, up to 16 MB, and holds two while it grows. */
const MAX_BROTLI_PEAK_BYTES = MAX_PEAK_BYTES + 2 * 16 * MB

async function check(name: string, encoding: string, bomb: Uint8Array, mostBytes: number) {
  const { result, peakBytes } = await cost(encoding, bomb)
  console.log(`${name}: ${bomb.length} bytes → ${result}, peak ${(peakBytes / MB).toFixed(1)} MB`)
  expect(result).toBe('body-too-large')
  expect(peakBytes).toBeLessThan(mostBytes)
}

describe('a bomb costs its limit and no more', () => {
  const SOUND: [name: string, encoding: string, bomb: () => Uint8Array, mostBytes: number][] = [
    ['300 MB in gzip', 'gzip', () => gzipSync(zeros), MAX_PEAK_BYTES],
    ['300 MB in zlib', 'deflate', () => deflateSync(zeros), MAX_PEAK_BYTES],
    ['300 MB in brotli', 'br', () => wideBrotli(zeros), MAX_BROTLI_PEAK_BYTES],
    [
      '300 MB in gzip in gzip in gzip',
      'gzip, gzip, gzip',
      () => gzipSync(gzipSync(gzipSync(zeros))),
      MAX_PEAK_BYTES,
    ],
  ]
  it.each(SOUND)('%s', (name, encoding, bomb, mostBytes) => check(name, encoding, bomb(), mostBytes))

  it('300 MB in gzip that is cut off', () =>
    check('300 MB in gzip, cut off', 'gzip', gzipSync(zeros).subarray(0, -1000), MAX_PEAK_BYTES))

  it('900 kB that are read to the break again and again', async () => {
    const broken = Buffer.concat([
      gzipSync(zeros.subarray(0, 900_000), { finishFlush: constants.Z_FULL_FLUSH }),
      Buffer.alloc(100_000, 0xff),
    ])
    const { result, bytes, peakBytes } = await cost('gzip', broken)
    console.log(`900 kB in broken gzip → ${result}, peak ${(peakBytes / MB).toFixed(1)} MB`)
    expect([result, bytes]).toEqual(['ok', 900_000])
    expect(peakBytes).toBeLessThan(MAX_PEAK_BYTES)
  })

  it('and the measure would see one that is not stopped', async () => {
    const { result, peakBytes } = await cost('gzip', gzipSync(zeros.subarray(0, 50 * MB)), 100 * MB)
    expect(result).toBe('ok')
    expect(peakBytes).toBeGreaterThan(MAX_BROTLI_PEAK_BYTES)
  })
})

const FILES = 'security/compressed/'
describe.skipIf(suiteFile(`${FILES}bomb-gzip.bin`) === undefined)(
  'bombs of others (skipped without ../shared/suites)',
  () => {
    it.each([
      ['bomb-gzip.bin', 'gzip', MAX_PEAK_BYTES],
      ['bomb-deflate.bin', 'deflate', MAX_PEAK_BYTES],
      ['bomb-br.bin', 'br', MAX_BROTLI_PEAK_BYTES],
    ] as const)('%s', (file, encoding, mostBytes) =>
      check(file, encoding, suiteFile(FILES + file)!, mostBytes),
    )

    it('bomb-zstd.bin is refused unread', async () => {
      expect(await cost('zstd', suiteFile(`${FILES}bomb-zstd.bin`)!)).toMatchObject({
        result: 'decode-failed',
      })
    })
  },
)
