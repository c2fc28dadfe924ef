/** Thousands of random operations on a frontier, each checked against the model. A seed replays a walk. */

import assert from 'node:assert/strict'
import type { Frontier, Politeness, Settlement } from '../../frontier/contract.js'
import { seededRandom } from '../../time.js'
import type { CrawlRequest } from '../../types.js'
import { randomMore } from './fixtures.js'
import { FrontierModel } from './model.js'

export interface Walk {
  readonly frontier: Frontier
  readonly politeness: Politeness
  readonly seed: number
  readonly operations: number
  readonly start: number
}

/** Few enough for hosts to fill up and become empty many times. */
const HOSTS = 12
const PRIORITIES = [0, 0, 0, 1, -1]
/** The model inspects everything after each operation, and more requests would not reveal more. */
const ENOUGH_PENDING = 200
/**
 * Number of operations after which a walk switches between adding and not adding, because an empty frontier has its own
 * failure modes.
 */
const SEASON = 200
/** Longer than any pause, backoff or retry of a walk, in ms. */
const LONG_MS = 10_000

/**
 * Walks, then visits everything that is left; every request must have been handed out once for each time it was due.
 */
export async function randomWalk({ frontier, politeness, seed, operations, start }: Walk): Promise<void> {
  const random = seededRandom(seed)
  const upTo = (limit: number) => Math.floor(random.next() * limit)
  const chance = (share: number) => random.next() < share
  const model = new FrontierModel(politeness)
  /** Requests that are done, to settle them a second time. */
  const past: CrawlRequest[] = []
  let now = start
  let added = 0
  let plenty = true

  const fresh = (): CrawlRequest[] => {
    const requests: CrawlRequest[] = []
    // A few hosts get most of the requests: they grow while the others become empty.
    const host = `h${chance(0.5) ? upTo(2) : upTo(HOSTS)}.example`
    for (let left = 1 + upTo(chance(0.1) ? 30 : 3); left > 0; left--) {
      const priority = PRIORITIES[upTo(PRIORITIES.length)]!
      const url = `https://${host}/${added++}`
      const page = { url, host, depth: 1, priority, attempt: 0, redirects: 0, parent: undefined }
      requests.push({ ...page, ...randomMore(random, now) })
      // Another request of the same URL.
      if (chance(0.05)) requests.push({ ...page, extras: { method: 'POST', body: `again=${added}` } })
    }
    return requests
  }

  const add = async () => {
    if (model.pending > ENOUGH_PENDING) return
    const requests = fresh()
    await frontier.add(requests)
    model.added(requests)
  }

  const lease = async (max: number) => {
    const leases = await frontier.lease(max, now)
    model.handedOut(leases, max, now)
    if (leases.length === 0 && max > 0) {
      assert.ok(frontier.nextDue() > now, 'the lease was empty, but nextDue() is not in the future')
    }
    return leases
  }

  const settlementOf = (request: CrawlRequest): Settlement => {
    if (frontier.canHold !== true || !chance(0.25)) return finalOf(request)
    const { again: _, ...settlement } = finalOf(request)
    return { ...settlement, held: true }
  }

  const finalOf = (request: CrawlRequest): Settlement => ({
    request,
    visitedAt: chance(0.8) ? now - upTo(20) : undefined,
    ...(chance(0.2) && { again: { at: now + upTo(chance(0.5) ? 5 : 3000), attempt: request.attempt + 1 } }),
    ...(chance(0.05) && { hostNotBefore: now + upTo(5000) }),
    // Always the same delay for a host: whether a host may shorten its delay again is not specified.
    ...(chance(0.1) && { hostDelayMs: request.host === 'h3.example' ? 2500 : 100 }),
    ...(plenty && model.pending < ENOUGH_PENDING && chance(0.3) && { found: [...fresh(), ...fresh()] }),
  })

  const settle = async (settlements: readonly Settlement[]) => {
    await frontier.settle(settlements)
    model.settled(settlements)
    const ended = settlements.filter(({ again, held }) => again === undefined && held !== true)
    past.push(...ended.map(({ request }) => request))
  }

  const settleSome = () => {
    const leased = model.leased.filter(() => chance(0.4))
    const strangers = past.length > 0 && chance(0.2) ? [past[upTo(past.length)]!] : []
    return settle([...strangers, ...leased].map(settlementOf))
  }

  const passTime = () => {
    const due = frontier.nextDue()
    if (chance(0.5) && due > now && due < now + LONG_MS) now = chance(0.5) ? due : Math.max(now, due - 1)
    else now += upTo(chance(0.1) ? 2000 : 30)
  }

  for (let operation = 0; operation < operations; operation++) {
    const dice = random.next()
    plenty = Math.floor(operation / SEASON) % 2 === 0
    if (plenty && dice < 0.25) await add()
    else if (dice < 0.5) await lease(chance(0.5) ? 1 + upTo(3) : upTo(30))
    else if (dice < 0.75) await settleSome()
    else passTime()
    model.agreesWith(frontier, now)
  }

  await settle(model.leased.map((request) => ({ request, visitedAt: now })))
  while (model.pending > 0) {
    const due = frontier.nextDue()
    assert.ok(due < now + LONG_MS, `${model.pending} requests are pending, but nothing will ever be due`)
    now = Math.max(now, due)
    const leases = await lease(30)
    await settle(leases.map((request) => ({ request, visitedAt: now })))
    model.agreesWith(frontier, now)
  }
  assert.deepEqual([frontier.pending, frontier.leased, frontier.hosts], [0, 0, 0])
}
