/** The parts of a crawl that follows feeds. */

import type { FeedParts } from '../engine/parts.js'
import { feedTools } from '../feeds/follow/tools.js'
import { FeedBudget } from '../feeds/schedule/feed-budget.js'
import { PollSchedule } from '../feeds/schedule/poll-schedule.js'
import type { CrawlOptions } from '../options/options.js'
import type { StateStore } from '../stores/contract.js'

/** `isSole`: there is one shard, which holds the budget itself. */
export function feedPartsOf(
  { feeds: rules, delayMs }: Pick<CrawlOptions, 'feeds' | 'delayMs'>,
  state: StateStore,
  isSole: boolean,
): FeedParts | undefined {
  if (rules === undefined) return undefined
  const schedule = new PollSchedule(rules.polls, { visitIntervalMs: delayMs })
  return { rules, schedule, state, tools: feedTools, ...(isSole && { budget: new FeedBudget(rules.polls) }) }
}
