import type { CrawlRequest, HostTrouble, Purpose, SitemapHint } from '../types.js'
import { Heap } from './heap.js'

/** What a request reads from the host that it waits for. */
interface RequestOwner {
  readonly host: string
  readonly trouble: HostTrouble | undefined
}

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
  readonly owner: RequestOwner
  /** Fields that nearly no request has, so that nearly every request is smaller. */
  readonly #rare: Pick<CrawlRequest, 'purpose' | 'via' | 'hint' | 'revisit'> | undefined
  /** Next in the queue; meaningless while leased. */
  next: PendingRequest | undefined = undefined
  leased = false

  constructor(request: CrawlRequest, owner: RequestOwner, attempt: number, revisit = request.revisit) {
    this.url = request.url
    this.depth = request.depth
    this.priority = request.priority
    this.attempt = attempt
    this.redirects = request.redirects
    this.parent = request.parent
    this.owner = owner
    const { purpose, via, hint } = request
    const isCommon = purpose === undefined && via === undefined && hint === undefined && revisit === undefined
    this.#rare = isCommon ? undefined : { purpose, via, hint, revisit }
  }

  get host(): string {
    return this.owner.host
  }

  get hostTrouble(): HostTrouble | undefined {
    return this.owner.trouble
  }

  get purpose(): Purpose | undefined {
    return this.#rare?.purpose
  }

  get via(): readonly string[] | undefined {
    return this.#rare?.via
  }

  get hint(): SitemapHint | undefined {
    return this.#rare?.hint
  }

  get revisit(): boolean | undefined {
    return this.#rare?.revisit
  }
}

/** Requests whose own time has come, and when that of the next will have. */
export interface Due {
  readonly count: number
  readonly next: number
}

/** Requests of one priority: those that were handed out before, then the others, each first come first. */
interface Level {
  readonly priority: number
  head: PendingRequest | undefined
  tail: PendingRequest | undefined
  /** The last of those that were handed out before; undefined if there is none. */
  lastAgain: PendingRequest | undefined
  /** The next lower priority. */
  lower: Level | undefined
}

/**
 * The waiting requests of one host: larger priority first, then first come. Filled by `add` and by settlements
 * with `again`; emptied by `lease`. It never contains a leased request.
 *
 * Nearly all hosts have one priority, so levels are a short chain and not a heap. No level is empty.
 */
export class HostQueue {
  #levels: Level | undefined = undefined
  /** Requests with a time of their own that has not come yet. Absent on nearly every host. */
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
   * Ahead of its equals, for it has waited before; but behind others that have, or the pages due longest would be
   * the last to be visited again.
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

  /** As `pushAgain`, once its time has come. */
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

  /** Requests that are due at `now`, and when there will be one more; Infinity: not as things stand. */
  dueBy(now: number): Due {
    const later = this.#later
    if (later === undefined) return { count: this.size, next: Number.POSITIVE_INFINITY }
    const { count, next } = later.upTo(now)
    return { count: this.size - later.size + count, next }
  }

  /** Whether what `take` would hand out is a page that is known. */
  leadsToRevisit(now: number): boolean {
    const later = this.#later
    const next = later !== undefined && later.topKey <= now ? later.top : this.#levels?.head
    return next?.revisit === true
  }

  /** The next request whose time has come. */
  take(now: number): PendingRequest | undefined {
    if (this.#later !== undefined) this.#wakeLate(now)
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
   * Takes everything out, in an order in which it can be put into another queue. `again` is undefined for a request that
   * is to be pushed; 0 for one that goes ahead of its equals, as `pushAgain` has it; else its time, as for `pushLater`.
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

  /** Puts in what `drain` took out of this queue or another. */
  put(request: PendingRequest, again: number | undefined): void {
    if (again === undefined) this.push(request)
    else if (again === 0) this.pushAgain(request)
    else this.pushLater(request, again)
  }

  /** Requests with a time of their own that has not come. */
  get later(): number {
    return this.#later?.size ?? 0
  }

  /**
   * Takes out what comes last: of the requests that `mayGo`, all but the first `keep`. Answers with the last one kept
   * and the number taken out.
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

  /** The same for requests with a time of their own: the first `keep` stay. */
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

  #wakeLate(now: number): void {
    const later = this.#later!
    while (later.topKey <= now) {
      this.size--
      this.pushAgain(later.pop()!)
    }
    if (later.size === 0) this.#later = undefined
  }

  /** The level of a priority, made if need be. */
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
