import type { ToWorker } from './messages.js'

interface Waiting {
  readonly shard: number
  readonly message: ToWorker
  readonly done: () => void
}

/**
 * Orders to threads whose end somebody waits for: carried out, and what came of it would survive a crash. If the thread
 * dies before, its successor is given the same order.
 */
export class PendingCommands {
  readonly #post: (shard: number, message: ToWorker) => void
  readonly #waiting = new Map<number, Waiting>()
  #next = 1

  constructor(send: (shard: number, message: ToWorker) => void) {
    this.#post = send
  }

  /** How many are not carried out yet. */
  get size(): number {
    return this.#waiting.size
  }

  /** `make` makes the message of an order's number. */
  send(shard: number, make: (id: number) => ToWorker): Promise<void> {
    return new Promise((done) => {
      const id = this.#next++
      const message = make(id)
      this.#waiting.set(id, { shard, message, done })
      this.#post(shard, message)
    })
  }

  done(id: number): void {
    const waiting = this.#waiting.get(id)
    this.#waiting.delete(id)
    waiting?.done()
  }

  /** The thread has a successor. */
  replaced(shard: number): void {
    for (const each of [...this.#waiting.values()]) if (each.shard === shard) this.#post(shard, each.message)
  }
}
