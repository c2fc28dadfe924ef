import { pagesForLimits, type Tally } from './stats/tally.js'
import type { VisitResult } from './visit/visit-result.js'

/**
 * How much a crawl may still fetch. A page limit is exact: each visit claims a share before it starts, and releases it
 * if it produces no page. Several shards share one budget.
 */
export interface Budget {
  /** Claims shares for up to this many visits; returns how many were available. */
  claim(visits: number): number
  /** Returns shares that were not used. */
  release(visits: number): void
  /** Records pages delivered and bytes received by this shard since the last call. */
  spend(pages: number, bytes: number): void
  /** Whether the page limit or the byte limit is reached. */
  readonly isUsedUp: boolean
  /** Whether pages were spent that a crash would still undo, so that the budget may grow again. */
  readonly isSettling: boolean
  /**
   * Must be called first. `onChange` is called when another shard has released shares or used up the budget; `pages`
   * are those that this shard delivered before, in earlier runs or before it crashed.
   */
  watch(onChange: () => void, pages: number): void
}

/** The budget of a crawl with a single shard. */
class LocalBudget implements Budget {
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

  /** No other shard can change it. */
  watch(): void {}
}

/** The limits of a crawl that a budget counts down; Infinity for none. */
interface BudgetLimits {
  readonly pages: number
  readonly requests: number
  readonly bytes: number
}

/** This shard's claims on the budgets of the crawl: each visit may produce a page and may cost a request. */
export class VisitBudget {
  readonly #tally: Tally
  readonly #limit: BudgetLimits
  readonly #retryFailed: boolean
  readonly #isShared: boolean
  #pages: Budget
  #requests: Budget
  /** Bytes and requests already recorded in the budgets. */
  #bytesSpent = 0
  #requestsSpent = 0
  /** The last claim failed although a request was due; another shard may still release shares. */
  isEmpty = false

  /** `shared` and `sharedRequests` are the budgets of all shards: of pages and bytes, and of requests. */
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

  /** Must be called after the counts of earlier runs are restored: limits include them. */
  open(onChange: () => void): void {
    const { bytes, requests } = this.#tally
    const pages = pagesForLimits(this.#tally, this.#retryFailed)
    const limit = this.#limit
    if (!this.#isShared) {
      this.#pages = new LocalBudget(limit.pages - pages, limit.bytes - bytes)
      this.#requests = new LocalBudget(limit.requests - requests, Number.POSITIVE_INFINITY)
    }
    this.#bytesSpent = bytes
    this.#requestsSpent = requests
    this.#pages.watch(onChange, pages)
    this.#requests.watch(onChange, requests)
  }

  get isUsedUp(): boolean {
    return this.#pages.isUsedUp || this.#requests.isUsedUp
  }

  /** See `Budget.isSettling`. */
  get isSettling(): boolean {
    return this.#pages.isSettling
  }

  /** Claims nothing unless a request is due: shards that claim and release in vain would keep waking each other. */
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

  /** Must be called after the frontier's `settle`, in the same turn: what is settled there counts here. */
  settle(visits: readonly VisitResult[]): void {
    let pages = 0
    for (const { delivered } of visits) if (delivered === true) pages++
    const bytes = this.#tally.bytes - this.#bytesSpent
    // Includes the requests of visits in flight, whose shares are released when they are settled.
    const requests = this.#tally.requests - this.#requestsSpent
    this.#pages.spend(pages, bytes)
    this.#requests.spend(requests, 0)
    this.#bytesSpent += bytes
    this.#requestsSpent += requests
    if (visits.length > pages) this.#pages.release(visits.length - pages)
    if (visits.length !== requests) this.#requests.release(visits.length - requests)
  }
}
