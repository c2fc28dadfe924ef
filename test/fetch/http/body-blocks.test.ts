import { describe, expect, it } from 'vitest'
import { BodyBlocks } from '../../../src/fetch/http/body-blocks.js'
import { seededRandom } from '../../../src/time.js'

const random = seededRandom(8)
const BYTES = Buffer.from(Uint8Array.from({ length: 1_500_000 }, () => random.next() * 256))

/** Cuts bytes into pieces of these sizes, again and again. */
function* pieces(bytes: Buffer, ...sizes: number[]): Generator<Buffer> {
  for (let at = 0, i = 0; at < bytes.length; at += sizes[i++ % sizes.length]!) {
    yield bytes.subarray(at, at + sizes[i % sizes.length]!)
  }
}

function joined(bytes: Buffer, expected: number, ...sizes: number[]): Uint8Array {
  const blocks = new BodyBlocks(expected)
  for (const piece of pieces(bytes, ...sizes)) blocks.add(piece)
  return blocks.join()
}

describe('BodyBlocks', () => {
  it.each([[1], [2, 3], [5, 70_000, 1], [16_384], [65_536], [262_144], [300_000, 7], [2_000_000]])(
    'joins pieces of %j, whatever was expected',
    (...sizes) => {
      for (const length of [1, 16_383, 16_385, BYTES.length]) {
        const bytes = BYTES.subarray(0, length)
        for (const expected of [0, 1, length - 1, length, length + 1, 1e12]) {
          expect(Buffer.compare(joined(bytes, expected, ...sizes), bytes)).toBe(0)
        }
      }
    },
    60_000,
  )

  it('is empty if nothing came', () => {
    expect(new BodyBlocks(100).join().length).toBe(0)
  })

  it('makes what was announced in one go, so that it is not copied twice', () => {
    const body = joined(BYTES.subarray(0, 200_000), 200_000, 1000)
    expect(body.buffer.byteLength).toBe(200_000)
  })

  it('does not believe a large announcement', () => {
    const body = joined(BYTES.subarray(0, 10), 1e12, 5)
    expect(body.buffer.byteLength).toBeLessThanOrEqual(256 * 1024)
  })
})
