import { fingerprint } from '../../url/fingerprint.js'
import { type GraphBatch, type GraphDatabase, keyOf, numberOf } from './database.js'
import { IdTable } from './id-table.js'

/** URLs in a block of the database, which is one entry. */
const BLOCK = 256
/** Blocks that are kept after they were read: about 10 MB. */
const BLOCKS_CACHED = 1000
const SEPARATOR = '\n'

/**
 * The URLs of a graph and their numbers, counted in the order in which they were found. Numbers are in memory, by
 * fingerprint; the URLs themselves are on disk, in blocks of neighbours.
 */
export class Urls {
  readonly #database: GraphDatabase
  readonly #table = new IdTable()
  /** The first number of each block. */
  readonly #starts: number[] = []
  #cache = new Map<number, readonly string[]>()
  /** URLs that are not on disk yet, the first of which has the number `#freshStart`. */
  #fresh: string[] = []
  #freshStart = 0
  #prints = new Uint32Array(2 * BLOCK)

  constructor(database: GraphDatabase) {
    this.#database = database
  }

  get size(): number {
    return this.#table.size
  }

  async open(): Promise<void> {
    const ids = new Uint32Array(BLOCK)
    for await (const entries of this.#database.scan('u')) {
      for (const [key, value] of entries) {
        const urls = textOf(value)
        this.#table.resolve(this.#printsOf(urls), urls.length, ids, () => {})
        this.#starts.push(numberOf(key))
      }
    }
    this.#freshStart = this.#table.size
  }

  /** The number of a URL; -1 if it is not in the graph. */
  find(url: string): number {
    const [low, high] = this.#printsOf([url])
    return this.#table.find(low!, high!)
  }

  /** Of all URLs in the order of their numbers, two words each. */
  fingerprints(): Uint32Array {
    return this.#table.fingerprints()
  }

  /** The numbers of URLs; new ones get the next numbers. */
  resolve(urls: readonly string[], ids: Uint32Array): void {
    const prints = this.#printsOf(urls)
    this.#table.resolve(prints, urls.length, ids, (place) => void this.#fresh.push(urls[place]!))
  }

  /** Valid until the next call. */
  #printsOf(urls: readonly string[]): Uint32Array {
    if (this.#prints.length < 2 * urls.length) this.#prints = new Uint32Array(4 * urls.length)
    for (let i = 0; i < urls.length; i++) fingerprint(urls[i]!, this.#prints, 2 * i)
    return this.#prints
  }

  /** Puts what must be written so that the numbers given so far survive. */
  putFresh(batch: GraphBatch): void {
    for (let from = 0; from < this.#fresh.length; from += BLOCK) {
      const start = this.#freshStart + from
      const block = this.#fresh.slice(from, from + BLOCK).join(SEPARATOR)
      batch.put(keyOf('u', start), Buffer.from(block))
      this.#starts.push(start)
    }
    this.#freshStart += this.#fresh.length
    this.#fresh = []
  }

  /** The URLs of numbers, in their order. */
  async of(ids: Iterable<number>): Promise<string[]> {
    const urls: string[] = []
    for (const id of ids) urls.push(await this.one(id))
    return urls
  }

  async one(id: number): Promise<string> {
    if (id >= this.#freshStart) return this.#fresh[id - this.#freshStart]!
    const start = this.#startOf(id)
    let block = this.#cache.get(start)
    if (block === undefined) {
      block = textOf((await this.#database.get('u', start))!)
      if (this.#cache.size >= BLOCKS_CACHED) this.#cache.delete(this.#cache.keys().next().value!)
      this.#cache.set(start, block)
    }
    return block[id - start]!
  }

  /** All URLs that are on disk, in the order of their numbers. */
  async *all(): AsyncGenerator<[id: number, url: string]> {
    for await (const entries of this.#database.scan('u')) {
      for (const [key, value] of entries) {
        const start = numberOf(key)
        for (const [i, url] of textOf(value).entries()) yield [start + i, url]
      }
    }
  }

  #startOf(id: number): number {
    let low = 0
    let high = this.#starts.length
    while (high - low > 1) {
      const middle = (low + high) >>> 1
      if (this.#starts[middle]! <= id) low = middle
      else high = middle
    }
    return this.#starts[low]!
  }
}

function textOf(value: Uint8Array): string[] {
  return Buffer.from(value.buffer, value.byteOffset, value.length).toString().split(SEPARATOR)
}
