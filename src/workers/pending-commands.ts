import type { ToWorker } from './messages.js'

interface Waiting {
  readonly shard: number
  readonly message: ToWorker
  readonly done: () => void
}

/**
 * Commands to workers that the caller waits for: carried out, with effects that would survive a crash. If the worker
 * dies first, its replacement is sent the same command.
 */
export class PendingCommands {
  readonly #post: (shard: number, message: ToWorker) => void
  readonly #waiting = new Map<number, Waiting>()
  #next = 1

  constructor(send: (shard: number, message: ToWorker) => void) {
    this.#post = send
  }

  /** Commands that are not confirmed yet. */
  get size(): number {
    return this.#waiting.size
  }

  /** `make` creates the message from the command's number. */
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

  /** The worker was replaced. */
  replaced(shard: number): void {
    for (const each of [...this.#waiting.values()]) if (each.shard === shard) this.#post(shard, each.message)
  }
}
