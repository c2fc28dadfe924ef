import type { CrawlRequest } from '../types.js'

const SITEMAP = 'sitemap '
const ROBOTS = 'robots '

/**
 * The name by which a request is known to the seen-set: its URL. What is fetched for another purpose than the page is
 * something else, and has another name.
 */
export function knownAs({ url, purpose }: Pick<CrawlRequest, 'url' | 'purpose'>): string {
  if (purpose === undefined) return url
  return purpose.kind === 'sitemap' ? sitemapName(url) : ROBOTS + url
}

export function sitemapName(url: string): string {
  return SITEMAP + url
}

/** The URL in a name. */
export function urlIn(name: string): string {
  if (name.startsWith(SITEMAP)) return name.slice(SITEMAP.length)
  return name.startsWith(ROBOTS) ? name.slice(ROBOTS.length) : name
}
