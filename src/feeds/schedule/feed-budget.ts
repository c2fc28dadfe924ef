import { addAccounts, EMPTY_ACCOUNT } from './account.js'
import type { PollAccount, PollBudget, PollFeasibility, PollReport, PollRules } from './contract.js'
import { feasibilityOf } from './feasibility.js'
import { merged } from './merged-reports.js'
import { priceAt, valueAt } from './prices.js'

const DAY_MS = 86_400_000
const FIRST_PRICE = 0.5
/** A price takes effect when feeds are next polled, so everything below is slower than this multiple of the mean interval. */
const PATIENCE = 2
/** Experience with what is spent at a price fades with this time at least, and at the start the forecast counts as much. */
const MEMORY_DAYS = 3
/** The forecast may be wrong by at most this factor, whatever is spent. */
const MOST_WRONG = 3
/** What was overspent or saved is made up for in the same time, by this part of the budget at most. */
const MOST_DEBT = 0.1
/** The price follows the reports with this delay, so that a single report does not shake it. */
const CALM_MS = 1_800_000

/**
 * Holds the budget of all shards by their price. The forecast of the shards says what a price costs; what they really spend
 * says how far the forecast is off. With a target instead of a budget, the price is the highest one that loses no more.
 */
export class FeedBudget implements PollBudget {
  readonly rules: PollRules
  readonly #reports = new Map<number, PollReport>()
  /** Of shards that ended: what they spent stays spent. */
  #leftAccount: PollAccount = EMPTY_ACCOUNT
  #leftSpent = 0
  #price = FIRST_PRICE
  #since: number | undefined
  #spentBefore = 0
  /** Polls that were expected at the prices of the past and that were made, both faded, in polls. */
  #expected = 0
  #made = 0
  /** Polls beyond the budget, since the start; negative if some are left. */
  #debt = 0
  #memoryDays = MEMORY_DAYS

  constructor(rules: PollRules) {
    this.rules = rules
  }

  report(shard: number, report: PollReport): void {
    this.#reports.set(shard, report)
  }

  left(shard: number): void {
    const last = this.#reports.get(shard)
    if (last === undefined) return
    this.#reports.delete(shard)
    this.#leftAccount = addAccounts(this.#leftAccount, last.account)
    this.#leftSpent += last.spent
  }

  price(now: number): number {
    if (this.#reports.size === 0) return this.#price
    const { curve, feeds, perDay, spent } = merged([...this.#reports.values()])
    const { budgetPerDay, lost } = this.rules
    const elapsedMs = this.#since === undefined ? 0 : Math.max(0, now - this.#since)
    const isFirst = this.#since === undefined
    this.#since = Math.max(now, this.#since ?? now)
    const total = spent + this.#leftSpent
    const interval = feeds / Math.max(1e-9, valueAt(curve.polls, this.#price))
    this.#memoryDays = Math.max(MEMORY_DAYS, PATIENCE * interval)
    if (!isFirst)
      this.#experience(elapsedMs / DAY_MS, valueAt(curve.polls, this.#price), total - this.#spentBefore)
    this.#spentBefore = total
    const wanted =
      budgetPerDay === undefined
        ? priceAt(curve.lost, (lost ?? 0) * perDay, false)
        : priceAt(curve.polls, budgetPerDay * this.#correction(budgetPerDay), true)
    const share = isFirst ? 1 : 1 - Math.exp(-elapsedMs / CALM_MS)
    this.#price *= (wanted / this.#price) ** share
    return this.#price
  }

  feasibility(): PollFeasibility {
    return feasibilityOf(this.rules, merged([...this.#reports.values()]), this.#price)
  }

  account(): PollAccount {
    return addAccounts(this.#leftAccount, merged([...this.#reports.values()]).account)
  }

  #experience(days: number, expectedPerDay: number, made: number): void {
    const kept = Math.exp(-days / this.#memoryDays)
    this.#expected = this.#expected * kept + expectedPerDay * days
    this.#made = this.#made * kept + made
    if (this.rules.budgetPerDay !== undefined) this.#debt += made - this.rules.budgetPerDay * days
  }

  /** By how much the forecast must differ from the budget for the budget to be met. */
  #correction(budgetPerDay: number): number {
    const trust = this.#memoryDays * budgetPerDay
    const wrong = (this.#made + trust) / (this.#expected + trust)
    const debt = this.#debt / (budgetPerDay * this.#memoryDays)
    return (1 - bounded(debt, MOST_DEBT)) / Math.min(MOST_WRONG, Math.max(1 / MOST_WRONG, wrong))
  }
}

function bounded(value: number, most: number): number {
  return Math.min(most, Math.max(-most, value))
}
