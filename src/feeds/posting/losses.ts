/**
 * How many articles were lost when a window has nothing in common with the last one. At once, only what was known before says
 * so: E[N − w | N ≥ w]. That is too few, because windows are overrun when a feed has become faster. The next poll shows how
 * fast it is now, and the estimate is corrected.
 */

import type { Irregularity, Posting } from './counts.js'
import { lostBeyond } from './estimator.js'

/** A gap that the next poll will say more about: numbers, because it is stored with the feed. */
export type OpenGap = readonly [
  /** Time from poll to poll. */
  days: number,
  /** New entries that were shown. */
  shown: number,
  /** From the last poll to the oldest entry shown; −1 without dates. */
  gapDays: number,
  /** Articles per day before. */
  rateBefore: number,
  /** What has been counted as lost so far. */
  estimate: number,
  /** How well the rate was known before; absent if dates say where the gap ends. */
  shapeBefore?: number,
]

/** A mistake in a date must not become a million articles. */
const MOST_LOST = 100_000
/** The rate in the gap lies between that before and that after; if windows are overrun, the change was rather early. */
const WEIGHT_OF_AFTER = 0.6
/** The same without dates, where the window itself does not tell how fast the feed was. */
const WEIGHT_WITHOUT_DATES = 0.4
/** The next poll may come after hours: for this share of the gap, the rate from before is counted with it. */
const STEADIED_BY = 0.3

/** A gap as it appears when it is found. `gapDays` is undefined without dates. */
export function openGap(
  posting: Posting,
  days: number,
  shown: number,
  gapDays: number | undefined,
  irregularity: Irregularity,
): OpenGap {
  const estimate = Math.min(MOST_LOST, lostBeyond(posting, days, shown, irregularity))
  const gap = gapDays === undefined || !(gapDays >= 0) ? -1 : Math.min(gapDays, days)
  const known = [round(days), shown, round(gap), round(posting.rate), round(estimate)] as const
  return gap < 0 ? [...known, round(posting.shape)] : known
}

/** The final estimate, when the next poll found `fresh` articles after `daysAfter`. */
export function closedGap(
  [days, shown, gapDays, rateBefore, , shapeBefore = 1]: OpenGap,
  fresh: number,
  daysAfter: number,
  irregularity: Irregularity,
): number {
  if (gapDays < 0) {
    // What was learned from the gap itself must not count again.
    const steady = STEADIED_BY * days
    const after = (fresh + steady * rateBefore) / Math.max(daysAfter + steady, 1e-6)
    const rate = rateBefore + WEIGHT_WITHOUT_DATES * (after - rateBefore)
    return Math.min(MOST_LOST, lostBeyond({ rate, shape: shapeBefore }, days, shown, irregularity))
  }
  // The oldest entry marks the end of the gap; it was not found after it.
  const rateAfter = (Math.max(0, shown - 1) + fresh) / Math.max(days - gapDays + daysAfter, 1e-6)
  const rate = rateBefore + WEIGHT_OF_AFTER * (rateAfter - rateBefore)
  return Math.min(MOST_LOST, rate * gapDays)
}

/** Articles that were found in the time from the oldest entry shown to the poll, and that time in days. */
export function datedPart([days, shown, gapDays]: OpenGap): readonly [articles: number, days: number] {
  return [Math.max(0, shown - 1), days - gapDays]
}

function round(value: number): number {
  return Math.round(value * 1e4) / 1e4
}
