/** A store that several shards share, all in this thread. */

import { type CrawlRequest, type LevelOptions, level, type StoreEvent } from 'kumo'
import { byHost, type OpenStore, type StoreContext, systemClock } from 'kumo/adapters'
import { afterAll } from 'vitest'
import { EVERYTHING } from '../../../../src/conformance/durable/lives.js'
import { firstCome } from '../../../../src/frontier/selection.js'
import { assignInTurn } from '../../../../src/partition/ownership.js'
import type { Handover, Outbox, ShardContext, SharedStore } from '../../../../src/stores/contract.js'
import { requestFor } from '../../../fetch/support.js'
import { pendingUrls, takeIn } from '../support.js'

export const PARTITIONS = 16

const partitioner = byHost(PARTITIONS)

export type Shard = OpenStore & {
  readonly handover: Handover
  readonly outbox: Outbox
  flush(): Promise<void>
}

export interface Shards {
  readonly shared: Required<SharedStore>
  readonly all: Shard[]
  /** What was told to whoever opened it for all. */
  readonly events: readonly StoreEvent[]
  /** The shard that has a host, if nothing has moved. */
  of(host: string): Shard
  /** One more, as another thread would open it. */
  open(shard: Partial<ShardContext>): Promise<Shard>
  close(): Promise<void>
}

export function partitionOf(host: string): number {
  return partitioner.partition(host)
}

export function contextOf(more: Partial<StoreContext> = {}): StoreContext {
  return {
    politeness: EVERYTHING,
    policy: firstCome,
    clock: systemClock(),
    partitions: PARTITIONS,
    partitionOf,
    ...more,
  }
}

const opened: Shards[] = []

afterAll(async () => {
  for (const shards of opened.splice(0)) await shards.close().catch(() => {})
})

/** What a test leaves open is closed at the end of its file. */
export async function openShards(
  path: string,
  count: number,
  options: LevelOptions = {},
  more: Partial<StoreContext> = {},
): Promise<Shards> {
  const events: StoreEvent[] = []
  const context = contextOf({ report: (event) => void events.push(event), ...more })
  const store = level(path, options)
  const shared = (await store.share!(context, count)) as Required<SharedStore>
  const owners = assignInTurn(PARTITIONS, count)
  const all: Shard[] = []
  const open = async (shard: Partial<ShardContext>) => {
    const index = shard.index ?? 0
    const partitions = [...owners.keys()].filter((partition) => owners[partition] === index)
    const whole = { index, partitions, replaces: false, shared: structuredClone(shared.shared), ...shard }
    return (await store.open({ ...context, shard: whole })) as Shard
  }
  for (let index = 0; index < count; index++) all.push(await open({ index }))
  let closing: Promise<void> | undefined
  const close = async () => {
    for (const shard of all) await shard.close()
    await shared.close()
  }
  const shards: Shards = {
    shared,
    all,
    events,
    of: (host) => all[owners[partitionOf(host)]!]!,
    open,
    close() {
      closing ??= close()
      return closing
    },
  }
  opened.push(shards)
  return shards
}

/** So many requests of so many hosts, by the names of their URLs. */
export function requestsOf(count: number, hosts = 40): CrawlRequest[] {
  return Array.from({ length: count }, (_, i) => requestFor(`https://h${i % hosts}.example/${i}`))
}

/** Each shard takes in what is its own, and has it written. */
export async function takeInAll(shards: Shards, requests: readonly CrawlRequest[]): Promise<void> {
  for (const shard of shards.all) {
    await takeIn(
      shard,
      requests.filter(({ host }) => shards.of(host) === shard),
    )
    await shard.flush()
  }
}

/** The URLs that all have pending, sorted; nothing may be there twice. */
export async function allPending(shards: readonly Pick<OpenStore, 'frontier'>[]): Promise<string[]> {
  const urls: string[] = []
  for (const { frontier } of shards) urls.push(...(await pendingUrls(frontier)))
  return urls.sort()
}

export function urlsOf(requests: readonly CrawlRequest[]): string[] {
  return requests.map(({ url }) => url).sort()
}
