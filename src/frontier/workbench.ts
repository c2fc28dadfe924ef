import type { HostTrouble } from '../types.js'
import type { Politeness, ReadyHost, SelectionPolicy } from './contract.js'
import { Heap } from './heap.js'
import { type Due, HostQueue } from './host-queue.js'
import { allowance, restUntil } from './politeness.js'
import { RequestedDelays } from './requested-delays.js'

/** A host, its waiting requests and its clock. */
export class Host implements ReadyHost {
  readonly host: string
  /** Whose it is: a request of another workbench's host is not this one's to settle. */
  readonly workbench: object
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
  revisits = false
  /** Its place among hosts that are ready since the same instant: smaller goes first. 0: in the order in which they come. */
  turn = 0
  /** Where it stands: the heap and the ticket of its valid entry there. Other entries of it are stale. */
  standsIn: unknown = undefined
  ticket = 0

  constructor(host: string, workbench: object, delayMs: number) {
    this.host = host
    this.workbench = workbench
    this.delayMs = delayMs
  }

  /** Requests waiting: those of the queue here, and for hosts of a store also those that are elsewhere. */
  get pending(): number {
    return this.queue.size
  }

  /** Of those, the ones that are due at `now`: requests with a time of their own that has not come are nobody's work. */
  dueBy(now: number): Due {
    return this.queue.dueBy(now)
  }

  /** When its queue has something to hand out: 0 for at once, Infinity for not as things stand. */
  get dueAt(): number {
    return this.queue.dueAt
  }
}

/** Makes a host's record. */
export type MakeHost<H extends Host> = (host: string, workbench: object, delayMs: number) => H

function makeHost<H extends Host>(host: string, workbench: object, delayMs: number): H {
  return new Host(host, workbench, delayMs) as H
}

/**
 * Stale entries that are not worth a sweep. Without sweeps, a host that waits for a revisit next week would leave an
 * entry for next week each time it is visited for something else.
 */
const STALE_BEARABLE = 1000

/** Shared by all hosts that have not been visited: most of a large crawl's. Never written to. */
const NOBODY_RESTS: number[] = []

/**
 * Hosts by readiness (BUbiNG's workbench, with time). A host stands in exactly one place:
 *
 * - `waiting`: has requests, but its pause, its backoff or its next request's time is not over. Also hosts without
 *   requests whose pause is not over: they are remembered until then and forgotten after.
 * - `ready`: may be visited now, in the order of the policy; or `due`, if it is for a page that is known.
 * - nowhere: it has no requests and no pause, or all connections it is allowed are acquired.
 *
 * So a host whose connections are all out cannot be found by `acquire`: politeness is where a host stands, not a
 * check that somebody might forget.
 */
export class Workbench<H extends Host = Host> {
  readonly #politeness: Politeness
  readonly #policy: SelectionPolicy
  readonly #make: MakeHost<H>
  readonly #hosts = new Map<string, H>()
  /** The pauses that forgotten hosts had asked for. */
  readonly asked = new RequestedDelays()
  readonly #waiting = new Heap<H>()
  readonly #ready = new Heap<H>()
  readonly #due = new Heap<H>()
  /** What visits to known pages may still take of their share. */
  #credit = 0
  #active = 0
  /** Told when a host is no longer remembered. */
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

  /** Hosts in memory, including those that are only remembered until their pause is over. */
  get knownHosts(): number {
    return this.#hosts.size
  }

  /** About how many hosts may be visited now. */
  get readyHosts(): number {
    return this.#ready.size + this.#due.size
  }

  /** The host's record, if it is in memory. */
  known(name: string): H | undefined {
    return this.#hosts.get(name)
  }

  /** The host's record, made if need be. */
  host(name: string): H {
    let host = this.#hosts.get(name)
    if (host === undefined) {
      host = this.#make(name, this, this.asked.of(name))
      this.#hosts.set(name, host)
    }
    return host
  }

  /** To be called before the first request is put on an idle host's queue. */
  enliven(host: H): void {
    if (host.pending === 0 && host.acquired === 0) this.#active++
  }

  /** Takes a host with requests out of memory: somebody else remembers it. None of its connections may be out. */
  remove(host: H): void {
    this.#leave(host)
    this.#hosts.delete(host.host)
    this.#active--
  }

  /** Hosts in memory. They may be placed and forgotten meanwhile. */
  all(): Iterable<H> {
    return this.#hosts.values()
  }

  /**
   * Takes hosts out of memory, with and without requests: another workbench goes on with them. None of their connections
   * may be out. Entries of theirs in the queues are stale from now on, and go as others do.
   */
  takeOut(isLeaving: (host: H) => boolean): H[] {
    const left: H[] = []
    for (const host of this.#hosts.values()) {
      if (!isLeaving(host)) continue
      if (host.pending > 0) this.#active--
      this.#leave(host)
      this.#hosts.delete(host.host)
      left.push(host)
    }
    return left
  }

  /**
   * A host that may be visited at `now`, with one of its connections acquired; undefined if there is none, or if
   * somebody else goes before the first of them.
   */
  acquire(now: number, isHeldBack?: (host: H) => boolean): H | undefined {
    this.#wake(now)
    for (;;) {
      const heap = this.#next()
      this.#dropStale(heap)
      if (heap.size === 0 || isHeldBack?.(heap.top!)) return undefined
      const host = heap.pop()!
      host.standsIn = undefined
      if (this.#availableAt(host, now) <= now) {
        this.#acquireFrom(host, now)
        return host
      }
      this.place(host, now)
    }
  }

  /** Gives a connection back after a visit that ended at `visitedAt`, or that never reached the host. */
  release(host: H, visitedAt: number | undefined): void {
    host.acquired--
    if (visitedAt === undefined) return
    rest(host, restUntil(visitedAt, host.delayMs, this.#politeness))
  }

  /** Puts the host where it belongs, after anything about it has changed. A host that does not rest is ready since `since`. */
  place(host: H, now: number, since = now): void {
    if (host.pending === 0) {
      if (host.acquired > 0) this.#leave(host)
      else this.#placeIdle(host, now)
      return
    }
    const at = this.#availableAt(host, now)
    if (at <= now) {
      if (host.standsIn === this.#ready || host.standsIn === this.#due) return
      host.readyAt = at > 0 ? at : since
      host.revisits = host.queue.leadsToRevisit(now)
      this.#stand(host, host.revisits ? this.#due : this.#ready, this.#policy(host))
    } else if (at === Number.POSITIVE_INFINITY) {
      this.#leave(host)
    } else if (host.standsIn !== this.#waiting || host.readyAt !== at) {
      host.readyAt = at
      this.#stand(host, this.#waiting, at)
    }
  }

  /** Counts a host as idle once its last request is settled. */
  retire(host: H): void {
    if (host.pending === 0 && host.acquired === 0) this.#active--
  }

  /** When `acquire` may next have something. */
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
    // Pauses that are over must go: the next turn of a host with several connections starts from now, or it would
    // always have been ready longest and go before all others.
    forgetPauses(host.resting, now)
    if (host.notBefore <= now) host.notBefore = 0
  }

  /**
   * The instant from which one more connection to the host may be used, if so many requests wait; Infinity: not before a
   * release.
   */
  restedAt(host: H, waiting = host.pending): number {
    const free = allowance(waiting, this.#politeness) - host.acquired
    if (free <= 0) return Number.POSITIVE_INFINITY
    const resting = host.resting
    const rested = resting.length < free ? 0 : resting[resting.length - free]!
    return Math.max(rested, host.notBefore)
  }

  #availableAt(host: H, now: number): number {
    const { dueAt } = host
    if (this.#politeness.connections === 1 || host.queue.later === 0 || dueAt === Number.POSITIVE_INFINITY) {
      return Math.max(this.restedAt(host), dueAt)
    }
    const { count, next } = host.dueBy(now)
    const at = Math.max(this.restedAt(host, count), dueAt)
    // The next that is due may allow one more connection, which may have rested longer.
    return Math.min(at, Math.max(next, this.restedAt(host)))
  }

  /** Without requests: remembered while it rests, so that a new request cannot cut the pause short; then forgotten. */
  #placeIdle(host: H, now: number): void {
    const until = Math.max(host.resting[host.resting.length - 1] ?? 0, host.notBefore)
    if (until > now) {
      host.readyAt = until
      this.#stand(host, this.#waiting, until)
    } else {
      this.#leave(host)
      this.#forget(host)
    }
  }

  #forget(host: H): void {
    this.#hosts.delete(host.host)
    this.onForget?.(host)
    if (host.delayMs > this.#politeness.delayMs) this.asked.remember(host.host, host.delayMs)
    else this.asked.forget(host.host)
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

  #stand(host: H, heap: Heap<H>, key: number): void {
    if (heap.size > 2 * this.#hosts.size + STALE_BEARABLE) {
      heap.keep((other, ticket) => other.standsIn === heap && other.ticket === ticket)
    }
    host.standsIn = heap
    host.ticket = host.turn > 0 ? heap.push(host, key, host.turn) : heap.push(host, key)
  }

  #leave(host: H): void {
    host.standsIn = undefined
  }

  /** Where the next host is taken from: known pages first, or as often as their share says. */
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
