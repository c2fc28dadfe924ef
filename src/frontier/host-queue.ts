import type { CrawlRequest } from '../types.js'
import { Heap } from './heap.js'
import type { Host } from './workbench.js'

/**
 * A request in the memory frontier. It is a link of its host's queue itself, so that a million pending requests
 * cost a million objects and no arrays around them.
 */
export class PendingRequest implements CrawlRequest {
  readonly url: string
  readonly depth: number
  readonly priority: number
  readonly attempt: number
  readonly redirects: number
  readonly parent: string | undefined
  readonly owner: Host
  /** Next in the queue; meaningless while leased. */
  next: PendingRequest | undefined = undefined
  leased = false

  constructor(request: CrawlRequest, owner: Host, attempt: number) {
    this.url = request.url
    this.depth = request.depth
    this.priority = request.priority
    this.attempt = attempt
    this.redirects = request.redirects
    this.parent = request.parent
    this.owner = owner
  }

  get host(): string {
    return this.owner.host
  }
}

/** Requests of one priority, first come first. */
interface Level {
  readonly priority: number
  head: PendingRequest
  tail: PendingRequest
  /** The next lower priority. */
  lower: Level | undefined
}

/**
 * The waiting requests of one host: larger priority first, then first come. Filled by `add` and by settlements
 * with `again`; emptied by `lease`. It never contains a leased request.
 *
 * Nearly all hosts have one priority, so levels are a short chain and not a heap.
 */
export class HostQueue {
  #levels: Level | undefined = undefined
  /** Requests with a time of their own that has not come yet. Absent on nearly every host. */
  #later: Heap<PendingRequest> | undefined = undefined
  size = 0

  push(request: PendingRequest): void {
    this.size++
    const level = this.#level(request)
    if (level === undefined) return
    request.next = undefined
    level.tail.next = request
    level.tail = request
  }

  /** Ahead of its equals: it has waited before. */
  pushFront(request: PendingRequest): void {
    this.size++
    const level = this.#level(request)
    if (level === undefined) return
    request.next = level.head
    level.head = request
  }

  pushLater(request: PendingRequest, at: number): void {
    this.size++
    this.#later ??= new Heap()
    this.#later.push(request, at)
  }

  /** When `take` has something: 0 for at once, Infinity for an empty queue. */
  get dueAt(): number {
    if (this.#levels !== undefined) return 0
    return this.#later?.topKey ?? Number.POSITIVE_INFINITY
  }

  /** The next request whose time has come. */
  take(now: number): PendingRequest | undefined {
    if (this.#later !== undefined) this.#wakeLate(now)
    const level = this.#levels
    if (level === undefined) return undefined
    const request = level.head
    if (request.next === undefined) this.#levels = level.lower
    else level.head = request.next
    request.next = undefined
    this.size--
    return request
  }

  #wakeLate(now: number): void {
    const later = this.#later!
    while (later.topKey <= now) {
      this.size--
      this.pushFront(later.pop()!)
    }
    if (later.size === 0) this.#later = undefined
  }

  /** The level of the request's priority; undefined if the request just became a level of its own. */
  #level(request: PendingRequest): Level | undefined {
    let higher: Level | undefined
    let level = this.#levels
    while (level !== undefined && level.priority > request.priority) {
      higher = level
      level = level.lower
    }
    if (level !== undefined && level.priority === request.priority) return level
    request.next = undefined
    const made: Level = { priority: request.priority, head: request, tail: request, lower: level }
    if (higher === undefined) this.#levels = made
    else higher.lower = made
    return undefined
  }
}
