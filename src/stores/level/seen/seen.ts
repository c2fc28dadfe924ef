import { KumoError } from '../../../errors.js'
import type { SeenStore } from '../../../seen/contract.js'
import { PartitionLookup } from '../../../seen/partition-lookup.js'
import type { CrawlRequest } from '../../../types.js'
import { fingerprint } from '../../../url/fingerprint.js'
import { knownAs } from '../../../url/known-as.js'
import type { Database } from '../db/database.js'
import type { Journal } from '../db/journal.js'
import type { Counts } from '../format/counts.js'
import { partitionIn, partitionText, printsKey, rangesOf } from '../format/keys.js'
import { Archive, readPrints } from './archive.js'
import { Prints } from './prints.js'

const PRINT_WORDS = 2
/** URLs whose fingerprints are computed before the first of them is looked up: see seen/table.ts. */
const CHUNK = 256

export interface LevelSeenParts {
  readonly database: Database
  readonly journal: Journal
  /** What its partitions hold; the seen-set updates the number of seen URLs. */
  readonly counts: Counts
  /** Fingerprints in memory; beyond that, the oldest are on disk only. */
  readonly inMemory: number
  /** Whether its partitions may move to other threads. */
  readonly mayLeave: boolean
  partitionOf(host: string): number
  /** Number of the next request. */
  nextSeq(): number
}

/**
 * Seen URLs as fingerprints: in memory, and on disk in the order in which they were added, a few per commit and
 * partition. A URL is stored in the same commit as its request (`added`): if it were stored alone, a crash would lose
 * the request, as the URL would never be added again.
 *
 * When memory is full, half of the fingerprints move to the archive, in the background.
 */
export class LevelSeen implements SeenStore {
  readonly #parts: LevelSeenParts
  readonly #archive: Archive
  /** Added recently. */
  #recent: Prints
  /** Being moved to the archive. */
  #old: Prints
  readonly #print = new Uint32Array(PRINT_WORDS)
  readonly #prints = new Uint32Array(CHUNK * PRINT_WORDS)
  /** The shelf of each of them. */
  readonly #shelves = new Int32Array(CHUNK)
  readonly #lookup: PartitionLookup
  readonly #print64 = new BigUint64Array(this.#print.buffer)
  /** Fingerprints for the next commit, by partition. */
  #fresh = new Map<number, number[]>()
  /** Partitions that are about to move to another thread. */
  #leaving: ReadonlySet<number> = new Set()
  /** Lookups wait for this: the disk, while the store is being opened or the archive is read. */
  #before: Promise<unknown> | undefined = undefined
  #failure: { readonly error: unknown } | undefined = undefined
  #isLoading = false
  #loaded: Promise<void> = Promise.resolve()
  #isMoving = false
  #closed = false
  #sizeAtClose = 0

  constructor(parts: LevelSeenParts) {
    this.#parts = parts
    this.#archive = new Archive(parts.database)
    this.#lookup = new PartitionLookup(parts.partitionOf)
    this.#recent = new Prints(!parts.mayLeave)
    this.#old = new Prints(!parts.mayLeave)
  }

  get size(): number {
    if (this.#closed) return this.#sizeAtClose
    if (this.#isLoading) return this.#parts.counts.known
    return this.#recent.size + this.#old.size + this.#archive.size
  }

  /** Loads what is on disk, in the background. Until that is done, lookups wait. */
  load(): void {
    this.#isLoading = true
    this.#loaded = this.#load().catch((error) => {
      this.#failure = { error }
    })
    this.#wait(this.#loaded)
  }

  addAll(urls: readonly string[]): boolean[] | Promise<boolean[]> {
    if (this.#closed) throw new KumoError('KUMO_STORE_FAILED', 'addAll: the seen-set is closed')
    this.#check()
    if (this.#isLoading) return this.#before!.then(() => this.addAll(urls))
    if (this.#recent.size * 2 > this.#parts.inMemory) this.#move()
    if (this.#archive.size === 0) return this.#add(urls)
    return urls.some((url) => this.#isDoubtful(url)) ? this.#addDoubtful(urls) : this.#add(urls)
  }

  /** The request of a URL becomes durable with the next commit, and the URL's fingerprint with it. */
  added(request: CrawlRequest, partition: number): void {
    fingerprint(knownAs(request), this.#print)
    this.#parts.counts.learned(partition)
    // A URL that was looked up on another thread is not looked up here.
    if (this.#parts.mayLeave) this.#recent.add(partition, this.#print, 0)
    const fresh = this.#fresh.get(partition)
    if (fresh === undefined) this.#fresh.set(partition, [this.#print[0]!, this.#print[1]!])
    else fresh.push(this.#print[0]!, this.#print[1]!)
  }

  /** Puts new fingerprints into the journal. */
  contribute(): void {
    const { journal, nextSeq } = this.#parts
    for (const [partition, prints] of this.#fresh) {
      const words = Uint32Array.from(prints)
      // Each list has the number of a request, so that no two lists of a partition have the same, whichever thread
      // wrote them.
      journal.put(printsKey(partitionText(partition), nextSeq()), new Uint8Array(words.buffer))
    }
    this.#fresh = new Map()
  }

  /** Resolves once nothing of these partitions is being read or moved, nor will be. */
  async hold(partitions: readonly number[]): Promise<void> {
    await this.#loaded
    this.#check()
    this.#leaving = new Set(partitions)
    await this.#archive.settled()
  }

  /** Forgets the partitions that are held. Returns their fingerprints that were in memory. */
  release(): (readonly [partition: number, prints: Uint32Array])[] {
    const partitions = [...this.#leaving]
    this.#leaving = new Set()
    this.#archive.drop(partitions)
    return partitions.flatMap((partition) =>
      [this.#recent, this.#old]
        .map((prints) => [partition, prints.empty(partition)] as const)
        .filter(([, prints]) => prints.length > 0),
    )
  }

  /** Adopts partitions, ascending, that another thread had, with the fingerprints from its memory. */
  async adopt(
    partitions: readonly number[],
    prints: readonly (readonly [partition: number, prints: Uint32Array])[],
  ): Promise<void> {
    await this.#loaded
    this.#check()
    await this.#archive.load(partitions)
    for (const [partition, some] of prints) this.#recent.addEach(partition, some)
    // Everything that was written is among these, unless a third thread had the partitions in between.
    await this.#readLists(partitions, () => {})
  }

  close(): void {
    if (this.#closed) return
    this.#sizeAtClose = this.size
    this.#closed = true
    this.#recent.clear()
    this.#old.clear()
  }

  #add(urls: readonly string[]): boolean[] {
    const fresh: boolean[] = []
    const prints = this.#prints
    const shelves = this.#shelves
    for (let from = 0; from < urls.length; from += CHUNK) {
      const count = Math.min(urls.length - from, CHUNK)
      for (let i = 0; i < count; i++) {
        fingerprint(urls[from + i]!, prints, i * PRINT_WORDS)
        shelves[i] = this.#shelfOf(urls[from + i]!)
      }
      for (let i = 0, end = 0; i < count; i = end) {
        while (end < count && shelves[end] === shelves[i]) end++
        this.#recent.warm(shelves[i]!, prints, end - i, i)
      }
      for (let i = 0; i < count; i++) {
        const at = i * PRINT_WORDS
        fresh.push(!this.#old.has(shelves[i]!, prints, at) && this.#recent.add(shelves[i]!, prints, at))
      }
    }
    return fresh
  }

  /** Whether only the archive can tell. */
  #isDoubtful(url: string): boolean {
    fingerprint(url, this.#print)
    const [low, high] = [this.#print[0]!, this.#print[1]!]
    const shelf = this.#shelfOf(url)
    if (this.#recent.has(shelf, this.#print, 0) || this.#old.has(shelf, this.#print, 0)) return false
    return this.#archive.mayHave(this.#lookup.partitionOf(url), low, high)
  }

  /** One call after the other reads the archive, so that only one of two overlapping calls adds a URL. */
  #addDoubtful(urls: readonly string[]): Promise<boolean[]> {
    const asking = (this.#before ?? Promise.resolve()).then(async () => {
      const doubtful: number[] = []
      // What is certain is decided now: later it may have moved from memory to the archive.
      const fresh = urls.map((url, i) => {
        if (!this.#isDoubtful(url)) return this.#add([url])[0]!
        doubtful.push(i)
        return false
      })
      const archived = await this.#archive.has(
        doubtful.map((i) => {
          fingerprint(urls[i]!, this.#print)
          return { partition: this.#lookup.partitionOf(urls[i]!), print: this.#print64[0]! }
        }),
      )
      for (const [question, i] of doubtful.entries()) {
        if (!archived[question]) fresh[i] = this.#add([urls[i]!])[0]!
      }
      return fresh
    })
    this.#wait(asking)
    return asking
  }

  /** Lookups from now on wait for this. A failure reaches the caller that started it. */
  #wait(operation: Promise<unknown>): void {
    const settled = operation.catch(() => {})
    this.#before = settled
    void settled.then(() => {
      if (this.#before === settled) this.#before = undefined
    })
  }

  /** Moves what is in memory to the archive, partition by partition. */
  #move(): void {
    if (this.#isMoving) return
    this.#isMoving = true
    this.#old = this.#recent
    this.#recent = new Prints(!this.#parts.mayLeave)
    void this.#moveOld()
      // A disk error, which the journal reports.
      .catch(() => {})
      .then(() => {
        // URLs without a request so far, and those rejected as traps, are known only in memory.
        this.#old.addTo(this.#recent)
        this.#old = new Prints(!this.#parts.mayLeave)
        this.#isMoving = false
      })
  }

  async #moveOld(): Promise<void> {
    const { journal, counts } = this.#parts
    await journal.flush()
    for (const partition of counts.partitions) {
      if (this.#closed) return
      if (!counts.owns(partition) || this.#leaving.has(partition)) continue
      const shelf = this.#parts.mayLeave ? partition : ONE_SHELF
      await this.#archive.archive(partition, (prints, at) => {
        // Fingerprints of the last commits may be in the recent set already.
        if (!this.#old.delete(shelf, prints, at)) this.#recent.delete(shelf, prints, at)
      })
    }
  }

  #shelfOf(url: string): number {
    return this.#parts.mayLeave ? this.#lookup.partitionOf(url) : ONE_SHELF
  }

  async #load(): Promise<void> {
    const { counts } = this.#parts
    const { partitions } = counts
    await this.#archive.load(partitions)
    // A URL that was stored twice was counted twice.
    const tooMany = new Map(
      partitions.map((each) => [each, counts.of(each).known - this.#archive.sizeOf(each)]),
    )
    await this.#readLists(partitions, (partition, fresh) => {
      tooMany.set(partition, tooMany.get(partition)! - fresh)
    })
    if (this.#closed) return
    for (const [partition, known] of tooMany) counts.forgot(partition, known)
    this.#isLoading = false
  }

  /** Loads fingerprints that are on disk but not archived. Calls `report` with the number of new ones in each list. */
  async #readLists(
    partitions: readonly number[],
    report: (partition: number, fresh: number) => void,
  ): Promise<void> {
    for (const range of rangesOf('s', partitions)) {
      for await (const entries of this.#parts.database.scanBytes(range)) {
        if (this.#closed) return
        for (const [key, bytes] of entries) {
          const partition = partitionIn(key)
          const shelf = this.#parts.mayLeave ? partition : ONE_SHELF
          const words = new Uint32Array(this.#parts.database.decode(key, readPrints, bytes).buffer)
          let fresh = 0
          for (let at = 0; at < words.length; at += PRINT_WORDS)
            if (this.#recent.add(shelf, words, at)) fresh++
          report(partition, fresh)
        }
      }
    }
  }

  #check(): void {
    if (this.#failure !== undefined) throw this.#failure.error
  }
}

/** Holds all fingerprints if partitions never leave. */
const ONE_SHELF = 0
