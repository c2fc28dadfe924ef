/** New requests, as admission makes them. */

import type { SitemapEntry } from '../../extract/contract.js'
import type { CrawlRequest } from '../../types.js'
import type { RequestSpec } from '../../url/request-options.js'

export function withHint(made: CrawlRequest, { lastmod, changefreq, priority }: SitemapEntry): CrawlRequest {
  const isEmpty = lastmod === undefined && changefreq === undefined && priority === undefined
  return isEmpty ? made : { ...made, hint: { lastmod, changefreq, priority } }
}

export function withOutside(made: CrawlRequest, outside: number): CrawlRequest {
  return outside === 0 ? made : { ...made, extras: { ...made.extras, outside } }
}

/** The request that the program has asked for. */
export function requestOf(
  { priority, extras, notBefore }: RequestSpec,
  url: string,
  host: string,
  depth: number,
  parent: string | undefined,
): CrawlRequest {
  const made = newRequest(url, host, depth, priority, parent)
  if (extras === undefined && notBefore === undefined) return made
  return { ...made, ...(extras && { extras }), ...(notBefore !== undefined && { notBefore }) }
}

/** A request for a URL that was not fetched yet. */
export function newRequest(
  url: string,
  host: string,
  depth: number,
  priority: number,
  parent: string | undefined,
): CrawlRequest {
  return { url, host, depth, priority, attempt: 0, redirects: 0, parent }
}
