/** Successive openings of a durable store, and ways to inspect what one left to the next. */

import assert from 'node:assert/strict'
import type { Frontier, Politeness } from '../../frontier/contract.js'
import { firstCome } from '../../frontier/selection.js'
import type { OpenStore, Store } from '../../stores/contract.js'
import { systemClock } from '../../time.js'
import type { CrawlRequest, MaybePromise } from '../../types.js'
import { PATIENCE_MS, pause } from '../suite.js'

/** Where a durable store is tested. */
export interface DurablePlace {
  /** Describes the place while it is empty. */
  readonly store: Store
  /**
   * Describes what would be left if the process died right now, for the store that was opened last: a store in a folder
   * copies the folder, a store on a server closes its connection and opens another. The suite closes the opened store
   * afterwards; whatever that writes must not get into what was left.
   */
  crash(): MaybePromise<Store>
}

/** Lets everything that is pending be leased at once, to inspect it without changing it. */
export const EVERYTHING: Politeness = { delayMs: 0, connections: 1_000_000, growAt: 0.001 }

const PARTITIONS = 16
const A_LOT = 1_000_000

/** Times are those of the real clock, so that commits happen when they would. */
export const clock = systemClock()

/** Successive openings of a store at one place. */
export class Lives {
  readonly #place: DurablePlace
  #store: Store
  #opened: OpenStore | undefined = undefined

  constructor(place: DurablePlace) {
    this.#place = place
    this.#store = place.store
  }

  async open(politeness: Politeness): Promise<OpenStore & Required<Pick<OpenStore, 'flush'>>> {
    this.#opened = await this.#store.open({
      politeness,
      policy: firstCome,
      clock,
      partitions: PARTITIONS,
      partitionOf: (host) => host.length % PARTITIONS,
    })
    assert.equal(typeof this.#opened.flush, 'function', 'a durable store has a flush()')
    return this.#opened as Awaited<ReturnType<Lives['open']>>
  }

  /** Crashes, and opens what is left. */
  async crash(politeness: Politeness): ReturnType<Lives['open']> {
    const store = await this.#place.crash()
    // No store is closed after a crash: closing may fail, and what it would write is lost.
    await this.#close().catch(() => {})
    this.#store = store
    return this.open(politeness)
  }

  /** Closes the store properly, and opens it again. */
  async reopen(politeness: Politeness): ReturnType<Lives['open']> {
    await this.#close()
    return this.open(politeness)
  }

  /** Closes the store for good. */
  async end(): Promise<void> {
    await this.#close().catch(() => {})
  }

  async #close(): Promise<void> {
    const opened = this.#opened
    this.#opened = undefined
    await opened?.close()
  }
}

/**
 * Leases until this many requests were handed out: a store may have to read first, and returns an empty lease
 * meanwhile. No more may follow.
 */
export async function leaseSoon(frontier: Frontier, count: number, now: number): Promise<CrawlRequest[]> {
  const leases: CrawlRequest[] = []
  const deadline = clock.now() + PATIENCE_MS
  while (leases.length < count && clock.now() < deadline) {
    const more = await frontier.lease(A_LOT, now)
    leases.push(...more)
    if (more.length === 0) await pause(1)
  }
  leases.push(...(await frontier.lease(A_LOT, now)))
  return leases
}

/** Everything that is pending; it stays leased. For a store that was opened with the politeness `EVERYTHING`. */
export async function everything(frontier: Frontier, now: number): Promise<CrawlRequest[]> {
  const { pending } = frontier
  const leases = await leaseSoon(frontier, pending, now)
  const told = `pending is ${pending}, but this many were handed out`
  assert.equal(leases.length, pending, `${told}: ${leases.map(({ url }) => url).join(' ')}`)
  return leases
}
