import { pagesForLimits, type Tally } from './stats/tally.js'
import type { VisitResult } from './visit/visit-result.js'

/**
 * How much a crawl may still fetch. A page limit is exact: each visit takes a share before it starts, and gives it back
 * if no page came of it. With several shards they all take from the same.
 */
export interface Budget {
  /** Takes shares for up to so many visits; answers with how many it got. */
  claim(visits: number): number
  /** So many shares were not used. */
  release(visits: number): void
  /** So many shares became pages, and so many bytes were read: of this shard, since the last time. */
  spend(pages: number, bytes: number): void
  /** Whether all pages were delivered, or all bytes read. */
  readonly isUsedUp: boolean
  /** Whether pages were spent of which a crash would still undo the delivery: they may use it up, or come back. */
  readonly isSettling: boolean
  /**
   * To be called first. `rouse` is called when shares may have come back, or the budget was used up, by another shard;
   * `pages` are those that this shard has delivered before, in earlier runs or before it died.
   */
  watch(rouse: () => void, pages: number): void
}

/** The budget of a shard that is alone. */
export class LocalBudget implements Budget {
  #left: number
  #pagesLeft: number
  #bytesLeft: number
  readonly isSettling = false

  constructor(pages: number, bytes: number) {
    this.#left = pages
    this.#pagesLeft = pages
    this.#bytesLeft = bytes
  }

  claim(visits: number): number {
    const claimed = Math.max(0, Math.min(visits, this.#left))
    this.#left -= claimed
    return claimed
  }

  release(visits: number): void {
    this.#left += visits
  }

  spend(pages: number, bytes: number): void {
    this.#pagesLeft -= pages
    this.#bytesLeft -= bytes
  }

  get isUsedUp(): boolean {
    return this.#pagesLeft <= 0 || this.#bytesLeft <= 0
  }

  /** Nobody else is there to give anything back. */
  watch(): void {}
}

/** The limits of a crawl that a budget counts down; Infinity for none. */
interface BudgetLimits {
  readonly pages: number
  readonly requests: number
  readonly bytes: number
}

/** What this shard takes from the crawl's budgets, and gives back: each visit may bring a page, and may cost a request. */
export class VisitBudget {
  readonly #tally: Tally
  readonly #limit: BudgetLimits
  readonly #retryFailed: boolean
  readonly #isShared: boolean
  #pages: Budget
  #requests: Budget
  /** Bytes and requests that the budgets know of. */
  #bytesSpent = 0
  #requestsSpent = 0
  /** There was room for visits, but nothing left of a budget: others may give back. */
  isEmpty = false

  /** `shared` are the budgets of all shards: of pages and bytes, and of requests. */
  constructor(
    tally: Tally,
    { limit, retryFailed }: { readonly limit: BudgetLimits; readonly retryFailed: boolean },
    shared: Budget | undefined,
    sharedRequests?: Budget | undefined,
  ) {
    this.#tally = tally
    this.#limit = limit
    this.#retryFailed = retryFailed
    this.#isShared = shared !== undefined
    this.#pages = shared ?? new LocalBudget(limit.pages, limit.bytes)
    this.#requests = sharedRequests ?? new LocalBudget(limit.requests, Number.POSITIVE_INFINITY)
  }

  /** To be called once it is known what earlier runs have used: limits go on from there. */
  open(rouse: () => void): void {
    const { bytes, requests } = this.#tally
    const pages = pagesForLimits(this.#tally, this.#retryFailed)
    const limit = this.#limit
    if (!this.#isShared) {
      this.#pages = new LocalBudget(limit.pages - pages, limit.bytes - bytes)
      this.#requests = new LocalBudget(limit.requests - requests, Number.POSITIVE_INFINITY)
    }
    this.#bytesSpent = bytes
    this.#requestsSpent = requests
    this.#pages.watch(rouse, pages)
    this.#requests.watch(rouse, requests)
  }

  get isUsedUp(): boolean {
    return this.#pages.isUsedUp || this.#requests.isUsedUp
  }

  /** Whether pages are on their way to be counted. */
  get isSettling(): boolean {
    return this.#pages.isSettling
  }

  /** Only if something is due: shards that claim in vain, and give back, would keep each other awake. */
  claim(visits: number, isDue: boolean): number {
    const requests = isDue ? this.#requests.claim(visits) : 0
    const claimed = requests > 0 ? this.#pages.claim(requests) : 0
    if (requests > claimed) this.#requests.release(requests - claimed)
    this.isEmpty = isDue && claimed === 0
    return claimed
  }

  release(visits: number): void {
    if (visits === 0) return
    this.#pages.release(visits)
    this.#requests.release(visits)
  }

  /** To be called in the same turn as the frontier's `settle`, and after it: what was settled there counts here. */
  settle(visits: readonly VisitResult[]): void {
    let pages = 0
    for (const { delivered } of visits) if (delivered === true) pages++
    const bytes = this.#tally.bytes - this.#bytesSpent
    // Also those of visits under way, whose shares then come back when they are settled.
    const requests = this.#tally.requests - this.#requestsSpent
    this.#pages.spend(pages, bytes)
    this.#requests.spend(requests, 0)
    this.#bytesSpent += bytes
    this.#requestsSpent += requests
    if (visits.length > pages) this.#pages.release(visits.length - pages)
    if (visits.length !== requests) this.#requests.release(visits.length - requests)
  }
}
