/**
 * The suite for stores that several processes share: partitions come and go by themselves. Each case opens the store once
 * for each process. Like `exchangeSuite`, it runs in real time.
 */

import assert from 'node:assert/strict'
import type { MaybePromise } from '../../types.js'
import { HURRIED, ORDINARY, request } from '../frontier/fixtures.js'
import { eventually, type It } from '../suite.js'
import { hostIn, PARTITIONS, type Process, Processes, type SharedPlace } from './processes.js'

/** Options of `membershipSuite`. */
export interface MembershipSuiteOptions {
  /** Registers a case: the `it` or `test` of your test runner. */
  it: It
  /** Called once for each case; returns an empty place that processes can share. */
  create: () => MaybePromise<SharedPlace>
}

type CheckProcesses = (name: string, run: (processes: Processes) => Promise<void>) => void

const ALL = Array.from({ length: PARTITIONS }, (_, partition) => partition)

/** Proves that a store keeps the contract of `Membership`. */
export function membershipSuite({ it, create }: MembershipSuiteOptions): void {
  const check: CheckProcesses = (name, run) => {
    it(`membership: ${name}`, async () => {
      const processes = new Processes(await create())
      try {
        await run(processes)
      } finally {
        await processes.close()
      }
    })
  }
  ownershipCases(check)
  movingCases(check)
  sendingCases(check)
  crawlCases(check)
}

function ownershipCases(check: CheckProcesses): void {
  check('the first process has all partitions, and none was at work before it', async (processes) => {
    const first = await processes.join(ORDINARY)
    assert.equal(first.membership.joinedAfter, undefined)
    await first.owns(ALL.length)
    assert.equal(first.membership.health().partitions, ALL.length)
    assert.equal(first.membership.health().isReachable, true)
    assert.equal(first.membership.mayVisit(), true, 'mayVisit() of a process that has joined')
  })

  check('a process that joins gets partitions, and no two have the same one', async (processes) => {
    const first = await processes.join(ORDINARY)
    const second = await processes.join(ORDINARY)
    assert.equal(second.membership.joinedAfter, 0, 'runs before the one that it joins')
    await shared(first, second)
    assert.notEqual(first.membership.ownership.self, second.membership.ownership.self)
  })

  check('the version of the ownership changes with it', async (processes) => {
    const first = await processes.join(ORDINARY)
    const before = first.membership.ownership.version
    await shared(first, await processes.join(ORDINARY))
    assert.notEqual(first.membership.ownership.version, before)
  })
}

function movingCases(check: CheckProcesses): void {
  check(
    'requests, names and records move, and are there when the listener hears of it',
    async (processes) => {
      const first = await processes.join(ORDINARY)
      const requests = ALL.map((partition) => request(hostIn(partition), 'page'))
      await first.takeIn(requests)
      for (const { host } of requests) first.state.put('note', host, host)
      const second = await processes.join(ORDINARY)
      await shared(first, second)
      assert.equal(first.frontier.pending + second.frontier.pending, requests.length)
      const known: string[] = []
      for (const partition of second.gained) {
        const records = [...(second.state.ofPartitions?.([partition]) ?? [])]
        assert.deepEqual(records, [['note', hostIn(partition)]], 'records of a partition that was gained')
        known.push(`https://${hostIn(partition)}/page`)
      }
      assert.deepEqual(
        await second.seen.addAll(known),
        known.map(() => false),
        'whether known names are new',
      )
      const met = [...(await first.visitAll()), ...(await second.visitAll())]
      assert.deepEqual(
        met.toSorted(),
        requests.map(({ url }) => url).toSorted(),
        'each request is handed out once',
      )
    },
  )

  check(
    'a partition with a visit in flight moves only when it has ended, and its pause moves along',
    async (processes) => {
      const first = await processes.join({ ...ORDINARY, delayMs: 60_000 })
      await first.takeIn(ALL.flatMap((partition) => [1, 2].map((n) => request(hostIn(partition), n))))
      const leases = await first.lease(1000)
      assert.equal(leases.length, ALL.length, 'one visit at each host')
      const second = await processes.join({ ...ORDINARY, delayMs: 60_000 })
      await eventually('it is about to leave', () => first.leaving.length > 0, processes.patienceMs)
      assert.ok(
        leases.every((lease) => first.membership.isLeased(lease)),
        'leases before their visits have ended',
      )
      assert.deepEqual(second.gained, [], 'gained while visits were in flight')
      await first.settle(leases)
      await shared(first, second)
      assert.deepEqual(await second.lease(1000), [], 'handed out during the pause')
    },
  )

  check('what a closed process had is continued by the others', async (processes) => {
    const first = await processes.join(HURRIED)
    const requests = ALL.map((partition) => request(hostIn(partition), 'page'))
    await first.takeIn(requests)
    const second = await processes.join(HURRIED)
    await shared(first, second)
    await first.close()
    await second.owns(ALL.length)
    assert.deepEqual((await second.visitAll()).toSorted(), requests.map(({ url }) => url).toSorted())
  })

  check('what a dead process had in flight is handed out again', async (processes) => {
    const first = await processes.join(HURRIED)
    const requests = ALL.map((partition) => request(hostIn(partition), 'page'))
    await first.takeIn(requests)
    await first.store.flush?.()
    const leases = await first.lease(1000)
    const second = await processes.join(HURRIED)
    await processes.kill(first)
    await second.owns(ALL.length)
    assert.deepEqual((await second.visitAll()).toSorted(), requests.map(({ url }) => url).toSorted())
    for (const lease of leases)
      assert.equal(second.membership.isLeased(lease), false, 'a lease of another process')
  })
}

function sendingCases(check: CheckProcesses): void {
  check('requests for partitions of others arrive there, by add and by exchange', async (processes) => {
    const first = await processes.join(ORDINARY)
    const second = await processes.join(ORDINARY)
    await shared(first, second)
    const [one, two] = [...second.owned()].slice(0, 2).map((partition) => hostIn(partition))
    await first.frontier.add([request(one!, 'added')])
    first.membership.exchange.send(0, [request(two!, 'sent')])
    first.membership.exchange.flush()
    await eventually('they arrive', () => second.arrived.length === 2, processes.patienceMs)
    assert.deepEqual(
      second.arrived.map(({ url }) => url).toSorted(),
      [`https://${one}/added`, `https://${two}/sent`].toSorted(),
    )
    assert.deepEqual(first.arrived, [])
  })

  check('announced URLs are heard before the requests that follow', async (processes) => {
    const first = await processes.join(ORDINARY)
    const second = await processes.join(ORDINARY)
    await shared(first, second)
    const [partition] = second.owned()
    const seed = request(hostIn(partition!), 'seed')
    first.membership.announce([seed.url])
    await first.frontier.add([seed])
    await eventually('it arrives', () => second.arrived.length === 1, processes.patienceMs)
    assert.deepEqual(second.heardBefore, [seed.url], 'announced URLs when the request arrived')
  })
}

function crawlCases(check: CheckProcesses): void {
  check('nobody is done while anybody has work, and all are when nobody has', async (processes) => {
    const first = await processes.join(HURRIED)
    const second = await processes.join(HURRIED)
    await shared(first, second)
    const [partition] = second.owned()
    await second.takeIn([request(hostIn(partition!), 'last')])
    await second.store.flush?.()
    await processes.pause(300)
    assert.equal(first.membership.exchange.rest(), false, 'rest() while another process has a request')
    await processes.pause(300)
    assert.equal(first.membership.exchange.rest(), false, 'rest() a moment later')
    await second.visitAll()
    await eventually(
      'both are done',
      () => [first, second].map(({ membership }) => membership.exchange.rest()).every(Boolean),
      processes.patienceMs,
    )
  })

  check('limits are those of all processes together', async (processes) => {
    const limits = { pages: 20, requests: Number.POSITIVE_INFINITY, bytes: Number.POSITIVE_INFINITY }
    const first = await processes.join(HURRIED)
    const second = await processes.join(HURRIED)
    await shared(first, second)
    const pages = [first, second].map(({ membership }) => membership.limit(limits).pages)
    for (const each of pages) each.watch(() => {}, 0)
    let claimed = 0
    const claim = () => {
      for (const each of pages) {
        const some = each.claim(3)
        claimed += some
        if (some > 0) each.spend(some, 0)
      }
      return claimed >= limits.pages
    }
    await eventually('all shares are claimed', claim, processes.patienceMs)
    await eventually('everybody knows', () => pages.every((each) => each.isUsedUp), processes.patienceMs)
    claim()
    assert.equal(claimed, limits.pages)
  })
}

/** Both have partitions, and together all. */
async function shared(first: Process, second: Process): Promise<void> {
  await eventually(
    'both have partitions, and together all of them',
    () => {
      const [a, b] = [first.owned(), second.owned()]
      return (
        a.size > 0 && b.size > 0 && a.size + b.size === PARTITIONS && [...a].every((each) => !b.has(each))
      )
    },
    first.patienceMs,
  )
}
