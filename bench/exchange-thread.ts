/** One of the two threads of the exchange bench: told to, it sends once and answers when all has arrived. */

import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { systemClock } from '../src/time.js'
import type { CrawlRequest } from '../src/types.js'
import { hostOf } from '../src/url/canonicalize.js'
import { BatchWriter } from '../src/workers/exchange/codec.js'
import { PortExchange } from '../src/workers/exchange/port-exchange.js'

export interface ExchangeThread {
  readonly role: 'sender' | 'receiver'
  /** For the exchange, and for the same text without it. */
  readonly port: MessagePort
  readonly rawPort: MessagePort
  /** What both threads see: requests that have arrived in this round, and rounds whose end has. */
  readonly arrived: Int32Array
  readonly urls: number
}

/** What to send: requests through the exchange, or their batches over a bare port. */
export type ExchangeOrder = 'exchange' | 'raw'

/** Of one round: requests that have crossed, and the characters that the port carried for them. */
export interface ExchangeRound {
  readonly crossed: number
  readonly characters: number
}

/** Links of one page that go to one other shard. */
const LINKS_A_PAGE = 20
/** Links to one host that stand together. */
const LINKS_TOGETHER = 4
const BATCH = 1000
/** Requests on their way, beyond which the sender waits: a crawl has its own brakes, a loop has none. */
const MOST_IN_TRANSIT = 100_000

/** Places in `arrived`. */
const REQUESTS = 0
const ROUNDS = 1

const { role, port, rawPort, arrived, urls } = workerData as ExchangeThread
const clock = systemClock()
const main = parentPort!

const pause = (ms: number) => new Promise<void>((resolve) => void clock.wakeAt(clock.now() + ms, resolve))

/** A URL that was cut from a page is one piece; a template literal is a tree of pieces until it is read. */
const flat = (text: string) => Buffer.from(text, 'latin1').toString('latin1')

function pages(): CrawlRequest[][] {
  const made: CrawlRequest[][] = []
  for (let page = 0; page * LINKS_A_PAGE < urls; page++) {
    const parent = flat(
      `https://www.host${page % 499}.example.org/articles/2023/${1 + (page % 12)}/${page}.html`,
    )
    const links: CrawlRequest[] = []
    for (let i = page * LINKS_A_PAGE; i < (page + 1) * LINKS_A_PAGE; i++) {
      const host = Math.floor(i / LINKS_TOGETHER) % 997
      const url = flat(`https://www.host${host}.example.com/articles/2024/${1 + (i % 12)}/${i}.html`)
      links.push({ url, host: hostOf(url), depth: 2, priority: 0, attempt: 0, redirects: 0, parent })
    }
    made.push(links)
  }
  return made
}

function receive(): void {
  const exchange = new PortExchange({
    self: 1,
    shards: 2,
    clock,
    onMessage: () => void Atomics.add(arrived, ROUNDS, 1),
  })
  exchange.connect(0, port)
  let sum = 0
  exchange.receive((requests) => {
    Atomics.add(arrived, REQUESTS, requests.length)
    for (const { url, host, depth, parent } of requests) {
      sum += url.charCodeAt(url.length - 1) + host.length + depth + (parent?.length ?? 0)
    }
  })
  rawPort.on('message', (batch: string) => {
    sum += batch.length
    rawPort.postMessage(sum)
  })
  main.postMessage('ready')
}

function send(): void {
  const exchange = new PortExchange({ self: 0, shards: 2, clock })
  exchange.connect(1, port)
  const found = pages()
  const batches = batchesOf(found)
  const characters = batches.reduce((sum, text) => sum + text.length, 0)

  const overExchange = async () => {
    const round = Atomics.load(arrived, ROUNDS)
    Atomics.store(arrived, REQUESTS, 0)
    let sent = 0
    for (const links of found) {
      exchange.send(1, links)
      sent += links.length
      while (sent - Atomics.load(arrived, REQUESTS) > MOST_IN_TRANSIT) await pause(1)
    }
    // Messages keep their order with batches, so the round is over when this one arrives.
    exchange.post(1, 'end of the round')
    while (Atomics.load(arrived, ROUNDS) === round) await pause(1)
    return Atomics.load(arrived, REQUESTS)
  }
  const overPort = async () => {
    let received = 0
    const done = new Promise<void>((resolve) => {
      rawPort.removeAllListeners('message')
      rawPort.on('message', () => void (++received === batches.length && resolve()))
    })
    for (const [sent, batch] of batches.entries()) {
      rawPort.postMessage(batch)
      while ((sent - received) * BATCH > MOST_IN_TRANSIT) await pause(1)
    }
    await done
    return urls
  }
  main.on('message', async (order: ExchangeOrder) => {
    const crossed = await (order === 'raw' ? overPort() : overExchange())
    main.postMessage({ crossed, characters } satisfies ExchangeRound)
  })
  main.postMessage('ready')
}

function batchesOf(found: readonly (readonly CrawlRequest[])[]): string[] {
  const writer = new BatchWriter()
  const batches: string[] = []
  for (const links of found) {
    for (const link of links) writer.add(link)
    if (writer.count >= BATCH) batches.push(writer.take())
  }
  if (writer.count > 0) batches.push(writer.take())
  return batches
}

if (role === 'sender') send()
else receive()
