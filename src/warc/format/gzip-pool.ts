/**
 * Gzip members made on the threads of Node's pool, so that the event loop goes on meanwhile. A few compressors are kept and
 * reset, because a new one for each member costs as much as a small page. They are reached through a handle that is not part
 * of Node's public interface: if it does not behave as expected, `zlib.gzip` is used.
 */

import { promisify } from 'node:util'
import { createGzip, gunzipSync, gzip, constants as zlib } from 'node:zlib'
import { gzipBound } from './gzip.js'

/** Writes a member to the beginning of `output`, where there is room for `gzipBound(length)` bytes. Returns its length. */
export type PooledGzip = (input: Buffer, length: number, output: Buffer) => Promise<number>

/**
 * Members in the making at once; about 270 KB each. Results arrive once in a turn of the event loop, so that there must be
 * more of them than threads.
 */
const MOST_AT_ONCE = 16

interface Handle {
  init(
    windowBits: number,
    level: number,
    memLevel: number,
    strategy: number,
    state: Uint32Array,
    done: () => void,
    dictionary: undefined,
  ): void
  write(
    flush: number,
    input: Buffer,
    from: number,
    length: number,
    output: Buffer,
    at: number,
    room: number,
  ): void
  reset(): void
  close(): void
  onerror: ((message: string) => void) | undefined
}

const GZIP_MODE = 3
const WINDOW_BITS = 15
const MEMORY_LEVEL = 8

/** Compressors of one level. */
export class GzipPool {
  readonly #make: () => PooledGzip
  readonly #idle: PooledGzip[] = []
  #made = 0

  private constructor(make: () => PooledGzip) {
    this.#make = make
  }

  static async open(level: number): Promise<GzipPool> {
    const ours = () => keptCompressor(level)
    return new GzipPool((await works(ours)) ? ours : () => withGzip(level))
  }

  /** A compressor for one member; undefined while all are busy. Give it back afterwards. */
  take(): PooledGzip | undefined {
    const idle = this.#idle.pop()
    if (idle !== undefined || this.#made === MOST_AT_ONCE) return idle
    this.#made++
    return this.#make()
  }

  giveBack(gzip: PooledGzip): void {
    this.#idle.push(gzip)
  }
}

const gzipOnPool = promisify<Buffer, { level: number }, Buffer>(gzip)

/** Exported for its tests. */
export function withGzip(level: number): PooledGzip {
  return async (input, length, output) =>
    (await gzipOnPool(input.subarray(0, length), { level })).copy(output)
}

/** Exported for its tests. */
export function keptCompressor(level: number): PooledGzip {
  const { _handle } = createGzip({ level }) as unknown as { readonly _handle: Handle }
  const Zlib = _handle.constructor as new (mode: number) => Handle
  const handle = new Zlib(GZIP_MODE)
  /** Room in the output, and bytes of the input, that the last write has left. */
  const left = new Uint32Array(2)
  let done: () => void = () => {}
  handle.init(WINDOW_BITS, level, MEMORY_LEVEL, zlib.Z_DEFAULT_STRATEGY, left, () => done(), undefined)
  return (input, length, output) =>
    new Promise((resolve, reject) => {
      // Both buffers are named here, so that they live as long as the thread works on them.
      done = () => {
        handle.reset()
        if (left[1] === 0 && length <= input.length) resolve(output.length - left[0]!)
        else reject(new Error('a gzip member did not fit into its buffer'))
      }
      handle.onerror = (message) => reject(new Error(message))
      handle.write(zlib.Z_FINISH, input, 0, length, output, 0, output.length)
    })
}

/** Two members with one compressor, so that the reset is tried too. */
async function works(make: () => PooledGzip): Promise<boolean> {
  try {
    const text = Buffer.from('WARC/1.1\r\n'.repeat(20))
    const gzip = make()
    for (let i = 0; i < 2; i++) {
      const output = Buffer.alloc(gzipBound(text.length))
      const length = await gzip(text, text.length, output)
      if (!gunzipSync(output.subarray(0, length)).equals(text)) return false
    }
    return true
  } catch {
    return false
  }
}
