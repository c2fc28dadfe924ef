/** Every option of `kumo feeds`: those of `kumo crawl` that say where to go and how, and those of `feeds()`. */

import { CRAWL_OPTIONS, type CrawlOption } from '../crawl/options.js'

const SHARED = [
  ...['seeds', 'store', 'resume', 'durability', 'repair', 'block', 'limit-requests', 'limit-time', 'delay'],
  ...['concurrency', 'workers', 'per-host', 'user-agent', 'from', 'no-robots', 'header', 'cookies', 'proxy'],
  ...['timeout', 'retries', 'allow-private', 'help'],
]

const OWN: Readonly<Record<string, CrawlOption>> = {
  budget: {
    group: 'Follow',
    value: 'N/TIME',
    help: 'polls of all feeds together, such as 500/day or 10/minute',
  },
  lost: {
    group: 'Follow',
    value: 'SHARE',
    help: 'instead of a budget: the share of articles that may be lost (default 1%)',
  },
  min: { group: 'Follow', value: 'TIME', help: 'shortest time between two polls of a feed (default 15m)' },
  max: { group: 'Follow', value: 'TIME', help: 'longest time between two polls of a feed (default 30d)' },
  aim: {
    group: 'Follow',
    value: 'AIM',
    help: 'complete: lose few articles (default); fresh: get them soon; gentle: ask for nothing in vain',
  },
  once: { group: 'Follow', help: 'end once every feed that is due was polled, as for a job of cron' },
  'no-discover': { group: 'Follow', help: 'do not look for the feeds of a URL that is a page' },
  guess: { group: 'Follow', help: 'try common paths of pages that name no feed, such as /feed' },
  json: { group: 'Output', help: 'print one line of JSON per new article' },
  quiet: { group: 'Output', short: 'q', help: 'print nothing but errors and articles' },
}

/** In the order of the help text. */
export const FEEDS_OPTIONS: Readonly<Record<string, CrawlOption>> = {
  ...OWN,
  ...Object.fromEntries(SHARED.map((name) => [name, CRAWL_OPTIONS[name]!])),
}
