import type { CrawlRequest } from '../types.js'

/**
 * The name by which a request is known to the seen-set: its URL. A sitemap met as a page is something else, so as a
 * sitemap it has another name.
 */
export function knownAs({ url, purpose }: Pick<CrawlRequest, 'url' | 'purpose'>): string {
  return purpose?.kind === 'sitemap' ? sitemapName(url) : url
}

export function sitemapName(url: string): string {
  return SITEMAP + url
}

/** The URL in a name. */
export function urlIn(name: string): string {
  return name.startsWith(SITEMAP) ? name.slice(SITEMAP.length) : name
}

const SITEMAP = 'sitemap '
