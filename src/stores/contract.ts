import type { Frontier, Politeness, SelectionPolicy } from '../frontier/contract.js'
import type { SeenStore } from '../seen/contract.js'
import type { Clock } from '../time.js'
import type { MaybePromise } from '../types.js'

/**
 * The roof for adapters that keep several contracts in one place: `.store(memory())`.
 *
 * A `Store` is a description and holds nothing; `open` makes the parts for one run. What must stay true: after
 * `close` of the opened store, no handle remains, whether or not the parts were closed one by one.
 */
export interface Store {
  /** For messages: `memory`, `level`. */
  readonly name: string
  open(context: StoreContext): MaybePromise<OpenStore>
}

export interface OpenStore {
  readonly frontier: Frontier
  readonly seen: SeenStore
  close(): MaybePromise<void>
}

/** What a store may need to know of the crawl that opens it. */
export interface StoreContext {
  readonly politeness: Politeness
  readonly policy: SelectionPolicy
  readonly clock: Clock
  /** Number of partitions of the crawl, for stores that keep them apart. */
  readonly partitions: number
}
