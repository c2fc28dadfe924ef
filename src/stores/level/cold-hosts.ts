import { KumoError } from '../../errors.js'
import { FingerprintSet } from '../../seen/table.js'
import { fingerprint } from '../../url/fingerprint.js'
import type { Database } from './database.js'
import type { Journal } from './journal.js'
import { END, entryKey, entryOf, partitionText, sleeperKey, wakeKey } from './keys.js'

/** An entry of a host on disk. */
export interface ColdEntry {
  readonly key: string
  readonly host: string
  readonly record: string
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
  readonly #names = new FingerprintSet()
  /** Those that sleep. */
  readonly #sleepers = new FingerprintSet()
  readonly #print = new Uint32Array(2)
  readonly #journal: Journal
  /** For each partition, before which instant there is nothing. */
  readonly #firstDue: Float64Array
  /** For each partition, from which key on there are entries that were not read. */
  readonly #unread: string[]
  /** Entries that are added while hosts are taken: the disk may not have them yet, so they count from then on. */
  #addedMeanwhile: { partition: number; due: number; key: string }[] | undefined = undefined
  #earliest = Number.POSITIVE_INFINITY

  constructor(partitions: number, journal: Journal) {
    this.#journal = journal
    this.#firstDue = new Float64Array(partitions).fill(Number.POSITIVE_INFINITY)
    this.#unread = Array.from({ length: partitions }, (_, i) => `q${partitionText(i)}`)
  }

  get size(): number {
    return this.#names.size
  }

  /** Before this instant none may be visited. */
  get earliestDue(): number {
    return this.#earliest
  }

  has(host: string): boolean {
    if (this.#names.size === 0) return false
    fingerprint(host, this.#print)
    return this.#names.has(this.#print, 0)
  }

  /** Takes a host in, with what is written of it. */
  add(host: string, partition: number, due: number, record: string, sleeps: boolean): void {
    const at = partitionText(partition)
    const key = entryKey(at, due, host)
    fingerprint(host, this.#print)
    this.#names.add(this.#print, 0)
    this.#journal.put(key, record)
    this.#note(partition, Math.floor(due), key)
    if (!sleeps) return
    this.#sleepers.add(this.#print, 0)
    this.#journal.put(sleeperKey(at, host), key)
  }

  /** A host that is here got a request that is due at `now`. */
  wake(host: string, partition: number, now: number): void {
    if (this.#sleepers.size === 0) return
    fingerprint(host, this.#print)
    if (!this.#sleepers.delete(this.#print, 0)) return
    const key = wakeKey(partitionText(partition), now, host)
    this.#journal.put(key, '')
    this.#note(partition, Math.floor(now), key)
  }

  /** The host is in memory now. */
  delete(host: string, partition: number): void {
    fingerprint(host, this.#print)
    this.#names.delete(this.#print, 0)
    this.#sleepers.delete(this.#print, 0)
    this.#journal.remove(sleeperKey(partitionText(partition), host))
  }

  /** Takes up the entries that are on disk when the store is opened. */
  async load(database: Database, partitionOf: (host: string) => number): Promise<void> {
    for await (const keys of database.scanKeys({ from: 'q', to: 'r' })) {
      for (const key of keys) {
        const { due, host, wakes } = entryOf(key)
        const partition = Number.parseInt(key.slice(1, 5), 16)
        if (partitionOf(host) !== partition) throw misplaced(host, partition, partitionOf(host))
        if (due < this.#firstDue[partition]!) this.#firstDue[partition] = due
        if (due < this.#earliest) this.#earliest = due
        if (wakes) continue
        fingerprint(host, this.#print)
        this.#names.add(this.#print, 0)
      }
    }
    for await (const keys of database.scanKeys({ from: 'w', to: 'x' })) {
      for (const key of keys) {
        fingerprint(key.slice(5), this.#print)
        this.#sleepers.add(this.#print, 0)
      }
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
      if (entry !== undefined && this.has(host)) found.push(entry)
    }
    this.#unread[partition] = unread
    this.#firstDue[partition] = next
    this.#earliest = this.#firstDue.reduce((least, due) => Math.min(least, due), Number.POSITIVE_INFINITY)
    return found
  }

  /** The entry of a host that is to be woken; undefined if it has been. */
  async #woken(
    database: Database,
    partition: number,
    wake: string,
    host: string,
  ): Promise<ColdEntry | undefined> {
    this.#journal.remove(wake)
    if (!this.has(host)) return undefined
    const key = await database.get(sleeperKey(partitionText(partition), host))
    const record = key === undefined ? undefined : await database.get(key)
    return key === undefined || record === undefined ? undefined : { key, host, record }
  }

  #note(partition: number, due: number, key: string): void {
    if (this.#addedMeanwhile !== undefined) {
      this.#addedMeanwhile.push({ partition, due, key })
      return
    }
    if (due < this.#firstDue[partition]!) this.#firstDue[partition] = due
    if (due < this.#earliest) this.#earliest = due
    if (key < this.#unread[partition]!) this.#unread[partition] = key
  }
}

function misplaced(host: string, kept: number, now: number): KumoError {
  const message =
    `the store keeps ${host} in partition ${kept}, but partition() puts it into ${now}; ` +
    'use the partitioner that the crawl was begun with, or another folder'
  return new KumoError('KUMO_STORE_MISMATCH', message)
}
