/** Cases of the suite for handovers: everything that belongs to a partition moves with it, and nothing else. */

import assert from 'node:assert/strict'
import type { StateSpace } from '../../stores/contract.js'
import type { CrawlRequest } from '../../types.js'
import { knownAs } from '../../url/known-as.js'
import { assertKnown, notBefore as notHandedOutBefore, SLACK_MS, takeIn } from '../durable/fixtures.js'
import {
  A_DAY_MS,
  assertCounts,
  DELAY_MS,
  done,
  EXTRAS,
  fieldsOf,
  HURRIED,
  ORDINARY,
  rareFieldsOf,
  request,
} from '../frontier/fixtures.js'
import {
  addPaths,
  assertSums,
  type CheckShards,
  hostIn,
  leaseOne,
  leaseSoon,
  leases,
  move,
  pathOf,
  visits,
} from './fixtures.js'

const MANY = 5000

export function conservationCases(check: CheckShards): void {
  requestCases(check)
  orderCase(check)
  laterCase(check)
  seenCases(check)
  factCase(check)
  loadCase(check)
}

function requestCases(check: CheckShards): void {
  check('a partition moves with its requests, and the others stay', ORDINARY, async (shards) => {
    const [from, to] = shards.pair
    await addPaths(from, hostIn(0), ['1', '2', '3'])
    await addPaths(from, hostIn(0, 'b'), ['b'])
    await addPaths(from, hostIn(2), ['stays', 'stays-too'])
    await addPaths(to, hostIn(1), ['other'])
    await move([0], from, to)
    assertCounts(from.frontier, 2, 0, 1)
    assertCounts(to.frontier, 5, 0, 3)
    await leases(from, shards.start, ['stays'])
    await leases(to, shards.start, ['1', 'b', 'other'])
    assertCounts(from.frontier, 1, 1, 1)
    assertCounts(to.frontier, 2, 3, 3)
  })

  check('several partitions move at once, also empty ones', ORDINARY, async (shards) => {
    const [from, to] = shards.pair
    for (const partition of [0, 2, 4, 6]) await addPaths(from, hostIn(partition), [String(partition)])
    await move([0, 8, 4], from, to)
    assertCounts(from.frontier, 2, 0, 2)
    assertCounts(to.frontier, 2, 0, 2)
    await move([10], from, to)
    await move([], from, to)
    await leases(from, shards.start, ['2', '6'])
    await leases(to, shards.start, ['0', '4'])
  })

  check('nothing is lost and nothing is duplicated', HURRIED, async (shards) => {
    const [from, to] = shards.pair
    const added = Array.from({ length: 300 }, (_, i) => request(hostIn(2 * (i % 6), i % 3), i))
    await takeIn(from, added)
    const met: string[] = []
    const visit = async (shard: typeof from, count: number) => {
      for (let left = count; left > 0; left--) {
        const some = await shard.frontier.lease(3, shards.start)
        met.push(...some.map(({ url }) => url))
        await shard.frontier.settle(some.map((lease) => done(lease, shards.start)))
      }
    }
    await visit(from, 20)
    await move([0, 2, 4], from, to)
    assertSums(shards, added.length - met.length, 0)
    await visit(from, 5)
    await visit(to, 5)
    await move([2], to, from)
    assertSums(shards, added.length - met.length, 0)
    for (const shard of shards.all) {
      while (shard.frontier.pending > 0) {
        const some = await leaseSoon(shard, 1, shards.start)
        if (some.length === 0) break
        met.push(...some.map(({ url }) => url))
        await shard.frontier.settle(some.map((lease) => done(lease, shards.start)))
      }
      assertCounts(shard.frontier, 0, 0, 0)
    }
    assert.deepEqual(met.toSorted(), added.map(({ url }) => url).toSorted())
  })

  check('a request arrives unchanged', HURRIED, async (shards) => {
    const [from, to] = shards.pair
    const host = hostIn(4)
    const whole: CrawlRequest[] = [
      { ...request(host, 'plain'), depth: 3, priority: -1.5, attempt: 2, redirects: 1 },
      { ...request(host, 'seed?q=%C3%A9&r=1'), parent: undefined, depth: 0, priority: 0.25 },
      {
        ...request(host, 'sitemap'),
        purpose: { kind: 'sitemap', nested: 2, of: 'c.example', guessed: true },
        via: ['https://b.example/1', 'https://c.example/2'],
        hint: { lastmod: shards.start, changefreq: 'daily', priority: 0.25 },
        revisit: true,
      },
      { ...request(host, 'rules'), purpose: { kind: 'robots', origin: 'https://b.example' } },
      ...EXTRAS.map((extras, i) => ({ ...request(host, `extras-${i}`), extras, priority: i / 2 })),
      { ...request(host, 'hinted'), parent: `https://${host}/other`, hint: { lastmod: 1 } },
    ]
    await takeIn(from, whole)
    await move([4], from, to)
    for (let left = whole.length; left > 0; left--) {
      const [lease] = await leaseSoon(to, 1, shards.start)
      assert.ok(lease, 'nothing was handed out')
      const expected = whole.find(({ url }) => url === lease.url)!
      assert.deepEqual(fieldsOf(lease), fieldsOf(expected))
      assert.deepEqual(rareFieldsOf(lease), rareFieldsOf(expected))
      await to.frontier.settle([done(lease, shards.start)])
    }
  })

  check('partitions can move back', HURRIED, async (shards) => {
    const [from, to] = shards.pair
    const host = hostIn(6)
    await addPaths(from, host, ['from-0'])
    await addPaths(from, hostIn(0), ['stays'])
    await move([0], from, to)
    await move([0, 6], from, to)
    await move([6, 0], to, from)
    await move([0], from, to)
    const stays = await leaseOne(to, shards.start, 'stays')
    for (let round = 1; round <= 3; round++) {
      await move([6], from, to)
      await addPaths(to, host, [`to-${round}`])
      assertCounts(from.frontier, 0, 0, 0)
      assertCounts(to.frontier, 2, 1, 2)
      assert.deepEqual(await visits(to, shards.start, 1), [`from-${round - 1}`])
      await move([6], to, from)
      await addPaths(from, host, [`from-${round}`])
      assertCounts(from.frontier, 2, 0, 1)
      assertCounts(to.frontier, 0, 1, 1)
      assert.deepEqual(await visits(from, shards.start, 1), [`to-${round}`])
    }
    await to.frontier.settle([done(stays, shards.start)])
    assertSums(shards, 1, 0)
  })
}

function orderCase(check: CheckShards): void {
  check(
    'the order within a host is kept, and requests that are added later come last',
    HURRIED,
    async (shards) => {
      const [from, to] = shards.pair
      const now = shards.start
      const host = hostIn(0)
      const named = (name: string, priority: number) => ({ ...request(host, name), priority })
      await addPaths(from, host, ['late', 'c', 'later', 'd', 'e'])
      const settleAgain = async (path: string, at: number, attempt: number) => {
        const lease = await leaseOne(from, now, path)
        await from.frontier.settle([{ ...done(lease, now), again: { at, attempt } }])
      }
      await settleAgain('late', now + A_DAY_MS, 2)
      const c = await leaseOne(from, now, 'c')
      await from.frontier.settle([done(c, now)])
      await settleAgain('later', now + 2 * A_DAY_MS, 3)
      await settleAgain('d', now, 1)
      await takeIn(from, [named('f', 0), named('b', 1), named('h', -1)])
      await move([0], from, to)
      assertCounts(to.frontier, 7, 0, 1)
      await takeIn(to, [named('g', 0), named('a', 2)])
      assert.deepEqual(await visits(to, now, 7), ['a', 'b', 'd', 'e', 'f', 'g', 'h'])
      assert.deepEqual(await to.frontier.lease(10, now + A_DAY_MS - 2), [])
      const late = await leaseOne(to, now + A_DAY_MS + 1, 'late')
      assert.equal(late.attempt, 2)
      await to.frontier.settle([done(late, now + A_DAY_MS)])
      assert.equal((await leaseOne(to, now + 2 * A_DAY_MS + 1, 'later')).attempt, 3)
    },
  )

  check('attempts move along, and retries stay ahead', HURRIED, async (shards) => {
    const [from, to] = shards.pair
    await addPaths(from, hostIn(2), ['1', '2', '3'])
    for (const [path, attempt] of [
      ['1', 5],
      ['1', 6],
    ] as const) {
      const lease = await leaseOne(from, shards.start, path)
      await from.frontier.settle([{ ...done(lease, shards.start), again: { at: shards.start, attempt } }])
    }
    await move([2], from, to)
    const first = await leaseOne(to, shards.start, '1')
    assert.equal(first.attempt, 6)
    await to.frontier.settle([done(first, shards.start)])
    assert.deepEqual(await visits(to, shards.start, 2), ['2', '3'])
  })
}

function laterCase(check: CheckShards): void {
  check('requests for later arrive, and wait until then', HURRIED, async (shards) => {
    const [from, to] = shards.pair
    const now = shards.start
    const notBefore = now + 5 * DELAY_MS
    const later = (host: string, path: string): CrawlRequest => ({
      ...request(host, path),
      notBefore,
      extras: { label: path },
    })
    await takeIn(from, [later(hostIn(0), 'added'), request(hostIn(0), 'now')])
    const page = await leaseOne(from, now, 'now')
    const found = [later(hostIn(0, 'b'), 'found')]
    await from.seen.addAll(found.map(knownAs))
    await from.frontier.settle([{ ...done(page, now), found }])
    await move([0], from, to)
    assertCounts(to.frontier, 2, 0, 2)
    await notHandedOutBefore(to.frontier, notBefore)
    for (const lease of await leases(to, notBefore + SLACK_MS, ['added', 'found'])) {
      assert.deepEqual(lease.extras, { label: pathOf(lease) })
    }
  })
}

function seenCases(check: CheckShards): void {
  check('known names move along, and those of other partitions stay', ORDINARY, async (shards) => {
    const [from, to] = shards.pair
    const namesIn = (partition: number, count: number) =>
      Array.from({ length: count }, (_, i) => `https://${hostIn(partition, i % 7)}/${i}`)
    const page = request(hostIn(0), 'page')
    const names = [
      ...namesIn(0, MANY),
      knownAs(page),
      knownAs({ ...page, purpose: { kind: 'sitemap', nested: 0, of: page.host } }),
      knownAs({ ...page, purpose: { kind: 'robots', origin: 'https://b.example' } }),
      knownAs({ ...page, extras: { method: 'POST', body: 'q=1' } }),
      knownAs({ ...page, extras: { method: 'POST', body: 'q=2' } }),
      knownAs({ ...page, extras: { method: 'DELETE' } }),
    ]
    const others = namesIn(2, 100)
    // Mixed, as links are.
    const mixed = names.flatMap((name, i) => (i < others.length ? [name, others[i]!] : [name]))
    const fresh = await from.seen.addAll(mixed)
    assert.ok(fresh.every(Boolean), 'a new name was mistaken for a known one')
    await to.seen.addAll(namesIn(1, 10))
    await move([0], from, to)
    assert.deepEqual([from.seen.size, to.seen.size], [others.length, names.length + 10])
    await assertKnown(to.seen, names)
    await assertKnown(from.seen, others)
    const more = await to.seen.addAll([`https://${hostIn(0)}/more`, `https://${hostIn(0)}/more`])
    assert.deepEqual(more, [true, false])
    await move([0], to, from)
    assert.deepEqual([from.seen.size, to.seen.size], [names.length + 1 + others.length, 10])
    await assertKnown(from.seen, [...names, `https://${hostIn(0)}/more`])
  })

  check('a visited page stays known after its partition has moved', HURRIED, async (shards) => {
    const [from, to] = shards.pair
    await addPaths(from, hostIn(4), ['1', '2'])
    await visits(from, shards.start, 1)
    await move([4], from, to)
    assert.deepEqual(await visits(to, shards.start, 1), ['2'])
    await move([4], to, from)
    await assertKnown(from.seen, [`https://${hostIn(4)}/1`, `https://${hostIn(4)}/2`])
  })
}

function factCase(check: CheckShards): void {
  check('facts of hosts move along, if the store keeps facts', ORDINARY, async (shards) => {
    const [from, to] = shards.pair
    if (from.state === undefined || to.state === undefined) return
    const [one, other] = [from.state.space('one'), from.state.space('other')]
    one.put('a', { deep: ['fact', null] }, hostIn(0))
    one.put('b', 2, hostIn(0))
    one.put('a', 'of another host', hostIn(0, 'b'))
    one.put('a', 'stays', hostIn(2))
    one.put('a', 'of no host')
    one.put('gone', 1, hostIn(0))
    one.delete('gone', hostIn(0))
    other.put('a', 'elsewhere', hostIn(0))
    to.state.space('one').put('a', 'of no host there')
    await move([0], from, to)
    const facts = (space: StateSpace) =>
      Promise.all([
        space.get('a', hostIn(0)),
        space.get('b', hostIn(0)),
        space.get('gone', hostIn(0)),
        space.get('a', hostIn(0, 'b')),
        space.get('a', hostIn(2)),
        space.get('a'),
      ])
    const none = undefined
    assert.deepEqual(await facts(one), [none, none, none, none, 'stays', 'of no host'])
    const arrived = [{ deep: ['fact', null] }, 2, none, 'of another host', none, 'of no host there']
    assert.deepEqual(await facts(to.state.space('one')), arrived)
    assert.deepEqual(
      [await other.get('a', hostIn(0)), await to.state.space('other').get('a', hostIn(0))],
      [none, 'elsewhere'],
    )
    to.state.space('one').put('b', 3, hostIn(0))
    await move([0], to, from)
    assert.equal(await one.get('b', hostIn(0)), 3)
    assert.equal(await to.state.space('one').get('b', hostIn(0)), none)
  })
}

function loadCase(check: CheckShards): void {
  check('requests that are due in a month do not count as load', ORDINARY, async (shards) => {
    const [from, to] = shards.pair
    await addPaths(from, hostIn(0), ['1', '2'])
    await addPaths(from, hostIn(0, 'b'), ['1'])
    for (let now = shards.start, left = 3; left > 0; now += DELAY_MS) {
      const leases = await leaseSoon(from, Math.min(left, 2), now)
      left -= leases.length
      const again = { at: shards.start + 30 * A_DAY_MS, attempt: 0, revisit: true }
      await from.frontier.settle(leases.map((lease) => ({ request: lease, visitedAt: now, again })))
    }
    const due = ({ handover }: typeof from) => handover.load().reduce((sum, { pending }) => sum + pending, 0)
    assert.equal(due(from), 0)
    const nextMonth = { notBefore: shards.start + 30 * A_DAY_MS }
    const added = ['3', '4'].map((path) => ({ ...request(hostIn(0), path), ...nextMonth }))
    await takeIn(from, [...added, { ...request(hostIn(0, 'c'), '5'), ...nextMonth }])
    assert.equal(due(from), 0)
    await addPaths(from, hostIn(0), ['new'])
    assert.equal(due(from), 1)
    await move([0], from, to)
    assert.deepEqual([due(from), due(to)], [0, 1])
  })

  check('load() reports the load of each partition', ORDINARY, async (shards) => {
    const [from, to] = shards.pair
    await addPaths(from, hostIn(0), ['1', '2', '3'])
    await addPaths(from, hostIn(0, 'b'), ['1'])
    await addPaths(from, hostIn(2), ['1', '2'])
    const loadOf = ({ handover }: typeof from) =>
      handover
        .load()
        .filter(({ pending }) => pending > 0)
        .toSorted((a, b) => a.partition - b.partition)
        .map(({ partition, pending, hosts, longest }) => ({ partition, pending, hosts, longest }))
    const [zero, two] = [
      { partition: 0, pending: 4, hosts: 2, longest: 3 },
      { partition: 2, pending: 2, hosts: 1, longest: 2 },
    ]
    assert.deepEqual([loadOf(from), loadOf(to)], [[zero, two], []])
    await move([0], from, to)
    assert.deepEqual([loadOf(from), loadOf(to)], [[two], [zero]])
    const [first] = await leaseSoon(from, 1, shards.start)
    assert.equal(pathOf(first!), '1')
    assert.equal(loadOf(from)[0]?.pending, 1)
  })
}
