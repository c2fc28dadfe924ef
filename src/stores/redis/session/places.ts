/**
 * Which members of the crawl the worker threads of this process are, in memory that outlives a thread: who replaces it
 * leaves for it, and the hosts of a dead thread need not wait for the end of its lease.
 */

import type { ShardContext } from '../../contract.js'

/** A member, as others need to know it. */
export interface Place {
  readonly id: string
  readonly token: string
  /** Its number in records, which a replacement continues. */
  readonly self: number
  /** Runs before this one. */
  readonly earlierRuns: number
}

const WORD_BYTES = 4
const TEXT_BYTES = 252

/** What `Store.share` gives to shards; can be posted to another thread. */
export interface SharedPlaces {
  readonly memory: SharedArrayBuffer
}

export function placesMemory(shards: number): SharedArrayBuffer {
  return new SharedArrayBuffer(shards * (WORD_BYTES + TEXT_BYTES))
}

/** The place of one thread. Written by the thread; read by its replacement and by the main thread once it is dead. */
export class PlaceOfThread {
  readonly #length: Int32Array
  readonly #text: Buffer

  constructor(memory: SharedArrayBuffer, shard: number) {
    const at = shard * (WORD_BYTES + TEXT_BYTES)
    this.#length = new Int32Array(memory, at, 1)
    this.#text = Buffer.from(memory, at + WORD_BYTES, TEXT_BYTES)
  }

  /** Undefined if the thread is no member, or died while it wrote. */
  read(): Place | undefined {
    const length = Atomics.load(this.#length, 0)
    return length === 0 ? undefined : JSON.parse(this.#text.toString('latin1', 0, length))
  }

  write(place: Place): void {
    this.clear()
    Atomics.store(this.#length, 0, this.#text.write(JSON.stringify(place), 'latin1'))
  }

  clear(): void {
    Atomics.store(this.#length, 0, 0)
  }
}

/** Undefined if the process has no worker threads. */
export function placeOf(shard: ShardContext | undefined): PlaceOfThread | undefined {
  const shared = shard?.shared as SharedPlaces | undefined
  return shared && new PlaceOfThread(shared.memory, shard!.index)
}

/** How many threads of this process join. */
export function threadsIn(shard: ShardContext | undefined): number {
  const shared = shard?.shared as SharedPlaces | undefined
  return shared === undefined ? 1 : shared.memory.byteLength / (WORD_BYTES + TEXT_BYTES)
}
