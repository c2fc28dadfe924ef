/**
 * Cases of the suite for handovers: a partition leaves once none of its requests is leased, with everything that was
 * added meanwhile.
 */

import assert from 'node:assert/strict'
import type { StoreSnapshot } from '../../stores/contract.js'
import { takeIn } from '../durable/fixtures.js'
import {
  A_DAY_MS,
  assertCounts,
  DELAY_MS,
  done,
  GENEROUS,
  HURRIED,
  ORDINARY,
  paths,
  request,
} from '../frontier/fixtures.js'
import { pause } from '../suite.js'
import {
  addPaths,
  arrive,
  assertSums,
  type CheckShards,
  given,
  hostIn,
  leaseOne,
  leases,
  move,
  type Shard,
  visits,
} from './fixtures.js'

/** Long enough to notice a store that does not wait. */
const A_MOMENT_MS = 5

export function waitingCases(check: CheckShards): void {
  check('release waits until all leases of the partitions are settled', GENEROUS, async (shards) => {
    const [from, to] = shards.pair
    const now = shards.start
    await takeIn(from, paths(hostIn(0), 100))
    await addPaths(from, hostIn(0, 'b'), ['b'])
    await addPaths(from, hostIn(2), ['other'])
    const all = await leases(from, now, ['1', '2', '3', '4', 'b', 'other'])
    const out = all.filter(({ host }) => host !== hostIn(2))
    const giving = watched(from, [0])
    for (const [i, lease] of out.entries()) {
      await pause(A_MOMENT_MS)
      assert.ok(!giving.isOver, `it was released while ${out.length - i} requests were leased`)
      assert.equal(giving.left, 0, 'it was reported as released, but was not')
      await from.frontier.settle([done(lease, now)])
    }
    await arrive(await given(from, giving.what), [0], to)
    assert.equal(giving.left, 1, 'how often it was reported as released')
    assertCounts(from.frontier, 0, 1, 1)
    assertCounts(to.frontier, 96, 0, 1)
  })

  check(
    'no request of the partitions is leased meanwhile, and nextDue ignores them',
    GENEROUS,
    async (shards) => {
      const [from, to] = shards.pair
      const now = shards.start
      await takeIn(from, paths(hostIn(0), 100))
      const out = await leases(from, now, ['1', '2', '3', '4'])
      // With one of them settled, there is room for more.
      await from.frontier.settle([{ request: out[0]!, visitedAt: undefined }])
      await addPaths(from, hostIn(0, 'b'), ['b'])
      const giving = watched(from, [0])
      await addPaths(from, hostIn(0, 'c'), ['c'])
      await addPaths(from, hostIn(2), ['other'])
      await addPaths(from, hostIn(0), ['more'])
      const [other] = await leases(from, now, ['other'])
      await from.frontier.settle([done(other!, now)])
      for (const later of [now, now + DELAY_MS, now + A_DAY_MS]) {
        assert.deepEqual(
          await from.frontier.lease(100, later),
          [],
          'handed out, although its partition is about to leave',
        )
        assert.ok(from.frontier.nextDue() > later, 'nextDue() includes partitions that are about to leave')
      }
      assertCounts(from.frontier, 99, 3, 3)
      await from.frontier.settle(out.map((lease) => done(lease, now)))
      await arrive(await given(from, giving.what), [0], to)
      assertCounts(from.frontier, 0, 0, 0)
      assertCounts(to.frontier, 99, 0, 3)
    },
  )

  check('requests that are added meanwhile move along', HURRIED, async (shards) => {
    const [from, to] = shards.pair
    const now = shards.start
    await addPaths(from, hostIn(0), ['1', '2'])
    await addPaths(from, hostIn(2), ['other'])
    const out = await leases(from, now, ['1', 'other'])
    const [lease, other] = [hostIn(0), hostIn(2)].map((name) => out.find(({ host }) => host === name)!)
    const giving = watched(from, [0])
    await addPaths(from, hostIn(0), ['added'])
    await addPaths(from, hostIn(0, 'b'), ['new-host'])
    const foundByOther = [request(hostIn(0), 'found-by-other'), request(hostIn(2), 'stays')]
    await ask(from, foundByOther)
    await from.frontier.settle([{ ...done(other!, now), found: foundByOther }])
    const found = [request(hostIn(0), 'found'), request(hostIn(2), 'stays-too')]
    await ask(from, found)
    const again = { at: now, attempt: 1 }
    await from.frontier.settle([{ ...done(lease!, now), again, found }])
    await arrive(await given(from, giving.what), [0], to)
    assertCounts(from.frontier, 2, 0, 1)
    assertCounts(to.frontier, 6, 0, 2)
    const newHost = await leases(to, now, ['1', 'new-host'])
    await to.frontier.settle(newHost.map((each) => done(each, now)))
    assert.deepEqual(await visits(to, now, 4), ['2', 'added', 'found-by-other', 'found'])
    assert.deepEqual(await visits(from, now, 2), ['stays', 'stays-too'])
  })

  check('requests that are added until the release move along', HURRIED, async (shards) => {
    const [from, to] = shards.pair
    const now = shards.start
    await addPaths(from, hostIn(0), ['1'])
    const lease = await leaseOne(from, now, '1')
    const last = [request(hostIn(0), 'last'), request(hostIn(0, 'b'), 'last-of-all')]
    await ask(from, last)
    const giving = watched(from, [0])
    // Both are in progress before anything can know that the last lease is settled.
    const settling = from.frontier.settle([done(lease, now)])
    const adding = giving.left === 0 ? from.frontier.add(last) : to.frontier.add(last)
    await settling
    await adding
    await arrive(await given(from, giving.what), [0], to)
    assertCounts(from.frontier, 0, 0, 0)
    assertCounts(to.frontier, 2, 0, 2)
  })

  check('release does not wait for leases of other partitions', ORDINARY, async (shards) => {
    const [from, to] = shards.pair
    await addPaths(from, hostIn(0), ['1'])
    await addPaths(from, hostIn(2), ['2'])
    const out = await leases(from, shards.start, ['1', '2'])
    await move([4], from, to)
    await from.frontier.settle([done(out.find(({ host }) => host === hostIn(2))!, shards.start)])
    await move([2], from, to)
    assertCounts(from.frontier, 0, 1, 1)
    assertCounts(to.frontier, 0, 0, 0)
  })

  check('a lease of a partition that moved away and back counts once', HURRIED, async (shards) => {
    const [from, to] = shards.pair
    const now = shards.start
    await addPaths(from, hostIn(0), ['1', '2'])
    const lease = await leaseOne(from, now, '1')
    const giving = watched(from, [0])
    await from.frontier.settle([done(lease, now)])
    await arrive(await given(from, giving.what), [0], to)
    const again = { at: now, attempt: 1 }
    for (const { frontier } of shards.all) await frontier.settle([{ ...done(lease, now), again }])
    assertSums(shards, 1, 0)
    await move([0], to, from)
    await from.frontier.settle([{ ...done(lease, now), again }])
    assertSums(shards, 1, 0)
    await leaseOne(from, now, '2')
  })
}

/** As the engine does before it settles a visit. */
async function ask({ seen }: Shard, requests: readonly { readonly url: string }[]): Promise<void> {
  const fresh = await seen.addAll(requests.map(({ url }) => url))
  assert.ok(fresh.every(Boolean), 'a new name was mistaken for a known one')
}

interface Giving {
  readonly what: Promise<StoreSnapshot>
  readonly isOver: boolean
  /** How often the partitions were reported to have left. */
  readonly left: number
}

function watched({ handover }: Shard, partitions: readonly number[]): Giving {
  let isOver = false
  let left = 0
  const what = handover.release(partitions, () => {
    left++
  })
  const over = () => {
    isOver = true
  }
  what.then(over, over)
  return {
    what,
    get isOver() {
      return isOver
    },
    get left() {
      return left
    },
  }
}
