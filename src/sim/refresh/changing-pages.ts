/** Pages that change by themselves (Poisson processes), and how well somebody who looks at them now and then keeps up. */

import { mixed, normalQuantile } from './chance.js'

/** More changes than this between two looks are not made one by one: nobody sees the difference. */
const MANY_CHANGES = 1000

/** What somebody with copies of pages came to. */
export interface CopyScore {
  readonly changes: number
  /** Changes whose content was seen before the page's next one, counted when it is seen. */
  readonly caught: number
  /** The share of pages whose copy is up to date, as a mean over time. */
  readonly freshness: number
  /** Since when a page differs from its copy, as a mean over pages and time; 0 while it does not. */
  readonly meanAgeMs: number
}

/**
 * The truth about pages. When a page changes depends on the seed and its number alone: looks, however many, change
 * nothing. So schedules can be compared on the same web.
 *
 * Freshness and age are those of Cho & Garcia-Molina (2000). A page that nobody has looked at yet is not up to date, and
 * has its age from the moment it was there.
 */
export class ChangingPages {
  readonly #seed: number
  readonly #changeMs: number[] = []
  /** The first change after the last copy was asked for; before the first one, after the page was added. */
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

  /** A page is there from this instant on. Answers with its number. */
  add(changeMs: number, at: number): number {
    const page = this.size
    this.#changeMs.push(changeMs)
    this.#changes.push(0)
    this.#next.push(at + this.#gap(page, 0))
    this.#since.push(at)
    this.#isSeen.push(false)
    return page
  }

  /** What is counted, is counted from this instant on. */
  scoreFrom(at: number): void {
    this.#scoredFrom = at
  }

  /**
   * A copy of the page arrives at `at`: as it was when the server was asked for it. Answers with how often it had changed
   * by then.
   */
  look(page: number, askedAt: number, at = askedAt): number {
    this.#reckon(page, at)
    if (this.#next[page]! <= askedAt) {
      this.#change(page, askedAt)
      if (at >= this.#scoredFrom) this.#caught++
    }
    this.#since[page] = at
    this.#isSeen[page] = true
    return this.#changes[page]!
  }

  /** What came of it until this instant. After it nothing can be looked at. */
  finish(at: number): CopyScore {
    for (let page = 0; page < this.size; page++) {
      this.#reckon(page, at)
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

  /** Adds the time since the last look to the sums. */
  #reckon(page: number, at: number): void {
    const from = Math.max(this.#since[page]!, this.#scoredFrom)
    if (at <= from) return
    this.#pageTime += at - from
    const staleSince = this.#isSeen[page] ? this.#next[page]! : this.#since[page]!
    if (staleSince >= at) return
    const begin = Math.max(from, staleSince)
    this.#staleTime += at - begin
    // Age grows with time, so its sum is the area of a trapezium.
    this.#ageTime += ((at - begin) * (at - staleSince + begin - staleSince)) / 2
  }

  /** Lets the page change until `at`. */
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

  /** So many changes are as good as normally distributed. */
  #changeOften(page: number, at: number): void {
    const meanGap = this.#changeMs[page]!
    const changes = this.#changes[page]! + 1
    const scored = Math.max(0, at - Math.max(this.#next[page]!, this.#scoredFrom)) / meanGap
    const chance = normalQuantile(this.#chance(page, -changes))
    this.#counted += Math.max(0, Math.round(scored + Math.sqrt(scored) * chance))
    this.#changes[page] = changes
    this.#next[page] = at + this.#gap(page, changes)
  }

  /** From a change to the next: exponentially distributed. */
  #gap(page: number, change: number): number {
    return -Math.log(this.#chance(page, change)) * this.#changeMs[page]!
  }

  /** Neither 0 nor 1. */
  #chance(page: number, change: number): number {
    return (mixed(this.#seed, page, change) + 0.5) / 2 ** 32
  }
}
