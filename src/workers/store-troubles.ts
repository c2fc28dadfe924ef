import type { StoreEvent } from '../stores/contract.js'

/** The troubles of a store that several threads write to: one thread's is all threads', and told once. */
export class StoreTroubles {
  readonly #paused = new Set<number>()

  /** Whether what a thread's part of the store tells is news. */
  isNews(thread: number, { kind }: StoreEvent): boolean {
    const before = this.#paused.size
    if (kind === 'paused') this.#paused.add(thread)
    if (kind === 'resumed') this.#paused.delete(thread)
    return kind === 'repaired' || (before === 0) !== (this.#paused.size === 0)
  }

  /** A thread is dead, and so are its troubles. */
  forget(thread: number): void {
    this.#paused.delete(thread)
  }
}
