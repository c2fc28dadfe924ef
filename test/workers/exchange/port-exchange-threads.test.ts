/** The exchange between threads, as it is meant. */

import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads'
import { describe, expect, it } from 'vitest'
import { TerminationDetector } from '../../../src/workers/exchange/termination-detector.js'
import type { ThreadNews, ThreadOrder, ThreadStart } from './exchange-thread.js'

const START = new URL('../typescript-thread.mjs', import.meta.url)
const PROGRAM = new URL('./exchange-thread.ts', import.meta.url)

interface Plan {
  readonly shards: number
  readonly requests: number
  readonly hops: number
  readonly delayMs: number
  /** After so many batches that it has taken in, this shard is ended and replaced by one with nothing to send. */
  readonly kill?: { readonly shard: number; readonly afterBatches: number }
}

/** Runs threads until all rest. What arrived at each number, in order; those that died and their successors together. */
async function run(plan: Plan): Promise<string[][]> {
  const { shards: count, kill } = plan
  const quiet = new TerminationDetector(count)
  const arrived: string[][] = Array.from({ length: count }, () => [])
  const threads: Worker[] = []
  const ends: Promise<unknown>[] = []
  const order = (shard: number, what: ThreadOrder, transfer: MessagePort[] = []) =>
    threads[shard]!.postMessage(what, transfer)
  let killAfter = kill?.afterBatches ?? Number.POSITIVE_INFINITY

  const start = (self: number, requests: number, ports: ThreadStart['ports']) => {
    const { shards, hops, delayMs } = plan
    const workerData: ThreadStart = { self, shards, requests, hops, delayMs, ports }
    const transferList = ports.map(([, port]) => port)
    const thread = new Worker(START, { argv: [PROGRAM.href], workerData, transferList })
    threads[self] = thread
    ends.push(
      new Promise((resolve, reject) => {
        thread.once('exit', resolve)
        thread.once('error', reject)
      }),
    )
    thread.on('message', (news: ThreadNews) => {
      if (news.kind === 'arrived') {
        arrived[self]!.push(...news.urls)
        if (self === kill?.shard && --killAfter === 0) void replace(self)
      } else if (thread === threads[self]) {
        quiet.report(self, news.report)
        if (quiet.isTerminated) for (let each = 0; each < count; each++) order(each, { kind: 'over' })
      }
    })
  }

  const replace = async (dead: number) => {
    await threads[dead]!.terminate()
    quiet.reset(dead)
    const ports: [number, MessagePort][] = []
    for (let other = 0; other < count; other++) {
      if (other === dead) continue
      const { port1, port2 } = new MessageChannel()
      ports.push([other, port1])
      quiet.commandSent(other)
      order(other, { kind: 'peer', shard: dead, port: port2 }, [port2])
    }
    start(dead, 0, ports)
  }

  const portsOf: [number, MessagePort][][] = Array.from({ length: count }, () => [])
  for (let a = 0; a < count; a++) {
    for (let b = a + 1; b < count; b++) {
      const { port1, port2 } = new MessageChannel()
      portsOf[a]!.push([b, port1])
      portsOf[b]!.push([a, port2])
    }
  }
  for (let self = 0; self < count; self++) start(self, plan.requests, portsOf[self]!)
  // Nobody ends the threads: they end when no handle is left in them. A successor joins the list on the way.
  for (let i = 0; i < ends.length; i++) await ends[i]
  return arrived
}

function numbered(from: number, to: number, count: number): string[] {
  return Array.from({ length: count }, (_, i) => `https://example.com/from-${from}/to-${to}/${i}`)
}

describe('threads', () => {
  it('exchange requests in order, see the end when there is one, and let go of everything', async () => {
    const arrived = await run({ shards: 3, requests: 500, hops: 2, delayMs: 0 })
    for (const [to, urls] of arrived.entries()) {
      for (const from of [0, 1, 2]) {
        if (from === to) continue
        const direct = urls.filter((url) => url.startsWith(`https://example.com/from-${from}/to-${to}/`))
        expect(direct.filter((url) => !url.includes('via'))).toEqual(numbered(from, to, 500))
      }
      const before = (to + 2) % 3
      const first = urls.filter((url) => url.endsWith(`/via-${before}`) && url.split('via').length === 2)
      const second = urls.filter((url) => url.split('via').length === 3)
      // Each shard was sent 500 by both others, and passed each on twice.
      expect([first.length, second.length]).toEqual([1000, 1000])
      expect(new Set(urls).size).toBe(urls.length)
    }
  })

  it('go on when one of them dies, and lose nothing that it had not taken in', async () => {
    const kill = { shard: 1, afterBatches: 4 }
    const arrived = await run({ shards: 3, requests: 600, hops: 0, delayMs: 2, kill })
    for (const from of [0, 2]) {
      const toDead = new Set(arrived[1]!.filter((url) => url.includes(`from-${from}/`)))
      expect([...toDead].sort()).toEqual(numbered(from, 1, 600).sort())
    }
    expect(arrived[0]!.filter((url) => url.includes('from-2'))).toEqual(numbered(2, 0, 600))
    expect(arrived[2]!.filter((url) => url.includes('from-0'))).toEqual(numbered(0, 2, 600))
  })
})
