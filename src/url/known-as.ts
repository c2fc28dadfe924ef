import type { CrawlRequest } from '../types.js'

const SITEMAP = 'sitemap '
const ROBOTS = 'robots '

/**
 * The key of a request in the seen-set: its URL. A request for another purpose than the page is something else and has
 * another key.
 */
export function knownAs({ url, purpose }: Pick<CrawlRequest, 'url' | 'purpose'>): string {
  if (purpose === undefined) return url
  return purpose.kind === 'sitemap' ? sitemapName(url) : ROBOTS + url
}

export function sitemapName(url: string): string {
  return SITEMAP + url
}

/** The URL in a key. */
export function urlIn(name: string): string {
  if (name.startsWith(SITEMAP)) return name.slice(SITEMAP.length)
  return name.startsWith(ROBOTS) ? name.slice(ROBOTS.length) : name
}
