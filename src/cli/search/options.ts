/** Every option of `kumo index`, `kumo search` and `kumo serve`. */

import type { OptionSpec } from '../arguments.js'
import { CRAWL_OPTIONS, type CrawlOption } from '../crawl/options.js'

const SHARED = [
  ...['seeds', 'store', 'scope', 'exclude', 'block', 'depth', 'no-sitemaps', 'limit', 'limit-time', 'delay'],
  ...['concurrency', 'per-host', 'user-agent', 'from', 'no-robots', 'header', 'cookies', 'proxy', 'timeout'],
  ...['retries', 'allow-private', 'help'],
]

const OWN: Readonly<Record<string, CrawlOption>> = {
  out: { group: 'Output', value: 'DIR', help: 'the folder of the index (default ./index)' },
  as: {
    group: 'Start',
    value: 'URL',
    help: 'index the files of a folder instead of crawling, as if they were served below this URL',
  },
  language: { group: 'Output', value: 'TAG', help: 'the language of all pages (default: detected)' },
  quiet: { group: 'Output', short: 'q', help: 'print nothing but errors' },
}

/** In the order of the help text. */
export const INDEX_OPTIONS: Readonly<Record<string, CrawlOption>> = {
  ...OWN,
  ...Object.fromEntries(SHARED.map((name) => [name, CRAWL_OPTIONS[name]!])),
}

export const SEARCH_OPTIONS: Readonly<Record<string, OptionSpec>> = {
  limit: { value: 'N', help: 'hits to print (default 10)' },
  json: { help: 'print one line of JSON with everything' },
  help: { short: 'h', help: 'show this help' },
}

export const SERVE_OPTIONS: Readonly<Record<string, OptionSpec>> = {
  port: { value: 'N', help: 'the port to listen on (default 8080; 0 for any)' },
  host: { value: 'ADDRESS', help: 'the address to listen on (default 127.0.0.1: this machine only)' },
  help: { short: 'h', help: 'show this help' },
}
