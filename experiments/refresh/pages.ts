/**
 * Pages that change at random, and rules that decide how often each one is visited, with the same number of visits: for
 * how much of the time is the copy of a page up to date? A rule learns only what its visits observe: changed or not.
 */

import { Heap } from '../../src/frontier/heap.js'
import { logNormalTable } from '../../src/sim/refresh/chance.js'
import { seededRandom } from '../../src/time.js'
import { type PageRule, PageSchedule } from './page-rules.js'
import { DAY_MS } from './world.js'

/** How pages are generated. */
export interface PageDraw {
  readonly pages: number
  /** Half of the pages change more often. Default 10 days. */
  readonly medianMs?: number
  /** The standard deviation of the logarithms of change intervals. Default 2: 19 of 20 are within 3.4 decades. */
  readonly spread?: number
}

/** Options of a simulation of pages. */
export interface VisitRules {
  readonly rule: PageRule
  /** The budget: visits per day, averaged over pages. */
  readonly visitsPerDay: number
  /** Days at the start that are not scored, in which rules learn. */
  readonly learningDays: number
  readonly scoredDays: number
  readonly seed: number
}

/** The result in the scored days. */
export interface VisitScore {
  /** Share of the time for which a copy was up to date, averaged over pages. */
  readonly freshness: number
  /** Share of the changes that a visit caught. */
  readonly caught: number
  /** Visits divided by the budget: 1 if it was met. */
  readonly spent: number
  readonly visits: number
}

/** Change intervals, in ms. */
export function drawPages({ pages, medianMs = 10 * DAY_MS, spread = 2 }: PageDraw): Float64Array {
  return logNormalTable(medianMs * Math.exp((spread * spread) / 2), spread, pages)
}

/** The same pages, rules and seed give the same score. */
export function simulateVisits(changeMs: Float64Array, rules: VisitRules): VisitScore {
  const random = seededRandom(rules.seed)
  const pages = changeMs.length
  const schedule = new PageSchedule(changeMs, rules.rule, rules.visitsPerDay / DAY_MS)
  const scoredFrom = rules.learningDays * DAY_MS
  const end = scoredFrom + rules.scoredDays * DAY_MS
  const due = new Heap<number>()
  const visitedAt = new Float64Array(pages)
  let freshMs = 0
  let caught = 0
  let visits = 0

  const dealOut = (now: number) => {
    // Anywhere within its interval, as in a steady state.
    for (let page = 0; page < pages; page++) due.push(page, now + random.next() * schedule.everyMs(page))
  }

  /** From one visit to the next, or to the end. Returns whether the content changed. */
  const pass = (page: number, until: number): boolean => {
    const since = visitedAt[page]!
    // Poisson processes are memoryless: the time to the first change does not depend on the past.
    const changesAt = since - Math.log(1 - random.next()) * changeMs[page]!
    freshMs += Math.max(0, Math.min(changesAt, until) - Math.max(since, scoredFrom))
    return changesAt < until
  }

  let isScoring = false
  dealOut(0)
  while (due.size > 0) {
    const now = due.topKey
    if (!isScoring && now >= scoredFrom) {
      isScoring = true
      // A rule that meets the budget only when scored starts its new intervals here.
      if (schedule.scale()) {
        due.retain(() => false)
        dealOut(scoredFrom)
        continue
      }
    }
    if (now >= end) break
    const page = due.pop()!
    const changed = pass(page, now)
    if (isScoring) {
      visits++
      if (changed) caught++
    }
    schedule.visited(page, now - visitedAt[page]!, changed)
    visitedAt[page] = now
    due.push(page, now + schedule.everyMs(page))
  }
  for (let page = 0; page < pages; page++) pass(page, end)

  let changes = 0
  for (const ms of changeMs) changes += (end - scoredFrom) / ms
  return {
    freshness: freshMs / (pages * (end - scoredFrom)),
    caught: caught / changes,
    spent: visits / (rules.visitsPerDay * rules.scoredDays * pages),
    visits,
  }
}
