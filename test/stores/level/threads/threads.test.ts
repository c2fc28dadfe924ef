/** A database that real threads share: they end in all the ways that threads end, and neither it nor the rest is harmed. */

import { once } from 'node:events'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import { build } from 'esbuild'
import { type CrawlRequest, level } from 'kumo'
import { systemClock } from 'kumo/adapters'
import { Level } from 'level'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import type { ShardContext, SharedStore, StoreSnapshot } from '../../../../src/stores/contract.js'
import { timeOrigin } from '../../../../src/time.js'
import { until } from '../../../crawler/support.js'
import { PROJECT } from '../../../run-program.js'
import { folder } from '../folders.js'
import { expectRefusal, pendingUrls } from '../support.js'
import { requestsOf, urlsOf } from './shards-fixture.js'
import { contextFor, PARTITIONS } from './thread-context.js'

const here = (name: string) => fileURLToPath(new URL(name, import.meta.url))

describe('threads with the same database open', () => {
  const DEATHS = ['exit', 'error', 'memory', 'spinning'] as const

  test('they die while they read and write: the database goes on, and is free when the last has closed it', async () => {
    const path = await folder()
    const database = new Level(path, { multithreading: true })
    await database.open()
    await database.batch(
      Array.from({ length: 2000 }, (_, i) => ({ type: 'put', key: `first ${i}`, value: 'x' })),
    )
    const written = new Map<string, number>()
    await Promise.all(
      DEATHS.map(async (death) => {
        const thread = new Worker(here('plain-thread.mjs'), {
          workerData: { path, writer: death, death },
          resourceLimits: { maxOldGenerationSizeMb: 60 },
          stderr: true,
        })
        thread.on('error', () => {})
        thread.on('message', (message: { written?: number; isSpinning?: true }) => {
          if (message.written !== undefined) written.set(death, message.written)
          if (message.isSpinning) void thread.terminate()
        })
        await new Promise((resolve) => thread.once('exit', resolve))
      }),
    )
    for (const death of DEATHS) {
      const there = await database.keys({ gte: `${death} `, lt: `${death}!` }).all()
      expect(there.length, death).toBeGreaterThanOrEqual(written.get(death)!)
      // All or nothing of each batch.
      expect(there.length % 500, death).toBe(0)
      expect(there.length, death).toBeGreaterThan(0)
    }
    await database.put('still', 'writable')
    await database.close()
    const alone = new Level(path)
    await alone.open()
    expect(await alone.get('still')).toBe('writable')
    await alone.close()
  })
})

/** Inside node_modules, so that what it imports is found. */
const program = join(PROJECT, `node_modules/.kumo-test/shard-thread.${process.pid}.mjs`)

beforeAll(async () => {
  await build({
    entryPoints: [here('shard-thread.ts')],
    bundle: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
    outfile: program,
    logLevel: 'warning',
  })
  return () => rm(program)
})

/** A thread with a shard. */
class Thread {
  readonly worker: Worker
  readonly kept: string[] = []
  readonly #answers = new Map<number, (answer: unknown) => void>()
  #orders = 0

  constructor(path: string, shard: ShardContext) {
    const origin = timeOrigin(clock)
    this.worker = new Worker(program, { workerData: { path, shard, origin } })
    this.worker.on('message', ({ id, answer, kept }) => {
      if (kept !== undefined) this.kept.push(kept)
      else this.#answers.get(id)?.(answer)
    })
    onTestFinished(async () => void (await this.worker.terminate()))
  }

  order<T>(name: string, ...given: readonly unknown[]): Promise<T> {
    return new Promise((resolve, reject) => {
      const id = this.#orders++
      this.#answers.set(id, resolve as (answer: unknown) => void)
      this.worker.once('error', reject)
      this.worker.postMessage({ id, name, given })
    })
  }
}

const clock = systemClock()

async function openThreads(path: string, count: number) {
  const context = contextFor(clock)
  const shared = (await level(path).share!(context, count)) as Required<SharedStore>
  onTestFinished(async () => void (await shared.close()))
  const ownedBy = (index: number) =>
    Array.from({ length: PARTITIONS }, (_, i) => i).filter((i) => i % count === index)
  const start = (index: number, replaces = false) =>
    new Thread(path, { index, partitions: ownedBy(index), replaces, shared: shared.shared })
  const threads = Array.from({ length: count }, (_, index) => start(index))
  const mine = (requests: readonly CrawlRequest[], index: number) =>
    requests.filter(({ host }) => context.partitionOf!(host) % count === index)
  /** As the supervisor of threads does it. */
  const end = async (index: number) => {
    await shared.terminating(index)
    await threads[index]!.worker.terminate()
    shared.exited(index)
  }
  return { shared, threads, mine, start, end }
}

interface Counted {
  readonly pending: number
  readonly known: number
  readonly firstBatch: number
}

describe('shards in threads of their own', () => {
  test('take in what is theirs, hand partitions over, and leave a whole crawl', async () => {
    const path = await folder()
    const { shared, threads, mine } = await openThreads(path, 3)
    const requests = requestsOf(3000, 300)
    const added = await Promise.all(
      threads.map((thread, index) => thread.order<number>('add', mine(requests, index))),
    )
    expect(added.reduce((sum, count) => sum + count, 0)).toBe(requests.length)
    const given = await threads[0]!.order<StoreSnapshot>('give', [0, 3, 6])
    await threads[1]!.order('take', given)
    const counts = await Promise.all(threads.map((thread) => thread.order<Counted>('counts')))
    expect(counts.reduce((sum, { pending }) => sum + pending, 0)).toBe(requests.length)
    expect(counts[1]!.pending).toBeGreaterThan(mine(requests, 1).length)
    const leased = await Promise.all(
      threads.map((thread, index) =>
        thread.order<string[]>('lease', counts[index]!.pending, clock.now() + 1000),
      ),
    )
    expect(leased.flat().sort()).toEqual(urlsOf(requests))
    for (const thread of threads) await thread.order('close')
    await shared.close()
    const alone = await level(path).open(contextFor(clock))
    expect(await pendingUrls(alone.frontier)).toEqual(urlsOf(requests))
    await alone.close()
  })

  test('one is ended in the middle of its work: another takes its place, and nothing that was kept is lost', async () => {
    const path = await folder()
    const { shared, threads, mine, start, end } = await openThreads(path, 2)
    const requests = requestsOf(20_000, 300)
    for (const [index, thread] of threads.entries())
      void thread.order('work', mine(requests, index)).catch(() => {})
    for (let round = 0; round < 3; round++) {
      const dead = threads[0]!
      await until(() => dead.kept.length > 20, 'some are kept')
      await end(0)
      const left: string[] = []
      for await (const { text } of shared.leftovers(0)) left.push(text)
      expect(left).toEqual(expect.arrayContaining(dead.kept))
      threads[0] = start(0, true)
      const { pending, known } = await threads[0].order<Counted>('counts')
      expect(pending).toBeGreaterThanOrEqual(dead.kept.length)
      expect(known).toBe(pending)
      const more = mine(requests, 0).slice((round + 1) * 1000)
      void threads[0].order('work', more).catch(() => {})
    }
    const all = threads.flatMap(({ kept }) => kept)
    await Promise.all([end(0), end(1)])
    await shared.close()
    const alone = await level(path).open(contextFor(clock))
    expect(await pendingUrls(alone.frontier)).toEqual(expect.arrayContaining(all))
    await alone.close()
  })

  test('they are ended while they open it: the store goes on, and is free when it is closed', async () => {
    const path = await folder()
    const { shared, threads, start, end } = await openThreads(path, 1)
    for (let i = 0; i < 10; i++) {
      await new Promise((resolve) => setTimeout(resolve, 10 * i))
      await end(0)
      threads[0] = start(0, true)
    }
    await end(0)
    await shared.flush()
    await shared.close()
    const alone = await level(path).open(contextFor(clock))
    await alone.close()
  })

  test('the folder is refused to another crawl of the process, in another thread too', async () => {
    const path = await folder()
    const { shared } = await openThreads(path, 1)
    await expectRefusal(Promise.resolve(level(path).open(contextFor(clock))), 'KUMO_STORE_LOCKED', path)
    const code = `
      const { Level } = require('level')
      const { workerData, parentPort } = require('node:worker_threads')
      new Level(workerData).open().then(() => 'open', (error) => error.cause.code).then((told) => parentPort.postMessage(told))`
    const other = new Worker(code, { eval: true, workerData: path })
    expect((await once(other, 'message'))[0]).toBe('LEVEL_LOCKED')
    await shared.flush()
  })
})
