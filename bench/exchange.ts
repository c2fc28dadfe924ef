/**
 * Discovered URLs between two threads: how many a second, and what one costs both of them together, the garbage
 * collector included. Beside it what a port can carry: the same batches, ready-made and unread.
 */

import { once } from 'node:events'
import { performance } from 'node:perf_hooks'
import { MessageChannel, Worker } from 'node:worker_threads'
import type { ExchangeOrder, ExchangeRound, ExchangeThread } from './exchange-thread.js'
import { type Bench, median } from './report.js'

/** So many that the filter of what was sent lately has forgotten the first when the last is sent. */
const URLS = 500_000
const ROUNDS = 7
/** Until the compiler has had its turn. */
const WARM_UP = 2

const start = new URL('../test/workers/typescript-thread.mjs', import.meta.url)
const program = new URL('./exchange-thread.ts', import.meta.url)

interface Measured extends ExchangeRound {
  readonly perSecond: number
  readonly cpuUs: number
}

export const exchange: Bench = async () => {
  const channel = new MessageChannel()
  const raw = new MessageChannel()
  const shared = { arrived: new Int32Array(new SharedArrayBuffer(8)), urls: URLS }
  const receiver = await thread({ role: 'receiver', port: channel.port1, rawPort: raw.port1, ...shared })
  const sender = await thread({ role: 'sender', port: channel.port2, rawPort: raw.port2, ...shared })
  try {
    const rounds = await measure(sender, 'exchange')
    const bare = await measure(sender, 'raw')
    const { crossed, characters } = rounds[0]!
    const perSecond = median(rounds.map((round) => round.perSecond))
    const bareRate = median(bare.map((round) => round.perSecond))
    return [
      { what: 'URLs sent', value: URLS, unit: '' },
      { what: 'URLs crossed', value: crossed, unit: '', bar: { atLeast: 0.99 * URLS } },
      { what: 'characters a URL on the wire', value: characters / URLS, unit: '' },
      { what: 'crossing', value: perSecond, unit: 'URLs/s', bar: { atLeast: 1_000_000 } },
      {
        what: 'CPU of both threads',
        value: median(rounds.map(({ cpuUs }) => cpuUs)),
        unit: 'µs/URL',
        bar: { atMost: 2 },
      },
      { what: 'the limit: the same text over a bare port', value: bareRate, unit: 'URLs/s' },
      { what: 'CPU of that', value: median(bare.map(({ cpuUs }) => cpuUs)), unit: 'µs/URL' },
      { what: 'crossing ÷ limit', value: perSecond / bareRate, unit: '' },
    ]
  } finally {
    await Promise.all([sender.terminate(), receiver.terminate()])
  }
}

async function thread(workerData: ExchangeThread): Promise<Worker> {
  const transferList = [workerData.port, workerData.rawPort]
  const worker = new Worker(start, { argv: [program.href], workerData, transferList })
  await once(worker, 'message')
  return worker
}

async function measure(sender: Worker, order: ExchangeOrder): Promise<Measured[]> {
  const rounds: Measured[] = []
  for (let round = 0; round < WARM_UP + ROUNDS; round++) {
    const cpu = process.cpuUsage()
    const startedAt = performance.now()
    sender.postMessage(order)
    const [{ crossed, characters }] = (await once(sender, 'message')) as [ExchangeRound]
    const seconds = (performance.now() - startedAt) / 1000
    const { user, system } = process.cpuUsage(cpu)
    if (round < WARM_UP) continue
    rounds.push({ crossed, characters, perSecond: crossed / seconds, cpuUs: (user + system) / crossed })
  }
  return rounds
}
