import { KumoError } from '../../../errors.js'
import { Slabs } from '../../../seen/slabs.js'
import { FingerprintSet } from '../../../seen/table.js'
import { fingerprint } from '../../../url/fingerprint.js'
import type { Database } from '../db/database.js'
import type { Journal } from '../db/journal.js'
import {
  END,
  entryKey,
  entryOf,
  laterMarkKey,
  partitionIn,
  partitionText,
  rangesOf,
  sleeperKey,
  turnIn,
  wakeKey,
} from '../format/keys.js'

/** The entry of a host on disk. */
export interface HostEntry {
  readonly key: string
  readonly host: string
  readonly record: string
  /** The key of the entry that woke it, if any. */
  readonly wake?: string
}

/** A host that moves to disk. */
export interface HostOnDisk {
  readonly host: string
  readonly partition: number
  /** When it may be visited. */
  readonly due: number
  /** Its position among hosts that are due at the same instant. */
  readonly turn: number
  /** Its serialized state. */
  readonly record: string
  /** It may be visited, but none of its requests is due. */
  readonly sleeps: boolean
}

/** Entries read ahead, over all partitions: a few megabytes at most. */
const READ_AHEAD = 8192
/** Entries read from a partition at a time, at least: fewer would not be worth a read. */
const MIN_CHUNK = 8

/** The next entries of a partition, as stored. Never empty. */
interface ReadAhead {
  readonly entries: [key: string, record: string][]
  /** No entry after them comes before this. */
  next: Place
}

/** A position in the queue of hosts: by the time from which they may be visited, then first come, first served. */
export interface Place {
  readonly due: number
  readonly turn: number
}

/**
 * Hosts with requests that are on disk only, in one queue over all partitions, ordered by the time from which they may
 * be visited, then first come, first served. Memory holds a fingerprint of each host's name, about ten bytes, and for
 * each partition the position of its first host and a few entries read ahead. Filled when a new host finds the working
 * window full and when a host has to leave it; emptied by `take`.
 *
 * An entry stays on disk while its host is in memory, so that after a crash all hosts are found. In each partition
 * reading continues where it ended, so that entries of hosts in memory are skipped only once; it goes back for entries
 * added before that.
 *
 * A host may be *asleep*: it may be visited, but none of its requests is due. If a request is added that may be due, a
 * second entry is written that wakes the host.
 *
 * Instants are on the store's scale, in whole milliseconds.
 */
export class HostsOnDisk {
  readonly #names: Names
  /** Hosts that are asleep. */
  readonly #sleepers: Names
  /** Hosts that got requests for later while they were here: their records do not say so. */
  readonly #withLater: Names
  readonly #journal: Journal
  /** By partition, the position before which there is nothing. */
  readonly #firstDue: Float64Array
  readonly #firstTurn: Float64Array
  /** By partition, entries that were read and not taken. */
  readonly #read = new Map<number, ReadAhead>()
  /** By partition, the first key that was not read. */
  readonly #unread: string[]
  readonly #chunk: number
  /** Partitions from which nothing is taken any more. */
  readonly #held = new Set<number>()
  /** Entries added while hosts are being taken. They may not be on disk yet, so they take effect afterwards. */
  #addedMeanwhile: { partition: number; key: string }[] | undefined = undefined
  /** Hosts among them: an older entry of theirs that is read now is about to be removed. */
  readonly #hostsAddedMeanwhile = new Set<string>()
  /** The partition with the very first host. */
  #earliest = 0

  constructor(partitions: number, journal: Journal) {
    this.#journal = journal
    const memory = new Slabs()
    this.#names = new Names(partitions, memory)
    this.#sleepers = new Names(partitions, memory)
    this.#withLater = new Names(partitions, memory)
    this.#firstDue = new Float64Array(partitions).fill(Number.POSITIVE_INFINITY)
    this.#firstTurn = new Float64Array(partitions)
    this.#unread = Array.from({ length: partitions }, (_, i) => firstKey(i))
    this.#chunk = Math.max(MIN_CHUNK, Math.ceil(READ_AHEAD / partitions))
  }

  get size(): number {
    return this.#names.size
  }

  sizeOf(partition: number): number {
    return this.#names.sizeOf(partition)
  }

  /** Hosts that are awake, as far as is known. */
  awakeIn(partition: number): number {
    return this.#names.sizeOf(partition) - this.#sleepers.sizeOf(partition)
  }

  /** No host may be visited before this. */
  get earliestDue(): number {
    return this.#firstDue[this.#earliest]!
  }

  /** No host has a position before this. */
  get first(): Place {
    return { due: this.earliestDue, turn: this.#firstTurn[this.#earliest]! }
  }

  has(host: string, partition: number): boolean {
    return this.#names.has(host, partition)
  }

  /** Adds a host. */
  add({ host, partition, due, turn, record, sleeps }: HostOnDisk): void {
    const at = partitionText(partition)
    const key = entryKey(at, due, host, turn)
    this.#names.add(host, partition)
    if (this.#addedMeanwhile !== undefined) this.#hostsAddedMeanwhile.add(host)
    this.#journal.put(key, record)
    this.#note(partition, key)
    if (!sleeps) return
    this.#sleepers.add(host, partition)
    this.#journal.put(sleeperKey(at, host), key)
  }

  /** A request of this host may be due: if the host is asleep, it is woken. */
  wake(host: string, partition: number, now: number, turn: number): void {
    if (!this.#sleepers.delete(host, partition)) return
    const key = wakeKey(partitionText(partition), now, host, turn)
    this.#journal.put(key, '')
    this.#note(partition, key)
  }

  /** A request for later was added to a host. */
  noteLater(host: string, partition: number): void {
    if (this.#withLater.has(host, partition)) return
    this.#withLater.add(host, partition)
    this.#journal.put(laterMarkKey(partitionText(partition), host), '')
  }

  /**
   * Whether requests for later were added to a host since its record was written. If so, the mark is removed, and the
   * caller must write the record.
   */
  takeLater(host: string, partition: number): boolean {
    if (!this.#withLater.delete(host, partition)) return false
    this.#journal.remove(laterMarkKey(partitionText(partition), host))
    return true
  }

  /** The host is in memory now. */
  delete({ host, wake }: HostEntry, partition: number): void {
    this.#names.delete(host, partition)
    this.#sleepers.delete(host, partition)
    this.#journal.remove(sleeperKey(partitionText(partition), host))
    if (wake === undefined) return
    this.#journal.remove(wake)
    // Its own entry may have been read ahead, and must not be mistaken for that of its next stay here.
    const first = this.#read.get(partition)?.entries[0]
    if (first !== undefined) this.#readAgain(partition, first[0])
  }

  /** Loads the entries of partitions, ascending, from disk. */
  async load(
    database: Database,
    partitions: readonly number[],
    partitionOf: (host: string) => number,
  ): Promise<void> {
    for (const range of rangesOf('q', partitions)) {
      for await (const keys of database.scanKeys(range)) {
        for (const key of keys) {
          const { host, wakes } = entryOf(key)
          const partition = partitionIn(key)
          if (partitionOf(host) !== partition) throw misplaced(host, partition, partitionOf(host))
          this.#note(partition, key)
          if (!wakes) this.#names.add(host, partition)
        }
      }
    }
    for (const range of rangesOf('w', partitions)) {
      for await (const keys of database.scanKeys(range)) {
        for (const key of keys) this.#sleepers.add(key.slice(5), partitionIn(key))
      }
    }
    for (const range of rangesOf('v', partitions)) {
      for await (const keys of database.scanKeys(range)) {
        for (const key of keys) this.#withLater.add(key.slice(5), partitionIn(key))
      }
    }
  }

  /** Stops taking from these partitions. */
  hold(partitions: Iterable<number>): void {
    for (const partition of partitions) {
      this.#held.add(partition)
      this.#read.delete(partition)
      this.#firstDue[partition] = Number.POSITIVE_INFINITY
    }
    this.#findEarliest()
  }

  /** Forgets partitions that were held: another thread has them. */
  drop(partitions: Iterable<number>): void {
    for (const partition of partitions) {
      this.#names.drop(partition)
      this.#sleepers.drop(partition)
      this.#withLater.drop(partition)
      this.#unread[partition] = firstKey(partition)
      this.#held.delete(partition)
    }
  }

  /** Hosts that may be visited at `now`, in order, in slices; at most `most`. */
  async *take(database: Database, now: number, most: number, slice: number): AsyncGenerator<HostEntry[]> {
    this.#addedMeanwhile = []
    try {
      await this.#journal.flush()
      for (let left = most; left > 0 && this.earliestDue <= now; ) {
        const found = await this.#takeSome(database, now, Math.min(left, slice))
        left -= found.length
        yield found
      }
    } finally {
      const added = this.#addedMeanwhile
      this.#addedMeanwhile = undefined
      this.#hostsAddedMeanwhile.clear()
      for (const { partition, key } of added) this.#note(partition, key)
    }
  }

  async #takeSome(database: Database, now: number, most: number): Promise<HostEntry[]> {
    const found: HostEntry[] = []
    while (found.length < most && this.earliestDue <= now) {
      const partition = this.#earliest
      const read = this.#read.get(partition)
      if (read === undefined) {
        await this.#readOn(database, partition, now)
        continue
      }
      const [key, record] = read.entries.shift()!
      const { host, wakes } = entryOf(key)
      this.#advanced(partition, read)
      const entry = wakes ? await this.#woken(database, partition, key, host) : { key, host, record }
      const isHere =
        this.has(host, partition) && !this.#held.has(partition) && !this.#hostsAddedMeanwhile.has(host)
      if (entry !== undefined && isHere) found.push(entry)
    }
    return found
  }

  /** Reads the next entries of a partition that may be visited at `now`. */
  async #readOn(database: Database, partition: number, now: number): Promise<void> {
    const to = `q${partitionText(partition)}${END}`
    const found = await database.read({ from: this.#unread[partition]!, to, limit: this.#chunk })
    // The partition is leaving, or has left.
    if (this.#held.has(partition)) return
    const isLater = ([key]: [string, string]) => entryOf(key).due > now
    const later = found.findIndex(isLater)
    const due = later < 0 ? found : found.slice(0, later)
    const last = due.at(-1)?.[0]
    if (last !== undefined) this.#unread[partition] = `${last}\0`
    let next = NEVER
    if (later >= 0) next = placeIn(found[later]![0])
    else if (found.length === this.#chunk) next = placeIn(last!)
    const entries = due.filter(([key]) => this.#isOnDiskOnly(key, partition))
    const read = { entries, next }
    this.#read.set(partition, read)
    this.#advanced(partition, read)
  }

  /** Entries of hosts in memory stay where they are. */
  #isOnDiskOnly(key: string, partition: number): boolean {
    const { host, wakes } = entryOf(key)
    return wakes || (this.has(host, partition) && !this.#hostsAddedMeanwhile.has(host))
  }

  /** The first entry of a partition has changed. */
  #advanced(partition: number, { entries, next }: ReadAhead): void {
    const { due, turn } = entries.length > 0 ? placeIn(entries[0]![0]) : next
    if (entries.length === 0) this.#read.delete(partition)
    this.#firstDue[partition] = due
    this.#firstTurn[partition] = turn
    this.#findEarliest()
  }

  /** The entry of a host that is to be woken; undefined if it has been woken already. */
  async #woken(
    database: Database,
    partition: number,
    wake: string,
    host: string,
  ): Promise<HostEntry | undefined> {
    const isHere = this.has(host, partition)
    const key = isHere ? await database.get(sleeperKey(partitionText(partition), host)) : undefined
    const record = key === undefined ? undefined : await database.get(key)
    if (key !== undefined && record !== undefined) return { key, host, record, wake }
    this.#journal.remove(wake)
    return undefined
  }

  #findEarliest(): void {
    const [dues, turns] = [this.#firstDue, this.#firstTurn]
    let first = 0
    for (let i = 1; i < dues.length; i++) {
      if (dues[i]! < dues[first]! || (dues[i] === dues[first] && turns[i]! < turns[first]!)) first = i
    }
    this.#earliest = first
  }

  #note(partition: number, key: string): void {
    if (this.#held.has(partition)) return
    if (this.#addedMeanwhile !== undefined) {
      this.#addedMeanwhile.push({ partition, key })
      return
    }
    const place = placeIn(key)
    if (isBefore(place, { due: this.#firstDue[partition]!, turn: this.#firstTurn[partition]! })) {
      this.#firstDue[partition] = place.due
      this.#firstTurn[partition] = place.turn
    }
    if (isBefore(place, this.first)) this.#earliest = partition
    const read = this.#read.get(partition)
    if (key < this.#unread[partition]!) this.#readAgain(partition, key)
    else if (read !== undefined && isBefore(place, read.next)) read.next = place
  }

  /** Goes back to a key, or to the first entry that was not taken if that comes before it. */
  #readAgain(partition: number, key: string): void {
    const first = this.#read.get(partition)?.entries[0]?.[0]
    this.#unread[partition] = first !== undefined && first < key ? first : key
    this.#read.delete(partition)
  }
}

const NEVER: Place = { due: Number.POSITIVE_INFINITY, turn: 0 }

function placeIn(key: string): Place {
  return { due: entryOf(key).due, turn: turnIn(key) }
}

function isBefore(one: Place, other: Place): boolean {
  return one.due < other.due || (one.due === other.due && one.turn < other.turn)
}

/** With fewer partitions, each may hold so many names that growing in one piece would block the event loop. */
const MANY_PARTITIONS = 64

/** Names of hosts, by partition. */
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
    `the store has ${host} in partition ${kept}, but the partitioner assigns it to ${now}; ` +
    'use the partitioner that the crawl was started with, or another folder'
  return new KumoError('KUMO_STORE_MISMATCH', message)
}
