import { KumoError } from '../../errors.js'
import type { SeenStore } from '../../seen/contract.js'
import { FingerprintSet } from '../../seen/table.js'
import type { CrawlRequest } from '../../types.js'
import { hostOf } from '../../url/canonicalise.js'
import { fingerprint } from '../../url/fingerprint.js'
import { knownAs, urlIn } from '../../url/known-as.js'
import { Archive } from './archive.js'
import type { Database } from './database.js'
import type { Journal } from './journal.js'
import { partitionText, printsKey } from './keys.js'

const PRINT_WORDS = 2
/** Names whose fingerprints are made before the first of them is looked up: see seen/table.ts. */
const CHUNK = 256

export interface LevelSeenParts {
  readonly database: Database
  readonly journal: Journal
  readonly partitions: number
  /** Names that the last run knew. */
  readonly known: number
  /** Fingerprints in memory; beyond that, those known longest are on disk only. */
  readonly inMemory: number
  partitionOf(host: string): number
}

/**
 * Known names as fingerprints: in memory, and on disk in the order in which they became known, a few for each commit and
 * partition. A name is written when its request is (`taken`), in the same commit: a name that were known alone would be
 * lost, for nobody would add it again.
 *
 * When memory holds as many as it may, half of them move to the archive, beside the loop.
 */
export class LevelSeen implements SeenStore {
  readonly #parts: LevelSeenParts
  readonly #archive: Archive
  /** Known lately. */
  #young = new FingerprintSet()
  /** On its way to the archive. */
  #old = new FingerprintSet()
  readonly #print = new Uint32Array(PRINT_WORDS)
  readonly #prints = new Uint32Array(CHUNK * PRINT_WORDS)
  readonly #whole = new BigUint64Array(this.#print.buffer)
  /** Fingerprints for the next commit, by partition. */
  #fresh = new Map<number, number[]>()
  /** Questions wait for what is before them: the disk, when the store was opened or the archive is asked. */
  #before: Promise<unknown> | undefined = undefined
  #failure: { readonly error: unknown } | undefined = undefined
  #isLoading = false
  #isMoving = false
  #closed = false
  #sizeAtClose = 0

  constructor(parts: LevelSeenParts) {
    this.#parts = parts
    this.#archive = new Archive(parts.database)
  }

  get size(): number {
    if (this.#closed) return this.#sizeAtClose
    if (this.#isLoading) return this.#parts.known
    return this.#young.size + this.#old.size + this.#archive.size
  }

  /** Takes up what is on disk, beside the loop: until that is done, questions wait. */
  load(): void {
    this.#isLoading = true
    const loading = this.#load().catch((error) => {
      this.#failure = { error }
    })
    this.#wait(loading)
  }

  addAll(urls: readonly string[]): boolean[] | Promise<boolean[]> {
    if (this.#closed) throw new KumoError('KUMO_STORE_FAILED', 'addAll: the seen-set is closed')
    if (this.#failure !== undefined) throw this.#failure.error
    if (this.#isLoading) return this.#before!.then(() => this.addAll(urls))
    if (this.#young.size * 2 > this.#parts.inMemory) this.#move()
    if (this.#archive.size === 0) return this.#add(urls)
    return urls.some((url) => this.#isDoubtful(url)) ? this.#ask(urls) : this.#add(urls)
  }

  /** The request of a name is kept from the next commit on, and the name with it. */
  taken(request: CrawlRequest, partition: number): void {
    fingerprint(knownAs(request), this.#print)
    const fresh = this.#fresh.get(partition)
    if (fresh === undefined) this.#fresh.set(partition, [this.#print[0]!, this.#print[1]!])
    else fresh.push(this.#print[0]!, this.#print[1]!)
  }

  /** Puts what is new into the journal. */
  contribute(): void {
    const { journal } = this.#parts
    for (const [partition, prints] of this.#fresh) {
      const words = Uint32Array.from(prints)
      journal.put(printsKey(partitionText(partition), journal.commit), new Uint8Array(words.buffer))
    }
    this.#fresh = new Map()
  }

  close(): void {
    if (this.#closed) return
    this.#sizeAtClose = this.size
    this.#closed = true
    this.#young.clear()
    this.#old.clear()
  }

  #add(urls: readonly string[]): boolean[] {
    const fresh: boolean[] = []
    const prints = this.#prints
    for (let from = 0; from < urls.length; from += CHUNK) {
      const count = Math.min(urls.length - from, CHUNK)
      for (let i = 0; i < count; i++) fingerprint(urls[from + i]!, prints, i * PRINT_WORDS)
      this.#young.warm(prints, count)
      for (let at = 0; at < count * PRINT_WORDS; at += PRINT_WORDS) {
        fresh.push(!this.#old.has(prints, at) && this.#young.add(prints, at))
      }
    }
    return fresh
  }

  /** Whether only the archive knows. */
  #isDoubtful(url: string): boolean {
    fingerprint(url, this.#print)
    const [low, high] = [this.#print[0]!, this.#print[1]!]
    if (this.#young.has(this.#print, 0) || this.#old.has(this.#print, 0)) return false
    return this.#archive.mayHave(this.#partitionOf(url), low, high)
  }

  /** The archive is asked by one call after the other, so that only one of two that overlap adds a name. */
  #ask(urls: readonly string[]): Promise<boolean[]> {
    const asking = (this.#before ?? Promise.resolve()).then(async () => {
      const doubtful: number[] = []
      // What is beyond doubt is decided now: later, memory may have given it to the archive.
      const fresh = urls.map((url, i) => {
        if (!this.#isDoubtful(url)) return this.#add([url])[0]!
        doubtful.push(i)
        return false
      })
      const archived = await this.#archive.has(
        doubtful.map((i) => {
          fingerprint(urls[i]!, this.#print)
          return { partition: this.#partitionOf(urls[i]!), print: this.#whole[0]! }
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

  /** What is asked from now on waits for this. Whoever asked hears of a failure. */
  #wait(what: Promise<unknown>): void {
    const settled = what.catch(() => {})
    this.#before = settled
    void settled.then(() => {
      if (this.#before === settled) this.#before = undefined
    })
  }

  /** Moves what is in memory to the archive, partition by partition. */
  #move(): void {
    if (this.#isMoving) return
    this.#isMoving = true
    this.#old = this.#young
    this.#young = new FingerprintSet()
    void this.#moveOld()
      // The disk is in trouble, which the journal tells.
      .catch(() => {})
      .then(() => {
        // Names whose requests are still to come, and those refused as traps, are known to memory only.
        this.#old.addTo(this.#young)
        this.#old = new FingerprintSet()
        this.#isMoving = false
      })
  }

  async #moveOld(): Promise<void> {
    const { journal, partitions } = this.#parts
    const upTo = journal.commit
    await journal.flush()
    for (let partition = 0; partition < partitions && !this.#closed; partition++) {
      await this.#archive.take(partition, upTo, (prints, at) => {
        // Names of the last commit may be young already.
        if (!this.#old.delete(prints, at)) this.#young.delete(prints, at)
      })
    }
  }

  #partitionOf(url: string): number {
    return this.#parts.partitionOf(hostOf(urlIn(url)))
  }

  async #load(): Promise<void> {
    await this.#archive.load()
    for await (const entries of this.#parts.database.scanBytes({ from: 's', to: 't' })) {
      if (this.#closed) return
      for (const [, bytes] of entries) {
        const words = new Uint32Array(bytes.slice().buffer)
        for (let i = 0; i < words.length; i += PRINT_WORDS) this.#young.add(words, i)
      }
    }
    this.#isLoading = false
  }
}
