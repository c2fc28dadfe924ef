import { type GraphBatch, type GraphDatabase, keyOf, numberOf, type Put } from './database.js'
import { decodeNode } from './node-record.js'

/** URLs in a block of the index, which is one entry. */
const BLOCK = 64
/** Links that are sorted at once, 4 bytes each. A larger graph is read several times. */
const LINKS_AT_ONCE = 64 * 2 ** 20
const WRITE_AT_ONCE = 1000
/** The fact that says how many links the index has; absent while it is not up to date. */
const FACT = 1
const INVALID: Put = { key: keyOf('m', FACT), value: null }

/**
 * Who links to a URL. Computed for all URLs at once, by counting: keeping it up to date with every page would cost a read and
 * a write for every link.
 */
export class Incoming {
  readonly #database: GraphDatabase
  readonly #size: () => number
  /** How often the graph was written. */
  #changes = 0
  /** The fact is not on disk, and what is being written removes it if it is. */
  #isInvalid = false

  constructor(database: GraphDatabase, size: () => number) {
    this.#database = database
    this.#size = size
  }

  /** Adds to a batch that changes the graph what makes the index invalid, if it may be valid. */
  invalidate(batch: GraphBatch): void {
    this.#changes++
    if (!this.#isInvalid) batch.put(INVALID.key, INVALID.value)
    this.#isInvalid = true
  }

  /** The numbers of the URLs that link to one, sorted. */
  async of(id: number): Promise<readonly number[]> {
    await this.prepare()
    const bytes = await this.#database.get('i', Math.floor(id / BLOCK))
    return bytes === undefined ? [] : (decodeBlock(bytes)[id % BLOCK] ?? [])
  }

  /** How many URLs link to each. */
  async counts(): Promise<Uint32Array> {
    const counts = new Uint32Array(this.#size())
    for await (const entries of this.#database.scan('p')) {
      for (const [key, value] of entries) {
        const own = numberOf(key)
        for (const target of decodeNode(own, value).links) if (target !== own) counts[target]!++
      }
    }
    return counts
  }

  /** Reads the whole graph if it has changed since the last time. */
  async prepare(): Promise<void> {
    if ((await this.#database.get('m', FACT)) !== undefined) return
    const changes = this.#changes
    await this.#database.removeAll('i')
    const counts = await this.counts()
    for (let from = 0; from < counts.length; ) {
      let to = from
      let links = 0
      while (to < counts.length && (to === from || links + counts[to]! <= LINKS_AT_ONCE))
        links += counts[to++]!
      // Blocks are not divided.
      if (to < counts.length) to = Math.max(from + BLOCK, to - (to % BLOCK))
      await this.#build(counts, from, Math.min(to, counts.length))
      from = to
    }
    if (this.#changes !== changes) return
    // From now on, changes remove the fact. One may overtake it.
    this.#isInvalid = false
    await this.#database.write([{ key: keyOf('m', FACT), value: Buffer.from('1') }])
    if (this.#changes !== changes) await this.#database.write([INVALID])
  }

  async #build(counts: Uint32Array, from: number, to: number): Promise<void> {
    const starts = new Float64Array(to - from + 1)
    for (let i = from; i < to; i++) starts[i - from + 1] = starts[i - from]! + counts[i]!
    const next = starts.slice()
    const sources = new Uint32Array(starts[to - from]!)
    for await (const entries of this.#database.scan('p')) {
      for (const [key, value] of entries) {
        const own = numberOf(key)
        for (const target of decodeNode(own, value).links) {
          if (target !== own && target >= from && target < to) sources[next[target - from]!++] = own
        }
      }
    }
    let puts: Put[] = []
    for (let first = from; first < to; first += BLOCK) {
      const lists: Uint32Array[] = []
      for (let i = first; i < Math.min(first + BLOCK, to); i++)
        lists.push(sources.subarray(starts[i - from]!, starts[i - from + 1]!))
      if (lists.some(({ length }) => length > 0))
        puts.push({ key: keyOf('i', Math.floor(first / BLOCK)), value: encodeBlock(lists) })
      if (puts.length >= WRITE_AT_ONCE) await this.#database.write(puts.splice(0))
    }
    await this.#database.write(puts)
    puts = []
  }
}

function encodeBlock(lists: readonly Uint32Array[]): Buffer {
  let total = 0
  for (const { length } of lists) total += 5 + 5 * length
  const bytes = Buffer.allocUnsafe(total)
  let at = 0
  const put = (value: number) => {
    while (value > 0x7f) {
      bytes[at++] = (value & 0x7f) | 0x80
      value >>>= 7
    }
    bytes[at++] = value
  }
  for (const list of lists) {
    put(list.length)
    let before = 0
    for (const id of list) {
      put(id - before)
      before = id
    }
  }
  return Buffer.from(bytes.subarray(0, at))
}

function decodeBlock(bytes: Uint8Array): number[][] {
  let at = 0
  const next = () => {
    let value = 0
    for (let scale = 1; ; scale *= 0x80) {
      const byte = bytes[at++]!
      value += (byte & 0x7f) * scale
      if (byte < 0x80) return value
    }
  }
  const lists: number[][] = []
  while (at < bytes.length) {
    const list: number[] = []
    for (let count = next(), before = 0; count > 0; count--) list.push((before += next()))
    lists.push(list)
  }
  return lists
}
