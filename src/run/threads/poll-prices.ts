import { pricePeriodMs } from '../../engine/feeds/followed-feeds.js'
import type { FollowRules } from '../../feeds/follow/contract.js'
import type { PollBudget, PollFeasibility, PollReport } from '../../feeds/schedule/contract.js'
import { FeedBudget } from '../../feeds/schedule/feed-budget.js'
import type { GivenOptions } from '../../options/options.js'
import { type Clock, every, type Timer } from '../../time.js'

/** Undefined without `feeds()`. */
export function pollPricesOf({ feeds }: Pick<GivenOptions, 'feeds'>, clock: Clock): PollPrices | undefined {
  return feeds && new PollPrices(new FeedBudget(feeds.polls), feeds, clock)
}

/** Holds the budget of polls for all workers: each reports what its feeds need, and gets the price of a poll. */
export class PollPrices {
  readonly #budget: PollBudget
  readonly #rules: FollowRules
  readonly #clock: Clock
  #feasibility: PollFeasibility | undefined = undefined

  constructor(budget: PollBudget, rules: FollowRules, clock: Clock) {
    this.#budget = budget
    this.#rules = rules
    this.#clock = clock
  }

  reported(shard: number, report: PollReport): void {
    this.#budget.report(shard, report)
    this.#feasibility = undefined
  }

  /** The worker died; its replacement reports again. */
  left(shard: number): void {
    this.#budget.left(shard)
    this.#feasibility = undefined
  }

  /** What the budget buys. */
  get feasibility(): PollFeasibility {
    this.#feasibility ??= this.#budget.feasibility()
    return this.#feasibility
  }

  /** Calls `send` with the price, again and again. */
  start(send: (price: number) => void): Timer {
    return every(this.#clock, pricePeriodMs(this.#rules.polls.minMs), () =>
      send(this.#budget.price(this.#clock.now())),
    )
  }
}
