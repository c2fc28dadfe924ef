/** Documents made from a seed, with words as frequent as in natural text, and folders for indexes. */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openIndex, openWriter, type SearchDocument, type SearchIndex, type WriterOptions } from 'kumo/search'
import { onTestFinished } from 'vitest'
import { seededRandom } from '../../src/time.js'

const SYLLABLES = 'ka ri mo ten lu sha vo pe dra ni so ul ba gri fen ta'.split(' ')

/** Word number `rank`, the same in every run. */
function wordAt(rank: number): string {
  let word = ''
  for (let left = rank + SYLLABLES.length; left > 0; left = Math.floor(left / SYLLABLES.length))
    word += SYLLABLES[left % SYLLABLES.length]
  return word
}

/** `count` documents with up to five sections. */
export function madeDocuments(count: number, seed = 1, host = 'example.com'): SearchDocument[] {
  const random = seededRandom(seed)
  const word = () => wordAt(Math.floor(2000 * random.next() ** 3))
  const text = (words: number) => Array.from({ length: words }, word).join(' ')
  return Array.from({ length: count }, (_, index) => ({
    url: `https://${host}/page-${index}`,
    title: text(3),
    sections: Array.from({ length: 1 + Math.floor(random.next() * 5) }, (_, section) => ({
      anchor: `s${section}`,
      heading: text(2 + Math.floor(random.next() * 3)),
      text: text(20 + Math.floor(random.next() * 150)),
    })),
  }))
}

/** Queries of one to three words that such documents have. */
export function madeQueries(count: number, seed = 2): string[] {
  const random = seededRandom(seed)
  return Array.from({ length: count }, () =>
    Array.from({ length: 1 + Math.floor(random.next() * 3) }, () =>
      wordAt(Math.floor(300 * random.next())),
    ).join(' '),
  )
}

/** A folder that the test removes. */
export function freshFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'kumo-search-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** An index of these documents, committed in parts of `each`, opened for searching. */
export async function indexOf(
  documents: readonly SearchDocument[],
  options: WriterOptions = {},
  each = Number.POSITIVE_INFINITY,
): Promise<SearchIndex> {
  const folder = freshFolder()
  const writer = await openWriter(folder, { sync: false, ...options })
  for (const [at, document] of documents.entries()) {
    await writer.put(document)
    if ((at + 1) % each === 0) await writer.commit()
  }
  await writer.close()
  return opened(folder)
}

export async function opened(folder: string): Promise<SearchIndex> {
  const index = await openIndex(folder)
  onTestFinished(() => index.close())
  return index
}

/** What a search shows: documents, sections and scores in order. */
export async function shown(index: SearchIndex, query: string, limit = 10): Promise<string[]> {
  const { hits } = await index.search(query, { limit, highlight: false })
  return hits.map(({ id, anchor, score }) => `${id}#${anchor} ${score}`)
}
