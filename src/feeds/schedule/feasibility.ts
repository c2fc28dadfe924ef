import type { PollFeasibility, PollReport, PollRules } from './contract.js'
import { PRICES, priceAt, valueAt } from './prices.js'

/** The share of lost articles that is called none. */
const NONE = 1e-4
/** The target that is reported beside a budget. */
const USUAL_TARGET = 0.01
/** Points of the front are at least this much apart. */
const APART = 1.02

/** What a budget buys, and what it would take to lose no more than wanted. */
export function feasibilityOf(rules: PollRules, report: PollReport, price: number): PollFeasibility {
  const { curve, feeds, perDay } = report
  const { budgetPerDay } = rules
  const target = rules.lost ?? USUAL_TARGET
  const pollsPerDay = valueAt(curve.polls, price)
  const lostPerDay = valueAt(curve.lost, price)
  const mostPerDay = curve.polls[0] ?? 0
  const leastPerDay = curve.polls[PRICES - 1] ?? 0
  const budgetFor = (share: number): number => {
    if (perDay === 0) return 0
    if ((curve.lost[0] ?? 0) > share * perDay) return Number.POSITIVE_INFINITY
    return valueAt(curve.polls, priceAt(curve.lost, share * perDay, false))
  }
  const budgetForTarget = budgetFor(target)
  const why = reason()
  return {
    feeds,
    articlesPerDay: perDay,
    budgetPerDay,
    pollsPerDay,
    lostPerDay,
    futilePerDay: valueAt(curve.futile, price),
    lostShare: perDay === 0 ? 0 : lostPerDay / perDay,
    budgetForTarget,
    budgetForNone: budgetFor(NONE),
    leastPerDay,
    mostPerDay,
    price,
    front: frontOf(report),
    crowded: report.crowded,
    crowdedHosts: report.crowdedHosts,
    refusedPerDay: report.refusedPerDay,
    feasible: why === undefined,
    why,
  }

  function reason(): string | undefined {
    if (feeds === 0) return undefined
    if (budgetPerDay !== undefined && budgetPerDay < leastPerDay * 0.99)
      return `a budget of ${round(budgetPerDay)} polls a day is too small for ${round(feeds)} feeds: each is polled at least once in feeds.max, which takes ${round(leastPerDay)}; allow more polls or a longer feeds.max`
    if (rules.lost !== undefined && budgetForTarget === Number.POSITIVE_INFINITY)
      return `more than ${percent(rules.lost)} of the articles are lost even with ${round(mostPerDay)} polls a day, the most that pay off; allow a shorter feeds.min`
    const [worst] = report.crowded
    if (worst === undefined) return undefined
    return `${report.crowdedHosts === 1 ? '1 host has' : `${round(report.crowdedHosts)} hosts have`} more feeds than the visit interval allows: ${worst.host} has ${round(worst.feeds)} that need ${round(worst.wantedPerDay)} polls a day, and allows ${round(worst.possiblePerDay)}; they are polled later than planned`
  }
}

/** From few polls to many. */
function frontOf({ curve }: PollReport): PollFeasibility['front'] {
  const front: { polls: number; lost: number; futile: number }[] = []
  for (let at = PRICES - 1; at >= 0; at--) {
    const polls = curve.polls[at] ?? 0
    const last = front.at(-1)
    if (polls === 0 || (last !== undefined && polls < last.polls * APART)) continue
    front.push({ polls, lost: curve.lost[at] ?? 0, futile: curve.futile[at] ?? 0 })
  }
  return front
}

function round(value: number): string {
  return Math.round(value).toLocaleString('en')
}

function percent(share: number): string {
  return `${Number((100 * share).toPrecision(2))} %`
}
