/**
 * Every option of `kumo crawl`: its value, its help text and the builder method that it calls. Help, validation and the
 * crawler all derive from this table, so none of them can miss an option.
 */

import type { Crawler, LevelOptions } from '../../index.js'
import { parseDuration } from '../../time.js'
import type { OptionSpec } from '../arguments.js'
import { UsageError } from '../usage-error.js'

export interface CrawlOption extends OptionSpec {
  readonly group: OptionGroup
  /** Applies the option to the crawler; absent if the command handles it. Most options use the last value given. */
  readonly apply?: (crawler: Crawler, last: string, all: readonly string[]) => Crawler
  /** Options of the store. `level()` rejects invalid values. */
  readonly storeOptions?: (last: string) => LevelOptions
}

export type OptionGroup = 'Start' | 'Follow' | 'End' | 'Manners' | 'Network' | 'Output'

const SCOPE_NAMES = ['site', 'host', 'origin', 'path', 'all']

export const CRAWL_OPTIONS: Readonly<Record<string, CrawlOption>> = {
  seeds: {
    group: 'Start',
    value: 'FILE',
    help: 'read more URLs from a file, one per line; - for standard input',
  },
  label: {
    group: 'Start',
    value: 'TEXT',
    help: 'label of the given URLs: the field label of their lines',
  },
  store: {
    group: 'Start',
    value: 'DIR',
    help: 'keep the crawl in this folder; run the same command again to resume it, even after a crash; or share it with other machines: redis://HOST:6379?crawl=NAME',
  },
  resume: {
    group: 'Start',
    value: 'WHEN',
    help: 'auto: resume if DIR holds a crawl (default); never: fail if it does; must: fail if it does not',
    storeOptions: (resume) => ({ resume: resume as 'auto' }),
  },
  durability: {
    group: 'Start',
    value: 'LEVEL',
    help: 'process: survive a crash of the process (default); machine: survive a power failure, which is slower',
    storeOptions: (durability) => ({ durability: durability as 'process' }),
  },
  repair: {
    group: 'Start',
    help: 'resume a damaged crawl with whatever can still be read',
    storeOptions: () => ({ repair: true }),
  },

  'retry-failed': {
    group: 'Start',
    help: 'retry the URLs in DIR that earlier runs gave up on',
    apply: (crawler) => crawler.retryFailed(),
  },
  rounds: {
    group: 'Start',
    value: 'N',
    help: 'revisit every page known in DIR N times and report new, changed and gone pages',
    apply: (crawler, rounds) => crawler.refresh({ rounds: number(rounds) }),
  },

  scope: {
    group: 'Follow',
    value: 'WHICH',
    help: 'site (default), host, origin, path, all, or a glob; repeat it to require several',
    apply: (crawler, _, [first = '', ...more]) => crawler.scope(scopeWord(first), ...more.map(scopeWord)),
  },
  include: {
    group: 'Follow',
    value: 'GLOB',
    help: 'only follow matching links within the scope; repeatable',
    apply: (crawler, _, globs) => crawler.include(...globs.map(scopeWord)),
  },
  exclude: {
    group: 'Follow',
    value: 'GLOB',
    help: 'do not follow matching links; repeatable',
    apply: (crawler, _, globs) => crawler.exclude(...globs.map(scopeWord)),
  },
  block: {
    group: 'Follow',
    value: 'HOST',
    help: 'never visit this host (or glob) or its subdomains, not even as a seed; repeatable',
    apply: (crawler, _, hosts) => crawler.block(...hosts),
  },
  depth: {
    group: 'Follow',
    value: 'N',
    help: 'follow at most N links from a given URL; 0 follows none',
    apply: (crawler, links) => crawler.depth(number(links)),
  },
  'no-sitemaps': {
    group: 'Follow',
    help: 'do not read sitemaps',
    apply: (crawler) => crawler.sitemaps(false),
  },

  limit: {
    group: 'End',
    value: 'N',
    help: 'stop after N pages',
    apply: (crawler, pages) => crawler.limit({ pages: number(pages) }),
  },
  'limit-requests': {
    group: 'End',
    value: 'N',
    help: 'stop after N requests, successful or not',
    apply: (crawler, requests) => crawler.limit({ requests: number(requests) }),
  },
  'limit-time': {
    group: 'End',
    value: 'TIME',
    help: 'stop after this time: 90s, 10m, 2h',
    apply: (crawler, time) => crawler.limit({ time: duration(time) }),
  },
  'limit-per-host': {
    group: 'End',
    value: 'N',
    help: 'fetch at most N pages per host',
    apply: (crawler, pages) => crawler.limit({ pagesPerHost: number(pages) }),
  },

  delay: {
    group: 'Manners',
    value: 'TIME',
    help: 'pause between two requests to a host: 500ms, 2s (default 1s); a longer Crawl-delay applies',
    apply: (crawler, time) => crawler.delay(duration(time)),
  },
  concurrency: {
    group: 'Manners',
    value: 'N',
    help: 'requests in flight over all hosts (default 100); see --per-host',
    apply: (crawler, visits) => crawler.concurrency(number(visits)),
  },
  workers: {
    group: 'Manners',
    value: 'N',
    help: 'worker threads that share the crawl; auto starts one per core (default 0)',
    apply: (crawler, threads) => crawler.workers(threads === 'auto' ? threads : number(threads)),
  },
  'per-host': {
    group: 'Manners',
    value: 'N',
    help: 'connections per host (default 1); more are opened as its queue grows',
    apply: (crawler, connections) => crawler.perHost({ connections: number(connections) }),
  },
  'user-agent': {
    group: 'Manners',
    value: 'TEXT',
    help: 'User-Agent header; include how to contact you (see the examples)',
    apply: (crawler, name) => crawler.userAgent(name),
  },
  from: {
    group: 'Manners',
    value: 'EMAIL',
    help: 'your email address, sent as the From header',
    apply: (crawler, address) => crawler.from(address),
  },
  'no-robots': {
    group: 'Manners',
    help: 'ignore robots.txt; only for hosts that you own',
    apply: (crawler) => crawler.robots(false),
  },

  header: {
    group: 'Network',
    value: 'LINE',
    help: "'Name: value', sent to the origins of the given URLs; repeatable",
    apply: (crawler, _, lines) => crawler.headers(Object.fromEntries(lines.map(header))),
  },
  cookies: {
    group: 'Network',
    help: 'keep cookies and send them back',
    apply: (crawler) => crawler.cookies(),
  },
  proxy: {
    group: 'Network',
    value: 'URL',
    help: 'use this HTTP or HTTPS proxy',
    apply: (crawler, url) => crawler.proxy(url),
  },
  timeout: {
    group: 'Network',
    value: 'TIME',
    help: 'time limit for fetching a page (default 30s)',
    apply: (crawler, time) => crawler.timeout(duration(time)),
  },
  retries: {
    group: 'Network',
    value: 'N',
    help: 'retries after a temporary failure (default 2)',
    apply: (crawler, times) => crawler.retries(number(times)),
  },
  'allow-private': {
    group: 'Network',
    help: 'follow links to private IP addresses; hosts of the given URLs are always allowed',
    apply: (crawler) => crawler.allowPrivate('all'),
  },

  format: {
    group: 'Output',
    value: 'FORMAT',
    help: 'text (default), jsonl, csv or markdown: the main content of each page with front matter',
  },
  json: { group: 'Output', help: 'the same as --format jsonl' },
  fields: {
    group: 'Output',
    value: 'LIST',
    help: 'what to print of a page, as in url,title,headers.etag; leave out type to print no failures',
  },
  output: {
    group: 'Output',
    value: 'DIR',
    help: 'write the pages of --format markdown to files below this folder',
  },
  health: {
    group: 'Output',
    value: 'PORT',
    help: 'answer on http://127.0.0.1:PORT whether the crawl can go on: 200 or 503; or 0.0.0.0:PORT',
  },
  quiet: {
    group: 'Output',
    short: 'q',
    help: 'print nothing but errors and the lines of --format',
  },
  help: { group: 'Output', short: 'h', help: 'show this help' },
}

/** The number, or the text as it is if it is none: the builder rejects it and quotes it. */
function number(text: string): number {
  const value = Number(text)
  return Number.isNaN(value) ? (text as unknown as number) : value
}

/**
 * A duration with its unit. The builder reads a bare number as milliseconds; on a command line, `--delay 5` means
 * seconds to anyone who knows wget, and would be a thousand times too fast.
 */
function duration(text: string): `${number}s` {
  if (text === '0') return '0s'
  if (parseDuration(text) !== undefined) return text as `${number}s`
  throw new UsageError(`got '${text}'; allowed: a number with a unit, such as 500ms, 5s, 2m, 1h`)
}

/** A scope name or a glob. The builder rejects other bare words too, but its advice is for TypeScript. */
export function scopeWord(text: string): string {
  if (!/^[\w-]+$/.test(text) || SCOPE_NAMES.includes(text)) return text
  const advice = `for the path: /${text}; for the host: '${text}/**'`
  throw new UsageError(`got '${text}'; allowed: ${SCOPE_NAMES.join(', ')}, or a glob (${advice})`)
}

function header(line: string): [name: string, value: string] {
  const colon = line.indexOf(':')
  if (colon > 0) return [line.slice(0, colon).trim(), line.slice(colon + 1).trim()]
  // Do not quote the line: it may contain a secret.
  throw new UsageError("got a line without a name; allowed: 'Name: value', such as 'Accept-Language: ja'")
}
