/** Cases of the suite for handovers: pauses hold across a move. A host cannot tell which shard visits it. */

import assert from 'node:assert/strict'
import { notBefore, SLACK_MS } from '../durable/fixtures.js'
import { clock } from '../durable/lives.js'
import { A_DAY_MS, DELAY_MS, done, GENEROUS, ORDINARY, paths } from '../frontier/fixtures.js'
import { eventually } from '../suite.js'
import {
  addPaths,
  arrive,
  type CheckShards,
  dueExactly,
  given,
  hostIn,
  leaseOne,
  leases,
  move,
  pathOf,
  type Shard,
} from './fixtures.js'

export function clockCases(check: CheckShards): void {
  pauseCases(check)
  askedCases(check)
  troubleCases(check)

  check('adopting partitions wakes a waiting shard', ORDINARY, async (shards) => {
    const [from, to] = shards.pair
    await addPaths(from, hostIn(0), ['1'])
    let roused = 0
    assert.ok(to.frontier.watch, 'a frontier that adopts hosts must implement watch()')
    to.frontier.watch(() => roused++)
    assert.equal(to.frontier.nextDue(), Number.POSITIVE_INFINITY)
    await move([0], from, to)
    await eventually('the callback of watch() is called', () => roused > 0, to.patienceMs)
    await dueBy(to, shards.start)
    await leaseOne(to, shards.start, '1')
  })
}

function pauseCases(check: CheckShards): void {
  check('the pause after a visit moves along', ORDINARY, async (shards) => {
    const [from, to] = shards.pair
    const now = shards.start
    await addPaths(from, hostIn(0), ['1', '2', '3'])
    await from.frontier.settle([done(await leaseOne(from, now, '1'), now)])
    await move([0], from, to)
    await dueBy(to, now + DELAY_MS)
    const second = await dueExactly(to, now + DELAY_MS)
    assert.equal(pathOf(second), '2')
    await to.frontier.settle([done(second, now + DELAY_MS)])
    await move([0], to, from)
    assert.equal(pathOf(await dueExactly(from, now + 2 * DELAY_MS)), '3')
  })

  check('the pause of a host without requests moves along', ORDINARY, async (shards) => {
    const [from, to] = shards.pair
    const now = shards.start
    await addPaths(from, hostIn(0), ['1'])
    await from.frontier.settle([done(await leaseOne(from, now, '1'), now)])
    await move([0], from, to)
    await addPaths(to, hostIn(0), ['2'])
    await addPaths(to, hostIn(0, 'b'), ['never-visited'])
    await leaseOne(to, now, 'never-visited')
    await dueExactly(to, now + DELAY_MS)
  })

  check(
    'a visit that ends while its partition is about to leave is followed by its pause',
    ORDINARY,
    async (shards) => {
      const [from, to] = shards.pair
      const now = shards.start
      await addPaths(from, hostIn(0), ['1', '2'])
      const lease = await leaseOne(from, now, '1')
      const giving = from.handover.release([0])
      await from.frontier.settle([done(lease, now + 300)])
      await arrive(await given(from, giving), [0], to)
      await dueExactly(to, now + 300 + DELAY_MS)
    },
  )

  check('the pause of each connection moves along', GENEROUS, async (shards) => {
    const [from, to] = shards.pair
    const out = paths(hostIn(0), 500)
    await from.seen.addAll(out.map(({ url }) => url))
    await from.frontier.add(out)
    const first = await leases(from, shards.start, ['1', '2', '3', '4'])
    const ends = first.map((_, i) => shards.start + 100 * (i + 1))
    await from.frontier.settle(first.map((lease, i) => done(lease, ends[i]!)))
    await move([0], from, to)
    for (const end of ends) await dueExactly(to, end + DELAY_MS)
    await notBefore(to.frontier, shards.start + A_DAY_MS)
  })
}

function askedCases(check: CheckShards): void {
  const askedMs = 5 * DELAY_MS

  check('hostDelayMs moves along', ORDINARY, async (shards) => {
    const [from, to] = shards.pair
    const now = shards.start
    await addPaths(from, hostIn(0), ['1', '2', '3'])
    const first = await leaseOne(from, now, '1')
    await from.frontier.settle([{ ...done(first, now), hostDelayMs: askedMs }])
    await move([0], from, to)
    const second = await dueExactly(to, now + askedMs)
    // Requested once, it holds for all later visits.
    await to.frontier.settle([done(second, now + askedMs)])
    await dueExactly(to, now + 2 * askedMs)
  })

  check('hostDelayMs of a host that was visited long ago moves along', ORDINARY, async (shards) => {
    const [from, to] = shards.pair
    const now = shards.start
    await addPaths(from, hostIn(0), ['1'])
    const first = await leaseOne(from, now, '1')
    await from.frontier.settle([{ ...done(first, now), hostDelayMs: askedMs }])
    const later = now + A_DAY_MS
    await addPaths(from, hostIn(2), ['other'])
    await leaseOne(from, later, 'other')
    await move([0], from, to)
    await addPaths(to, hostIn(0), ['2', '3'])
    await to.frontier.settle([done(await leaseOne(to, later, '2'), later)])
    await dueExactly(to, later + askedMs)
  })
}

function troubleCases(check: CheckShards): void {
  check('hostNotBefore and the trouble of a host move along', ORDINARY, async (shards) => {
    const [from, to] = shards.pair
    const now = shards.start
    const until = now + 9 * DELAY_MS
    const trouble = { incidents: 2, since: Math.floor(now) }
    for (const name of ['busy', 'idle']) await addPaths(from, hostIn(0, name), [name])
    await addPaths(from, hostIn(0, 'busy'), ['busy-2'])
    const out = await leases(from, now, ['busy', 'idle'])
    const settled = { hostNotBefore: until, hostTrouble: trouble }
    await from.frontier.settle(out.map((lease) => ({ ...done(lease, now), ...settled })))
    await move([0], from, to)
    await notBefore(to.frontier, until)
    await addPaths(to, hostIn(0, 'idle'), ['idle-2'])
    await notBefore(to.frontier, until)
    await dueBy(to, until)
    const both = await leases(to, until + SLACK_MS, ['busy-2', 'idle-2'])
    const busy = both.find((lease) => pathOf(lease) === 'busy-2')!
    assert.equal(busy.hostTrouble?.incidents, trouble.incidents)
    assert.ok(Math.abs(busy.hostTrouble.since - trouble.since) <= SLACK_MS, 'since when it is in trouble')
  })

  check('the due time of a request moves along', ORDINARY, async (shards) => {
    const [from, to] = shards.pair
    const now = shards.start
    await addPaths(from, hostIn(0), ['1'])
    const first = await leaseOne(from, now, '1')
    const at = now + 7 * DELAY_MS
    await from.frontier.settle([{ ...done(first, now), again: { at, attempt: 1 } }])
    await move([0], from, to)
    await dueBy(to, at)
    assert.equal((await dueExactly(to, at)).attempt, 1)
  })
}

/** Shards that replace others: nothing is known about when these visited which host. */
export function replacingCases(check: CheckShards): void {
  check('a shard that replaces another lets all hosts rest first', ORDINARY, async (shards) => {
    const [from] = shards.pair
    const opened = clock.now()
    await addPaths(from, hostIn(0), ['1'])
    await addPaths(from, hostIn(2), ['2'])
    await notBefore(from.frontier, shards.start + DELAY_MS)
    await addPaths(from, hostIn(4), ['new'])
    await notBefore(from.frontier, shards.start + DELAY_MS)
    await leases(from, opened + DELAY_MS + SLACK_MS, ['1', '2', 'new'])
  })

  check('that rest moves along with a partition', ORDINARY, async (shards) => {
    const [from, to] = shards.pair
    const opened = clock.now()
    await addPaths(from, hostIn(0), ['1'])
    await move([0], from, to)
    await addPaths(to, hostIn(0, 'b'), ['new'])
    await notBefore(to.frontier, shards.start + DELAY_MS)
    await leases(to, opened + DELAY_MS + SLACK_MS, ['1', 'new'])
  })
}

/** `nextDue` is not too late for what arrived and, once the store has read it, waits for nothing else. */
async function dueBy({ frontier, patienceMs }: Shard, due: number): Promise<void> {
  await eventually('nextDue() knows what is due', () => frontier.nextDue() <= due + SLACK_MS, patienceMs)
}
