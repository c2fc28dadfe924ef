/** A robots.txt for whoever has one in hand: the matcher of the crawl as a function, for any crawler's name. */

import { comparable, escapePattern, type Group, groupFor, namesIn } from './group.js'
import { byteText, readLines, textOfBytes } from './lines.js'

/** What a robots.txt says. Nothing here throws, whatever the file contains. */
export interface Robots {
  /**
   * Whether the crawler may fetch the URL. `agent` is the crawler's name (`MyBot`) or the user agent that it sends
   * (`MyBot/1.0 (+https://…)`). The URL is compared as written, but for the case of escapes: give it as it would be
   * requested. Its host is not looked at.
   */
  allows(url: string, agent: string): boolean
  /** The pause that the crawler is asked to make between requests, in seconds. */
  crawlDelay(agent: string): number | undefined
  /** The sitemaps that the file names, as written, each once. */
  readonly sitemaps: readonly string[]
}

/** A file can name 25,000 sitemaps; whoever needs more than this has an index of them. */
const MAX_SITEMAPS = 1000
/** Longer than any URL that a browser of its time took. */
const MAX_SITEMAP_LENGTH = 2083
/** Crawlers that the file names and whose rules are kept ready. A caller asks for one or two. */
const MAX_AGENTS = 16

/**
 * Reads a robots.txt, given as text or as the bytes that came: RFC 9309, with the answers of Google's matcher where the
 * standard leaves room. The first 500 KiB count.
 *
 * @example
 * const robots = parseRobots('User-agent: *\nDisallow: /private/\nAllow: /private/open\nCrawl-delay: 2')
 * robots.allows('https://example.com/private/a', 'MyBot')    // false
 * robots.allows('https://example.com/private/open', 'MyBot') // true
 * robots.crawlDelay('MyBot')                                 // 2
 */
export function parseRobots(text: string | Uint8Array): Robots {
  const bytes = byteText(text)
  const names = namesIn(bytes)
  const everyone = groupFor(bytes, '', escapePattern)
  const groups = new Map<string, Group>()
  const groupOf = (agent: string): Group => {
    const name = agentName(agent).toLowerCase()
    if (!names.has(name)) return everyone
    let group = groups.get(name)
    if (group === undefined) {
      if (groups.size >= MAX_AGENTS) groups.clear()
      group = groupFor(bytes, name, escapePattern)
      groups.set(name, group)
    }
    return group
  }
  return {
    allows: (url, agent) => groupOf(agent).rules.allows(comparable(pathAndQuery(url))),
    crawlDelay: (agent) => groupOf(agent).delay,
    sitemaps: sitemapsIn(bytes),
  }
}

/** The sitemaps that a file names, as written, each once. */
export function sitemapsIn(bytes: string): readonly string[] {
  const found = new Set<string>()
  readLines(bytes, (field, value) => {
    if (field !== 'sitemap' || value === '' || value.length > MAX_SITEMAP_LENGTH) return
    if (found.size < MAX_SITEMAPS) found.add(textOfBytes(value))
  })
  return [...found]
}

/**
 * The name by which groups of robots.txt address a crawler: `Kumo` for `Kumo/0.1 (+https://…)`, and also for
 * `Mozilla/5.0 (compatible; Kumo/0.1; +https://…)`.
 */
export function productName(userAgent: string): string {
  const compatible = /^Mozilla\/\S+ \(compatible;\s*([^\s/;()]+)/i.exec(userAgent)
  return compatible?.[1] ?? /^[^\s/;()]*/.exec(userAgent.trim())![0]
}

/** A name as it is given, or the name in a user agent, which shows by its version or its comment. */
function agentName(agent: string): string {
  return /[/(]/.test(agent) ? productName(agent) : agent
}

/** What follows the host of a URL, absolute or not, up to the fragment, as written. */
export function pathAndQuery(url: string): string {
  const fragment = url.indexOf('#')
  const address = fragment < 0 ? url : url.slice(0, fragment)
  const host = /^(?:[^/?;]*:)?\/\/|^(?!\/)/.exec(address)?.[0].length ?? 0
  const start = address.slice(host).search(/[/?;]/)
  if (start < 0) return '/'
  const path = address.slice(host + start)
  return path.startsWith('/') ? path : `/${path}`
}
