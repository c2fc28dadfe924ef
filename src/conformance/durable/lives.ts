/** The lives of a durable store, one after the other, and ways to look at what one left to the next. */

import assert from 'node:assert/strict'
import type { Frontier, Politeness } from '../../frontier/contract.js'
import { firstCome } from '../../frontier/selection.js'
import type { OpenStore, Store } from '../../stores/contract.js'
import { systemClock } from '../../time.js'
import type { CrawlRequest, MaybePromise } from '../../types.js'
import { PATIENCE_MS, pause } from '../suite.js'

/** Where a durable store is tried out. */
export interface DurablePlace {
  /** Describes the place while it is empty. */
  readonly store: Store
  /**
   * Describes what would be left if the process died at this very moment, of the store that was opened last: a store
   * in a folder copies the folder, one on a server cuts its connection and makes another. The store that was opened
   * is closed afterwards, by the suite; whatever that writes must not get into what was left.
   */
  crash(): MaybePromise<Store>
}

/** All that is pending may be handed out at once: to look at everything, and leave it as it is. */
export const EVERYTHING: Politeness = { delayMs: 0, connections: 1_000_000, growAt: 0.001 }

const PARTITIONS = 16
const A_LOT = 1_000_000

/** Instants are those of the real clock, so that commits come when they come. */
export const clock = systemClock()

/** One store after the other at one place. */
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

  /** Ends this life where it is, and begins the next. */
  async crash(politeness: Politeness): ReturnType<Lives['open']> {
    const store = await this.#place.crash()
    // Nobody closes a store after a crash: it may fail, and what it would still write is lost.
    await this.#close().catch(() => {})
    this.#store = store
    return this.open(politeness)
  }

  /** Ends this life as it should end, and begins the next. */
  async reopen(politeness: Politeness): ReturnType<Lives['open']> {
    await this.#close()
    return this.open(politeness)
  }

  /** For good. */
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
 * Leases until so many were handed out: a store may have to read first, and says so by an empty answer. No more may
 * come.
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

/** All that is pending, left leased. For a store that was opened with the politeness `EVERYTHING`. */
export async function everything(frontier: Frontier, now: number): Promise<CrawlRequest[]> {
  const { pending } = frontier
  const leases = await leaseSoon(frontier, pending, now)
  const told = `pending is ${pending}, and so many were handed out`
  assert.equal(leases.length, pending, `${told}: ${leases.map(({ url }) => url).join(' ')}`)
  return leases
}
