import type { StoreEvent } from '../stores/contract.js'

/** Store health over all threads that write to one store: a problem of one is a problem of all, and reported once. */
export class StoreTroubles {
  readonly #paused = new Set<number>()

  /** Whether an event of one thread's writer changes the health of the whole store. */
  isChange(thread: number, { kind }: StoreEvent): boolean {
    const before = this.#paused.size
    if (kind === 'paused') this.#paused.add(thread)
    if (kind === 'resumed') this.#paused.delete(thread)
    return kind === 'repaired' || (before === 0) !== (this.#paused.size === 0)
  }

  /** A thread has exited, and its problems with it. */
  forget(thread: number): void {
    this.#paused.delete(thread)
  }
}
