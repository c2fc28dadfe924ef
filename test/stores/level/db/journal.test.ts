/** Group commit: what goes together, in which order, and what a failing disk makes of it. The database is a double. */

import { describe, expect, test } from 'vitest'
import { KumoError } from '../../../../src/errors.js'
import type { StoreEvent } from '../../../../src/stores/contract.js'
import type { Changes, Database } from '../../../../src/stores/level/db/database.js'
import { Journal } from '../../../../src/stores/level/db/journal.js'
import { rejectionOf } from '../../../crawler/support.js'
import { ManualClock } from '../../../engine/manual-clock.js'

const COMMIT_MS = 100
/** More than the time after which a failed write is tried again. */
const A_WHILE_MS = 2000

interface Write {
  readonly keys: string[]
  readonly done: () => void
  readonly fail: (message: string, code?: string) => void
}

/** A database whose every answer the test gives. */
class Disk {
  readonly writes: Write[] = []
  readonly reopenings: (() => void)[] = []
  whenRecovered: (error: unknown) => Promise<void> = async () => {}

  write({ values }: Changes): Promise<void> {
    return new Promise((resolve, reject) => {
      const fail = (message: string, code = 'LEVEL_IO_ERROR') =>
        reject(Object.assign(new Error(message), { code }))
      const keys = [...values.keys()].filter((key) => !key.startsWith('j')).sort()
      this.writes.push({ keys, done: resolve, fail })
    })
  }

  reopen(): Promise<void> {
    return new Promise((resolve) => this.reopenings.push(resolve))
  }

  toStoreError(error: unknown): KumoError {
    return new KumoError('KUMO_STORE_FAILED', (error as Error).message)
  }
}

function setUp() {
  const disk = new Disk()
  const clock = new ManualClock()
  const events: StoreEvent['kind'][] = []
  const committed: number[] = []
  const journal = new Journal({
    database: disk as unknown as Database,
    writer: 0,
    clock,
    commitMs: COMMIT_MS,
    lastCommit: 0,
    committed: (commit) => void committed.push(commit),
    report: ({ kind }) => void events.push(kind),
  })
  // As the store does: counts go into every commit.
  journal.setMetaWriter(() => journal.put('m', ''))
  return { disk, clock, events, committed, journal }
}

/** Lets promises have their turns. */
const turns = () => new Promise((resolve) => setImmediate(resolve))

describe('commits', () => {
  test('come when their time is up, and hold all that was changed until then', async () => {
    const { disk, clock, journal, committed } = setUp()
    journal.put('a', '1')
    clock.advance(COMMIT_MS / 2)
    journal.put('b', '1')
    expect(disk.writes).toHaveLength(0)
    clock.advance(COMMIT_MS / 2)
    expect(disk.writes.map(({ keys }) => keys)).toEqual([['a', 'b', 'm']])
    disk.writes[0]!.done()
    await turns()
    expect(committed).toEqual([1])
  })

  test('do not come while nothing changes', async () => {
    const { disk, clock, journal } = setUp()
    journal.put('a', '1')
    clock.advance(COMMIT_MS)
    disk.writes[0]!.done()
    await turns()
    for (let i = 0; i < 10; i++) {
      clock.advance(COMMIT_MS)
      await turns()
    }
    expect(disk.writes).toHaveLength(1)
    expect(clock.alarms).toEqual([])
  })

  test('are written one after the other: what changes meanwhile is the next', async () => {
    const { disk, clock, journal, committed } = setUp()
    journal.put('a', '1')
    clock.advance(COMMIT_MS)
    journal.put('b', '1')
    clock.advance(A_WHILE_MS)
    await turns()
    expect(disk.writes).toHaveLength(1)
    expect(journal.staged('a')).toBe('1')
    disk.writes[0]!.done()
    await turns()
    clock.advance(COMMIT_MS)
    expect(disk.writes.map(({ keys }) => keys)).toEqual([
      ['a', 'm'],
      ['b', 'm'],
    ])
    disk.writes[1]!.done()
    await turns()
    expect(committed).toEqual([1, 2])
  })

  test('flush waits for all that was changed before it, not for what comes after', async () => {
    const { disk, clock, journal } = setUp()
    journal.put('a', '1')
    clock.advance(COMMIT_MS)
    journal.put('b', '1')
    let isFlushed = false
    void journal.flush().then(() => (isFlushed = true))
    disk.writes[0]!.done()
    await turns()
    expect(isFlushed).toBe(false)
    disk.writes[1]!.done()
    await turns()
    expect(isFlushed).toBe(true)
  })
})

/** Fails the first write, and comes back when it has been tried again. */
async function failOnce({ disk, clock, journal }: ReturnType<typeof setUp>): Promise<void> {
  journal.put('a', '1')
  clock.advance(COMMIT_MS)
  disk.writes[0]!.fail('IO error: no space')
  await turns()
}

describe('a write that fails because of the disk', () => {
  test('is tried again until it succeeds, with the database opened anew each time', async () => {
    const set = setUp()
    const { disk, clock, events, committed, journal } = set
    await failOnce(set)
    expect([events, journal.condition.state, journal.isBehind]).toEqual([['paused'], 'paused', true])
    for (let i = 1; i <= 3; i++) {
      clock.advance(A_WHILE_MS)
      expect(disk.reopenings).toHaveLength(i)
      disk.reopenings[i - 1]!()
      await turns()
      expect(disk.writes[i]!.keys).toEqual(['a', 'm'])
      if (i < 3) disk.writes[i]!.fail('IO error: no space')
      else disk.writes[i]!.done()
      await turns()
    }
    expect([events, journal.condition.state]).toEqual([['paused', 'resumed'], 'ok'])
    expect(committed).toEqual([1])
  })

  test('does not keep what changes meanwhile from being the next commit', async () => {
    const set = setUp()
    const { disk, clock, committed, journal } = set
    await failOnce(set)
    journal.put('b', '1')
    clock.advance(A_WHILE_MS)
    disk.reopenings[0]!()
    await turns()
    disk.writes[1]!.done()
    await turns()
    clock.advance(COMMIT_MS)
    expect(disk.writes[2]!.keys).toEqual(['b', 'm'])
    disk.writes[2]!.done()
    await turns()
    expect(committed).toEqual([1, 2])
  })

  test('is tried once more at once when the store is closed, and then given up', async () => {
    const set = setUp()
    const { disk, journal } = set
    await failOnce(set)
    const closing = rejectionOf(journal.close())
    disk.reopenings[0]!()
    await turns()
    disk.writes[1]!.fail('IO error: still no space')
    const error = (await closing) as KumoError
    expect([error.code, error.message]).toEqual([
      'KUMO_STORE_FAILED',
      expect.stringContaining('Everything committed before is intact'),
    ])
    expect(disk.writes).toHaveLength(2)
  })

  test('is not tried twice at once when the store is closed while it is being tried again', async () => {
    const set = setUp()
    const { disk, clock, committed, journal } = set
    await failOnce(set)
    journal.put('b', '1')
    clock.advance(A_WHILE_MS)
    expect(disk.reopenings).toHaveLength(1)
    let closed: string | undefined
    void journal.close().then(
      () => (closed = 'closed'),
      () => (closed = 'failed'),
    )
    await turns()
    expect(disk.reopenings, 'opened anew by two at once').toHaveLength(1)
    disk.reopenings[0]!()
    await turns()
    expect(disk.writes.slice(1).map(({ keys }) => keys)).toEqual([['a', 'm']])
    disk.writes[1]!.done()
    await turns()
    expect(closed).toBeUndefined()
    expect(disk.writes.slice(2).map(({ keys }) => keys)).toEqual([['b', 'm']])
    disk.writes[2]!.done()
    await turns()
    expect([closed, committed]).toEqual(['closed', [1, 2]])
  })
})

describe('a read that fails because of the disk', () => {
  test('waits until a write or a reading goes well, and the pause is told once', async () => {
    const { disk, clock, events, journal } = setUp()
    let isRead = false
    const error = Object.assign(new Error('IO error: sector'), { code: 'LEVEL_IO_ERROR' })
    void disk.whenRecovered(error).then(() => (isRead = true))
    await turns()
    expect([events, journal.condition.state, isRead]).toEqual([['paused'], 'paused', false])
    clock.advance(A_WHILE_MS)
    disk.reopenings[0]!()
    await turns()
    expect(isRead).toBe(true)
  })
})

test('an error that is not of the disk is told to all who wait, at once and from then on', async () => {
  const { disk, events, journal } = setUp()
  journal.put('a', '1')
  const flushing = rejectionOf(journal.flush())
  await turns()
  disk.writes[0]!.fail('Corruption: bad block', 'LEVEL_CORRUPTION')
  for (const error of [await flushing, await rejectionOf(journal.flush()), journal.fatal]) {
    expect(error).toMatchObject({ message: expect.stringContaining('bad block') })
  }
  expect(events).toEqual([])
})
