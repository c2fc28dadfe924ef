/**
 * What the cases of the suite for handovers share: shards of one crawl, and helpers to move partitions between them.
 */

import assert from 'node:assert/strict'
import type { Frontier, Politeness } from '../../frontier/contract.js'
import { firstCome } from '../../frontier/selection.js'
import { assignInTurn } from '../../partition/ownership.js'
import type {
  Handover,
  OpenStore,
  SharedStore,
  Store,
  StoreContext,
  StoreSnapshot,
} from '../../stores/contract.js'
import { LATE, within } from '../../time.js'
import type { CrawlRequest } from '../../types.js'
import { notBefore, SLACK_MS, takeIn } from '../durable/fixtures.js'
import { clock } from '../durable/lives.js'
import { done, request } from '../frontier/fixtures.js'
import { PATIENCE_MS, pause } from '../suite.js'

/** The store of one shard. */
export interface Shard extends Pick<OpenStore, 'frontier' | 'seen' | 'state' | 'close'> {
  readonly handover: Handover
  /** How long to wait for what must happen. */
  readonly patienceMs: number
}

/** Registers a case with two shards, 0 and 1, of this politeness; shard 0 owns the even partitions. */
export type CheckShards = (
  name: string,
  politeness: Politeness,
  run: (shards: Shards) => Promise<void>,
) => void

export const PARTITIONS = 12
const A_LOT = 1_000_000

/** A host of this partition. */
export function hostIn(partition: number, name: string | number = 'a'): string {
  return `p${partition}-${name}.example`
}

export function partitionOf(host: string): number {
  return Number(/^p(\d+)-/.exec(host)?.[1] ?? 0)
}

export interface OpenShards {
  readonly count: number
  /** Shard 0 replaces another one that died. */
  readonly replaces?: boolean
  readonly patienceMs?: number | undefined
}

/** The open stores of all shards of one crawl. */
export class Shards {
  readonly #shared: SharedStore | undefined
  readonly all: readonly Shard[]
  /** A time before they were opened. Times are those of the real clock, so that commits happen when they would. */
  readonly start: number

  private constructor(shared: SharedStore | undefined, all: readonly Shard[], start: number) {
    this.#shared = shared
    this.all = all
    this.start = start
  }

  static async open(store: Store, politeness: Politeness, options: OpenShards): Promise<Shards> {
    const { count, replaces = false, patienceMs = PATIENCE_MS } = options
    const context: StoreContext = {
      politeness,
      policy: firstCome,
      clock,
      partitions: PARTITIONS,
      partitionOf,
    }
    const start = clock.now()
    const shared = await store.share?.(context, count)
    const owners = assignInTurn(PARTITIONS, count)
    const all: Shard[] = []
    for (let index = 0; index < count; index++) {
      const partitions = [...owners.keys()].filter((partition) => owners[partition] === index)
      const shard = { index, partitions, replaces: replaces && index === 0, shared: shared?.shared }
      const opened = await store.open({ ...context, shard })
      const { frontier, seen, state, handover } = opened
      assert.ok(handover, 'a store that is opened for a shard must have a handover')
      all.push({ frontier, seen, ...(state && { state }), handover, patienceMs, close: () => opened.close() })
    }
    return new Shards(shared, all, start)
  }

  /** The shard that releases and the one that adopts. */
  get pair(): readonly [from: Shard, to: Shard] {
    return [this.all[0]!, this.all[1]!]
  }

  async close(): Promise<void> {
    for (const shard of this.all) await shard.close()
    await this.#shared?.close()
  }
}

/** Moves partitions from one shard to another as between threads: the data is copied. */
export async function move(partitions: readonly number[], from: Shard, to: Shard): Promise<void> {
  await arrive(await given(from, from.handover.release(partitions)), partitions, to)
}

/** What a shard releases; fails if it takes too long. */
export async function given({ patienceMs }: Shard, giving: Promise<StoreSnapshot>): Promise<StoreSnapshot> {
  const what = await within(clock, patienceMs, giving)
  if (what === LATE) assert.fail(`the partitions were not released, although no request of them is leased`)
  return what
}

export async function arrive(what: StoreSnapshot, partitions: readonly number[], to: Shard): Promise<void> {
  assert.deepEqual(what.partitions, partitions, 'the partitions that were released')
  await to.handover.adopt(structuredClone(what))
}

/** Adds requests of one host by their paths, as the engine does. */
export async function addPaths(shard: Shard, host: string, paths: readonly string[]): Promise<void> {
  await takeIn(
    shard,
    paths.map((path) => request(host, path)),
  )
}

/**
 * Leases until this many requests were handed out: a store may have to read first, and returns an empty lease
 * meanwhile. No more may follow.
 */
export async function leaseSoon(shard: Shard, count: number, now: number): Promise<CrawlRequest[]> {
  const { frontier, patienceMs } = shard
  const met: CrawlRequest[] = []
  const deadline = clock.now() + patienceMs
  while (met.length < count && clock.now() < deadline) {
    const more = await frontier.lease(A_LOT, now)
    met.push(...more)
    if (more.length === 0) await pause(1)
  }
  return [...met, ...(await frontier.lease(A_LOT, now))]
}

/** Exactly these requests are handed out, by the ends of their URLs, in any order. */
export async function leases(
  shard: Shard,
  now: number,
  expected: readonly string[],
): Promise<readonly CrawlRequest[]> {
  const met = await leaseSoon(shard, expected.length, now)
  assert.deepEqual(met.map(pathOf).toSorted(), expected.toSorted(), 'the paths that were handed out')
  return met
}

/** The one request that is handed out at this time, and not before. */
export async function dueExactly(shard: Shard, due: number): Promise<CrawlRequest> {
  await notBefore(shard.frontier, due)
  const met = await leaseSoon(shard, 1, due + SLACK_MS)
  assert.equal(met.length, 1, 'number of requests handed out when the pause was over')
  return met[0]!
}

/** The only request that is handed out. */
export async function leaseOne(shard: Shard, now: number, path: string): Promise<CrawlRequest> {
  return (await leases(shard, now, [path]))[0]!
}

export function pathOf({ url }: CrawlRequest): string {
  return url.slice(url.lastIndexOf('/') + 1)
}

/** Visits this many requests one after the other and returns their paths. Hosts must not need a pause. */
export async function visits(shard: Shard, now: number, count: number): Promise<string[]> {
  const met: string[] = []
  while (met.length < count) {
    const [lease, ...more] = await leaseSoon(shard, 1, now)
    if (lease === undefined) break
    assert.deepEqual(more, [], 'two concurrent visits to one host')
    met.push(pathOf(lease))
    await shard.frontier.settle([done(lease, now)])
  }
  return met
}

/** The counts of all shards together. */
export function assertSums(shards: Shards, pending: number, leased: number): void {
  const sum = (count: (frontier: Frontier) => number) =>
    shards.all.reduce((total, { frontier }) => total + count(frontier), 0)
  const counts = { pending: sum((each) => each.pending), leased: sum((each) => each.leased) }
  assert.deepEqual(counts, { pending, leased }, 'the counts of all shards together')
}
