import type { NamedEntry } from '../../feeds/contract.js'
import { canonicalizeUrl } from '../../url/canonicalize.js'
import type { RequestSpec } from '../../url/request-options.js'

/** In characters of JSON, as for every request. */
const MAX_DATA_LENGTH = 64 * 1024

/** Requests for the articles of entries: as if the program had asked for them, with the entry as data. */
export function articlesOf(entries: readonly NamedEntry[], label: string, depth: number): RequestSpec[] {
  return entries.flatMap((entry) => {
    const url = entry.url === undefined ? undefined : canonicalizeUrl(entry.url)
    return url === undefined ? [] : [{ url, depth, priority: 0, extras: { label, data: dataOf(entry) } }]
  })
}

/** The entry; its texts are left out if it is too large, because the page has them anyway. */
function dataOf(entry: NamedEntry): string {
  const { key, id, url, title, published, updated } = entry
  const forms: object[] = [
    entry,
    { ...entry, content: undefined },
    { ...entry, content: undefined, summary: undefined },
  ]
  for (const form of forms) {
    const text = JSON.stringify(form)
    if (text.length <= MAX_DATA_LENGTH) return text
  }
  const cut = (text: string | undefined) => text?.slice(0, 1000)
  return JSON.stringify({ key, id: cut(id), url: cut(url), title: cut(title), published, updated })
}
