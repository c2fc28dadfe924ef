/** Proves a `Frontier`. Time is only ever told to it, so the suite needs no clock and waits for nothing. */

import assert from 'node:assert/strict'
import type { Frontier, Politeness, Settlement } from '../frontier/contract.js'
import type { CrawlRequest, MaybePromise } from '../types.js'
import { randomWalk } from './frontier-walk.js'
import type { It } from './suite.js'

/** What the frontier's suite is given. */
export interface FrontierSuiteOptions {
  it: It
  /** Called once for each case; returns an empty frontier that keeps this politeness. */
  create: (politeness: Politeness) => MaybePromise<Frontier>
  /** How many operations each random case makes. Default 3000; take fewer only where an operation is slow. */
  operations?: number
}

/** Instants are ms since the epoch, as in a crawl: an adapter may keep them in fields that know no small numbers. */
const START = 1_700_000_000_000
const DELAY_MS = 1000
const A_DAY_MS = 86_400_000

/** One connection to a host, a second of pause. */
const ORDINARY: Politeness = { delayMs: DELAY_MS, connections: 1, growAt: 1000 }
const HURRIED: Politeness = { ...ORDINARY, delayMs: 0 }
const GENEROUS: Politeness = { delayMs: DELAY_MS, connections: 4, growAt: 10 }

const DEFAULT_OPERATIONS = 3000
const SEEDS = [1, 2, 3]

/**
 * Registers the cases that every frontier must pass.
 *
 * @example
 * import { it } from 'node:test'
 * import { frontierSuite } from 'kumo/conformance'
 *
 * frontierSuite({ it, create: (politeness) => new MyFrontier(politeness) })
 */
export function frontierSuite(options: FrontierSuiteOptions): void {
  const { it, create, operations = DEFAULT_OPERATIONS } = options
  const check = (name: string, politeness: Politeness, run: (frontier: Frontier) => Promise<void>) => {
    it(name, async () => {
      const frontier = await create(politeness)
      try {
        await run(frontier)
      } finally {
        await frontier.close()
      }
    })
  }
  keepingCases(check)
  politenessCases(check)
  orderCases(check)
  settlementCases(check)

  for (const politeness of [ORDINARY, HURRIED, GENEROUS]) {
    for (const seed of SEEDS) {
      const { delayMs, connections } = politeness
      const name = `${operations} random operations, pause ${delayMs} ms, up to ${connections} connections, seed ${seed}`
      check(name, politeness, (frontier) =>
        randomWalk({ frontier, politeness, seed, operations, start: START }),
      )
    }
  }
}

type Check = (name: string, politeness: Politeness, run: (frontier: Frontier) => Promise<void>) => void

/** Nothing is lost, nothing is doubled, everything is counted. */
function keepingCases(check: Check): void {
  check('an empty frontier has nothing to hand out', ORDINARY, async (frontier) => {
    await frontier.add([])
    await frontier.settle([])
    assert.deepEqual(await frontier.lease(10, START), [])
    assert.equal(frontier.nextDue(), Number.POSITIVE_INFINITY)
    assertCounts(frontier, 0, 0, 0)
  })

  check('a request comes out as it went in', ORDINARY, async (frontier) => {
    const url = 'https://example.com:8443/a?q=%C3%A9&r=1'
    const parent = 'https://example.com:8443/'
    const whole = {
      url,
      host: 'example.com:8443',
      depth: 3,
      priority: -1.5,
      attempt: 2,
      redirects: 1,
      parent,
    }
    const seed = { ...request('b.example', 'seed'), parent: undefined }
    await frontier.add([whole, seed])
    const leases = await frontier.lease(10, START)
    assert.deepEqual(new Map(leases.map((lease) => [lease.url, fieldsOf(lease)])), byUrl([whole, seed]))
  })

  check('no request is lost and none is handed out twice', HURRIED, async (frontier) => {
    const added = Array.from({ length: 700 }, (_, i) => request(`h${i % 7}.example`, i))
    for (let i = 0; i < added.length; i += 100) await frontier.add(added.slice(i, i + 100))
    const met: string[] = []
    for (let now = START; met.length < added.length; now++) {
      const leases = await frontier.lease(5, now)
      assert.ok(leases.length > 0, `nothing was handed out after ${met.length} of ${added.length}`)
      met.push(...leases.map(({ url }) => url))
      await frontier.settle(leases.map((lease) => done(lease, now)))
    }
    assert.deepEqual(met.toSorted(), added.map(({ url }) => url).toSorted())
    assertCounts(frontier, 0, 0, 0)
    assert.deepEqual(await frontier.lease(10, START + A_DAY_MS), [])
  })

  check('at most so many are handed out as were asked for', HURRIED, async (frontier) => {
    await frontier.add(Array.from({ length: 20 }, (_, i) => request(`h${i}.example`, 1)))
    assert.equal((await frontier.lease(0, START)).length, 0)
    assert.equal((await frontier.lease(1, START)).length, 1)
    assert.equal((await frontier.lease(7, START)).length, 7)
    assert.equal((await frontier.lease(100, START)).length, 12)
  })

  check('requests and hosts are counted exactly', ORDINARY, async (frontier) => {
    await frontier.add([request('a.example', 1), request('a.example', 2), request('b.example', 1)])
    assertCounts(frontier, 3, 0, 2)
    const leases = await frontier.lease(10, START)
    assertCounts(frontier, 1, 2, 2)
    const [a, b] = ['a.example', 'b.example'].map((name) => leases.find(({ host }) => host === name)!)
    await frontier.settle([done(b!, START)])
    assertCounts(frontier, 1, 1, 1)
    await frontier.settle([{ ...done(a!, START), again: { at: START + A_DAY_MS, attempt: 1 } }])
    assertCounts(frontier, 2, 0, 1)
    await frontier.add([request('b.example', 2)])
    assertCounts(frontier, 3, 0, 2)
    const later = await frontier.lease(10, START + DELAY_MS)
    assertCounts(frontier, 1, 2, 2)
    await frontier.settle(later.map((lease) => done(lease, START + DELAY_MS)))
    await frontier.lease(10, START + 2 * A_DAY_MS)
    assertCounts(frontier, 0, 1, 1)
  })

  check('requests may be added and settled while a lease is pending', HURRIED, async (frontier) => {
    await frontier.add([request('a.example', 1), request('b.example', 1)])
    const first = await frontier.lease(1, START)
    const pending = frontier.lease(10, START + 1)
    const adding = frontier.add([request('c.example', 1), request('a.example', 2)])
    const settling = frontier.settle(first.map((lease) => done(lease, START + 1)))
    const second = await pending
    await adding
    await settling
    await frontier.settle(second.map((lease) => done(lease, START + 2)))
    const third = await drain(frontier, START + 3)
    const met = [...first, ...second].map(({ url }) => url)
    const all = ['a.example/1', 'a.example/2', 'b.example/1', 'c.example/1'].map((path) => `https://${path}`)
    assert.deepEqual([...met, ...third].toSorted(), all)
  })

  check('closing twice does nothing', ORDINARY, async (frontier) => {
    await frontier.add([request('a.example', 1), request('b.example', 1)])
    await frontier.lease(1, START)
    await frontier.close()
    await frontier.close()
  })
}

/** When a host may be visited. */
function politenessCases(check: Check): void {
  check('a host is acquired by a lease and released by its settlement', HURRIED, async (frontier) => {
    await frontier.add([request('a.example', 1), request('a.example', 2)])
    const [lease] = await leaseAll(frontier, START, ['1'])
    await frontier.add([request('a.example', 3)])
    await leaseAll(frontier, START + A_DAY_MS, [])
    await frontier.settle([done(lease!, START + A_DAY_MS)])
    assert.ok(frontier.nextDue() <= START + A_DAY_MS)
    await leaseAll(frontier, START + A_DAY_MS, ['2'])
  })

  check('the pause counts from the end of the visit', ORDINARY, async (frontier) => {
    await frontier.add([request('a.example', 1), request('a.example', 2)])
    const [lease] = await leaseAll(frontier, START, ['1'])
    const visitedAt = START + 350
    await frontier.settle([done(lease!, visitedAt)])
    await nothingBefore(frontier, visitedAt + DELAY_MS)
    await leaseAll(frontier, visitedAt + DELAY_MS, ['2'])
  })

  check('a visit that never reached the host owes no pause', ORDINARY, async (frontier) => {
    await frontier.add([request('a.example', 1), request('a.example', 2)])
    const [lease] = await leaseAll(frontier, START, ['1'])
    await frontier.settle([{ request: lease!, visitedAt: undefined }])
    assert.ok(frontier.nextDue() <= START)
    await leaseAll(frontier, START, ['2'])
  })

  check('a host that was drained and comes back within its pause still waits', ORDINARY, async (frontier) => {
    await frontier.add([request('a.example', 1), request('b.example', 1)])
    const leases = await leaseAll(frontier, START, ['1', '1'])
    await frontier.settle(leases.map((lease) => done(lease, START)))
    assertCounts(frontier, 0, 0, 0)
    await leaseAll(frontier, START + 1, [])
    await frontier.add([request('a.example', 2)])
    await nothingBefore(frontier, START + DELAY_MS)
    await leaseAll(frontier, START + DELAY_MS, ['2'])
  })

  check('one host waits for itself alone', ORDINARY, async (frontier) => {
    await frontier.add([request('a.example', 1), request('a.example', 2)])
    const [lease] = await leaseAll(frontier, START, ['1'])
    await frontier.settle([
      { ...done(lease!, START), hostNotBefore: START + A_DAY_MS, hostDelayMs: A_DAY_MS },
    ])
    await frontier.add(['b', 'a:8080', 'www.a'].map((name) => request(`${name}.example`, 'x')))
    await leaseAll(frontier, START, ['x', 'x', 'x'])
  })

  check('nothing of a host is handed out before the instant it named', ORDINARY, async (frontier) => {
    await frontier.add([request('a.example', 1), request('a.example', 2)])
    const [lease] = await leaseAll(frontier, START, ['1'])
    await frontier.settle([{ ...done(lease!, START), hostNotBefore: START + 7 * DELAY_MS }])
    await nothingBefore(frontier, START + 7 * DELAY_MS)
    await leaseAll(frontier, START + 7 * DELAY_MS, ['2'])
  })

  check('the instant that a host named is kept though it was drained', ORDINARY, async (frontier) => {
    await frontier.add([request('a.example', 1)])
    const [lease] = await leaseAll(frontier, START, ['1'])
    await frontier.settle([{ request: lease!, visitedAt: undefined, hostNotBefore: START + 7 * DELAY_MS }])
    await leaseAll(frontier, START + 2 * DELAY_MS, [])
    await frontier.add([request('a.example', 2)])
    await nothingBefore(frontier, START + 7 * DELAY_MS)
    await leaseAll(frontier, START + 7 * DELAY_MS, ['2'])
  })

  check('of two instants that a host named, the later counts', GENEROUS, async (frontier) => {
    await frontier.add(paths('a.example', 50))
    const [first, second] = await frontier.lease(2, START)
    await frontier.settle([{ ...done(first!, START), hostNotBefore: START + 9 * DELAY_MS }])
    await frontier.settle([{ ...done(second!, START), hostNotBefore: START + 2 * DELAY_MS }])
    await nothingBefore(frontier, START + 9 * DELAY_MS)
    assert.ok((await frontier.lease(1, START + 9 * DELAY_MS)).length > 0)
  })

  check('a host may ask for a longer pause, from that visit on', ORDINARY, async (frontier) => {
    await frontier.add(paths('a.example', 4))
    let at = START
    for (const hostDelayMs of [5 * DELAY_MS, undefined, undefined]) {
      const [lease] = await frontier.lease(10, at)
      assert.ok(lease, `nothing was handed out at ${at - START} ms`)
      await frontier.settle([{ ...done(lease, at), hostDelayMs }])
      await nothingBefore(frontier, at + 5 * DELAY_MS)
      at += 5 * DELAY_MS
    }
    await leaseAll(frontier, at, ['4'])
  })

  check('a longer pause is kept though the host was idle for long', ORDINARY, async (frontier) => {
    await frontier.add([request('a.example', 1)])
    const [lease] = await leaseAll(frontier, START, ['1'])
    await frontier.settle([{ ...done(lease!, START), hostDelayMs: 5 * DELAY_MS }])
    await leaseAll(frontier, START + A_DAY_MS, [])
    await frontier.add([request('a.example', 2), request('a.example', 3)])
    const [next] = await leaseAll(frontier, START + A_DAY_MS, ['2'])
    await frontier.settle([done(next!, START + A_DAY_MS)])
    await nothingBefore(frontier, START + A_DAY_MS + 5 * DELAY_MS)
    await leaseAll(frontier, START + A_DAY_MS + 5 * DELAY_MS, ['3'])
  })

  check('a host cannot ask for a shorter pause', ORDINARY, async (frontier) => {
    await frontier.add([request('a.example', 1), request('a.example', 2)])
    const [lease] = await leaseAll(frontier, START, ['1'])
    await frontier.settle([{ ...done(lease!, START), hostDelayMs: 10 }])
    await nothingBefore(frontier, START + DELAY_MS)
    await leaseAll(frontier, START + DELAY_MS, ['2'])
  })

  // A request counts as waiting until it is handed out: the second connection of eleven is the one for ten waiting.
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

  check('each connection of a host has its own pause', GENEROUS, async (frontier) => {
    await frontier.add(paths('a.example', 500))
    const leases = await frontier.lease(100, START)
    const ends = leases.map((_, i) => START + 100 * (i + 1))
    await frontier.settle(leases.map((lease, i) => done(lease, ends[i]!)))
    for (const end of ends) {
      await nothingBefore(frontier, end + DELAY_MS)
      assert.equal((await frontier.lease(100, end + DELAY_MS)).length, 1)
    }
    await leaseAll(frontier, START + A_DAY_MS, [])
  })
}

/** Who goes first. */
function orderCases(check: Check): void {
  check('within a host, larger priority first, then first come', HURRIED, async (frontier) => {
    const named = (name: string, priority: number) => ({ ...request('a.example', name), priority })
    await frontier.add([named('d', 0), named('e', 0), named('b', 1), named('f', -2)])
    await frontier.add([named('a', 2.5), named('c', 1), named('g', -2), named('last', -3)])
    const expected = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'last'].map((name) => `https://a.example/${name}`)
    assert.deepEqual(await drain(frontier, START), expected)
  })

  check('a request that is to be tried again goes ahead of its equals', HURRIED, async (frontier) => {
    await frontier.add([{ ...request('a.example', 'large'), priority: 1 }, ...paths('a.example', 3)])
    const [large] = await leaseAll(frontier, START, ['large'])
    await frontier.settle([done(large!, START)])
    const [first] = await leaseAll(frontier, START, ['1'])
    await frontier.add([{ ...request('a.example', 'larger'), priority: 2 }])
    await frontier.settle([{ ...done(first!, START + 1), again: { at: START + 1, attempt: 5 } }])
    const [larger] = await leaseAll(frontier, START + 1, ['larger'])
    await frontier.settle([done(larger!, START + 1)])
    const [again] = await leaseAll(frontier, START + 1, ['1'])
    assert.deepEqual(fieldsOf(again!), { ...request('a.example', 1), attempt: 5 })
    await frontier.settle([done(again!, START + 1)])
    assert.deepEqual(await drain(frontier, START + 2), ['https://a.example/2', 'https://a.example/3'])
  })

  check('a request that is to be tried later does not hold up its host', HURRIED, async (frontier) => {
    await frontier.add(paths('a.example', 2))
    const [first] = await leaseAll(frontier, START, ['1'])
    await frontier.settle([{ ...done(first!, START), again: { at: START + A_DAY_MS, attempt: 1 } }])
    const [second] = await leaseAll(frontier, START, ['2'])
    await frontier.settle([done(second!, START)])
    await nothingBefore(frontier, START + A_DAY_MS)
    await frontier.add([request('a.example', 3), request('a.example', 4)])
    const [third] = await leaseAll(frontier, START + DELAY_MS, ['3'])
    await frontier.settle([done(third!, START + DELAY_MS)])
    const [again] = await leaseAll(frontier, START + A_DAY_MS, ['1'])
    assert.equal(again!.attempt, 1)
  })

  check('trying again does not cut the pause short', ORDINARY, async (frontier) => {
    await frontier.add([request('a.example', 1)])
    const [lease] = await leaseAll(frontier, START, ['1'])
    await frontier.settle([{ ...done(lease!, START), again: { at: START + 10, attempt: 1 } }])
    await nothingBefore(frontier, START + DELAY_MS)
    await leaseAll(frontier, START + DELAY_MS, ['1'])
  })

  const MANY = 10_000
  const OTHERS = 10
  /** Two turns of everybody. */
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
    assert.equal(hosts.size, OTHERS + 1, 'hosts that were not visited, though there was room for all')
  })
}

/** What settlements may be about. */
function settlementCases(check: Check): void {
  check('settlements of requests that are not leased are ignored', ORDINARY, async (frontier) => {
    const waiting = request('a.example', 2)
    await frontier.add([request('a.example', 1), waiting])
    const [lease] = await leaseAll(frontier, START, ['1'])
    const about = (stranger: CrawlRequest): Settlement => ({
      ...done(stranger, START),
      again: { at: START, attempt: 9 },
      hostNotBefore: START + A_DAY_MS,
      hostDelayMs: A_DAY_MS,
    })
    await frontier.settle([
      about(waiting),
      about(request('a.example', 'unknown')),
      about(request('c.example', 1)),
    ])
    assertCounts(frontier, 1, 1, 1)
    await leaseAll(frontier, START + A_DAY_MS, [])
    await frontier.settle([done(lease!, START)])
    assertCounts(frontier, 1, 0, 1)
    await frontier.settle([about(lease!), about(lease!)])
    assertCounts(frontier, 1, 0, 1)
    const [second] = await leaseAll(frontier, START + DELAY_MS, ['2'])
    await frontier.settle([done(second!, START + DELAY_MS), about(second!)])
    assertCounts(frontier, 0, 0, 0)
  })

  check('many settlements of one call count like as many calls', GENEROUS, async (frontier) => {
    await frontier.add([...paths('a.example', 60), ...paths('b.example', 60)])
    const leases = await frontier.lease(100, START)
    assert.equal(leases.length, 8)
    await frontier.settle(leases.map((lease) => done(lease, START)))
    assertCounts(frontier, 112, 0, 2)
    await nothingBefore(frontier, START + DELAY_MS)
    assert.equal((await frontier.lease(100, START + DELAY_MS)).length, 8)
  })
}

function request(host: string, path: string | number): CrawlRequest {
  const url = `https://${host}/${path}`
  return { url, host, depth: 1, priority: 0, attempt: 0, redirects: 0, parent: `https://${host}/` }
}

function paths(host: string, count: number): CrawlRequest[] {
  return Array.from({ length: count }, (_, i) => request(host, i + 1))
}

function done(lease: CrawlRequest, visitedAt: number): Settlement {
  return { request: lease, visitedAt }
}

/** A copy that can be compared: a frontier may return objects with more on them, or with getters. */
function fieldsOf({ url, host, depth, priority, attempt, redirects, parent }: CrawlRequest): CrawlRequest {
  return { url, host, depth, priority, attempt, redirects, parent }
}

function byUrl(requests: readonly CrawlRequest[]): Map<string, CrawlRequest> {
  return new Map(requests.map((each) => [each.url, each]))
}

function assertCounts(frontier: Frontier, pending: number, leased: number, hosts: number): void {
  const counts = { pending: frontier.pending, leased: frontier.leased, hosts: frontier.hosts }
  assert.deepEqual(counts, { pending, leased, hosts })
}

/** Leases as much as there is at `now`: exactly these paths, whatever their order. */
async function leaseAll(
  frontier: Frontier,
  now: number,
  expected: readonly string[],
): Promise<readonly CrawlRequest[]> {
  const leases = await frontier.lease(100, now)
  const met = leases.map(({ url }) => url.slice(url.lastIndexOf('/') + 1))
  assert.deepEqual(met.toSorted(), expected.toSorted(), `handed out ${now - START} ms after the start`)
  return leases
}

/** Nothing is due until `due`, and `nextDue` neither misses it nor asks for a call right now. */
async function nothingBefore(frontier: Frontier, due: number): Promise<void> {
  await leaseAll(frontier, due - 1, [])
  const told = frontier.nextDue()
  assert.ok(told <= due, `nextDue() is ${told - due} ms too late`)
  assert.ok(told > due - 1, 'nextDue() is over, though nothing is due')
}

/** Visits one after the other until nothing is due; the URLs in the order in which they were handed out. */
async function drain(frontier: Frontier, now: number): Promise<string[]> {
  const met: string[] = []
  for (;;) {
    const [lease] = await frontier.lease(1, now)
    if (lease === undefined) return met
    met.push(lease.url)
    await frontier.settle([done(lease, now)])
  }
}

async function servedSoon(frontier: Frontier, start: number, visits: number, others: number): Promise<void> {
  const served = new Set<string>()
  for (let now = start; now < start + visits; now++) {
    const [lease] = await frontier.lease(1, now)
    assert.ok(lease, 'nothing was handed out')
    if (lease.host !== 'large.example') served.add(lease.url)
    await frontier.settle([done(lease, now)])
  }
  assert.equal(served.size, others, `of ${others} small hosts so many were visited in ${visits} visits`)
}
