/** Every option of `kumo simulate feeds`. */

import type { OptionSpec } from '../arguments.js'

interface FeedsOption extends OptionSpec {
  readonly group: FeedsGroup
}

export type FeedsGroup = 'World' | 'Polls' | 'Output'

/** The defaults. */
export const FEED_DEFAULTS = { perDay: '0.1', spread: '1.5', silent: '0.4', window: '10', days: '90' }

export const SIMULATE_FEEDS_OPTIONS: Readonly<Record<string, FeedsOption>> = {
  feeds: { group: 'World', value: 'N', help: 'N made-up feeds' },
  from: { group: 'World', value: 'DIR', help: 'or the feeds that the crawl in this folder follows' },
  history: { group: 'World', value: 'FILE', help: 'or a history in CSV: a line feed,time per article' },
  'per-day': {
    group: 'World',
    value: 'N',
    help: `articles per day of a feed, the median (default ${FEED_DEFAULTS.perDay})`,
  },
  spread: {
    group: 'World',
    value: 'N',
    help: `sigma of its logarithm (default ${FEED_DEFAULTS.spread})`,
  },
  silent: {
    group: 'World',
    value: 'SHARE',
    help: `share of feeds that never post (default ${FEED_DEFAULTS.silent})`,
  },
  window: { group: 'World', value: 'N', help: `entries that a feed shows (default ${FEED_DEFAULTS.window})` },
  days: { group: 'World', value: 'N', help: `days to simulate (default ${FEED_DEFAULTS.days})` },
  seed: { group: 'World', value: 'N', help: 'seed of the random numbers (default 1)' },

  budget: {
    group: 'Polls',
    value: 'LIST',
    help: 'polls of all feeds: 2000/day; 500/day,1000/day compares two',
  },
  lost: { group: 'Polls', value: 'LIST', help: 'or the share of articles that may be lost: 1% (default)' },
  min: { group: 'Polls', value: 'TIME', help: 'shortest interval between polls of a feed (default 15m)' },
  max: { group: 'Polls', value: 'TIME', help: 'longest interval (default 30d)' },
  aim: { group: 'Polls', value: 'AIM', help: 'complete (default), fresh or gentle' },
  learn: { group: 'Polls', value: 'N', help: 'days at the start that are not scored (default a third)' },

  svg: { group: 'Output', value: 'FILE', help: 'also draw lost articles and futile polls over polls' },
  json: { group: 'Output', help: 'print one line of JSON per budget' },
  help: { group: 'Output', short: 'h', help: 'show this help' },
}
