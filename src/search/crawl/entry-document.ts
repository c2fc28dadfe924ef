/** From an entry of a feed to a document of an index. */

import { readableText } from '../../extract/html/text.js'
import type { NamedEntry } from '../../feeds/contract.js'
import type { SearchDocument } from '../contract.js'

/** Different from the ids of pages, so that the article itself may be in the index too. */
export function entryId(feed: string, key: string): string {
  return `${feed} ${key}`
}

/** Undefined if the entry leads nowhere. */
export function documentOfEntry(
  feed: string,
  { key, url, title, content, summary, updated, published }: NamedEntry,
  language: string | undefined,
): SearchDocument | undefined {
  if (url === undefined) return undefined
  return {
    id: entryId(feed, key),
    url,
    title: title ?? '',
    language,
    date: updated ?? published,
    text: readableText(content ?? summary ?? ''),
  }
}
