/**
 * The seen-set of a shard: one table of fingerprints per partition, so that a partition can move to another shard with
 * everything that is known about it. The partition cannot be derived from a fingerprint alone.
 */

import { KumoError } from '../errors.js'
import { fingerprint } from '../url/fingerprint.js'
import { PartitionLookup } from './partition-lookup.js'
import { SLOT_WORDS, Slabs } from './slabs.js'
import { assertStrings, CHUNK, FingerprintSet, type FingerprintTable, SEGMENTS } from './table.js'

/**
 * Up to this many fingerprints, a partition has a single segment. Beyond that it gets as many segments as a table of
 * its own would have; otherwise growing would block the event loop, which takes half a millisecond here. With far fewer
 * fingerprints, 256 segments would be half empty.
 */
const SMALL = 40_000

/** A seen-set whose partitions can be released and adopted. */
export interface PartitionedTable extends FingerprintTable {
  /** Bytes of all buffers. */
  readonly bytes: number
  /** Removes a partition and returns its fingerprints, two words each. */
  release(partition: number): Uint32Array
  adopt(partition: number, prints: Uint32Array): void
}

/**
 * A seen-set in memory that keeps partitions apart. Names are those of `knownAs`.
 *
 * @example
 * const seen = partitionedTable(byHost().partition)
 * seen.addAll(['https://example.com/']) // [true]
 */
export function partitionedTable(partitionOf: (host: string) => number): PartitionedTable {
  return new Partitions(partitionOf)
}

class Partitions implements PartitionedTable {
  readonly #memory = new Slabs()
  /** Only partitions with at least one fingerprint. */
  readonly #sets = new Map<number, FingerprintSet>()
  readonly #homes: PartitionLookup
  readonly #prints = new Uint32Array(CHUNK * SLOT_WORDS)
  /** The partition of each name of a chunk. */
  readonly #partitions = new Int32Array(CHUNK)
  #size = 0
  #closed = false

  constructor(partitionOf: (host: string) => number) {
    this.#homes = new PartitionLookup(partitionOf)
  }

  get size(): number {
    return this.#size
  }

  get bytes(): number {
    let bytes = this.#memory.bytes + this.#prints.byteLength + this.#partitions.byteLength
    for (const { segments } of this.#sets.values()) bytes += segments * Uint32Array.BYTES_PER_ELEMENT
    return bytes
  }

  addAll(urls: readonly string[]): boolean[] {
    this.#assertOpen('addAll')
    assertStrings(urls)
    const fresh: boolean[] = []
    for (let from = 0; from < urls.length; from += CHUNK) {
      const count = Math.min(urls.length - from, CHUNK)
      for (let i = 0; i < count; i++) {
        fingerprint(urls[from + i]!, this.#prints, i * SLOT_WORDS)
        this.#partitions[i] = this.#homes.partitionOf(urls[from + i]!)
      }
      // Warm the whole chunk before the first lookup, whatever the partitions: see `CHUNK`.
      for (let i = 0, end = 0; i < count; i = end) {
        end = this.#runEnd(i, count)
        this.#sets.get(this.#partitions[i]!)?.warm(this.#prints, end - i, i)
      }
      for (let i = 0, end = 0; i < count; i = end) {
        end = this.#runEnd(i, count)
        this.#addRun(i, end, fresh)
      }
    }
    return fresh
  }

  release(partition: number): Uint32Array {
    this.#assertOpen('give')
    const set = this.#sets.get(partition)
    if (set === undefined) return new Uint32Array(0)
    const prints = set.toArray()
    this.#size -= set.size
    this.#sets.delete(partition)
    set.clear()
    return prints
  }

  adopt(partition: number, prints: Uint32Array): void {
    this.#assertOpen('take')
    if (prints.length === 0) return
    const set = this.#setFor(partition, prints.length / SLOT_WORDS)
    const before = set.size
    set.addEach(prints)
    this.#size += set.size - before
  }

  close(): void {
    this.#closed = true
    for (const set of this.#sets.values()) set.clear()
    this.#sets.clear()
  }

  /** Links to one host are adjacent, so a chunk consists of a few runs of one partition each. */
  #runEnd(start: number, count: number): number {
    const partition = this.#partitions[start]
    let end = start + 1
    while (end < count && this.#partitions[end] === partition) end++
    return end
  }

  #addRun(start: number, end: number, fresh: boolean[]): void {
    const set = this.#setFor(this.#partitions[start]!, end - start)
    const before = set.size
    for (let i = start; i < end; i++) fresh.push(set.add(this.#prints, i * SLOT_WORDS))
    this.#size += set.size - before
  }

  /** The set of a partition, with room for `more` fingerprints. */
  #setFor(partition: number, more: number): FingerprintSet {
    const set = this.#sets.get(partition)
    const isSmall = (set?.size ?? 0) + more <= SMALL
    if (set !== undefined && (isSmall || set.segments === SEGMENTS)) return set
    const made = new FingerprintSet(this.#memory, isSmall ? 1 : SEGMENTS)
    this.#sets.set(partition, made)
    if (set !== undefined) {
      set.addTo(made)
      set.clear()
    }
    return made
  }

  #assertOpen(call: string): void {
    if (this.#closed) throw new KumoError('KUMO_STORE_FAILED', `${call}: the seen-set is closed`)
  }
}
