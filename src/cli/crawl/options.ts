/**
 * Every option of `kumo crawl`: what stands behind it, what the help says, and which method of the builder it is. Help,
 * checks and the crawler itself are made from this one table, so none of them can forget one.
 */

import type { Crawler, LevelOptions } from '../../index.js'
import { parseDuration } from '../../time.js'
import type { OptionSpec } from '../arguments.js'
import { Misuse } from '../misuse.js'

export interface CrawlOption extends OptionSpec {
  readonly group: OptionGroup
  /** The crawler with this option. Absent: the command itself sees to it. Of several values most take the last. */
  readonly to?: (crawler: Crawler, last: string, all: readonly string[]) => Crawler
  /** The same for what is told to the store. What is no word of its options, the store refuses. */
  readonly ofStore?: (last: string) => LevelOptions
}

export type OptionGroup = 'Start' | 'Follow' | 'End' | 'Manners' | 'Network' | 'Output'

const SCOPE_NAMES = ['site', 'host', 'origin', 'path', 'all']

export const CRAWL_OPTIONS: Readonly<Record<string, CrawlOption>> = {
  seeds: { group: 'Start', value: 'FILE', help: 'more URLs, one a line; - for standard input' },
  store: {
    group: 'Start',
    value: 'DIR',
    help: 'keep the crawl in this folder; the same command goes on where it ended, even after a crash',
  },
  resume: {
    group: 'Start',
    value: 'WHEN',
    help: 'auto: go on if DIR holds a crawl (default); never: DIR must be new; must: it must hold one',
    ofStore: (resume) => ({ resume: resume as 'auto' }),
  },
  durability: {
    group: 'Start',
    value: 'WHAT',
    help: 'what the crawl in DIR survives: the end of the process (default), or of the machine, which is slower',
    ofStore: (durability) => ({ durability: durability as 'process' }),
  },
  repair: {
    group: 'Start',
    help: 'go on with what can be read of a damaged crawl',
    ofStore: () => ({ repair: true }),
  },

  'retry-failed': {
    group: 'Start',
    help: 'try the URLs of DIR again that earlier runs gave up',
    to: (crawler) => crawler.retryFailed(),
  },
  rounds: {
    group: 'Start',
    value: 'N',
    help: 'ask N times again, conditionally, for each page that DIR knows; tells what is new, changed or gone',
    to: (crawler, rounds) => crawler.refresh({ rounds: number(rounds) }),
  },

  scope: {
    group: 'Follow',
    value: 'WHICH',
    help: 'site (default), host, origin, path, all, or a glob; if given more than once, all must agree',
    to: (crawler, _, [first = '', ...more]) => crawler.scope(rule(first), ...more.map(rule)),
  },
  include: {
    group: 'Follow',
    value: 'GLOB',
    help: 'within the scope only what fits; may be given more than once',
    to: (crawler, _, globs) => crawler.include(...globs.map(rule)),
  },
  exclude: {
    group: 'Follow',
    value: 'GLOB',
    help: 'not what fits; may be given more than once',
    to: (crawler, _, globs) => crawler.exclude(...globs.map(rule)),
  },
  block: {
    group: 'Follow',
    value: 'HOST',
    help: 'never this host or its subdomains (or a glob), not even as a seed; may be given more than once',
    to: (crawler, _, hosts) => crawler.block(...hosts),
  },
  depth: {
    group: 'Follow',
    value: 'N',
    help: 'at most N links away from a given URL; 0 follows none',
    to: (crawler, links) => crawler.depth(number(links)),
  },
  'no-sitemaps': { group: 'Follow', help: 'read no sitemaps', to: (crawler) => crawler.sitemaps(false) },

  limit: {
    group: 'End',
    value: 'N',
    help: 'after N pages, not one more',
    to: (crawler, pages) => crawler.limit({ pages: number(pages) }),
  },
  'limit-requests': {
    group: 'End',
    value: 'N',
    help: 'after N requests, whatever comes of them',
    to: (crawler, requests) => crawler.limit({ requests: number(requests) }),
  },
  'limit-time': {
    group: 'End',
    value: 'TIME',
    help: 'after so long: 90s, 10m, 2h',
    to: (crawler, time) => crawler.limit({ time: duration(time) }),
  },
  'limit-per-host': {
    group: 'End',
    value: 'N',
    help: 'at most N pages of each host',
    to: (crawler, pages) => crawler.limit({ pagesPerHost: number(pages) }),
  },

  delay: {
    group: 'Manners',
    value: 'TIME',
    help: 'rest of a host between two visits: 500ms, 2s (default 1s); Crawl-delay can lengthen it',
    to: (crawler, time) => crawler.delay(duration(time)),
  },
  concurrency: {
    group: 'Manners',
    value: 'N',
    help: 'visits at the same time, over all hosts (default 100); see --per-host',
    to: (crawler, visits) => crawler.concurrency(number(visits)),
  },
  'per-host': {
    group: 'Manners',
    value: 'N',
    help: 'visits to one host at the same time (default 1); they become more as its pages queue up',
    to: (crawler, connections) => crawler.perHost({ connections: number(connections) }),
  },
  'user-agent': {
    group: 'Manners',
    value: 'TEXT',
    help: 'who is asking; say how you can be reached (see the examples)',
    to: (crawler, name) => crawler.userAgent(name),
  },
  from: {
    group: 'Manners',
    value: 'EMAIL',
    help: 'your address, sent as the From header',
    to: (crawler, address) => crawler.from(address),
  },
  'no-robots': {
    group: 'Manners',
    help: 'do not ask for robots.txt: only for hosts of your own',
    to: (crawler) => crawler.robots(false),
  },

  header: {
    group: 'Network',
    value: 'LINE',
    help: "'Name: value', sent to the origins of the given URLs; may be given more than once",
    to: (crawler, _, lines) => crawler.headers(Object.fromEntries(lines.map(header))),
  },
  cookies: { group: 'Network', help: 'keep cookies and send them back', to: (crawler) => crawler.cookies() },
  proxy: {
    group: 'Network',
    value: 'URL',
    help: 'an http or https proxy',
    to: (crawler, url) => crawler.proxy(url),
  },
  timeout: {
    group: 'Network',
    value: 'TIME',
    help: 'how long a page may take (default 30s)',
    to: (crawler, time) => crawler.timeout(duration(time)),
  },
  retries: {
    group: 'Network',
    value: 'N',
    help: 'tries after one that failed and may yet succeed (default 2)',
    to: (crawler, times) => crawler.retries(number(times)),
  },
  'allow-private': {
    group: 'Network',
    help: 'follow links to private addresses; hosts of the given URLs may be private anyway',
    to: (crawler) => crawler.allowPrivate('all'),
  },

  json: { group: 'Output', help: 'a line of JSON for each page' },
  quiet: {
    group: 'Output',
    short: 'q',
    help: 'no pages, no progress, no summary; errors remain, and the lines of --json',
  },
  help: { group: 'Output', short: 'h', help: 'this text' },
}

/** A number where the text is one; otherwise the text, which the builder then refuses by showing it. */
function number(text: string): number {
  const value = Number(text)
  return Number.isNaN(value) ? (text as unknown as number) : value
}

/**
 * A duration with its unit. The builder takes bare numbers as milliseconds; at a prompt, `--delay 5` was meant as
 * seconds by everybody who knows wget, and would be a thousand times too impolite.
 */
function duration(text: string): `${number}s` {
  if (text === '0') return '0s'
  if (parseDuration(text) !== undefined) return text as `${number}s`
  throw new Misuse(`got '${text}'; allowed: a number with its unit, such as 500ms, 5s, 2m, 1h`)
}

/** A name or a glob. The builder refuses other bare words too, but with advice for TypeScript. */
function rule(text: string): string {
  if (!/^[\w-]+$/.test(text) || SCOPE_NAMES.includes(text)) return text
  const advice = `for the path: /${text}; for the host: '${text}/**'`
  throw new Misuse(`got '${text}'; allowed: ${SCOPE_NAMES.join(', ')}, or a glob (${advice})`)
}

function header(line: string): [name: string, value: string] {
  const colon = line.indexOf(':')
  if (colon > 0) return [line.slice(0, colon).trim(), line.slice(colon + 1).trim()]
  // The line itself is not shown: it may hold a secret.
  throw new Misuse("got a line without a name; allowed: 'Name: value', such as 'Accept-Language: ja'")
}
