import type { Politeness, ReadyHost, SelectionPolicy } from './contract.js'
import { Heap } from './heap.js'
import { HostQueue } from './host-queue.js'
import { allowance, restUntil } from './politeness.js'

/** A host, its waiting requests and its clock. */
export class Host implements ReadyHost {
  readonly host: string
  readonly queue = new HostQueue()
  /** Connections handed out and not yet released. */
  acquired = 0
  /** When each resting connection may be used again, ascending; at most as many as there are connections. */
  resting: number[] = NOBODY_RESTS
  /** Backoff: nothing at all before this. */
  notBefore = 0
  /** The pause that the host asked for itself. */
  delayMs = 0
  readyAt = 0
  /** Where it stands: the heap and the ticket of its valid entry there. Other entries of it are stale. */
  standsIn: Heap<Host> | undefined = undefined
  ticket = 0

  constructor(host: string) {
    this.host = host
  }

  get pending(): number {
    return this.queue.size
  }
}

/** Shared by all hosts that have not been visited: most of a large crawl's. Never written to. */
const NOBODY_RESTS: number[] = []

/**
 * Hosts by readiness (BUbiNG's workbench, with time). A host stands in exactly one place:
 *
 * - `waiting`: has requests, but its pause, its backoff or its next request's time is not over. Also hosts without
 *   requests whose pause is not over: they are remembered until then and forgotten after.
 * - `ready`: may be visited now, in the order of the policy.
 * - nowhere: it has no requests and no pause, or all connections it is allowed are acquired.
 *
 * So a host whose connections are all out cannot be found by `acquire`: politeness is where a host stands, not a
 * check that somebody might forget.
 */
export class Workbench {
  readonly #politeness: Politeness
  readonly #policy: SelectionPolicy
  readonly #hosts = new Map<string, Host>()
  readonly #waiting = new Heap<Host>()
  readonly #ready = new Heap<Host>()
  #active = 0

  constructor(politeness: Politeness, policy: SelectionPolicy) {
    this.#politeness = politeness
    this.#policy = policy
  }

  /** Hosts with something pending or leased. */
  get activeHosts(): number {
    return this.#active
  }

  /** Hosts in memory, including those that are only remembered until their pause is over. */
  get knownHosts(): number {
    return this.#hosts.size
  }

  /** The host's record, made if need be. */
  host(name: string): Host {
    let host = this.#hosts.get(name)
    if (host === undefined) {
      host = new Host(name)
      this.#hosts.set(name, host)
    }
    return host
  }

  /** To be called before the first request is put on an idle host's queue. */
  enliven(host: Host): void {
    if (host.queue.size === 0 && host.acquired === 0) this.#active++
  }

  /** A host that may be visited at `now`, with one of its connections acquired; undefined if there is none. */
  acquire(now: number): Host | undefined {
    this.#wake(now)
    for (;;) {
      const host = this.#takeValid(this.#ready)
      if (host === undefined) return undefined
      if (this.#availableAt(host) <= now) {
        this.#acquireFrom(host, now)
        return host
      }
      this.place(host, now)
    }
  }

  /** Gives a connection back after a visit that ended at `visitedAt`, or that never reached the host. */
  release(host: Host, visitedAt: number | undefined): void {
    host.acquired--
    if (visitedAt === undefined) return
    const until = restUntil(visitedAt, host.delayMs, this.#politeness)
    const resting = host.resting === NOBODY_RESTS ? [] : host.resting
    let place = resting.length
    while (place > 0 && resting[place - 1]! > until) place--
    resting.splice(place, 0, until)
    host.resting = resting
  }

  /** Puts the host where it belongs, after anything about it has changed. */
  place(host: Host, now: number): void {
    if (host.queue.size === 0) {
      if (host.acquired > 0) return this.#leave(host)
      return this.#placeIdle(host, now)
    }
    const at = this.#availableAt(host)
    if (at <= now) {
      if (host.standsIn === this.#ready) return
      host.readyAt = at > 0 ? at : now
      this.#stand(host, this.#ready, this.#policy(host))
    } else if (at === Number.POSITIVE_INFINITY) {
      this.#leave(host)
    } else if (host.standsIn !== this.#waiting || host.readyAt !== at) {
      host.readyAt = at
      this.#stand(host, this.#waiting, at)
    }
  }

  /** Counts a host as idle once its last request is settled. */
  retire(host: Host): void {
    if (host.queue.size === 0 && host.acquired === 0) this.#active--
  }

  /** When `acquire` may next have something. */
  nextDue(): number {
    this.#dropStale(this.#ready)
    if (this.#ready.size > 0) return this.#ready.top!.readyAt
    this.#dropStale(this.#waiting)
    return this.#waiting.topKey
  }

  #acquireFrom(host: Host, now: number): void {
    host.acquired++
    // Pauses that are over must go: the next turn of a host with several connections starts from now, or it would
    // always have been ready longest and go before all others.
    if (host.resting.length > 0) host.resting = host.resting.filter((until) => until > now)
    if (host.notBefore <= now) host.notBefore = 0
  }

  /** The instant from which one more connection to the host may be used; Infinity: not before a release. */
  #availableAt(host: Host): number {
    const free = allowance(host.queue.size, this.#politeness) - host.acquired
    if (free <= 0) return Number.POSITIVE_INFINITY
    const resting = host.resting
    const rested = resting.length < free ? 0 : resting[resting.length - free]!
    return Math.max(rested, host.notBefore, host.queue.dueAt)
  }

  /** Without requests: remembered while it rests, so that a new request cannot cut the pause short; then forgotten. */
  #placeIdle(host: Host, now: number): void {
    const until = Math.max(host.resting[host.resting.length - 1] ?? 0, host.notBefore)
    if (until > now) {
      host.readyAt = until
      return this.#stand(host, this.#waiting, until)
    }
    this.#leave(host)
    this.#hosts.delete(host.host)
  }

  #wake(now: number): void {
    const waiting = this.#waiting
    while (waiting.topKey <= now) {
      const ticket = waiting.topTicket
      const host = waiting.pop()!
      if (host.standsIn !== waiting || host.ticket !== ticket) continue
      host.standsIn = undefined
      this.place(host, now)
    }
  }

  #stand(host: Host, heap: Heap<Host>, key: number): void {
    host.standsIn = heap
    host.ticket = heap.push(host, key)
  }

  #leave(host: Host): void {
    host.standsIn = undefined
  }

  #takeValid(heap: Heap<Host>): Host | undefined {
    this.#dropStale(heap)
    const host = heap.pop()
    if (host !== undefined) host.standsIn = undefined
    return host
  }

  #dropStale(heap: Heap<Host>): void {
    while (heap.size > 0) {
      const host = heap.top!
      if (host.standsIn === heap && host.ticket === heap.topTicket) return
      heap.pop()
    }
  }
}
