/** What several shards have stored, any number of them goes on with: nothing is lost, nothing is counted twice. */

import { level } from 'kumo'
import { systemClock } from 'kumo/adapters'
import { describe, expect, onTestFinished, test } from 'vitest'
import { leaseSoon } from '../../../../src/conformance/durable/lives.js'
import { copyOf } from '../../../../src/stores/level/db/copy.js'
import { Database } from '../../../../src/stores/level/db/database.js'
import { folder, removeLater } from '../folders.js'
import { expectRefusal, pendingUrls, withDatabase } from '../support.js'
import {
  allPending,
  contextOf,
  openShards,
  PARTITIONS,
  partitionOf,
  requestsOf,
  type Shard,
  takeInAll,
  urlsOf,
} from './shards-fixture.js'

const COUNT = 300
/** 0 stands for a crawl without workers. */
const NUMBERS = [0, 1, 2, 5]

/** Opens a folder with so many shards and looks at all that is there. */
async function everythingIn(path: string, shards: number) {
  const opened = shards === 0 ? undefined : await openShards(path, shards)
  const all = opened?.all ?? [await level(path).open(contextOf())]
  // What is counted is counted before anything is read.
  const counts = all.map(({ frontier, seen }) => ({ pending: frontier.pending, known: seen.size }))
  const urls = await allPending(all)
  const names = requestsOf(COUNT)
  const knowing = await Promise.all(
    all.map(async (each, index) => {
      const mine = names.filter(({ host }) => shards < 2 || partitionOf(host) % shards === index)
      return (await each.seen.addAll(urlsOf(mine))).filter((isNew) => isNew).length
    }),
  )
  const close = () => (opened === undefined ? all[0]!.close() : opened.close())
  return { counts, urls, new: knowing.reduce((sum, count) => sum + count, 0), close }
}

async function crashed(path: string): Promise<string> {
  return removeLater((await copyOf(path)).path)
}

describe('a crawl that was stored by three', () => {
  test.for(NUMBERS)('goes on with %i, after a crash and after the end of a run', async (number) => {
    const path = await folder()
    const three = await openShards(path, 3)
    const requests = requestsOf(COUNT)
    await takeInAll(three, requests)
    const [lease] = await three.all[0]!.frontier.lease(1, Date.now())
    three.all[0]!.frontier.settle([{ request: lease!, visitedAt: undefined }])
    for (const shard of three.all) await shard.flush()
    const copy = await crashed(path)
    await three.close()
    const left = urlsOf(requests.filter(({ url }) => url !== lease!.url))
    for (const folder of [copy, path]) {
      const found = await everythingIn(folder, number)
      expect(found.urls).toEqual(left)
      expect(found.new).toBe(0)
      expect(found.counts.reduce((sum, { pending }) => sum + pending, 0)).toBe(COUNT - 1)
      expect(found.counts.reduce((sum, { known }) => sum + known, 0)).toBe(COUNT)
      await found.close()
    }
  })

  test('goes on with other numbers many times over', async () => {
    const path = await folder()
    const requests = requestsOf(COUNT)
    const first = await openShards(path, 3)
    await takeInAll(first, requests.slice(0, 100))
    await first.close()
    let added = 100
    for (const number of [1, 4, 0, 2, 0, 3]) {
      const more = requests.slice(added, added + 30)
      added += 30
      if (number === 0) {
        const alone = await level(path).open(contextOf())
        await alone.seen.addAll(urlsOf(more))
        await alone.frontier.add(more)
        await alone.close()
      } else {
        const some = await openShards(path, number)
        await takeInAll(some, more)
        await some.close()
      }
      const found = await everythingIn(path, number === 2 ? 5 : 2)
      expect(found.urls).toEqual(urlsOf(requests.slice(0, added)))
      expect(found.new).toBe(COUNT - added)
      await found.close()
    }
  })
})

type Moment = (from: Shard, to: Shard, moved: number[]) => Promise<void>

async function move(from: Shard, to: Shard, moved: readonly number[]): Promise<void> {
  await to.handover.adopt(structuredClone(await from.handover.release(moved)))
}

const MOMENTS: readonly (readonly [string, Moment])[] = [
  [
    'after they were given, before they are taken',
    async (from, _, moved) => {
      await from.handover.release(moved)
    },
  ],
  ['after they were taken, before that is committed', move],
  [
    'after that is committed',
    async (from, to, moved) => {
      await move(from, to, moved)
      await to.flush()
    },
  ],
  [
    'after who gave them has gone on',
    async (from, to, moved) => {
      await move(from, to, moved)
      from.state!.space('test').put('a', 1)
      await from.flush()
    },
  ],
  [
    'when they have come back',
    async (from, to, moved) => {
      await move(from, to, moved)
      await move(to, from, moved)
      await to.flush()
    },
  ],
]

/** From shard 0 to 1, and the other way round. */
const DIRECTIONS = [0, 1]

describe('a crash while partitions move', () => {
  const CASES = MOMENTS.flatMap(([when, act]) => DIRECTIONS.map((first) => [when, first, act] as const))

  test.for(CASES)('%s, from shard %i', async ([, first, act]) => {
    const path = await folder()
    const shards = await openShards(path, 2, { commitEvery: '1m' })
    const requests = requestsOf(COUNT)
    await takeInAll(shards, requests)
    const moved = Array.from({ length: PARTITIONS }, (_, i) => i).filter((i) => i % 2 === first && i < 9)
    await act(shards.all[first]!, shards.all[1 - first]!, moved)
    const copy = await crashed(path)
    for (const number of NUMBERS) {
      const found = await everythingIn(await crashed(copy), number)
      expect(found.urls).toEqual(urlsOf(requests))
      expect(found.new).toBe(0)
      expect(found.counts.reduce((sum, { pending }) => sum + pending, 0)).toBe(COUNT)
      await found.close()
    }
  })

  test.for(DIRECTIONS)('what came to them since, from shard %i, counts', async (first) => {
    const path = await folder()
    const shards = await openShards(path, 2, { commitEvery: '1m' })
    const requests = requestsOf(COUNT)
    await takeInAll(shards, requests.slice(0, 200))
    const moved = [first, first + 2, first + 4]
    const [from, to] = [shards.all[first]!, shards.all[1 - first]!]
    await move(from, to, moved)
    const more = requests.slice(200).filter(({ host }) => moved.includes(partitionOf(host)))
    await to.seen.addAll(urlsOf(more))
    await to.frontier.add(more)
    await to.flush()
    const alone = await level(await crashed(path)).open(contextOf())
    expect(await pendingUrls(alone.frontier)).toEqual(urlsOf([...requests.slice(0, 200), ...more]))
    expect(alone.seen.size).toBe(200 + more.length)
    await alone.close()
  })

  test('a request that is added while the last commit is written goes along, and is kept', async () => {
    const path = await folder()
    const { all } = await openShards(path, 2)
    const late = requestsOf(100).filter(({ host }) => partitionOf(host) === 0)
    const { write } = Database.prototype
    let isWaiting = true
    Database.prototype.write = function (changes) {
      const hasParcel = [...changes.values.keys()].includes('n0000')
      const adding = hasParcel && late.length > 0 ? all[0]!.frontier.add([late.pop()!]) : undefined
      void Promise.resolve(adding).then(() => (isWaiting = false))
      if (adding !== undefined) isWaiting = true
      return write.call(this, changes)
    }
    onTestFinished(() => {
      Database.prototype.write = write
    })
    const { length } = late
    const given = await all[0]!.handover.release([0])
    Database.prototype.write = write
    const copy = await crashed(path)
    await new Promise((resolve) => setImmediate(resolve))
    expect(isWaiting, 'who added it may go on').toBe(false)
    expect(length).toBeGreaterThan(1)
    expect(late).toEqual([])
    await all[1]!.handover.adopt(given)
    expect(all[1]!.frontier.pending).toBe(length)
    const alone = await level(copy).open(contextOf())
    expect(alone.frontier.pending).toBe(length)
    await alone.close()
  })

  test('requests that are added until the last moment go along, and are kept', async () => {
    const path = await folder()
    const { all } = await openShards(path, 2, { commitEvery: 1 })
    const [from, to] = [all[0]!, all[1]!]
    const moved = Array.from({ length: PARTITIONS }, (_, i) => i).filter((i) => i % 2 === 0)
    const requests = requestsOf(20_000).filter(({ host }) => moved.includes(partitionOf(host)))
    let added = 0
    let hasLeft = false
    const adding = (async () => {
      while (!hasLeft && added < requests.length) {
        const more = requests.slice(added, added + 5)
        added += more.length
        await from.seen.addAll(urlsOf(more))
        // Who may have to wait until it has left, as the engine does.
        if (!hasLeft) await from.frontier.add(more)
      }
    })()
    await new Promise((resolve) => setTimeout(resolve, 20))
    const given = await from.handover.release(moved, () => {
      hasLeft = true
    })
    const copy = await crashed(path)
    await adding
    await to.handover.adopt(structuredClone(given))
    const expected = urlsOf(requests.slice(0, added))
    expect(from.frontier.pending).toBe(0)
    expect(to.frontier.pending).toBe(expected.length)
    expect(await pendingUrls(to.frontier)).toEqual(expected)
    const alone = await level(copy).open(contextOf())
    expect(await pendingUrls(alone.frontier)).toEqual(expected)
    await alone.close()
  })

  test('what is added to a shard that has given its partition is refused', async () => {
    const { all } = await openShards(await folder(), 2)
    const [request] = requestsOf(100).filter(({ host }) => partitionOf(host) === 0)
    await all[0]!.handover.release([0])
    expect(() => all[0]!.frontier.add([request!])).toThrow(/does not own its partition, 0/)
  })
})

describe('a partition that goes to and fro', () => {
  test('keeps every name, however the numbers of the writers lie', async () => {
    const path = await folder()
    const shards = await openShards(path, 2, { seenInMemory: 40 })
    const [one, two] = [shards.all[0]!, shards.all[1]!]
    // One is far ahead in commits and requests, and then the other.
    const mine = requestsOf(3000).filter(({ host }) => partitionOf(host) === 0)
    const others = requestsOf(3000).filter(({ host }) => partitionOf(host) === 2)
    const known: string[] = []
    let holder = one
    let other = two
    for (let round = 0; round < 12; round++) {
      const more = mine.slice(round * 5, round * 5 + 5)
      known.push(...urlsOf(more))
      await holder.seen.addAll(urlsOf(more))
      await holder.frontier.add(more)
      if (round < 4) for (const each of others.splice(0, 5)) await one.frontier.add([each])
      await holder.flush()
      if (round % 3 !== 2) continue
      await other.handover.adopt(structuredClone(await holder.handover.release([0])))
      ;[holder, other] = [other, holder]
      expect((await holder.seen.addAll(known)).filter((isNew) => isNew)).toEqual([])
    }
    await shards.close()
    const alone = await level(path).open(contextOf())
    expect((await alone.seen.addAll(known)).filter((isNew) => isNew)).toEqual([])
    await alone.close()
  })
})

describe('who may open a store that is shared', () => {
  test('shards, and nobody else of the same process', async () => {
    const path = await folder()
    const shards = await openShards(path, 2)
    const told = /in use by another crawl/
    await expectRefusal(Promise.resolve(level(path).open(contextOf())), 'KUMO_STORE_LOCKED', path, told)
    await expectRefusal(Promise.resolve(level(path).share!(contextOf(), 2)), 'KUMO_STORE_LOCKED', path, told)
    await shards.close()
    const alone = await level(path).open(contextOf())
    await expectRefusal(Promise.resolve(level(path).share!(contextOf(), 2)), 'KUMO_STORE_LOCKED', path, told)
    await alone.close()
    await (await level(path).share!(contextOf(), 2)).close()
  })

  test('a shard only if it was shared before', async () => {
    const shard = { index: 0, partitions: [0], replaces: false }
    const opening = Promise.resolve(level(await folder()).open(contextOf({ shard })))
    await expectRefusal(opening, 'KUMO_CONTRACT_BROKEN', /without the result of Store.share/)
  })

  test('and what one refuses by its options the other refuses too', async () => {
    const path = await folder()
    await expectRefusal(
      Promise.resolve(level(path, { resume: 'must' }).share!(contextOf(), 2)),
      'KUMO_STORE_RESUME',
      path,
    )
    const identity = { drop: 'a' }
    await (await level(path).share!(contextOf({ identity }), 2)).close()
    const other = contextOf({ identity: { drop: 'b' } })
    await expectRefusal(Promise.resolve(level(path).share!(other, 2)), 'KUMO_STORE_MISMATCH', path, 'drop')
    await expectRefusal(
      Promise.resolve(level(path, { resume: 'never' }).share!(contextOf(), 2)),
      'KUMO_STORE_RESUME',
      path,
    )
  })
})

test('a shard that takes the place of another goes on with what that has committed, and lets hosts rest', async () => {
  const path = await folder()
  const politeness = { delayMs: 60_000, connections: 1, growAt: 1000 }
  const shards = await openShards(path, 2, {}, { politeness })
  const requests = requestsOf(COUNT)
  await takeInAll(shards, requests)
  const [dead] = shards.all
  const { pending } = dead!.frontier
  // As if its thread had ended: what is not committed is gone.
  await dead!.close()
  shards.all[0] = await shards.open({ index: 0, replaces: true })
  const { frontier } = shards.all[0]
  expect(frontier.pending).toBe(pending)
  expect(await frontier.lease(1000, Date.now() + 59_000)).toEqual([])
  const hosts = new Set(requests.map(({ host }) => host).filter((host) => partitionOf(host) % 2 === 0))
  expect(await leaseSoon(frontier, hosts.size, Date.now() + 61_000)).toHaveLength(hosts.size)
})

test.for([
  ['nothing', false],
  ['something', true],
] as const)(
  'who took partitions, committed %s of them and died is replaced: they are taken once more',
  async ([, commits]) => {
    const path = await folder()
    const shards = await openShards(path, 2, { commitEvery: '1m' })
    const requests = requestsOf(COUNT)
    await takeInAll(shards, requests)
    const moved = [0, 2, 4]
    const parcel = await shards.all[0]!.handover.release(moved)
    const dead = shards.all[1]!
    await dead.handover.adopt(structuredClone(parcel))
    const more = requestsOf(COUNT + 200)
      .slice(COUNT)
      .filter(({ host }) => moved.includes(partitionOf(host)))
    let expected = urlsOf(requests)
    if (commits) {
      const mine = requests.filter(({ host }) => moved.includes(partitionOf(host)))
      const leases = await leaseSoon(dead.frontier, dead.frontier.pending, Date.now())
      const done = leases.filter(({ url }) => mine.slice(0, 9).some((each) => each.url === url))
      await dead.frontier.settle(done.map((request) => ({ request, visitedAt: undefined })))
      await dead.seen.addAll(urlsOf(more))
      await dead.frontier.add(more)
      await dead.flush()
      expected = [...requests.filter((each) => !mine.slice(0, 9).includes(each)), ...more]
        .map(({ url }) => url)
        .sort()
    }
    // As if the thread had ended: nothing more of it is written.
    const copy = await crashed(path)
    const others = Array.from({ length: PARTITIONS }, (_, i) => i).filter((i) => i % 2 === 1)
    const successor = await shards.open({ index: 1, partitions: others, replaces: true })
    shards.all[1] = successor
    await successor.handover.adopt(structuredClone(parcel))
    expect(await allPending(shards.all)).toEqual(expected)
    const names = commits ? [...requests, ...more] : requests
    const known = names.filter(({ host }) => partitionOf(host) % 2 === 1 || moved.includes(partitionOf(host)))
    expect((await successor.seen.addAll(urlsOf(known))).filter((isNew) => isNew)).toEqual([])
    expect(successor.seen.size).toBe(known.length)
    for (const each of shards.all) await each.flush()
    for (const left of [copy, await crashed(path)]) {
      const alone = await level(left).open(contextOf())
      expect(await pendingUrls(alone.frontier)).toEqual(expected)
      await alone.close()
    }
    await dead.close()
  },
)

test('pauses hold in shards whatever happened to the system clock', async () => {
  const path = await folder()
  const politeness = { delayMs: 60_000, connections: 1, growAt: 1000 }
  const system = systemClock()
  const visits = requestsOf(2, 1)
  const first = await openShards(path, 2, {}, { politeness, clock: system })
  const { frontier } = first.of(visits[0]!.host)
  await frontier.add(visits)
  const [lease] = await frontier.lease(1, system.now())
  await frontier.settle([{ request: lease!, visitedAt: system.now() }])
  await first.close()
  // Set back by an hour, on a machine without a clock that nobody can set.
  const now = () => system.now() - 3_600_000
  const clock = { now, wakeAt: (at: number, wake: () => void) => system.wakeAt(at + 3_600_000, wake) }
  const second = await openShards(path, 3, {}, { politeness, clock })
  const opened = now()
  const shard = second.of(visits[0]!.host)
  expect(await shard.frontier.lease(1, opened + 59_000)).toEqual([])
  expect(await leaseSoon(shard.frontier, 1, opened + 60_100)).toHaveLength(1)
})

test('the memory of a store is shared out among its shards', async () => {
  const path = await folder()
  const { all } = await openShards(path, 2, { hostsInMemory: 4, requestsInMemory: 1000 })
  const mine = requestsOf(200, 100).filter(({ host }) => partitionOf(host) % 2 === 0)
  await all[0]!.frontier.add(mine)
  await all[0]!.flush()
  // A host beyond those in memory waits on disk, so it is not handed out at once.
  const leases = await all[0]!.frontier.lease(1000, Date.now())
  expect(new Set(leases.map(({ host }) => host)).size).toBe(2)
})

test('a meta that lies in the folder tells of each writer what is its own', async () => {
  const path = await folder()
  const shards = await openShards(path, 2)
  await takeInAll(shards, requestsOf(COUNT))
  await shards.close()
  await withDatabase(path, async (database) => {
    const keys = await database.keys({ gte: 'm', lt: 'o' }).all()
    expect(keys).toEqual(['m', 'm0001', 'm0002'])
    const own = await Promise.all(keys.map(async (key) => JSON.parse((await database.get(key))!).counts))
    const partitions = own.map((counts: string) =>
      counts
        .split(',')
        .slice(0, -1)
        .map((each) => Number.parseInt(each, 10)),
    )
    expect(partitions[0]).toEqual([])
    expect(partitions[1]!.every((partition) => partition % 2 === 0)).toBe(true)
    expect(partitions[2]!.every((partition) => partition % 2 === 1)).toBe(true)
  })
})
