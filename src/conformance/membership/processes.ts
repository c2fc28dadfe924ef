/** Processes that share a store, all in this one: each has opened the store for itself. */

import assert from 'node:assert/strict'
import type { Politeness } from '../../frontier/contract.js'
import { firstCome } from '../../frontier/selection.js'
import type { Membership, OpenStore, StateSpace, Store } from '../../stores/contract.js'
import { systemClock } from '../../time.js'
import type { CrawlRequest, MaybePromise } from '../../types.js'
import { knownAs } from '../../url/known-as.js'
import { done } from '../frontier/fixtures.js'
import { eventually, PATIENCE_MS, pause } from '../suite.js'

/** A place that processes can share. */
export interface SharedPlace {
  /** Each process opens it for itself. */
  readonly store: Store
  /** The process that opened this store vanishes without a word. Resolves when the others may take its part over. */
  kill(store: OpenStore): MaybePromise<void>
  /** How long a case waits for something that must happen, in ms. Default 20,000. */
  readonly patienceMs?: number | undefined
}

export const PARTITIONS = 8
/** Others may have to wait until a lease is over. */
const MEMBERSHIP_PATIENCE_MS = 4 * PATIENCE_MS

const clock = systemClock()

export function hostIn(partition: number): string {
  return `host-${partition}.example`
}

function partitionOf(host: string): number {
  return Number(/\d+/.exec(host)![0]) % PARTITIONS
}

export class Processes {
  readonly #place: SharedPlace
  readonly #all: Process[] = []
  readonly patienceMs: number

  constructor(place: SharedPlace) {
    this.#place = place
    this.patienceMs = place.patienceMs ?? MEMBERSHIP_PATIENCE_MS
  }

  async join(politeness: Politeness): Promise<Process> {
    const store = await this.#place.store.open({
      politeness,
      policy: firstCome,
      clock,
      partitions: PARTITIONS,
      partitionOf,
      identity: {},
    })
    const process = new Process(store, this.patienceMs)
    this.#all.push(process)
    return process
  }

  async kill(process: Process): Promise<void> {
    process.isGone = true
    await this.#place.kill(process.store)
  }

  pause(ms: number): Promise<void> {
    return pause(ms)
  }

  async close(): Promise<void> {
    for (const process of this.#all) await process.close().catch(() => {})
  }
}

export class Process {
  readonly store: OpenStore
  readonly membership: Membership
  readonly patienceMs: number
  readonly state: StateSpace
  /** What it heard, in order. */
  readonly gained: number[] = []
  readonly leaving: number[] = []
  readonly arrived: CrawlRequest[] = []
  readonly announced: string[] = []
  /** URLs that had been announced when the first request arrived. */
  heardBefore: readonly string[] = []
  isGone = false

  constructor(store: OpenStore, patienceMs: number) {
    assert.ok(store.membership, 'a store that processes share has a membership')
    assert.ok(store.state, 'a store that processes share has a state')
    this.store = store
    this.membership = store.membership
    this.patienceMs = patienceMs
    this.state = store.state.space('suite')
    this.membership.onOwnership({
      gained: (partitions) => void this.gained.push(...partitions),
      revoked: () => {},
      suspended: () => {},
      leaving: async (partitions) => void this.leaving.push(...partitions),
      announced: async (urls) => void this.announced.push(...urls),
    })
    this.membership.exchange.receive((requests) => {
      if (this.arrived.length === 0) this.heardBefore = [...this.announced]
      this.arrived.push(...requests)
    })
  }

  get frontier() {
    return this.store.frontier
  }

  get seen() {
    return this.store.seen
  }

  owned(): ReadonlySet<number> {
    const { ownership } = this.membership
    const all = Array.from({ length: PARTITIONS }, (_, partition) => partition)
    return new Set(all.filter((partition) => ownership.ownerOf(partition) === ownership.self))
  }

  owns(count: number): Promise<void> {
    return eventually(`it has ${count} partitions`, () => this.owned().size === count, this.patienceMs)
  }

  async takeIn(requests: readonly CrawlRequest[]): Promise<void> {
    await this.seen.addAll(requests.map(knownAs))
    await this.frontier.add(requests)
  }

  async lease(most: number): Promise<readonly CrawlRequest[]> {
    return this.frontier.lease(most, clock.now())
  }

  async settle(leases: readonly CrawlRequest[]): Promise<void> {
    await this.frontier.settle(leases.map((lease) => done(lease, clock.now())))
  }

  /** Visits everything that it has. */
  async visitAll(): Promise<string[]> {
    const met: string[] = []
    await eventually(
      'nothing is pending',
      () => {
        const leases = this.frontier.lease(100, clock.now()) as readonly CrawlRequest[]
        met.push(...leases.map(({ url }) => url))
        void this.frontier.settle(leases.map((lease) => done(lease, clock.now())))
        return this.frontier.pending === 0
      },
      this.patienceMs,
    )
    return met
  }

  async close(): Promise<void> {
    if (this.isGone) return
    this.isGone = true
    await this.store.close()
  }
}
