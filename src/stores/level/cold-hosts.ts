import { KumoError } from '../../errors.js'
import { Slabs } from '../../seen/slabs.js'
import { FingerprintSet } from '../../seen/table.js'
import { fingerprint } from '../../url/fingerprint.js'
import type { Database } from './database.js'
import type { Journal } from './journal.js'
import { END, entryKey, entryOf, partitionIn, partitionText, rangesOf, sleeperKey, wakeKey } from './keys.js'

/** An entry of a host on disk. */
export interface ColdEntry {
  readonly key: string
  readonly host: string
  readonly record: string
  /** The key of the entry that woke it, if one did. */
  readonly wake?: string
}

/** Entries that are read of a partition at once. */
const STRIDE = 64

/**
 * Hosts with requests that are on disk only, by the time from which they may be visited. Of each, memory holds a
 * fingerprint of its name, some ten bytes, and of each partition the time of its first. Filled when a new host finds
 * the working window full and when a host has to leave it; emptied by `take`.
 *
 * An entry stays on disk while its host is in memory, so that a crash finds all hosts. `take` goes on in each partition
 * where it ended, so that entries of hosts in memory are passed only once; it goes back for what is added before that.
 *
 * A host may *sleep*: it could be visited, but its requests are not due. A request that is added to it meanwhile may be,
 * and then a second entry is made that wakes it.
 *
 * Instants are on the store's scale.
 */
export class ColdHosts {
  readonly #names: Names
  /** Those that sleep. */
  readonly #sleepers: Names
  readonly #journal: Journal
  /** For each partition, before which instant there is nothing. */
  readonly #firstDue: Float64Array
  /** For each partition, from which key on there are entries that were not read. */
  readonly #unread: string[]
  /** Partitions of which nothing is taken any more. */
  readonly #held = new Set<number>()
  /** Entries that are added while hosts are taken: the disk may not have them yet, so they count from then on. */
  #addedMeanwhile: { partition: number; due: number; key: string }[] | undefined = undefined
  #earliest = Number.POSITIVE_INFINITY

  constructor(partitions: number, journal: Journal) {
    this.#journal = journal
    const memory = new Slabs()
    this.#names = new Names(partitions, memory)
    this.#sleepers = new Names(partitions, memory)
    this.#firstDue = new Float64Array(partitions).fill(Number.POSITIVE_INFINITY)
    this.#unread = Array.from({ length: partitions }, (_, i) => firstKey(i))
  }

  get size(): number {
    return this.#names.size
  }

  sizeOf(partition: number): number {
    return this.#names.sizeOf(partition)
  }

  /** Before this instant none may be visited. */
  get earliestDue(): number {
    return this.#earliest
  }

  has(host: string, partition: number): boolean {
    return this.#names.has(host, partition)
  }

  /** Takes a host in, with what is written of it. */
  add(host: string, partition: number, due: number, record: string, sleeps: boolean): void {
    const at = partitionText(partition)
    const key = entryKey(at, due, host)
    this.#names.add(host, partition)
    this.#journal.put(key, record)
    this.#note(partition, Math.floor(due), key)
    if (!sleeps) return
    this.#sleepers.add(host, partition)
    this.#journal.put(sleeperKey(at, host), key)
  }

  /** A request of a host here may be due: if the host sleeps, it is woken. */
  wake(host: string, partition: number, now: number): void {
    if (!this.#sleepers.delete(host, partition)) return
    const key = wakeKey(partitionText(partition), now, host)
    this.#journal.put(key, '')
    this.#note(partition, Math.floor(now), key)
  }

  /** The host is in memory now. */
  delete({ host, wake }: ColdEntry, partition: number): void {
    this.#names.delete(host, partition)
    this.#sleepers.delete(host, partition)
    this.#journal.remove(sleeperKey(partitionText(partition), host))
    if (wake !== undefined) this.#journal.remove(wake)
  }

  /** Takes up the entries of partitions, ascending, that are on disk. */
  async load(
    database: Database,
    partitions: readonly number[],
    partitionOf: (host: string) => number,
  ): Promise<void> {
    for (const range of rangesOf('q', partitions)) {
      for await (const keys of database.scanKeys(range)) {
        for (const key of keys) {
          const { due, host, wakes } = entryOf(key)
          const partition = partitionIn(key)
          if (partitionOf(host) !== partition) throw misplaced(host, partition, partitionOf(host))
          this.#note(partition, due, key)
          if (!wakes) this.#names.add(host, partition)
        }
      }
    }
    for (const range of rangesOf('w', partitions)) {
      for await (const keys of database.scanKeys(range)) {
        for (const key of keys) this.#sleepers.add(key.slice(5), partitionIn(key))
      }
    }
  }

  /** From now on nothing of these partitions is taken. */
  hold(partitions: Iterable<number>): void {
    for (const partition of partitions) {
      this.#held.add(partition)
      this.#firstDue[partition] = Number.POSITIVE_INFINITY
    }
    this.#findEarliest()
  }

  /** Forgets partitions that were held: another thread has them. */
  drop(partitions: Iterable<number>): void {
    for (const partition of partitions) {
      this.#names.drop(partition)
      this.#sleepers.drop(partition)
      this.#unread[partition] = firstKey(partition)
      this.#held.delete(partition)
    }
  }

  /** Hosts that may be visited at `now`, at most so many; a few more if they are found together. */
  async take(database: Database, now: number, most: number): Promise<ColdEntry[]> {
    this.#addedMeanwhile = []
    const found: ColdEntry[] = []
    try {
      await this.#journal.flush()
      while (found.length < most && this.#earliest <= now) {
        const partition = this.#firstDue.indexOf(this.#earliest)
        found.push(...(await this.#takeFrom(database, partition, now)))
      }
    } finally {
      const added = this.#addedMeanwhile
      this.#addedMeanwhile = undefined
      for (const { partition, due, key } of added) this.#note(partition, due, key)
    }
    return found
  }

  async #takeFrom(database: Database, partition: number, now: number): Promise<ColdEntry[]> {
    const to = `q${partitionText(partition)}${END}`
    const entries = await database.read({ from: this.#unread[partition]!, to, limit: STRIDE + 1 })
    const found: ColdEntry[] = []
    let next = Number.POSITIVE_INFINITY
    let unread = this.#unread[partition]!
    for (const [i, [key, record]] of entries.entries()) {
      const { due, host, wakes } = entryOf(key)
      if (due > now || i === STRIDE) {
        next = due
        break
      }
      unread = `${key}\0`
      const entry = wakes ? await this.#woken(database, partition, key, host) : { key, host, record }
      if (entry !== undefined && this.has(host, partition)) found.push(entry)
    }
    // It is leaving, or has left.
    if (this.#held.has(partition)) return []
    this.#unread[partition] = unread
    this.#firstDue[partition] = next
    this.#findEarliest()
    return found
  }

  /** The entry of a host that is to be woken; undefined if it has been. */
  async #woken(
    database: Database,
    partition: number,
    wake: string,
    host: string,
  ): Promise<ColdEntry | undefined> {
    const isHere = this.has(host, partition)
    const key = isHere ? await database.get(sleeperKey(partitionText(partition), host)) : undefined
    const record = key === undefined ? undefined : await database.get(key)
    if (key !== undefined && record !== undefined) return { key, host, record, wake }
    this.#journal.remove(wake)
    return undefined
  }

  #findEarliest(): void {
    this.#earliest = this.#firstDue.reduce((least, due) => Math.min(least, due), Number.POSITIVE_INFINITY)
  }

  #note(partition: number, due: number, key: string): void {
    if (this.#held.has(partition)) return
    if (this.#addedMeanwhile !== undefined) {
      this.#addedMeanwhile.push({ partition, due, key })
      return
    }
    if (due < this.#firstDue[partition]!) this.#firstDue[partition] = due
    if (due < this.#earliest) this.#earliest = due
    if (key < this.#unread[partition]!) this.#unread[partition] = key
  }
}

/** With fewer partitions each may hold so many names that growing in one piece would take long. */
const MANY_PARTITIONS = 64

/** Names of hosts, kept apart by partition. */
class Names {
  readonly #sets = new Map<number, FingerprintSet>()
  readonly #print = new Uint32Array(2)
  readonly #memory: Slabs
  readonly #segments: number | undefined
  size = 0

  constructor(partitions: number, memory: Slabs) {
    this.#memory = memory
    this.#segments = partitions < MANY_PARTITIONS ? undefined : 1
  }

  sizeOf(partition: number): number {
    return this.#sets.get(partition)?.size ?? 0
  }

  has(host: string, partition: number): boolean {
    const set = this.#sets.get(partition)
    if (set === undefined) return false
    fingerprint(host, this.#print)
    return set.has(this.#print, 0)
  }

  add(host: string, partition: number): void {
    let set = this.#sets.get(partition)
    if (set === undefined) {
      set = new FingerprintSet(this.#memory, this.#segments)
      this.#sets.set(partition, set)
    }
    fingerprint(host, this.#print)
    if (set.add(this.#print, 0)) this.size++
  }

  /** False: it was not there. */
  delete(host: string, partition: number): boolean {
    const set = this.#sets.get(partition)
    if (set === undefined || set.size === 0) return false
    fingerprint(host, this.#print)
    const wasThere = set.delete(this.#print, 0)
    if (wasThere) this.size--
    return wasThere
  }

  drop(partition: number): void {
    const set = this.#sets.get(partition)
    if (set === undefined) return
    this.size -= set.size
    set.clear()
    this.#sets.delete(partition)
  }
}

function firstKey(partition: number): string {
  return `q${partitionText(partition)}`
}

function misplaced(host: string, kept: number, now: number): KumoError {
  const message =
    `the store keeps ${host} in partition ${kept}, but partition() puts it into ${now}; ` +
    'use the partitioner that the crawl was begun with, or another folder'
  return new KumoError('KUMO_STORE_MISMATCH', message)
}
