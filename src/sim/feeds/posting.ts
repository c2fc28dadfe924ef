/** When a feed posts: at rates that change, with pauses, and in bursts. */

import type { Random } from '../../time.js'
import { normalQuantile } from '../refresh/chance.js'

/** How irregular posting is. */
export interface PostingHabits {
  /** Mean time for which a feed keeps its rate. Infinity: always. */
  readonly steadyDays: number
  /** How much rates differ then: the standard deviation of their logarithms. */
  readonly spread: number
  /** Share of time in which it does not post at all. */
  readonly pauses: number
  /** Mean number of articles that come together. 1: each comes by itself. */
  readonly burst: number
}

/** Articles that come together are this far apart on average. */
const WITHIN_DAYS = 0.2

/** The times of a number of articles within some days, in rising order. */
export function postTimes(random: Random, count: number, days: number, habits: PostingHabits): Float64Array {
  const posts = new Float64Array(count)
  if (count === 0) return posts
  const { ends, sums } = periods(random, days, habits)
  const total = sums.at(-1)!
  // Geometric sizes with this mean.
  const again = 1 - 1 / Math.max(1, habits.burst)
  for (let at = 0; at < count; ) {
    let time = timeAt(random.next() * total, ends, sums)
    do {
      posts[at++] = Math.min(time, days * (1 - 1e-9))
      time += -Math.log(1 - random.next()) * WITHIN_DAYS
    } while (at < count && random.next() < again)
  }
  return posts.sort()
}

/** Times at which the rate changes, and the integral of the rate up to them. */
function periods(random: Random, days: number, habits: PostingHabits): { ends: number[]; sums: number[] } {
  const ends: number[] = []
  const sums: number[] = []
  let end = 0
  let sum = 0
  while (end < days) {
    const length =
      habits.steadyDays === Number.POSITIVE_INFINITY ? days : -Math.log(1 - random.next()) * habits.steadyDays
    const paused = random.next() < habits.pauses
    const rate = paused
      ? 0
      : Math.exp(habits.spread * normalQuantile(Math.min(1 - 1e-9, Math.max(1e-9, random.next()))))
    const from = end
    end = Math.min(days, end + length)
    sum += rate * (end - from)
    ends.push(end)
    sums.push(sum)
  }
  // A feed that posts cannot pause all the time.
  return sum > 0 ? { ends, sums } : { ends: [days], sums: [days] }
}

function timeAt(mass: number, ends: readonly number[], sums: readonly number[]): number {
  const at = Math.max(
    0,
    sums.findIndex((sum) => sum > mass),
  )
  const from = at === 0 ? 0 : ends[at - 1]!
  const before = at === 0 ? 0 : sums[at - 1]!
  const rate = (sums[at]! - before) / (ends[at]! - from)
  return from + (mass - before) / rate
}
