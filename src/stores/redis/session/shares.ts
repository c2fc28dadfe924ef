import type { CrawlLimits, SharedLimit } from '../../contract.js'
import type { CrawlStatus } from './reply.js'

/** How many visits a node asks for ahead, as a multiple of what it asked for last. */
const AHEAD = 2

/** A limit over all nodes. Each node claims shares ahead and visits only within its share. */
class Share implements SharedLimit {
  #max = Number.POSITIVE_INFINITY
  /** The part of the limit that Redis has given to this node. */
  #held = 0
  /** Visits that have started and may still count. */
  #claimed = 0
  /** What has counted since the last commit. */
  #spent = 0
  /** What the commit in flight reports. */
  #reported = 0
  #demand = 0
  /** While a commit is in flight: what it asked for. The server takes back whatever is beyond that. */
  #asked = Number.POSITIVE_INFINITY
  #total = 0
  #onChange: () => void = () => {}
  readonly #demanded: () => void
  readonly #bytesSpent: (bytes: number) => void
  isOver = false
  readonly isSettling = false

  constructor(demanded: () => void, bytesSpent: (bytes: number) => void) {
    this.#demanded = demanded
    this.#bytesSpent = bytesSpent
  }

  set limit(max: number) {
    this.#max = max
  }

  get isLimited(): boolean {
    return this.#max !== Number.POSITIVE_INFINITY
  }

  /** -1: there is no limit. */
  get max(): number {
    return this.isLimited ? this.#max : -1
  }

  claim(visits: number): number {
    if (!this.isLimited) return visits
    const free = Math.min(this.#held - this.#reported, this.#asked) - this.#spent - this.#claimed
    const claimed = Math.max(0, Math.min(visits, free))
    this.#claimed += claimed
    if (claimed < visits) {
      this.#demand = visits * AHEAD
      this.#demanded()
    }
    return claimed
  }

  release(visits: number): void {
    if (this.isLimited) this.#claimed -= visits
  }

  /** `bytes` are counted for all limits together: see `Shares`. */
  spend(count: number, bytes: number): void {
    this.#bytesSpent(bytes)
    this.#spent += count
    if (this.isLimited) this.#claimed -= count
  }

  get isUsedUp(): boolean {
    return this.isOver || (this.isLimited && this.#total >= this.#max)
  }

  watch(onChange: () => void): void {
    this.#onChange = onChange
  }

  /** What the next commit reports and asks for. */
  take(): { readonly spent: number; readonly want: number } {
    this.#reported = this.#spent
    this.#spent = 0
    const want = this.#claimed + this.#demand
    this.#demand = 0
    this.#asked = want
    return { spent: this.#reported, want }
  }

  /** `held`: after a commit, what this node holds. */
  learn(total: number, held?: number): void {
    const isChanged = total !== this.#total || (held !== undefined && held !== this.#held)
    this.#total = total
    if (held !== undefined) {
      this.#held = held
      this.#reported = 0
      this.#asked = Number.POSITIVE_INFINITY
    }
    if (isChanged) this.#onChange()
  }

  /** The node has lost its shares, with everything else. Visits that are aborted now release their claims later. */
  reset(): void {
    this.#held = 0
    this.#asked = Number.POSITIVE_INFINITY
    this.#spent = 0
    this.#reported = 0
  }
}

/** The limits of a crawl as one node shares them: pages, requests and bytes. */
export class Shares {
  readonly pages: Share
  readonly requests: Share
  #maxBytes = Number.POSITIVE_INFINITY
  #bytes = 0
  #hasDemand = false

  constructor() {
    const demanded = () => {
      this.#hasDemand = true
    }
    const bytesSpent = (bytes: number) => {
      this.#bytes += bytes
    }
    this.pages = new Share(demanded, bytesSpent)
    this.requests = new Share(demanded, bytesSpent)
  }

  limit({ pages, requests, bytes }: CrawlLimits): void {
    this.pages.limit = pages
    this.requests.limit = requests
    this.#maxBytes = bytes
  }

  /** Whether a commit would get what a visit waits for. */
  get hasDemand(): boolean {
    return this.#hasDemand
  }

  /** The arguments of the next commit. */
  take(): readonly number[] {
    this.#hasDemand = false
    const pages = this.pages.take()
    const requests = this.requests.take()
    const bytes = Math.round(this.#bytes)
    this.#bytes = 0
    return [pages.spent, requests.spent, bytes, pages.want, requests.want, this.pages.max, this.requests.max]
  }

  learn(status: CrawlStatus, isCommit: boolean): void {
    if (status.bytes >= this.#maxBytes) this.pages.isOver = true
    this.pages.learn(status.pages, isCommit ? status.pageShare : undefined)
    this.requests.learn(status.requests, isCommit ? status.requestShare : undefined)
  }

  reset(): void {
    this.pages.reset()
    this.requests.reset()
    this.#bytes = 0
  }
}
