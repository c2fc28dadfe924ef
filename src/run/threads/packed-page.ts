/** A page as data, for a hook in another thread or process. */

import { deserialize, serialize } from 'node:v8'
import type { Page } from '../../extract/contract.js'
import { completePage, FetchedPage } from '../../extract/page.js'
import type { CrawlRequest } from '../../types.js'
import { contentOf } from '../../workers/closures/proxy.js'
import type { PageContent } from '../../workers/messages.js'

export function pageOf(content: PageContent, product: string): FetchedPage {
  const { url, host, depth, parent, via, attempt, status, body, truncated, wireBytes, priority, extras } =
    content
  const request: CrawlRequest = {
    url,
    host,
    depth,
    priority,
    attempt,
    redirects: via.length,
    parent,
    ...(via.length > 0 && { via }),
    ...(extras && { extras }),
  }
  const headers = new Map(content.headers)
  const response = { ok: true, status, headers, body, wireBytes, skippedBody: false, truncated } as const
  const { fetchedAt, fetchMs } = content
  const page = new FetchedPage(request, response, { fetchedAt, fetchMs }, product.toLowerCase())
  page.change = content.change
  return page
}

export interface PackedContent {
  readonly page: PageContent
  readonly data: object
}

export function packedContent(page: Page): PackedContent {
  return { page: contentOf(page, (page as FetchedPage).extras), data: page.data }
}

/** It follows nothing. */
export function unpackedPage(
  { page: content, data }: PackedContent,
  productOf: (host: string) => string,
): Page {
  const page = pageOf(content, productOf(content.host))
  completePage(page, data, [])
  page.isSettled = true
  return page
}

/** For another process. @throws if the page has data that cannot be cloned. */
export function packPage(page: Page): Uint8Array {
  return serialize(packedContent(page))
}

export function unpackPage(packed: Uint8Array, productOf: (host: string) => string): Page {
  return unpackedPage(deserialize(packed) as PackedContent, productOf)
}
