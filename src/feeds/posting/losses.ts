/**
 * How many articles were lost when a window has nothing in common with the last one. At once, only what was known before says
 * so: E[N − w | N ≥ w]. That is too few, because windows are overrun when a feed has become faster. The next poll shows how
 * fast it is now, and the estimate is corrected.
 */

import { type Irregularity, logChance, type Posting } from './counts.js'
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
  /** How well the rate was known before; absent if an earlier version stored the gap. */
  shapeBefore?: number,
  /** The burst term of this feed: that of all feeds, moved towards what its dates show. Absent without dates. */
  burst?: number,
]

/** A mistake in a date must not become a million articles. */
const MOST_LOST = 100_000
/**
 * With dates, the articles after the gap say whether the feed goes on as before or has become another one, which may have any
 * rate. Before they are looked at, this is the chance that it has.
 */
const CHANCE_OF_CHANGE = 0.05
/** Rates change more than usual where windows are overrun: by this factor of the variance. */
const MORE_CHANGE = 2
/** Articles that follow each other within this part of the mean time between two belong together. */
const TOGETHER = 0.1
/** Of all spaces between articles, those within groups are at most this part. */
const MOST_GROUPED = 0.9
/** A window has few articles, and those that overrun it are grouped by chance too: so much does its own burst term count. */
const WEIGHT_OF_DATES = 0.25
/** The logarithm of how far the rates of feeds spread: one of them may be a thousand times that of another. */
const RATE_SPREAD = Math.log(1000)
/** If the feed has changed, the rate in the gap lies here between that before and that after: changes come rather early. */
const WEIGHT_OF_AFTER = 0.6
/** Without dates, the window itself does not tell how fast the feed was. */
const WEIGHT_WITHOUT_DATES = 0.4
/** The next poll may come after hours: for this share of the gap, the rate from before is counted with it. */
const STEADIED_BY = 0.3

/** A gap as it appears when it is found. `gapDays` is undefined without dates; `published` are those of the window. */
export function openGap(
  posting: Posting,
  days: number,
  shown: number,
  gapDays: number | undefined,
  irregularity: Irregularity,
  published: readonly number[] = [],
): OpenGap {
  const estimate = Math.min(MOST_LOST, lostBeyond(posting, days, shown, irregularity))
  const gap = gapDays === undefined || !(gapDays >= 0) ? -1 : Math.min(gapDays, days)
  const known = [round(days), shown, round(gap), round(posting.rate), round(estimate)] as const
  const shape = round(posting.shape)
  return gap < 0 ? [...known, shape] : [...known, shape, round(burstOf(published, irregularity.burst))]
}

/** The burst term as far as dates show it: in groups of s articles on average, it is 2·(s − 1). */
function burstOf(published: readonly number[], usual: number): number {
  const times = published.filter(Number.isFinite).toSorted((one, other) => one - other)
  const spaces = times.length - 1
  const mean = (times.at(-1)! - times[0]!) / spaces
  if (!(spaces >= 2 && mean > 0)) return usual
  let short = 0
  for (let at = 0; at < spaces; at++) if (times[at + 1]! - times[at]! < TOGETHER * mean) short++
  // Independent articles are sometimes that close.
  const byChance = 1 - Math.exp(-TOGETHER)
  const grouped = Math.min(MOST_GROUPED, Math.max(0, (short / spaces - byChance) / (1 - byChance)))
  return usual + WEIGHT_OF_DATES * ((2 * grouped) / (1 - grouped) - usual)
}

/** The final estimate, when the next poll found `fresh` articles after `daysAfter`. */
export function closedGap(
  [days, shown, gapDays, rateBefore, , shapeBefore = 1, burst]: OpenGap,
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
  const articles = Math.max(0, shown - 1) + fresh
  const span = Math.max(days - gapDays + daysAfter, 1e-6)
  const own = { burst: burst ?? irregularity.burst, change: irregularity.change }
  const rate = rateInGap({ rate: rateBefore, shape: shapeBefore }, articles, span, own)
  // The oldest entry may be one of a group whose others scrolled off.
  return Math.min(MOST_LOST, rate * gapDays + own.burst / 2)
}

/** The mean of two answers, each with its probability: the feed posts as before, or at another rate. */
function rateInGap(before: Posting, found: number, span: number, { burst, change }: Irregularity): number {
  // Groups of articles count as one.
  const articles = found / (1 + burst)
  const days = span / (1 + burst)
  const shape = 1 / (1 / before.shape + MORE_CHANGE * change)
  const steady = (shape + articles) / (shape / before.rate + days)
  const other = before.rate + WEIGHT_OF_AFTER * (articles / days - before.rate)
  const likelySteady = (1 - CHANCE_OF_CHANGE) * Math.exp(logChance(before.rate * days, shape, articles))
  const likelyOther = CHANCE_OF_CHANGE / (RATE_SPREAD * Math.max(1, articles))
  return (likelySteady * steady + likelyOther * other) / (likelySteady + likelyOther)
}

/** Articles that were found in the time from the oldest entry shown to the poll, and that time in days. */
export function datedPart([days, shown, gapDays]: OpenGap): readonly [articles: number, days: number] {
  return [Math.max(0, shown - 1), days - gapDays]
}

function round(value: number): number {
  return Math.round(value * 1e4) / 1e4
}
