/** How requests are put together on their way in. */

import { KumoError } from '../../errors.js'
import type { SitemapEntry } from '../../extract/contract.js'
import type { CrawlRequest } from '../../types.js'

/** Makes the request of a URL. */
export type MakeRequest = (url: string, host: string) => CrawlRequest

export function wrongAnswer(urls: number): KumoError {
  const message = `seen.addAll must answer with one boolean for each of ${urls} URLs`
  return new KumoError('KUMO_CONTRACT_BROKEN', message)
}

export function withHint(made: CrawlRequest, { lastmod, changefreq, priority }: SitemapEntry): CrawlRequest {
  const isEmpty = lastmod === undefined && changefreq === undefined && priority === undefined
  return isEmpty ? made : { ...made, hint: { lastmod, changefreq, priority } }
}

export function request(
  url: string,
  host: string,
  depth: number,
  priority: number,
  parent: string | undefined,
): CrawlRequest {
  return { url, host, depth, priority, attempt: 0, redirects: 0, parent }
}
