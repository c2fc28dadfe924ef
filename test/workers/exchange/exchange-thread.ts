/** Run by port-exchange.test.ts as a thread: a shard that sends what it was told to, passes on what wants to go further, and rests. */

import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { systemClock } from '../../../src/time.js'
import type { CrawlRequest } from '../../../src/types.js'
import { PortExchange } from '../../../src/workers/exchange/port-exchange.js'
import type { IdleReport } from '../../../src/workers/exchange/termination-detector.js'

export interface ThreadStart {
  readonly self: number
  readonly shards: number
  /** Requests to send to each of the others. */
  readonly requests: number
  /** How often each is passed on by whoever receives it. */
  readonly hops: number
  /** Of the handler, a batch. */
  readonly delayMs: number
  readonly ports: readonly (readonly [shard: number, port: MessagePort])[]
}

export type ThreadOrder =
  | { readonly kind: 'peer'; readonly shard: number; readonly port: MessagePort }
  | { readonly kind: 'over' }

export type ThreadNews =
  | { readonly kind: 'resting'; readonly report: IdleReport }
  | { readonly kind: 'arrived'; readonly urls: readonly string[] }

const { self, shards, requests, hops, delayMs, ports } = workerData as ThreadStart
const main = parentPort!
const clock = systemClock()
const tell = (news: ThreadNews) => main.postMessage(news)
const exchange = new PortExchange({
  self,
  shards,
  clock,
  batch: 50,
  report: (report) => tell({ kind: 'resting', report }),
})

function request(to: number, i: number): CrawlRequest {
  const url = `https://example.com/from-${self}/to-${to}/${i}`
  return { url, host: 'example.com', depth: hops, priority: 0, attempt: 0, redirects: 0, parent: undefined }
}

const pause = (ms: number) => new Promise<void>((resolve) => void clock.wakeAt(clock.now() + ms, resolve))

function ask(): void {
  if (!isIdle || !exchange.rest()) return
  exchange.close()
  main.close()
}

let isIdle = false

exchange.watch(() => queueMicrotask(ask))
exchange.receive(async (arrived) => {
  if (delayMs > 0) await pause(delayMs)
  tell({ kind: 'arrived', urls: arrived.map(({ url }) => url) })
  const further = arrived.filter(({ depth }) => depth > 0)
  const passedOn = further.map((each) => ({ ...each, url: `${each.url}/via-${self}`, depth: each.depth - 1 }))
  exchange.send((self + 1) % shards, passedOn)
  ask()
})
main.on('message', (order: ThreadOrder) => {
  if (order.kind === 'over') return exchange.finish()
  exchange.connect(order.shard, order.port)
  exchange.commandDone()
})
for (const [shard, port] of ports) exchange.connect(shard, port)

/** In pieces, so that threads run at the same time. */
for (let sent = 0; sent < requests; sent += 20) {
  for (let to = 0; to < shards; to++) {
    if (to === self) continue
    const piece = Array.from({ length: Math.min(20, requests - sent) }, (_, i) => request(to, sent + i))
    exchange.send(to, piece)
  }
  await pause(1)
}
isIdle = true
ask()
