/** Looks for entries that scrolled off on older pages of the feed, before they are counted as lost. */

import { canonicalizeUrl, hostOf } from '../../url/canonicalize.js'
import type { Feed, FeedMemory, RecoveredFeed, RecoverOptions } from '../contract.js'
import { compareFeed } from './compare.js'
import { decodeState } from './memory.js'

const MAX_PAGES = 10
const IS_WORDPRESS = /wordpress/i
const PAGE_PARAMETER = 'paged'

/**
 * Joins the pages of a feed that were read so far, and says which page to read next: until an entry is known, there is no
 * older page, or `maxPages` were read.
 *
 * @param memory Of the last poll. Without one there is nothing to recover.
 * @param pages The feed itself, then its older pages in the order in which they were read.
 * @example
 * const pages = [await read(url)]
 * let recovered = recoverFeed(memory, pages, { url })
 * while (recovered.next !== undefined) {
 *   pages.push(await read(recovered.next))
 *   recovered = recoverFeed(memory, pages, { url })
 * }
 * const difference = compareFeed(memory, recovered.feed, Date.now(), { window: recovered.window })
 */
export function recoverFeed(
  memory: FeedMemory | undefined,
  pages: readonly [Feed, ...Feed[]],
  { url, maxPages = MAX_PAGES }: RecoverOptions,
): RecoveredFeed {
  const [first, ...older] = pages
  const entries = [...first.entries, ...older.flatMap((page) => page.entries)]
  const feed = older.length === 0 ? first : { ...first, entries }
  const state = memory === undefined ? undefined : decodeState(memory)
  const { loss } = compareFeed(memory, feed, state?.polledAt ?? 0)
  const last = pages.at(-1)!
  const stop = !loss.possible || pages.length >= maxPages || last.entries.length === 0
  const next = stop ? undefined : olderPage(pages, url)
  return { feed, window: first.entries.length, next, overlaps: !loss.possible && loss.overlap !== undefined }
}

/** The page with the entries before those of the last page; on the same host, and none that was read already. */
function olderPage(pages: readonly [Feed, ...Feed[]], url: string): string | undefined {
  const own = canonicalizeUrl(url)
  const [first] = pages
  const last = pages.at(-1)!
  if (own === undefined) return undefined
  const read = new Set([own, ...pages.slice(0, -1).flatMap((page) => declaredOlder(page) ?? [])])
  const declared = declaredOlder(last)
  const next =
    declared ??
    (pages.every((page) => declaredOlder(page) === undefined)
      ? numbered(first, own, pages.length + 1)
      : undefined)
  return next === undefined || hostOf(next) !== hostOf(own) || read.has(next) ? undefined : next
}

function declaredOlder({ hints }: Feed): string | undefined {
  const written = hints.prevArchive ?? hints.next
  return written === undefined ? undefined : canonicalizeUrl(written)
}

/** WordPress has older pages and does not say so. */
function numbered({ generator }: Feed, url: string, page: number): string | undefined {
  if (generator === undefined || !IS_WORDPRESS.test(generator)) return undefined
  const numberedUrl = new URL(url)
  numberedUrl.searchParams.set(PAGE_PARAMETER, String(page))
  return canonicalizeUrl(numberedUrl.href)
}
