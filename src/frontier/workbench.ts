import type { HostTrouble } from '../types.js'
import type { Politeness, ReadyHost, SelectionPolicy } from './contract.js'
import { Heap } from './heap.js'
import { HostQueue } from './host-queue.js'
import { allowance, restUntil } from './politeness.js'

/** A host, its waiting requests and its clock. */
export class Host implements ReadyHost {
  readonly host: string
  readonly workbench: Workbench
  readonly queue = new HostQueue()
  /** Connections handed out and not yet released. */
  acquired = 0
  /**
   * When each resting connection may be used again, ascending, at most as many as there are connections; 0 stands
   * for a pause that is over. Written in place: a new array for each visit would be a visit to the garbage collector.
   */
  resting: number[] = NOBODY_RESTS
  /** Backoff: nothing at all before this. */
  notBefore = 0
  /** The pause that the host asked for itself. */
  delayMs: number
  trouble: HostTrouble | undefined = undefined
  readyAt = 0
  /** Where it stands: the heap and the ticket of its valid entry there. Other entries of it are stale. */
  standsIn: Heap<Host> | undefined = undefined
  ticket = 0

  constructor(host: string, workbench: Workbench, delayMs: number) {
    this.host = host
    this.workbench = workbench
    this.delayMs = delayMs
  }

  get pending(): number {
    return this.queue.size
  }
}

/**
 * Stale entries that are not worth a sweep. Without sweeps, a host that waits for a revisit next week would leave an
 * entry for next week each time it is visited for something else.
 */
const STALE_BEARABLE = 1000

/** Forgotten hosts whose pause is remembered; of more, the one forgotten longest ago is told its pause again. */
const PAUSES_REMEMBERED = 100_000

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
  /** The pauses that forgotten hosts had asked for; only those that differ from everybody's. */
  readonly #askedMs = new Map<string, number>()
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

  /** Entries in the queues, stale ones included: never many more than there are hosts. */
  get entries(): number {
    return this.#waiting.size + this.#ready.size
  }

  /** The host's record, made if need be. */
  host(name: string): Host {
    let host = this.#hosts.get(name)
    if (host === undefined) {
      host = new Host(name, this, this.#askedMs.get(name) ?? 0)
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
    rest(host, restUntil(visitedAt, host.delayMs, this.#politeness))
  }

  /** Puts the host where it belongs, after anything about it has changed. */
  place(host: Host, now: number): void {
    if (host.queue.size === 0) {
      if (host.acquired > 0) this.#leave(host)
      else this.#placeIdle(host, now)
      return
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
    forgetPauses(host.resting, now)
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
      this.#stand(host, this.#waiting, until)
    } else {
      this.#leave(host)
      this.#forget(host)
    }
  }

  #forget(host: Host): void {
    this.#hosts.delete(host.host)
    if (host.delayMs > this.#politeness.delayMs) {
      this.#askedMs.set(host.host, host.delayMs)
      if (this.#askedMs.size > PAUSES_REMEMBERED)
        this.#askedMs.delete(this.#askedMs.keys().next().value as string)
    } else this.#askedMs.delete(host.host)
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
    if (heap.size > 2 * this.#hosts.size + STALE_BEARABLE) {
      heap.keep((other, ticket) => other.standsIn === heap && other.ticket === ticket)
    }
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

/** Adds a pause, in the place of one that is over if there is one. */
function rest(host: Host, until: number): void {
  const { resting } = host
  if (resting === NOBODY_RESTS) {
    // A literal has room for one and no more, which is all that most hosts ever need.
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
