import { type Budget, OwnBudget } from './budget.js'
import type { EngineRules } from './parts.js'
import type { Tally } from './tally.js'
import type { Visited } from './visits.js'

/** What this shard takes from the crawl's budget, and gives back. */
export class Purse {
  readonly #tally: Tally
  readonly #limit: EngineRules['limit']
  #budget: Budget
  /** Bytes that the budget knows of. */
  #bytesSpent = 0
  /** There was room for visits, but nothing left of the budget: others may give back. */
  isEmpty = false

  constructor(tally: Tally, limit: EngineRules['limit'], shared: Budget | undefined) {
    this.#tally = tally
    this.#limit = limit
    this.#budget = shared ?? new OwnBudget(limit.pages, limit.bytes)
  }

  /** To be called once it is known what earlier runs have used: limits go on from there. */
  open(rouse: () => void): void {
    const { pages, bytes } = this.#tally
    if (this.#budget instanceof OwnBudget) {
      this.#budget = new OwnBudget(this.#limit.pages - pages, this.#limit.bytes - bytes)
    }
    this.#bytesSpent = bytes
    this.#budget.watch(rouse, pages)
  }

  get isUsedUp(): boolean {
    return this.#budget.isUsedUp
  }

  /** Whether pages are on their way to be counted. */
  get isSettling(): boolean {
    return this.#budget.isSettling
  }

  /** Only if something is due: shards that claim in vain, and give back, would keep each other awake. */
  claim(visits: number, isDue: boolean): number {
    const claimed = isDue ? this.#budget.claim(visits) : 0
    this.isEmpty = isDue && claimed === 0
    return claimed
  }

  giveBack(visits: number): void {
    if (visits > 0) this.#budget.giveBack(visits)
  }

  /** To be called in the same turn as the frontier's `settle`, and after it: what was settled there counts here. */
  settle(visits: readonly Visited[]): void {
    let pages = 0
    for (const { delivered } of visits) if (delivered === true) pages++
    const { bytes } = this.#tally
    this.#budget.spend(pages, bytes - this.#bytesSpent)
    this.#bytesSpent = bytes
    this.giveBack(visits.length - pages)
  }
}
