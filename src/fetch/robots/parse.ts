/** The public parser: the crawl's matcher for any robots.txt and any crawler. */

import { comparable, escapePattern, type Group, groupFor, namesIn } from './group.js'
import { byteText, readLines, textOfBytes } from './lines.js'

/** A parsed robots.txt. No method throws, whatever the file contains. */
export interface Robots {
  /**
   * Whether the crawler may fetch the URL. `agent` is the crawler's name (`MyBot`) or the user agent that it sends
   * (`MyBot/1.0 (+https://…)`). The URL is compared as written, except for the case of escapes: pass it as it would be
   * requested. Its host is ignored.
   */
  allows(url: string, agent: string): boolean
  /** The Crawl-delay for the crawler, in seconds. */
  crawlDelay(agent: string): number | undefined
  /** The sitemaps that the file names, as written, each once. */
  readonly sitemaps: readonly string[]
}

/** A file could name 25,000 sitemaps; a site with more than this uses a sitemap index. */
const MAX_SITEMAPS = 1000
/** The longest URL that Internet Explorer accepted. */
const MAX_SITEMAP_LENGTH = 2083
/** Groups that are cached. Callers usually ask for one or two crawlers. */
const MAX_AGENTS = 16

/**
 * Parses a robots.txt, given as text or as bytes, by RFC 9309; where the RFC leaves room, the answers are those of
 * Google's matcher. Only the first 500 KiB are read.
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
 * The product token of a user agent, which groups of robots.txt are matched with: `Kumo` for `Kumo/0.1 (+https://…)`, and also for
 * `Mozilla/5.0 (compatible; Kumo/0.1; +https://…)`.
 */
export function productName(userAgent: string): string {
  const compatible = /^Mozilla\/\S+ \(compatible;\s*([^\s/;()]+)/i.exec(userAgent)
  return compatible?.[1] ?? /^[^\s/;()]*/.exec(userAgent.trim())![0]
}

/** The product token of a name or of a user agent, which is recognised by its version or comment. */
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
