/** Pages to pass to hooks and extractors, created as the crawl creates them. */

import type { Page } from '../extract/contract.js'
import { FetchedPage } from '../extract/page.js'
import type { ResponseHeaders } from '../fetch/contract.js'
import { canonicalizeUrl } from '../url/canonicalize.js'

/** The content of a page. */
export interface PageOfOptions {
  /** Absolute http(s) URL. */
  url: string
  /** A string is encoded as UTF-8. */
  body: string | Uint8Array
  /** Default: `content-type: text/html; charset=utf-8`. */
  headers?: Readonly<Record<string, string>> | undefined
  /** Default 200. */
  status?: number | undefined
}

/** When the page was fetched, and how long it took: fixed, so that a test always sees the same page. */
const TIMING = { fetchedAt: 1_700_000_000_000, fetchMs: 12 }
const HTML = { 'content-type': 'text/html; charset=utf-8' }

/**
 * Creates a real page for a test: links, title, text and DOM are computed on first access, as in a crawl.
 *
 * @example
 * const page = pageOf({ url: 'https://example.com/', body: '<title>Hello</title><a href="/about">' })
 * page.title        // 'Hello'
 * page.links[0].url // 'https://example.com/about'
 */
export function pageOf({ url: given, body: content, headers = HTML, status = 200 }: PageOfOptions): Page {
  const url = canonicalizeUrl(given)
  if (url === undefined) throw new TypeError(`pageOf: not an http(s) URL: ${given}`)
  const { host } = new URL(url)
  const request = { url, host, depth: 0, priority: 0, attempt: 0, redirects: 0, parent: undefined }
  const body = typeof content === 'string' ? Buffer.from(content) : content
  const wireBytes = body.byteLength
  return new FetchedPage(
    request,
    { ok: true, status, headers: headersOf(headers), body, wireBytes, skippedBody: false },
    TIMING,
  )
}

function headersOf(given: Readonly<Record<string, string>>): ResponseHeaders {
  const byName = new Map(Object.entries(given).map(([name, value]) => [name.toLowerCase(), value]))
  return { get: (name) => byName.get(name), entries: () => byName.entries() }
}
