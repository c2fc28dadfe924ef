import type { Database, Staged } from '../db/database.js'
import { filterKey, partitionIn, partitionText, printPageKey, rangesOf } from '../format/keys.js'
import { Filter } from './filter.js'

/** Fingerprints per page: 4 KB, which LevelDB reads at once anyway. */
const PAGE = 512

export interface Lookup {
  readonly partition: number
  readonly print: bigint
}

/** Called with the index of each fingerprint. */
type OnArchived = (prints: Uint32Array, at: number) => void

/** What memory holds of an archived partition. */
interface ArchivedPartition {
  readonly count: number
  readonly filter: Filter
  /** The first fingerprint of each page, ascending. */
  readonly firsts: BigUint64Array
}

/**
 * Fingerprints that are on disk only, by partition: sorted, in pages, behind a filter. Memory holds ten bits of each,
 * and the first of each page. `archive` moves the older fingerprints of a partition here. A lookup reads one page, and the
 * filter spares nearly all lookups of new URLs.
 */
export class Archive {
  readonly #database: Database
  readonly #partitions = new Map<number, ArchivedPartition>()
  #size = 0
  #last: Promise<unknown> = Promise.resolve()

  constructor(database: Database) {
    this.#database = database
  }

  get size(): number {
    return this.#size
  }

  /** False: certainly not in the archive. */
  mayHave(partition: number, low: number, high: number): boolean {
    return this.#partitions.get(partition)?.filter.mayHave(low, high) === true
  }

  /** Which of these are in the archive, in the same order. */
  has(questions: readonly Lookup[]): Promise<boolean[]> {
    return this.#inTurn(() => this.#has(questions))
  }

  async #has(questions: readonly Lookup[]): Promise<boolean[]> {
    const keys = questions.map(({ partition, print }) => {
      const shelf = this.#partitions.get(partition)
      const page = shelf === undefined ? -1 : lastNotAfter(shelf.firsts, print)
      return page < 0 ? '' : printPageKey(partitionText(partition), shelf!.firsts[page]!)
    })
    const pages = await this.#database.getMany([...new Set(keys)])
    const byKey = new Map([...new Set(keys)].map((key, i) => [key, pages[i]]))
    return questions.map(({ print }, i) => {
      const page = byKey.get(keys[i]!)
      if (page === undefined) return false
      const prints = this.#database.decode(keys[i]!, readPrints, page)
      const at = lastNotAfter(prints, print)
      return at >= 0 && prints[at] === print
    })
  }

  /** Number of archived fingerprints of a partition. */
  sizeOf(partition: number): number {
    return this.#partitions.get(partition)?.count ?? 0
  }

  /** Loads what is on disk of partitions, ascending. */
  load(partitions: readonly number[]): Promise<void> {
    return this.#inTurn(() => this.#load(partitions))
  }

  async #load(partitions: readonly number[]): Promise<void> {
    const firsts = new Map<number, bigint[]>()
    for (const range of rangesOf('f', partitions)) {
      for await (const keys of this.#database.scanKeys(range)) {
        for (const key of keys) {
          const list = firsts.get(partitionIn(key)) ?? []
          list.push(BigInt(`0x${key.slice(5)}`))
          firsts.set(partitionIn(key), list)
        }
      }
    }
    for (const range of rangesOf('b', partitions)) {
      for await (const entries of this.#database.scanBytes(range)) {
        for (const [key, bytes] of entries) {
          const partition = partitionIn(key)
          const { count, filter } = this.#database.decode(key, readFilter, bytes)
          this.#put(partition, { count, filter, firsts: BigUint64Array.from(firsts.get(partition) ?? []) })
        }
      }
    }
  }

  /** Forgets partitions: another thread has them. */
  drop(partitions: Iterable<number>): void {
    for (const partition of partitions) {
      this.#size -= this.sizeOf(partition)
      this.#partitions.delete(partition)
    }
  }

  /** Resolves once everything started before is finished. */
  async settled(): Promise<void> {
    await this.#last
  }

  /** Archives what is stored of a partition, all or nothing, and calls `archived` for each fingerprint. */
  archive(partition: number, archived: OnArchived): Promise<void> {
    return this.#inTurn(() => this.#archivePartition(partition, archived))
  }

  async #archivePartition(partition: number, archived: OnArchived): Promise<void> {
    const at = partitionText(partition)
    const changes = new Map<string, Staged>()
    const parts: BigUint64Array[] = []
    for (const range of [...rangesOf('s', [partition]), ...rangesOf('f', [partition])]) {
      for await (const entries of this.#database.scanBytes(range)) {
        for (const [key, bytes] of entries) {
          changes.set(key, null)
          parts.push(this.#database.decode(key, readPrints, bytes))
        }
      }
    }
    if (parts.length === 0) return
    const prints = distinct(parts)
    const filter = new Filter(prints.length)
    const words = new Uint32Array(prints.buffer, 0, 2 * prints.length)
    for (let i = 0; i < words.length; i += 2) filter.add(words[i]!, words[i + 1]!)
    const firsts: bigint[] = []
    for (let from = 0; from < prints.length; from += PAGE) {
      const page = prints.slice(from, from + PAGE)
      firsts.push(page[0]!)
      changes.set(printPageKey(at, page[0]!), new Uint8Array(page.buffer))
    }
    const record = new Uint8Array(COUNT_BYTES + filter.bytes.length)
    new DataView(record.buffer).setUint32(0, prints.length)
    record.set(filter.bytes, COUNT_BYTES)
    changes.set(filterKey(at), record)
    await this.#database.write({ values: changes, once: [] })
    this.#put(partition, { count: prints.length, filter, firsts: BigUint64Array.from(firsts) })
    for (let i = 0; i < words.length; i += 2) archived(words, i)
  }

  /** One operation at a time: pages must not be rearranged while they are read. */
  #inTurn<T>(act: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(act)
    this.#last = turn.catch(() => {})
    return turn
  }

  #put(partition: number, shelf: ArchivedPartition): void {
    this.#size += shelf.count - (this.#partitions.get(partition)?.count ?? 0)
    this.#partitions.set(partition, shelf)
  }
}

const COUNT_BYTES = 4

/** The low half of a fingerprint comes first, as in memory: eight bytes in native byte order. */
export function readPrints(bytes: Uint8Array): BigUint64Array {
  return new BigUint64Array(bytes.slice().buffer)
}

/** The filter over a partition's pages, and the number of fingerprints in them. */
export function readFilter(bytes: Uint8Array): Pick<ArchivedPartition, 'count' | 'filter'> {
  const count = new DataView(bytes.buffer, bytes.byteOffset, bytes.length).getUint32(0)
  return { count, filter: new Filter(bytes.slice(COUNT_BYTES)) }
}

/** Sorted, without duplicates. */
function distinct(parts: readonly BigUint64Array[]): BigUint64Array {
  const all = new BigUint64Array(parts.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const part of parts) {
    all.set(part, at)
    at += part.length
  }
  all.sort()
  let kept = 0
  for (let i = 0; i < all.length; i++) if (i === 0 || all[i] !== all[i - 1]) all[kept++] = all[i]!
  return all.slice(0, kept)
}

/** Index of the last number that is not greater; -1 if all are. */
function lastNotAfter(sorted: BigUint64Array, value: bigint): number {
  let low = 0
  let high = sorted.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (sorted[middle]! <= value) low = middle + 1
    else high = middle
  }
  return low - 1
}
