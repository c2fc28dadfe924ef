/** Pages that change at random (Poisson processes), and how well a crawler that visits them keeps up. */

import { mixed, normalQuantile } from './chance.js'

/** More changes than this between two visits are not simulated one by one: it makes no visible difference. */
const MANY_CHANGES = 1000

/** How well copies of pages kept up. */
export interface CopyScore {
  readonly changes: number
  /** Changes whose content was fetched before the page's next change, counted when it is fetched. */
  readonly caught: number
  /** The share of pages whose copy is up to date, averaged over time. */
  readonly freshness: number
  /** For how long a page has differed from its copy, averaged over pages and time; 0 while it does not. */
  readonly meanAgeMs: number
}

/**
 * The true state of pages. When a page changes depends only on the seed and its number, not on visits. So schedules can
 * be compared on the same web.
 *
 * Freshness and age are those of Cho & Garcia-Molina (2000). A page without a visit is not up to date, and its age
 * starts when it was added.
 */
export class ChangingPages {
  readonly #seed: number
  readonly #changeMs: number[] = []
  /** The first change after the last copy was requested or, before the first one, after the page was added. */
  readonly #next: number[] = []
  readonly #changes: number[] = []
  /** When the last copy arrived, or the page was added. */
  readonly #since: number[] = []
  readonly #isSeen: boolean[] = []
  #scoredFrom = Number.POSITIVE_INFINITY
  #counted = 0
  #caught = 0
  #pageTime = 0
  #staleTime = 0
  #ageTime = 0

  constructor(seed: number) {
    this.#seed = seed
  }

  get size(): number {
    return this.#next.length
  }

  /** Adds a page that exists from this time on, and returns its number. */
  add(changeMs: number, at: number): number {
    const page = this.size
    this.#changeMs.push(changeMs)
    this.#changes.push(0)
    this.#next.push(at + this.#gap(page, 0))
    this.#since.push(at)
    this.#isSeen.push(false)
    return page
  }

  /** Starts counting at this time. */
  scoreFrom(at: number): void {
    this.#scoredFrom = at
  }

  /**
   * A copy of the page, as it was when the server was asked for it, arrives at `at`. Returns the number of changes
   * until then.
   */
  recordFetch(page: number, askedAt: number, at = askedAt): number {
    this.#accumulate(page, at)
    if (this.#next[page]! <= askedAt) {
      this.#change(page, askedAt)
      if (at >= this.#scoredFrom) this.#caught++
    }
    this.#since[page] = at
    this.#isSeen[page] = true
    return this.#changes[page]!
  }

  /** Returns the scores up to this time. No visits are possible after it. */
  finish(at: number): CopyScore {
    for (let page = 0; page < this.size; page++) {
      this.#accumulate(page, at)
      if (this.#next[page]! <= at) this.#change(page, at)
    }
    const share = (part: number) => (this.#pageTime === 0 ? 0 : part / this.#pageTime)
    return {
      changes: this.#counted,
      caught: this.#caught,
      freshness: share(this.#pageTime - this.#staleTime),
      meanAgeMs: share(this.#ageTime),
    }
  }

  /** Adds the time since the last visit to the sums. */
  #accumulate(page: number, at: number): void {
    const from = Math.max(this.#since[page]!, this.#scoredFrom)
    if (at <= from) return
    this.#pageTime += at - from
    const staleSince = this.#isSeen[page] ? this.#next[page]! : this.#since[page]!
    if (staleSince >= at) return
    const begin = Math.max(from, staleSince)
    this.#staleTime += at - begin
    // Age grows linearly, so its integral is the area of a trapezoid.
    this.#ageTime += ((at - begin) * (at - staleSince + begin - staleSince)) / 2
  }

  /** Applies the page's changes until `at`. */
  #change(page: number, at: number): void {
    let next = this.#next[page]!
    let changes = this.#changes[page]!
    if ((at - next) / this.#changeMs[page]! > MANY_CHANGES) {
      this.#changeOften(page, at)
      return
    }
    while (next <= at) {
      if (next >= this.#scoredFrom) this.#counted++
      changes++
      next += this.#gap(page, changes)
    }
    this.#changes[page] = changes
    this.#next[page] = next
  }

  /** This many changes are nearly normally distributed. */
  #changeOften(page: number, at: number): void {
    const meanGap = this.#changeMs[page]!
    const changes = this.#changes[page]! + 1
    const scored = Math.max(0, at - Math.max(this.#next[page]!, this.#scoredFrom)) / meanGap
    const chance = normalQuantile(this.#chance(page, -changes))
    this.#counted += Math.max(0, Math.round(scored + Math.sqrt(scored) * chance))
    this.#changes[page] = changes
    this.#next[page] = at + this.#gap(page, changes)
  }

  /** The time between two changes: exponentially distributed. */
  #gap(page: number, change: number): number {
    return -Math.log(this.#chance(page, change)) * this.#changeMs[page]!
  }

  /** Never 0 and never 1. */
  #chance(page: number, change: number): number {
    return (mixed(this.#seed, page, change) + 0.5) / 2 ** 32
  }
}
