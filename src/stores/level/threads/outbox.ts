/** Batches sent to other shards, kept until their receivers have stored them. */

import type { Leftover, Outbox } from '../../contract.js'
import type { Database } from '../db/database.js'
import type { Journal } from '../db/journal.js'
import { batchIn, OUTBOXES, outboxKey } from '../format/keys.js'

export class LevelOutbox implements Outbox {
  readonly #journal: Journal
  readonly #writer: number
  readonly firstBatch: number
  /** Greater than the number of any batch that was put. */
  nextBatch: number

  constructor(journal: Journal, writer: number, firstBatch: number) {
    this.#journal = journal
    this.#writer = writer
    this.firstBatch = firstBatch
    this.nextBatch = firstBatch
  }

  put(batch: number, text: string): void {
    this.nextBatch = Math.max(this.nextBatch, batch + 1)
    this.#journal.put(outboxKey(this.#writer, batch), text)
  }

  remove(batch: number): void {
    this.#journal.remove(outboxKey(this.#writer, batch))
  }

  whenDurable(then: () => void): void {
    this.#journal.whenDurable(then)
  }
}

/** Batches whose senders no longer exist. */
export class Leftovers {
  readonly #database: Database
  readonly #journal: Journal

  constructor(database: Database, journal: Journal) {
    this.#database = database
    this.#journal = journal
  }

  /** In order. The selection is made now: a replacement of the sender may add batches while these are read. */
  read(isLeft: (writer: number, batch: number) => boolean): AsyncIterable<Leftover> {
    const keys = this.#keys(isLeft)
    // The rejection reaches the code that iterates.
    keys.catch(() => {})
    return this.#read(keys)
  }

  drop(id: string): void {
    if (id.startsWith(OUTBOXES.from)) this.#journal.remove(id)
  }

  async #keys(isLeft: (writer: number, batch: number) => boolean): Promise<string[]> {
    const left: string[] = []
    for await (const keys of this.#database.scanKeys(OUTBOXES)) {
      for (const key of keys) {
        const { writer, batch } = batchIn(key)
        if (isLeft(writer, batch)) left.push(key)
      }
    }
    return left
  }

  async *#read(keys: Promise<string[]>): AsyncGenerator<Leftover> {
    for (const id of await keys) {
      if (this.#journal.staged(id) === null) continue
      const text = await this.#database.get(id)
      if (text !== undefined) yield { id, text }
    }
  }
}
