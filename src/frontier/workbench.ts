import type { HostTrouble } from '../types.js'
import type { Politeness, ReadyHost, SelectionPolicy } from './contract.js'
import { Heap } from './heap.js'
import { type Due, HostQueue } from './host-queue.js'
import { allowance, ownPoliteness, restUntil } from './politeness.js'
import { RequestedDelays } from './requested-delays.js'

/** A host, its waiting requests and its politeness state. */
export class Host implements ReadyHost {
  readonly host: string
  /** The workbench it belongs to. A request whose host belongs to another workbench cannot be settled here. */
  readonly workbench: object
  readonly queue = new HostQueue()
  /** Connections that are acquired and not released yet. */
  acquired = 0
  /** Requests whose visit has ended and that are still leased: see `Settlement.held`. */
  held = 0
  /**
   * When each resting connection may be used again, ascending, at most one entry per connection; 0 stands for a pause
   * that is over. Updated in place, so that visits do not allocate.
   */
  resting: number[] = NO_PAUSES
  /** Backoff: no visit before this time. */
  notBefore = 0
  /** The delay that the host requested itself. */
  delayMs: number
  trouble: HostTrouble | undefined = undefined
  /** Its own rules. Undefined: those of the crawl apply. Set by the workbench. */
  politeness: Politeness | undefined = undefined
  readyAt = 0
  revisits = false
  /** Its order among hosts that have been ready since the same time: smallest first. 0: in order of arrival. */
  turn = 0
  /** The heap that it is in, and the ticket of its valid entry there. Its other entries are stale. */
  queuedIn: unknown = undefined
  ticket = 0

  constructor(host: string, workbench: object, delayMs: number) {
    this.host = host
    this.workbench = workbench
    this.delayMs = delayMs
  }

  /** Requests that wait: those in the queue and, for hosts of a durable store, those on disk. */
  get pending(): number {
    return this.queue.size
  }

  /** Whether any of its requests is leased. */
  get isLeased(): boolean {
    return this.acquired > 0 || this.held > 0
  }

  /** The number of requests that are due at `now`, without those whose due time is in the future. */
  dueBy(now: number): Due {
    return this.queue.dueBy(now)
  }

  /** When its queue has something to hand out: 0 for now, Infinity for nothing. */
  get dueAt(): number {
    return this.queue.dueAt
  }
}

/** Creates the record of a host. */
export type MakeHost<H extends Host> = (host: string, workbench: object, delayMs: number) => H

function makeHost<H extends Host>(host: string, workbench: object, delayMs: number): H {
  return new Host(host, workbench, delayMs) as H
}

/**
 * Stale entries that are not worth sweeping up. Without sweeps, a host with a revisit next week would leave an entry
 * for next week each time it is visited for another page.
 */
const MAX_STALE_ENTRIES = 1000

/** Shared by all hosts without a visit, which are most hosts of a large crawl. Never written to. */
const NO_PAUSES: number[] = []

/**
 * Hosts by readiness (BUbiNG's workbench, with time). A host is in exactly one place:
 * - `waiting`: it has requests, but its pause, its backoff or the due time of its next request is not over. Also hosts
 *   without requests whose pause is not over: they are remembered until then and forgotten after that.
 * - `ready`: it may be visited now, ordered by the policy; or `due`, if its next request is a revisit.
 * - in no queue: it has no requests and no pause, or all connections that it is allowed are acquired.
 *
 * So `acquire` cannot find a host whose connections are all in use. Politeness follows from where a host is, not from a
 * check that could be forgotten.
 */
export class Workbench<H extends Host = Host> {
  readonly #politeness: Politeness
  readonly #policy: SelectionPolicy
  readonly #make: MakeHost<H>
  readonly #hosts = new Map<string, H>()
  /** The delays that forgotten hosts had requested. */
  readonly requestedDelays = new RequestedDelays()
  readonly #waiting = new Heap<H>()
  readonly #ready = new Heap<H>()
  readonly #due = new Heap<H>()
  /** Accumulates the share of visits that revisits may take. */
  #credit = 0
  #active = 0
  /** Called when a host is no longer remembered. */
  onForget: ((host: H) => void) | undefined = undefined

  constructor(politeness: Politeness, policy: SelectionPolicy, make: MakeHost<H> = makeHost) {
    this.#politeness = politeness
    this.#policy = policy
    this.#make = make
  }

  /** Hosts with something pending or leased. */
  get activeHosts(): number {
    return this.#active
  }

  /** Hosts in memory, including those that are remembered only until their pause is over. */
  get knownHosts(): number {
    return this.#hosts.size
  }

  /** Approximate number of hosts that may be visited now. */
  get readyHosts(): number {
    return this.#ready.size + this.#due.size
  }

  /** The record of a host, if it is in memory. */
  find(name: string): H | undefined {
    return this.#hosts.get(name)
  }

  /** The record of a host; creates it if needed. */
  host(name: string): H {
    let host = this.#hosts.get(name)
    if (host === undefined) {
      host = this.#make(name, this, this.requestedDelays.of(name))
      if (this.#politeness.hosts !== undefined) host.politeness = ownPoliteness(name, this.#politeness)
      this.#hosts.set(name, host)
    }
    return host
  }

  /** Must be called before the first request is added to an idle host. */
  activate(host: H): void {
    if (host.pending === 0 && !host.isLeased) this.#active++
  }

  /** Removes a host that has requests, because they are on disk. It must have no leased requests. */
  remove(host: H): void {
    this.#dequeue(host)
    this.#hosts.delete(host.host)
    this.#active--
  }

  /** Hosts in memory. Hosts may be placed and forgotten during the iteration. */
  all(): Iterable<H> {
    return this.#hosts.values()
  }

  /**
   * Removes hosts, with and without requests, because another workbench continues with them. They must have no leased
   * requests. Their entries in the queues become stale.
   */
  removeWhere(isLeaving: (host: H) => boolean): H[] {
    const left: H[] = []
    for (const host of this.#hosts.values()) {
      if (!isLeaving(host)) continue
      if (host.pending > 0) this.#active--
      this.#dequeue(host)
      this.#hosts.delete(host.host)
      left.push(host)
    }
    return left
  }

  /**
   * Acquires a connection of a host that may be visited at `now`. Undefined if there is none, or if `isHeldBack` is
   * true for the first of them.
   */
  acquire(now: number, isHeldBack?: (host: H) => boolean): H | undefined {
    this.#wake(now)
    for (;;) {
      const heap = this.#next()
      this.#dropStale(heap)
      if (heap.size === 0 || isHeldBack?.(heap.top!)) return undefined
      const host = heap.pop()!
      host.queuedIn = undefined
      if (this.#availableAt(host, now) <= now) {
        this.#acquireFrom(host, now)
        return host
      }
      this.place(host, now)
    }
  }

  /** Returns a connection after a visit that ended at `visitedAt`, or that never reached the host. */
  release(host: H, visitedAt: number | undefined): void {
    host.acquired--
    if (visitedAt === undefined) return
    rest(host, restUntil(visitedAt, host.delayMs, host.politeness ?? this.#politeness))
  }

  /**
   * Puts the host where it belongs after something about it has changed. A host without a pause is ready since `since`.
   */
  place(host: H, now: number, since = now): void {
    if (host.pending === 0) {
      if (host.isLeased) this.#dequeue(host)
      else this.#placeIdle(host, now)
      return
    }
    const at = this.#availableAt(host, now)
    if (at <= now) {
      if (host.queuedIn === this.#ready || host.queuedIn === this.#due) return
      host.readyAt = at > 0 ? at : since
      host.revisits = host.queue.isRevisitNext(now)
      this.#enqueue(host, host.revisits ? this.#due : this.#ready, this.#policy(host))
    } else if (at === Number.POSITIVE_INFINITY) {
      this.#dequeue(host)
    } else if (host.queuedIn !== this.#waiting || host.readyAt !== at) {
      host.readyAt = at
      this.#enqueue(host, this.#waiting, at)
    }
  }

  /** Counts a host as idle if its last request is settled. */
  deactivate(host: H): void {
    if (host.pending === 0 && !host.isLeased) this.#active--
  }

  /** When `acquire` may next return something. */
  nextDue(): number {
    this.#dropStale(this.#ready)
    this.#dropStale(this.#due)
    if (this.#ready.size > 0) return this.#ready.top!.readyAt
    if (this.#due.size > 0) return this.#due.top!.readyAt
    this.#dropStale(this.#waiting)
    return this.#waiting.topKey
  }

  #acquireFrom(host: H, now: number): void {
    host.acquired++
    // Pauses that are over must go: the next turn of a host with several connections starts now. Otherwise it would
    // always have been ready longest and go before all others.
    forgetPauses(host.resting, now)
    if (host.notBefore <= now) host.notBefore = 0
  }

  /**
   * From when one more connection to the host may be used with this many requests waiting; Infinity: not before a
   * release.
   */
  connectionFreeAt(host: H, waiting = host.pending): number {
    const free = allowance(waiting, host.politeness ?? this.#politeness) - host.acquired
    if (free <= 0) return Number.POSITIVE_INFINITY
    const resting = host.resting
    const rested = resting.length < free ? 0 : resting[resting.length - free]!
    return Math.max(rested, host.notBefore)
  }

  #availableAt(host: H, now: number): number {
    const { dueAt } = host
    const { connections } = host.politeness ?? this.#politeness
    if (connections === 1 || host.queue.laterCount === 0 || dueAt === Number.POSITIVE_INFINITY) {
      return Math.max(this.connectionFreeAt(host), dueAt)
    }
    const { count, next } = host.dueBy(now)
    const at = Math.max(this.connectionFreeAt(host, count), dueAt)
    // The next request that becomes due may allow one more connection, which may have rested longer.
    return Math.min(at, Math.max(next, this.connectionFreeAt(host)))
  }

  /**
   * A host without requests is remembered while it rests, so that a new request cannot shorten the pause, and then
   * forgotten.
   */
  #placeIdle(host: H, now: number): void {
    const until = Math.max(host.resting[host.resting.length - 1] ?? 0, host.notBefore)
    if (until > now) {
      host.readyAt = until
      this.#enqueue(host, this.#waiting, until)
    } else {
      this.#dequeue(host)
      this.#forget(host)
    }
  }

  #forget(host: H): void {
    this.#hosts.delete(host.host)
    this.onForget?.(host)
    const { delayMs } = host.politeness ?? this.#politeness
    if (host.delayMs > delayMs) this.requestedDelays.remember(host.host, host.delayMs)
    else this.requestedDelays.forget(host.host)
  }

  #wake(now: number): void {
    const waiting = this.#waiting
    while (waiting.topKey <= now) {
      const ticket = waiting.topTicket
      const host = waiting.pop()!
      if (host.queuedIn !== waiting || host.ticket !== ticket) continue
      host.queuedIn = undefined
      this.place(host, now)
    }
  }

  #enqueue(host: H, heap: Heap<H>, key: number): void {
    if (heap.size > 2 * this.#hosts.size + MAX_STALE_ENTRIES) {
      heap.retain((other, ticket) => other.queuedIn === heap && other.ticket === ticket)
    }
    host.queuedIn = heap
    host.ticket = host.turn > 0 ? heap.push(host, key, host.turn) : heap.push(host, key)
  }

  #dequeue(host: H): void {
    host.queuedIn = undefined
  }

  /** The heap to take the next host from: revisits first, or as often as their share allows. */
  #next(): Heap<H> {
    if (this.#due.size === 0) return this.#ready
    this.#dropStale(this.#due)
    this.#dropStale(this.#ready)
    if (this.#due.size === 0) return this.#ready
    if (this.#ready.size === 0) return this.#due
    this.#credit += this.#politeness.revisitShare ?? 1
    if (this.#credit < 1) return this.#ready
    this.#credit -= 1
    return this.#due
  }

  #dropStale(heap: Heap<H>): void {
    while (heap.size > 0) {
      const host = heap.top!
      if (host.queuedIn === heap && host.ticket === heap.topTicket) return
      heap.pop()
    }
  }
}

/** Adds a pause; it replaces one that is over, if any. */
function rest(host: Host, until: number): void {
  const { resting } = host
  if (resting === NO_PAUSES) {
    // An array literal has room for exactly one entry, which is all that most hosts ever need.
    host.resting = [until]
    return
  }
  if (resting[0] !== 0) resting.unshift(0)
  let place = 0
  for (; place + 1 < resting.length && resting[place + 1]! < until; place++) {
    resting[place] = resting[place + 1]!
  }
  resting[place] = until
}

function forgetPauses(resting: number[], now: number): void {
  for (let i = 0; i < resting.length && resting[i]! <= now; i++) resting[i] = 0
}
