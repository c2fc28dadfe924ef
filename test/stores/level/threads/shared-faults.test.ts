/** A disk that fails under several shards: they let go of the database together, and go on together when it is well. */

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { StoreEvent } from 'kumo'
import { level } from 'kumo'
import { Level } from 'level'
import { expect, onTestFinished, test } from 'vitest'
import { Database } from '../../../../src/stores/level/db/database.js'
import { ReopenBarrier } from '../../../../src/stores/level/threads/reopen-barrier.js'
import { rejectionOf, sleep, until } from '../../../crawler/support.js'
import { failingDisk } from '../db/failing-disk.js'
import { folder } from '../folders.js'
import { pendingUrls } from '../support.js'
import { contextOf, openShards, requestsOf, type Shards, takeInAll, urlsOf } from './shards-fixture.js'

/** Which list of tables the database has: another one each time that it is opened. */
function listIn(path: string): string {
  return readFileSync(join(path, 'CURRENT'), 'utf8')
}

async function threeShards() {
  const path = await folder()
  const events: StoreEvent['kind'][] = []
  const report = ({ kind }: StoreEvent) => void events.push(kind)
  const shards = await openShards(path, 3, { commitEvery: 5 }, { report })
  const requests = requestsOf(300)
  await takeInAll(shards, requests.slice(0, 100))
  return { path, shards, events, requests }
}

async function addTo({ all, of }: Shards, requests: ReturnType<typeof requestsOf>): Promise<void> {
  for (const shard of all) await shard.frontier.add(requests.filter(({ host }) => of(host) === shard))
}

test('writes fail: all pause, the database is opened anew, and all go on', async () => {
  const disk = failingDisk()
  const { path, shards, events, requests } = await threeShards()
  const list = listIn(path)
  disk.writes = true
  await addTo(shards, requests.slice(100))
  shards.shared.state.space('test').put('main', 1)
  await until(() => events.length === 4, 'all pause')
  expect(shards.all.map((shard) => shard.condition!().state)).toEqual(['paused', 'paused', 'paused'])
  disk.writes = false
  await until(() => events.length === 8, 'all go on')
  expect(events.slice(4)).toEqual(['resumed', 'resumed', 'resumed', 'resumed'])
  expect(listIn(path)).not.toBe(list)
  for (const shard of shards.all) await shard.flush()
  await shards.shared.flush()
  await shards.close()
  const alone = await level(path).open(contextOf())
  expect(await pendingUrls(alone.frontier)).toEqual(urlsOf(requests))
  expect(await alone.state!.space('test').get('main')).toBe(1)
  await alone.close()
})

test('one of them fails: those that have nothing to do let go of the database too', async () => {
  const { path, shards, events, requests } = await threeShards()
  const list = listIn(path)
  failNextBatches(1)
  const [first] = requests.slice(100).filter(({ host }) => shards.of(host) === shards.all[1])
  await shards.all[1]!.frontier.add([first!])
  await until(() => events.includes('resumed'), 'it goes on')
  expect(listIn(path)).not.toBe(list)
  await addTo(
    shards,
    requests.slice(100).filter((each) => each !== first),
  )
  for (const shard of shards.all) await shard.flush()
  await shards.close()
  const alone = await level(path).open(contextOf())
  expect(await pendingUrls(alone.frontier)).toEqual(urlsOf(requests))
  await alone.close()
})

test('the first to open it closes it last, however long the others take', async () => {
  const { shards, events, requests } = await threeShards()
  const calls = slowClosings()
  failNextBatches(1)
  await addTo(shards, requests.slice(100, 101))
  await until(() => events.includes('resumed'), 'it goes on')
  expect(calls.slice(0, 5)).toEqual(['closed', 'closed', 'closed', 'closed', 'open'])
})

test('it cannot be opened anew for a while: whoever waits is told each time, and goes on in the end', async () => {
  const { path, shards, events, requests } = await threeShards()
  failNextBatches(1)
  const openings = failOpenings(2)
  await addTo(shards, requests.slice(100, 110))
  await until(() => events.includes('paused'), 'it pauses')
  await until(() => openings.failed === 2, 'it could not be opened twice')
  await until(() => shards.all.every((shard) => shard.condition!().state === 'ok'), 'all go on')
  for (const shard of shards.all) await shard.flush()
  await shards.close()
  const alone = await level(path).open(contextOf())
  expect(await pendingUrls(alone.frontier)).toEqual(urlsOf(requests.slice(0, 110)))
  await alone.close()
})

test('a crawl that ends while the disk fails says so, and leaves what was committed', async () => {
  const disk = failingDisk()
  const { path, shards, events, requests } = await threeShards()
  disk.writes = true
  await addTo(shards, requests.slice(100))
  await until(() => events.length === 3, 'all pause')
  const closings = shards.all.map((shard) => rejectionOf(Promise.resolve(shard.close())))
  for (const closing of closings) {
    expect(await closing).toMatchObject({
      message: expect.stringContaining('Everything committed before is intact'),
    })
  }
  await shards.shared.close()
  disk.writes = false
  const alone = await level(path).open(contextOf())
  expect(await pendingUrls(alone.frontier)).toEqual(urlsOf(requests.slice(0, 100)))
  await alone.close()
})

test('what another thread wrote behind a write that broke off, and is gone, is noticed', async () => {
  const path = await folder()
  const memory = ReopenBarrier.make(2)
  const { clock } = contextOf()
  const keeper = await Database.open(path, false, { barrier: new ReopenBarrier(memory, 0), clock })
  const other = await Database.open(path, false, { barrier: new ReopenBarrier(memory, 1), clock })
  await other.write({ values: new Map([['a', '1']]), once: [] })
  other.lastWritten = 'a'
  // As if the log had lost it.
  await keeper.write({ values: new Map([['a', null]]), once: [] })
  const error = await rejectionOf(other.reopen())
  expect(error).toMatchObject({
    code: 'KUMO_STORE_DAMAGED',
    message: expect.stringContaining('commits that had been written are missing'),
  })
  expect(await rejectionOf(other.get('b'))).toBe(error)
  expect(await keeper.get('b')).toBeUndefined()
  await other.close()
  await keeper.close()
  expect(existsSync(join(path, 'LOCK'))).toBe(true)
  await (await Database.open(path, false)).close()
})

test('closing is a native call: a thread that is about to be terminated does not start it', async () => {
  const path = await folder()
  const memory = ReopenBarrier.make(2)
  const { clock } = contextOf()
  const barrier = new ReopenBarrier(memory, 0)
  const keeper = await Database.open(path, false, { barrier, clock })
  const other = await Database.open(path, false, { barrier: new ReopenBarrier(memory, 1), clock })
  await barrier.block(1, clock)
  let isClosed = false
  void other.close().then(() => {
    isClosed = true
  })
  await sleep(50)
  expect(isClosed).toBe(false)
  expect(barrier.isOccupied).toBe(true)
  barrier.exited(1)
  expect(barrier.isOccupied).toBe(false)
  await keeper.close()
})

/** The next so many commits fail, as on a full disk, whoever writes them. */
function failNextBatches(count: number): void {
  const { batch } = Level.prototype
  let left = count
  Level.prototype.batch = function (this: Level, ...given: []) {
    const made = batch.apply(this, given)
    if (left-- > 0) made.write = () => Promise.reject(ioError())
    return made
  } as typeof batch
  onTestFinished(() => {
    Level.prototype.batch = batch
  })
}

/** Each takes longer than the one before it; tells in which order they end, and when the next opening comes. */
function slowClosings(): string[] {
  const calls: string[] = []
  const { close, open } = Level.prototype
  let closings = 0
  Level.prototype.close = async function (this: Level) {
    await sleep(25 * ++closings)
    await close.call(this)
    calls.push('closed')
  }
  Level.prototype.open = function (this: Level) {
    calls.push('open')
    return open.call(this, {})
  } as typeof open
  onTestFinished(() => {
    Object.assign(Level.prototype, { close, open })
  })
  return calls
}

function failOpenings(count: number): { failed: number } {
  const told = { failed: 0 }
  const { open } = Level.prototype
  Level.prototype.open = function (this: Level) {
    if (told.failed === count) return open.call(this, {})
    told.failed++
    return Promise.reject(ioError())
  } as typeof open
  onTestFinished(() => {
    Level.prototype.open = open
  })
  return told
}

function ioError(): Error {
  return Object.assign(new Error('IO error: 000003.log: No space left on device'), { code: 'LEVEL_IO_ERROR' })
}
