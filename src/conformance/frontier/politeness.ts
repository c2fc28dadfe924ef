/** Cases of the frontier's suite: when a host may be visited, and the order of its requests. */

import assert from 'node:assert/strict'
import type { Politeness } from '../../frontier/contract.js'
import {
  A_DAY_MS,
  assertCounts,
  type Check,
  DELAY_MS,
  done,
  drain,
  expectLeases,
  expectNothingDueBefore,
  fieldsOf,
  GENEROUS,
  HURRIED,
  ORDINARY,
  paths,
  request,
  START,
  servedSoon,
} from './fixtures.js'

/** When a host may be visited. */
export function politenessCases(check: Check): void {
  check('a lease acquires a host, and its settlement releases it', HURRIED, async (frontier) => {
    await frontier.add([request('a.example', 1), request('a.example', 2)])
    const [lease] = await expectLeases(frontier, START, ['1'])
    await frontier.add([request('a.example', 3)])
    await expectLeases(frontier, START + A_DAY_MS, [])
    await frontier.settle([done(lease!, START + A_DAY_MS)])
    assert.ok(frontier.nextDue() <= START + A_DAY_MS)
    await expectLeases(frontier, START + A_DAY_MS, ['2'])
  })

  check('the pause starts at the end of the visit', ORDINARY, async (frontier) => {
    await frontier.add([request('a.example', 1), request('a.example', 2)])
    const [lease] = await expectLeases(frontier, START, ['1'])
    const visitedAt = START + 350
    await frontier.settle([done(lease!, visitedAt)])
    await expectNothingDueBefore(frontier, visitedAt + DELAY_MS)
    await expectLeases(frontier, visitedAt + DELAY_MS, ['2'])
  })

  check('a visit that never reached the host needs no pause', ORDINARY, async (frontier) => {
    await frontier.add([request('a.example', 1), request('a.example', 2)])
    const [lease] = await expectLeases(frontier, START, ['1'])
    await frontier.settle([{ request: lease!, visitedAt: undefined }])
    assert.ok(frontier.nextDue() <= START)
    await expectLeases(frontier, START, ['2'])
  })

  check('an empty host that gets a request during its pause still waits', ORDINARY, async (frontier) => {
    await frontier.add([request('a.example', 1), request('b.example', 1)])
    const leases = await expectLeases(frontier, START, ['1', '1'])
    await frontier.settle(leases.map((lease) => done(lease, START)))
    assertCounts(frontier, 0, 0, 0)
    await expectLeases(frontier, START + 1, [])
    await frontier.add([request('a.example', 2)])
    await expectNothingDueBefore(frontier, START + DELAY_MS)
    await expectLeases(frontier, START + DELAY_MS, ['2'])
  })

  check('the pause of a host does not delay other hosts', ORDINARY, async (frontier) => {
    await frontier.add([request('a.example', 1), request('a.example', 2)])
    const [lease] = await expectLeases(frontier, START, ['1'])
    await frontier.settle([
      { ...done(lease!, START), hostNotBefore: START + A_DAY_MS, hostDelayMs: A_DAY_MS },
    ])
    await frontier.add(['b', 'a:8080', 'www.a'].map((name) => request(`${name}.example`, 'x')))
    await expectLeases(frontier, START, ['x', 'x', 'x'])
  })

  check('no request of a host is handed out before hostNotBefore', ORDINARY, async (frontier) => {
    await frontier.add([request('a.example', 1), request('a.example', 2)])
    const [lease] = await expectLeases(frontier, START, ['1'])
    await frontier.settle([{ ...done(lease!, START), hostNotBefore: START + 7 * DELAY_MS }])
    await expectNothingDueBefore(frontier, START + 7 * DELAY_MS)
    await expectLeases(frontier, START + 7 * DELAY_MS, ['2'])
  })

  check('hostNotBefore holds even if the host was empty meanwhile', ORDINARY, async (frontier) => {
    await frontier.add([request('a.example', 1)])
    const [lease] = await expectLeases(frontier, START, ['1'])
    await frontier.settle([{ request: lease!, visitedAt: undefined, hostNotBefore: START + 7 * DELAY_MS }])
    await expectLeases(frontier, START + 2 * DELAY_MS, [])
    await frontier.add([request('a.example', 2)])
    await expectNothingDueBefore(frontier, START + 7 * DELAY_MS)
    await expectLeases(frontier, START + 7 * DELAY_MS, ['2'])
  })

  check('the later of two hostNotBefore counts', GENEROUS, async (frontier) => {
    await frontier.add(paths('a.example', 50))
    const [first, second] = await frontier.lease(2, START)
    await frontier.settle([{ ...done(first!, START), hostNotBefore: START + 9 * DELAY_MS }])
    await frontier.settle([{ ...done(second!, START), hostNotBefore: START + 2 * DELAY_MS }])
    await expectNothingDueBefore(frontier, START + 9 * DELAY_MS)
    assert.ok((await frontier.lease(1, START + 9 * DELAY_MS)).length > 0)
  })

  check('hostDelayMs lengthens the pause from that visit on', ORDINARY, async (frontier) => {
    await frontier.add(paths('a.example', 4))
    let at = START
    for (const hostDelayMs of [5 * DELAY_MS, undefined, undefined]) {
      const [lease] = await frontier.lease(10, at)
      assert.ok(lease, `nothing was handed out at ${at - START} ms`)
      await frontier.settle([{ ...done(lease, at), hostDelayMs }])
      await expectNothingDueBefore(frontier, at + 5 * DELAY_MS)
      at += 5 * DELAY_MS
    }
    await expectLeases(frontier, at, ['4'])
  })

  check('hostDelayMs holds even if the host was idle for long', ORDINARY, async (frontier) => {
    await frontier.add([request('a.example', 1)])
    const [lease] = await expectLeases(frontier, START, ['1'])
    await frontier.settle([{ ...done(lease!, START), hostDelayMs: 5 * DELAY_MS }])
    await expectLeases(frontier, START + A_DAY_MS, [])
    await frontier.add([request('a.example', 2), request('a.example', 3)])
    const [next] = await expectLeases(frontier, START + A_DAY_MS, ['2'])
    await frontier.settle([done(next!, START + A_DAY_MS)])
    await expectNothingDueBefore(frontier, START + A_DAY_MS + 5 * DELAY_MS)
    await expectLeases(frontier, START + A_DAY_MS + 5 * DELAY_MS, ['3'])
  })

  check('hostDelayMs cannot shorten the pause', ORDINARY, async (frontier) => {
    await frontier.add([request('a.example', 1), request('a.example', 2)])
    const [lease] = await expectLeases(frontier, START, ['1'])
    await frontier.settle([{ ...done(lease!, START), hostDelayMs: 10 }])
    await expectNothingDueBefore(frontier, START + DELAY_MS)
    await expectLeases(frontier, START + DELAY_MS, ['2'])
  })

  // A request counts as waiting until it is handed out: with eleven requests, the second connection is the one for ten
  // waiting.
  const growth = [
    [1, 1],
    [10, 1],
    [11, 2],
    [21, 2],
    [22, 3],
    [33, 4],
    [500, 4],
  ] as const
  for (const [waiting, connections] of growth) {
    const name = `a host with ${waiting} waiting may have ${connections} connections at a time`
    check(`${name}, growing by one for every 10, 4 at most`, GENEROUS, async (frontier) => {
      await frontier.add(paths('a.example', waiting))
      assert.equal((await frontier.lease(100, START)).length, connections)
      assert.equal((await frontier.lease(100, START + A_DAY_MS)).length, 0)
    })
  }

  check('requests with a future due time do not allow more connections', GENEROUS, async (frontier) => {
    const tomorrow = START + A_DAY_MS
    await frontier.add(paths('a.example', 60))
    let now = START
    for (let left = 60; left > 0; now += DELAY_MS) {
      const leases = await frontier.lease(100, now)
      assert.ok(leases.length > 0, 'nothing was handed out')
      left -= leases.length
      const again = { at: tomorrow, attempt: 0 }
      await frontier.settle(leases.map((lease) => ({ ...done(lease, now), again })))
    }
    await frontier.add(Array.from({ length: 6 }, (_, i) => request('a.example', `new${i}`)))
    const leases = await frontier.lease(100, now)
    assert.equal(leases.length, 1, 'number of connections for six requests that are due')
    await frontier.settle(leases.map((lease) => done(lease, now)))
    assert.ok(frontier.nextDue() <= now + DELAY_MS)
    assert.equal(
      (await frontier.lease(100, tomorrow)).length,
      4,
      'number of connections once the others are due',
    )
  })

  check('each connection of a host has its own pause', GENEROUS, async (frontier) => {
    await frontier.add(paths('a.example', 500))
    const leases = await frontier.lease(100, START)
    const ends = leases.map((_, i) => START + 100 * (i + 1))
    await frontier.settle(leases.map((lease, i) => done(lease, ends[i]!)))
    for (const end of ends) {
      await expectNothingDueBefore(frontier, end + DELAY_MS)
      assert.equal((await frontier.lease(100, end + DELAY_MS)).length, 1)
    }
    await expectLeases(frontier, START + A_DAY_MS, [])
  })
}

/** The order of requests. */
export function orderCases(check: Check): void {
  check('within a host, larger priority goes first, then order of arrival', HURRIED, async (frontier) => {
    const named = (name: string, priority: number) => ({ ...request('a.example', name), priority })
    await frontier.add([named('d', 0), named('e', 0), named('b', 1), named('f', -2)])
    await frontier.add([named('a', 2.5), named('c', 1), named('g', -2), named('last', -3)])
    const expected = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'last'].map((name) => `https://a.example/${name}`)
    assert.deepEqual(await drain(frontier, START), expected)
  })

  check('a request to retry goes ahead of others of its priority', HURRIED, async (frontier) => {
    await frontier.add([{ ...request('a.example', 'large'), priority: 1 }, ...paths('a.example', 3)])
    const [large] = await expectLeases(frontier, START, ['large'])
    await frontier.settle([done(large!, START)])
    const [first] = await expectLeases(frontier, START, ['1'])
    await frontier.add([{ ...request('a.example', 'larger'), priority: 2 }])
    await frontier.settle([{ ...done(first!, START + 1), again: { at: START + 1, attempt: 5 } }])
    const [larger] = await expectLeases(frontier, START + 1, ['larger'])
    await frontier.settle([done(larger!, START + 1)])
    const [again] = await expectLeases(frontier, START + 1, ['1'])
    assert.deepEqual(fieldsOf(again!), { ...request('a.example', 1), attempt: 5 })
    await frontier.settle([done(again!, START + 1)])
    assert.deepEqual(await drain(frontier, START + 2), ['https://a.example/2', 'https://a.example/3'])
  })

  check('a request to retry later does not block its host', HURRIED, async (frontier) => {
    await frontier.add(paths('a.example', 2))
    const [first] = await expectLeases(frontier, START, ['1'])
    await frontier.settle([{ ...done(first!, START), again: { at: START + A_DAY_MS, attempt: 1 } }])
    const [second] = await expectLeases(frontier, START, ['2'])
    await frontier.settle([done(second!, START)])
    await expectNothingDueBefore(frontier, START + A_DAY_MS)
    await frontier.add([request('a.example', 3), request('a.example', 4)])
    const [third] = await expectLeases(frontier, START + DELAY_MS, ['3'])
    await frontier.settle([done(third!, START + DELAY_MS)])
    const [again] = await expectLeases(frontier, START + A_DAY_MS, ['1'])
    assert.equal(again!.attempt, 1)
  })

  check('a retry does not shorten the pause', ORDINARY, async (frontier) => {
    await frontier.add([request('a.example', 1)])
    const [lease] = await expectLeases(frontier, START, ['1'])
    await frontier.settle([{ ...done(lease!, START), again: { at: START + 10, attempt: 1 } }])
    await expectNothingDueBefore(frontier, START + DELAY_MS)
    await expectLeases(frontier, START + DELAY_MS, ['1'])
  })

  const own: Politeness = {
    ...HURRIED,
    growAt: 1,
    hosts: {
      of: (host) =>
        host === 'slow.example'
          ? { delayMs: DELAY_MS }
          : host === 'wide.example'
            ? { connections: 3 }
            : undefined,
      maxDelayMs: DELAY_MS,
      maxConnections: 3,
    },
  }
  check('a host with a pause of its own keeps it', own, async (frontier) => {
    await frontier.add([...paths('slow.example', 2), ...paths('other.example', 2)])
    const first = await frontier.lease(10, START)
    assert.deepEqual(new Set(first.map(({ host }) => host)), new Set(['slow.example', 'other.example']))
    await frontier.settle(first.map((lease) => done(lease, START)))
    const [other] = await expectLeases(frontier, START + 1, ['2'])
    assert.equal(other!.host, 'other.example')
    await frontier.settle([done(other!, START + 1)])
    await expectNothingDueBefore(frontier, START + DELAY_MS)
    const [slow] = await expectLeases(frontier, START + DELAY_MS, ['2'])
    assert.equal(slow!.host, 'slow.example')
  })

  check('a host with connections of its own gets them', own, async (frontier) => {
    await frontier.add([...paths('wide.example', 10), ...paths('other.example', 10)])
    const hosts = (await frontier.lease(10, START)).map(({ host }) => host).sort()
    assert.deepEqual(hosts, ['other.example', 'wide.example', 'wide.example', 'wide.example'])
  })

  const MANY = 10_000
  const OTHERS = 10
  /** Two turns for each host. */
  const SOON = 2 * (OTHERS + 1)
  const eager: Politeness = { delayMs: 0, connections: 4, growAt: 10 }
  const others = Array.from({ length: OTHERS }, (_, i) => request(`small${i}.example`, 'x'))
  check(`a host with ${MANY} requests takes turns with ${OTHERS} others`, eager, async (frontier) => {
    await frontier.add([...paths('large.example', MANY), ...others])
    await servedSoon(frontier, START, SOON, OTHERS)
    await frontier.add(others.map(({ host }) => request(host, 'later')))
    await servedSoon(frontier, START + SOON, SOON, OTHERS)
  })

  check(`a host with ${MANY} requests does not fill a lease`, eager, async (frontier) => {
    await frontier.add([...paths('large.example', MANY), ...others])
    const hosts = new Set((await frontier.lease(SOON, START)).map(({ host }) => host))
    assert.equal(hosts.size, OTHERS + 1, 'number of different hosts in a lease with room for all')
  })
}
