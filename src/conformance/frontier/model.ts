/**
 * The simplest possible frontier: no heaps, no clocks, every question answered by looking at everything. The suite runs
 * it beside a real one and asserts that they agree.
 */

import assert from 'node:assert/strict'
import type { Frontier, Politeness, Settlement } from '../../frontier/contract.js'
import type { CrawlRequest } from '../../types.js'
import { knownAs } from '../../url/known-as.js'

interface Waiting {
  readonly request: CrawlRequest
  readonly name: string
  readonly attempt: number
  readonly arrival: number
  /** Handed out before, or added for later: ahead of others of its priority, but not before `at`. */
  readonly again: boolean
  readonly at: number
}

interface ModelHost {
  readonly name: string
  waiting: Waiting[]
  acquired: number
  /** Leased requests whose visit has ended. */
  held: number
  resting: number[]
  notBefore: number
  delayMs: number
}

export class FrontierModel {
  readonly #politeness: Politeness
  readonly #hosts = new Map<string, ModelHost>()
  readonly #leased = new Map<CrawlRequest, Waiting>()
  readonly #held = new Set<CrawlRequest>()
  #arrivals = 0

  constructor(politeness: Politeness) {
    this.#politeness = politeness
  }

  get leased(): CrawlRequest[] {
    return [...this.#leased.keys()]
  }

  get pending(): number {
    return [...this.#hosts.values()].reduce((sum, { waiting }) => sum + waiting.length, 0)
  }

  get hosts(): number {
    const hosts = [...this.#hosts.values()]
    return hosts.filter(({ waiting, acquired, held }) => waiting.length + acquired + held > 0).length
  }

  added(requests: readonly CrawlRequest[]): void {
    for (const request of requests) {
      const { attempt, notBefore } = request
      const arrival = this.#arrivals++
      const again = notBefore !== undefined
      const waiting = { request, name: knownAs(request), attempt, arrival, again, at: notBefore ?? 0 }
      this.#host(request.host).waiting.push(waiting)
    }
  }

  /** Fails if a lease violates politeness, is out of order, or holds back what is due. */
  handedOut(requests: readonly CrawlRequest[], max: number, now: number): void {
    assert.ok(
      requests.length <= max,
      `${requests.length} requests were handed out, but at most ${max} were asked for`,
    )
    for (const request of requests) this.#handedOutOne(request, now)
    if (requests.length === max) return
    for (const host of this.#hosts.values()) {
      assert.ok(!this.#mayVisit(host, now), `${host.name} may be visited, but the lease held it back`)
    }
  }

  settled(settlements: readonly Settlement[]): void {
    for (const settlement of settlements) {
      const { request, again, found, held } = settlement
      const lease = this.#leased.get(request)
      if (lease === undefined) continue
      const host = this.#host(request.host)
      const wasHeld = this.#held.delete(request)
      if (wasHeld) host.held--
      else this.#endVisit(host, settlement)
      if (held === true) {
        this.#held.add(request)
        host.held++
      } else this.#leased.delete(request)
      if (again !== undefined) host.waiting.push({ ...lease, ...again, again: true })
      this.added(found ?? [])
    }
  }

  #endVisit(host: ModelHost, { visitedAt, hostNotBefore, hostDelayMs }: Settlement): void {
    host.acquired--
    host.delayMs = hostDelayMs ?? host.delayMs
    host.notBefore = Math.max(host.notBefore, hostNotBefore ?? 0)
    const pauseMs = Math.max(host.delayMs, this.#politeness.delayMs)
    if (visitedAt !== undefined) host.resting.push(visitedAt + pauseMs)
  }

  /** Fails if counts are not exact or `nextDue` is too late. */
  agreesWith(frontier: Frontier, now: number): void {
    const { pending, leased, hosts } = frontier
    const expected = { pending: this.pending, leased: this.#leased.size, hosts: this.hosts }
    assert.deepEqual({ pending, leased, hosts }, expected)
    const due = Math.max(now, this.nextDue())
    const told = frontier.nextDue()
    assert.ok(told <= due, `nextDue() is ${told}, but something may be handed out at ${due}`)
  }

  nextDue(): number {
    return Math.min(Number.POSITIVE_INFINITY, ...[...this.#hosts.values()].map((host) => this.#dueAt(host)))
  }

  #handedOutOne(request: CrawlRequest, now: number): void {
    const { attempt, extras, depth, priority } = request
    const name = knownAs(request)
    const host = this.#host(request.host)
    const due = inOrder(host.waiting.filter(({ at }) => at <= now))
    const lease = due.find((waiting) => waiting.name === name)
    assert.ok(lease, `${name} was handed out, but is not due`)
    assert.ok(this.#mayVisit(host, now), `${name} was handed out, but ${host.name} may not be visited yet`)
    // The order among several that waited for a time is not specified.
    const sameTurn = lease.again && due[0]!.again && due[0]!.request.priority === lease.request.priority
    assert.ok(due[0] === lease || sameTurn, `${name} was handed out, but ${due[0]!.name} goes first`)
    assert.equal(attempt, lease.attempt, `the attempt of ${name}`)
    assert.deepEqual(
      [depth, priority],
      [lease.request.depth, lease.request.priority],
      `depth, priority of ${name}`,
    )
    assert.deepEqual(extras, lease.request.extras, `the extras of ${name}`)
    host.waiting = host.waiting.filter((waiting) => waiting !== lease)
    host.resting = host.resting.filter((until) => until > now)
    host.acquired++
    this.#leased.set(request, lease)
  }

  #mayVisit(host: ModelHost, now: number): boolean {
    const { connections, growAt } = this.#politeness
    const due = host.waiting.filter(({ at }) => at <= now).length
    const allowed = Math.min(connections, 1 + Math.floor(due / growAt))
    const inUse = host.acquired + host.resting.filter((until) => until > now).length
    return inUse < allowed && host.notBefore <= now && due > 0
  }

  #dueAt(host: ModelHost): number {
    const instants = [0, host.notBefore, ...host.waiting.map(({ at }) => at), ...host.resting]
    return instants.sort((a, b) => a - b).find((at) => this.#mayVisit(host, at)) ?? Number.POSITIVE_INFINITY
  }

  #host(name: string): ModelHost {
    let host = this.#hosts.get(name)
    if (host === undefined) {
      host = { name, waiting: [], acquired: 0, held: 0, resting: [], notBefore: 0, delayMs: 0 }
      this.#hosts.set(name, host)
    }
    return host
  }
}

/** Larger priority first, then requests that waited for a time, then in order of arrival. */
function inOrder(waiting: readonly Waiting[]): Waiting[] {
  return waiting.toSorted(
    (a, b) =>
      b.request.priority - a.request.priority || Number(b.again) - Number(a.again) || a.arrival - b.arrival,
  )
}
