/** What threads that share a database tell each other, in memory that they share. */

import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import { build } from 'esbuild'
import { systemClock } from 'kumo/adapters'
import { Level } from 'level'
import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { Database } from '../../../../src/stores/level/db/database.js'
import { ReopenBarrier } from '../../../../src/stores/level/threads/reopen-barrier.js'
import { sleep, until } from '../../../crawler/support.js'
import { PROJECT } from '../../../run-program.js'
import { folder } from '../folders.js'

test('the keeper waits for those inside, and for one that died until its successor comes', async () => {
  const memory = ReopenBarrier.make(3)
  const [keeper, one, dead, successor] = [0, 1, 2, 2].map((writer) => new ReopenBarrier(memory, writer))
  for (const barrier of [keeper!, one!, dead!]) barrier.enter()
  let isEmpty = false
  void keeper!.until(() => !keeper!.isOccupied).then(() => (isEmpty = true))
  one!.shut(one!.generation)
  expect([keeper!.isShut, dead!.isShut]).toEqual([true, true])
  one!.leave()
  await sleep(10)
  expect(isEmpty).toBe(false)
  const coming = successor!.enterWhenOpen(() => false)
  await until(() => isEmpty, 'the keeper is alone')
  keeper!.open()
  expect(one!.isShut).toBe(false)
  expect(await coming).toBe(true)
  expect(keeper!.isOccupied).toBe(true)
})

test('it is not shut for what was met before it was opened', () => {
  const barrier = new ReopenBarrier(ReopenBarrier.make(1), 0)
  const before = barrier.generation
  barrier.shut(before)
  barrier.open()
  barrier.shut(before)
  expect(barrier.isShut).toBe(false)
})

const program = join(PROJECT, `node_modules/.kumo-test/reopen-barrier-thread.${process.pid}.mjs`)

beforeAll(async () => {
  const source = fileURLToPath(new URL('reopen-barrier-thread.ts', import.meta.url))
  await build({ entryPoints: [source], bundle: true, platform: 'node', format: 'esm', outfile: program })
  return () => rm(program)
})

describe('a thread in the middle of a call', () => {
  async function callingThread() {
    const memory = ReopenBarrier.make(2)
    const mayGoOn = new Int32Array(new SharedArrayBuffer(4))
    const worker = new Worker(program, { workerData: { memory, mayGoOn } })
    onTestFinished(async () => void (await worker.terminate()))
    const told: string[] = []
    worker.on('message', (what: string) => void told.push(what))
    await until(() => told.includes('stays in a call'), 'it is in a call')
    const letGoOn = () => {
      Atomics.store(mayGoOn, 0, 1)
      Atomics.notify(mayGoOn, 0)
    }
    return { memory, keeper: new ReopenBarrier(memory, 0), worker, told, letGoOn }
  }

  test('is not ended before it is out of it, and makes no other', async () => {
    const { keeper, told, letGoOn } = await callingThread()
    let mayBeEnded = false
    const barred = keeper.block(1, systemClock()).then(() => {
      mayBeEnded = true
    })
    await sleep(50)
    expect(mayBeEnded).toBe(false)
    letGoOn()
    await barred
    await until(() => told.includes('done'), 'it goes on')
    expect(told).toEqual(['in a call', 'stays in a call', 'done'])
    keeper.exited(1)
    expect(keeper.hasInterruptedCall).toBe(false)
  })

  test('that dies nevertheless is known to have been in it; another takes its place', async () => {
    const { memory, keeper, worker } = await callingThread()
    await worker.terminate()
    keeper.exited(1)
    expect(keeper.hasInterruptedCall).toBe(true)
    let calls = 0
    await new ReopenBarrier(memory, 1).call(async () => calls++)
    expect(calls).toBe(1)
  })
})

test('a database that a thread was cut off in stays open, and the same process goes on with it', async () => {
  const warned = vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
  onTestFinished(() => warned.mockRestore())
  const path = await folder()
  const memory = ReopenBarrier.make(2)
  const keeper = new ReopenBarrier(memory, 0)
  const clock = systemClock()
  const database = await Database.open(path, false, { barrier: keeper, clock })
  await database.write({ values: new Map([['a', '1']]), once: [] })
  await new ReopenBarrier(memory, 1).call(async () => keeper.exited(1))
  await database.close()
  expect(warned.mock.calls[0]![0]).toContain(`the database in ${path} stays open`)
  await expect(new Level(path).open()).rejects.toMatchObject({ cause: { code: 'LEVEL_LOCKED' } })
  for (let time = 0; time < 2; time++) {
    const again = await Database.open(path, false)
    expect(await again.get('a')).toBe('1')
    await again.close()
  }
})
