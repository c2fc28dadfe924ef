/** A thread that has one shard of a store, and does with it what it is told to. */

import { parentPort, workerData } from 'node:worker_threads'
import { leaseSoon } from '../../../../src/conformance/durable/lives.js'
import type { Handover, Outbox, ShardContext, StoreSnapshot } from '../../../../src/stores/contract.js'
import { level } from '../../../../src/stores/level/level.js'
import { systemClock, type TimeOrigin } from '../../../../src/time.js'
import type { CrawlRequest } from '../../../../src/types.js'
import { contextFor } from './thread-context.js'

const { path, shard, origin } = workerData as { path: string; shard: ShardContext; origin: TimeOrigin }
const context = contextFor(systemClock(origin))
const opened = await level(path, { commitEvery: 1 }).open({ ...context, shard })
const { frontier, seen } = opened
const handover = opened.handover as Handover
const outbox = opened.outbox as Outbox

const ORDERS = {
  async add(requests: readonly CrawlRequest[]) {
    const fresh = await seen.addAll(requests.map(({ url }) => url))
    await frontier.add(requests.filter((_, i) => fresh[i]))
    await opened.flush!()
    return fresh.filter((isNew) => isNew).length
  },
  counts: () => ({ pending: frontier.pending, known: seen.size, firstBatch: outbox.firstBatch }),
  give: (partitions: readonly number[]) => handover.release(partitions),
  take: (what: StoreSnapshot) => handover.adopt(what),
  async lease(count: number, now: number) {
    return (await leaseSoon(frontier, count, now)).map(({ url }) => url)
  },
  /** Adds and commits until it dies. */
  async work(requests: readonly CrawlRequest[]) {
    for (const [i, request] of requests.entries()) {
      await ORDERS.add([request])
      outbox.put(outbox.firstBatch + i, request.url)
      outbox.whenDurable(() => parentPort!.postMessage({ kept: request.url }))
    }
  },
  close: () => opened.close(),
}

type Order = { readonly id: number; readonly name: keyof typeof ORDERS; readonly given: readonly unknown[] }

parentPort!.on('message', async ({ id, name, given }: Order) => {
  const answer = await (ORDERS[name] as (...given: readonly unknown[]) => unknown)(...given)
  parentPort!.postMessage({ id, answer })
  if (name === 'close') parentPort!.close()
})
parentPort!.postMessage({ isOpen: true })
