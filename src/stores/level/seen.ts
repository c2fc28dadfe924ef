import { KumoError } from '../../errors.js'
import type { SeenStore } from '../../seen/contract.js'
import { FingerprintSet } from '../../seen/table.js'
import type { CrawlRequest } from '../../types.js'
import { fingerprint } from '../../url/fingerprint.js'
import { knownAs } from '../../url/known-as.js'
import type { Database } from './database.js'
import type { Journal } from './journal.js'
import { partitionText, printsKey } from './keys.js'

const PRINT_WORDS = 2

/**
 * Known names as fingerprints: all in memory, and on disk in the order in which they became known, a few for each commit
 * and partition. A name is written when its request is (`taken`), in the same commit: a name that were known alone would
 * be lost, for nobody would add it again.
 */
export class LevelSeen implements SeenStore {
  readonly #journal: Journal
  #known = new FingerprintSet()
  readonly #print = new Uint32Array(PRINT_WORDS)
  /** Fingerprints for the next commit, by partition. */
  #fresh = new Map<number, number[]>()
  #loading: Promise<void> | undefined
  #closed = false
  #sizeAtClose = 0

  constructor(journal: Journal) {
    this.#journal = journal
  }

  get size(): number {
    return this.#closed ? this.#sizeAtClose : this.#known.size
  }

  /** Takes up what is on disk, beside the loop: until that is done, questions wait. */
  load(database: Database): void {
    this.#loading = this.#load(database).finally(() => {
      this.#loading = undefined
    })
    // Whoever asks hears of a failure.
    this.#loading.catch(() => {})
  }

  addAll(urls: readonly string[]): boolean[] | Promise<boolean[]> {
    if (this.#closed) throw new KumoError('KUMO_STORE_FAILED', 'addAll: the seen-set is closed')
    return this.#loading === undefined ? this.#add(urls) : this.#loading.then(() => this.#add(urls))
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
    if (this.#fresh.size === 0) return
    for (const [partition, prints] of this.#fresh) {
      const words = Uint32Array.from(prints)
      const key = printsKey(partitionText(partition), this.#journal.commit)
      this.#journal.put(key, new Uint8Array(words.buffer))
    }
    this.#fresh = new Map()
  }

  close(): void {
    if (this.#closed) return
    this.#sizeAtClose = this.#known.size
    this.#closed = true
    this.#known.clear()
  }

  #add(urls: readonly string[]): boolean[] {
    const fresh: boolean[] = []
    for (const url of urls) {
      fingerprint(url, this.#print)
      fresh.push(this.#known.add(this.#print, 0))
    }
    return fresh
  }

  async #load(database: Database): Promise<void> {
    for await (const entries of database.scanBytes({ from: 's', to: 't' })) {
      if (this.#closed) return
      for (const [, bytes] of entries) {
        const words = new Uint32Array(bytes.slice().buffer)
        for (let i = 0; i < words.length; i += PRINT_WORDS) this.#known.add(words, i)
      }
    }
  }
}
