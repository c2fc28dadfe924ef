/** Every option of `kumo check`: those of `kumo crawl` that say where to go and how, and a few of its own. */

import { CRAWL_OPTIONS, type CrawlOption } from '../crawl/options.js'

const SHARED = [
  ...['seeds', 'exclude', 'block', 'depth', 'no-sitemaps', 'limit', 'limit-time', 'delay', 'concurrency'],
  ...['per-host', 'user-agent', 'from', 'no-robots', 'header', 'cookies', 'proxy', 'timeout', 'retries'],
  ...['allow-private', 'help'],
]

const OWN: Readonly<Record<string, CrawlOption>> = {
  scope: {
    group: 'Follow',
    value: 'WHICH',
    help: 'which pages to read: site (default), host, origin, path, or a glob; repeat it to require several',
  },
  'no-external': { group: 'Follow', help: 'do not check links that lead out of the scope' },
  accept: {
    group: 'Output',
    value: 'LIST',
    help: 'statuses that count as working, such as 403,429 for sites that turn crawlers away',
  },
  json: { group: 'Output', help: 'print one line of JSON per broken or redirected link, then a summary' },
  quiet: { group: 'Output', short: 'q', help: 'print nothing but errors and the report' },
}

/** In the order of the help text. */
export const CHECK_OPTIONS: Readonly<Record<string, CrawlOption>> = {
  ...OWN,
  ...Object.fromEntries(SHARED.map((name) => [name, CRAWL_OPTIONS[name]!])),
}
