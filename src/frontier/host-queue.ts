import type { CrawlRequest, HostTrouble, Purpose, RequestExtras, SitemapHint } from '../types.js'
import { Heap } from './heap.js'

/** What a request reads from the host that it waits for. */
interface RequestOwner {
  readonly host: string
  readonly trouble: HostTrouble | undefined
}

/** Fields that hardly any request has, kept apart so that the others are smaller. */
class RareFields {
  readonly purpose: Purpose | undefined
  readonly via: readonly string[] | undefined
  readonly hint: SitemapHint | undefined
  readonly revisit: boolean | undefined
  readonly extras: RequestExtras | undefined

  constructor({ purpose, via, hint, extras }: CrawlRequest, revisit: boolean | undefined) {
    this.purpose = purpose
    this.via = via
    this.hint = hint
    this.revisit = revisit
    this.extras = extras
  }
}

/**
 * A request in the memory frontier. It is itself a node of its host's linked queue, so a million pending requests cost
 * a million objects and no arrays around them.
 */
export class PendingRequest implements CrawlRequest {
  readonly url: string
  readonly depth: number
  readonly priority: number
  readonly attempt: number
  readonly redirects: number
  readonly parent: string | undefined
  readonly owner: RequestOwner
  /** Its rare fields; of a request that has none but extras, the extras. */
  readonly #rare: RareFields | RequestExtras | undefined
  /** The next request in the queue; meaningless while leased. */
  next: PendingRequest | undefined = undefined
  /** `held`: still leased, although its visit has ended: see `Settlement.held`. One field, because there are millions. */
  leased: boolean | 'held' = false

  constructor(request: CrawlRequest, owner: RequestOwner, attempt: number, revisit = request.revisit) {
    this.url = request.url
    this.depth = request.depth
    this.priority = request.priority
    this.attempt = attempt
    this.redirects = request.redirects
    this.parent = request.parent
    this.owner = owner
    const { purpose, via, hint, extras } = request
    const isCommon = purpose === undefined && via === undefined && hint === undefined && revisit === undefined
    this.#rare = isCommon ? extras : new RareFields(request, revisit)
  }

  get host(): string {
    return this.owner.host
  }

  get hostTrouble(): HostTrouble | undefined {
    return this.owner.trouble
  }

  get purpose(): Purpose | undefined {
    return this.#rare instanceof RareFields ? this.#rare.purpose : undefined
  }

  get via(): readonly string[] | undefined {
    return this.#rare instanceof RareFields ? this.#rare.via : undefined
  }

  get hint(): SitemapHint | undefined {
    return this.#rare instanceof RareFields ? this.#rare.hint : undefined
  }

  get extras(): RequestExtras | undefined {
    return this.#rare instanceof RareFields ? this.#rare.extras : this.#rare
  }

  get revisit(): boolean | undefined {
    return this.#rare instanceof RareFields ? this.#rare.revisit : undefined
  }
}

/** How many requests are due, and when the next one will be. */
export interface Due {
  readonly count: number
  readonly next: number
}

/** The requests of one priority: first those that were handed out before, then the others, each in order of arrival. */
interface Level {
  readonly priority: number
  head: PendingRequest | undefined
  tail: PendingRequest | undefined
  /** The last request that was handed out before; undefined if there is none. */
  lastAgain: PendingRequest | undefined
  /** The next lower priority. */
  lower: Level | undefined
}

/**
 * The waiting requests of one host: larger priority first, then in order of arrival. `add` and settlements with `again`
 * fill it, `lease` empties it. It never contains a leased request.
 *
 * Nearly all hosts have one priority, so the levels form a short linked list instead of a heap. No level is empty.
 */
export class HostQueue {
  #levels: Level | undefined = undefined
  /** Requests with a due time in the future. Undefined on nearly every host. */
  #later: Heap<PendingRequest> | undefined = undefined
  size = 0

  push(request: PendingRequest): void {
    this.size++
    const level = this.#level(request.priority)
    request.next = undefined
    if (level.tail === undefined) level.head = request
    else level.tail.next = request
    level.tail = request
  }

  /**
   * Goes ahead of other requests of its priority because it has waited before, but behind those that have waited before
   * too. Otherwise the page that has been due longest would be revisited last.
   */
  pushAgain(request: PendingRequest): void {
    this.size++
    const level = this.#level(request.priority)
    const { lastAgain } = level
    if (lastAgain === undefined) {
      request.next = level.head
      level.head = request
    } else {
      request.next = lastAgain.next
      lastAgain.next = request
    }
    if (request.next === undefined) level.tail = request
    level.lastAgain = request
  }

  /** Like `pushAgain`, once its time has come. */
  pushLater(request: PendingRequest, at: number): void {
    this.size++
    this.#later ??= new Heap()
    this.#later.push(request, at)
  }

  /** When `take` will return something: 0 for now, Infinity if the queue is empty. */
  get dueAt(): number {
    if (this.#levels !== undefined) return 0
    return this.#later?.topKey ?? Number.POSITIVE_INFINITY
  }

  /** Counts the requests that are due at `now`, and says when the next one will be; Infinity if there is none. */
  dueBy(now: number): Due {
    const later = this.#later
    if (later === undefined) return { count: this.size, next: Number.POSITIVE_INFINITY }
    const { count, next } = later.upTo(now)
    return { count: this.size - later.size + count, next }
  }

  /** Whether the request that `take` would return is a revisit. */
  isRevisitNext(now: number): boolean {
    const later = this.#later
    const next = later !== undefined && later.topKey <= now ? later.top : this.#levels?.head
    return next?.revisit === true
  }

  /** The next request that is due. */
  take(now: number): PendingRequest | undefined {
    if (this.#later !== undefined) this.#promoteDue(now)
    const level = this.#levels
    if (level === undefined) return undefined
    const request = level.head!
    level.head = request.next
    if (level.head === undefined) this.#levels = level.lower
    if (level.lastAgain === request) level.lastAgain = undefined
    request.next = undefined
    this.size--
    return request
  }

  /**
   * Removes all requests, in an order in which they can be put into another queue. `again` is what `put` needs:
   * undefined for `push`, 0 for `pushAgain`, otherwise the due time for `pushLater`.
   */
  drain(visit: (request: PendingRequest, again: number | undefined) => void): void {
    for (let level = this.#levels; level !== undefined; level = level.lower) {
      let again = level.lastAgain === undefined ? undefined : 0
      for (let request = level.head; request !== undefined; ) {
        const { next } = request
        visit(request, again)
        if (request === level.lastAgain) again = undefined
        request = next
      }
    }
    for (const later = this.#later; later !== undefined && later.size > 0; ) {
      const at = later.topKey
      visit(later.pop()!, at)
    }
    this.#levels = undefined
    this.#later = undefined
    this.size = 0
  }

  /** Adds a request that `drain` removed from this queue or another. */
  put(request: PendingRequest, again: number | undefined): void {
    if (again === undefined) this.push(request)
    else if (again === 0) this.pushAgain(request)
    else this.pushLater(request, again)
  }

  /** Number of requests with a due time in the future. */
  get laterCount(): number {
    return this.#later?.size ?? 0
  }

  /**
   * Drops requests from the end: of those for which `mayGo` returns true, all but the first `keep`. Returns the last of
   * these that was kept, and how many were dropped.
   */
  trim<R extends PendingRequest>(
    keep: number,
    mayGo: (request: R) => boolean,
  ): { last: R | undefined; gone: number } {
    let last: R | undefined
    let kept = 0
    let gone = 0
    const levels: Level[] = []
    for (let level = this.#levels; level !== undefined; level = level.lower) levels.push(level)
    this.#levels = undefined
    for (const { head, lastAgain } of levels) {
      let isAgain = lastAgain !== undefined
      for (let request = head as R | undefined; request !== undefined; ) {
        const next = request.next as R | undefined
        const goes = mayGo(request)
        this.size--
        if (goes && kept >= keep) gone++
        else {
          if (isAgain) this.pushAgain(request)
          else this.push(request)
          if (goes) {
            kept++
            last = request
          }
        }
        if (request === lastAgain) isAgain = false
        request = next
      }
    }
    return { last, gone }
  }

  /** The same for requests with a due time in the future: the first `keep` stay. */
  trimLater<R extends PendingRequest>(keep: number): { last: R | undefined; gone: number } {
    const all: { request: PendingRequest; at: number }[] = []
    for (const later = this.#later; later !== undefined && later.size > 0; ) {
      const at = later.topKey
      all.push({ request: later.pop()!, at })
    }
    this.#later = undefined
    this.size -= all.length
    for (const { request, at } of all.slice(0, keep)) this.pushLater(request, at)
    return { last: all[keep - 1]?.request as R | undefined, gone: Math.max(0, all.length - keep) }
  }

  #promoteDue(now: number): void {
    const later = this.#later!
    while (later.topKey <= now) {
      this.size--
      this.pushAgain(later.pop()!)
    }
    if (later.size === 0) this.#later = undefined
  }

  /** The level of a priority; creates it if needed. */
  #level(priority: number): Level {
    let higher: Level | undefined
    let level = this.#levels
    while (level !== undefined && level.priority > priority) {
      higher = level
      level = level.lower
    }
    if (level?.priority === priority) return level
    const made: Level = { priority, head: undefined, tail: undefined, lastAgain: undefined, lower: level }
    if (higher === undefined) this.#levels = made
    else higher.lower = made
    return made
  }
}
