/** Cuts sections into chunks with stable ids, and compares the chunks of two visits. */

import { KumoError } from '../../../errors.js'
import { owned } from '../../../owned.js'
import { fingerprintText } from '../../../url/fingerprint.js'
import type { Page } from '../../contract.js'
import type { Chunk, ChunkChanges, ChunkIdentity, ChunkOptions } from './contract.js'
import { wordEnds } from './words.js'

const MAX_WORDS = 300
const SENTENCE_END = /[.!?…。！？]["'”’)\]]*$/u

/**
 * Cuts the sections of a page into chunks of at most `maxWords` words. A chunk ends where a block or a sentence ends if
 * there is such a place in its second half. Sections without text have no chunks.
 *
 * @throws KumoError `KUMO_INVALID_OPTION` if an option is wrong, `KUMO_NO_DOCUMENT` if the page is too large.
 * @example
 * import { chunks } from 'kumo/content'
 *
 * for (const { id, url, path, heading, text } of chunks(page, { maxWords: 200, overlap: 20 })) {
 *   await index.put(id, { url, title: [...path, heading].join(' › '), text })
 * }
 */
export function chunks(page: Pick<Page, 'id' | 'url' | 'sections'>, options: ChunkOptions = {}): Chunk[] {
  const { maxWords = MAX_WORDS, overlap = 0 } = options
  checkNumber('maxWords', maxWords, 1, Number.MAX_SAFE_INTEGER)
  checkNumber('overlap', overlap, 0, maxWords - 1)
  const all: Chunk[] = []
  const occurrences = new Map<string, number>()
  for (const section of page.sections) {
    if (section.text === '') continue
    const headings = JSON.stringify([...section.path, section.heading])
    // Sections with the same headings, as "Example" often is, are numbered.
    const occurrence = occurrences.get(headings) ?? 0
    occurrences.set(headings, occurrence + 1)
    const place = fingerprintText(`${page.id} ${occurrence} ${headings}`)
    for (const [index, { text, words }] of pieces(section.text, maxWords, overlap).entries()) {
      all.push({
        id: `${place}-${index}`,
        digest: fingerprintText(`${headings} ${text}`),
        url: section.id === undefined ? page.url : `${page.url}#${encodeURI(section.id)}`,
        heading: section.heading,
        path: section.path,
        text: owned(text),
        words,
      })
    }
  }
  return all
}

/**
 * Compares the chunks of a page with those of an earlier visit, of which `id` and `digest` have to be kept.
 *
 * @example
 * const { new: added, changed, gone } = compareChunks(stored, chunks(page))
 * await index.put([...added, ...changed])
 * await index.delete(gone.map(({ id }) => id))
 */
export function compareChunks<Before extends ChunkIdentity>(
  before: Iterable<Before>,
  after: Iterable<Chunk>,
): ChunkChanges<Before> {
  const known = new Map<string, Before>()
  for (const chunk of before) known.set(chunk.id, chunk)
  const changes = { new: [] as Chunk[], changed: [] as Chunk[], unchanged: [] as Chunk[] }
  for (const chunk of after) {
    const earlier = known.get(chunk.id)
    known.delete(chunk.id)
    if (earlier === undefined) changes.new.push(chunk)
    else if (earlier.digest === chunk.digest) changes.unchanged.push(chunk)
    else changes.changed.push(chunk)
  }
  return { ...changes, gone: [...known.values()] }
}

function pieces(text: string, maxWords: number, overlap: number): { text: string; words: number }[] {
  const ends = wordEnds(text)
  if (ends.length <= maxWords) return [{ text, words: ends.length }]
  const found: { text: string; words: number }[] = []
  for (let first = 0; ; ) {
    const last = first + maxWords >= ends.length ? ends.length : bestEnd(text, ends, first, maxWords, overlap)
    const start = first === 0 ? 0 : ends[first - 1]!
    const stop = last === ends.length ? text.length : ends[last - 1]!
    found.push({ text: text.slice(start, stop).replace(/^[^\S\n]*\n?|\s+$/g, ''), words: last - first })
    if (last === ends.length) return found
    first = last - overlap
  }
}

/** The number of words after which to cut: where a block ends, else a sentence, else after the most that fit. */
function bestEnd(
  text: string,
  ends: readonly number[],
  first: number,
  maxWords: number,
  overlap: number,
): number {
  const most = first + maxWords
  // The next piece begins `overlap` words earlier and must still get further.
  const least = first + Math.max(Math.ceil(maxWords / 2), overlap + 1)
  let sentence: number | undefined
  for (let last = most; last >= least; last--) {
    const between = text.slice(ends[last - 1]!, ends[last] ?? text.length)
    if (/^\S*\s*\n/.test(between)) return last
    const word = text.slice(ends[last - 2] ?? 0, ends[last - 1]!) + /^\S*/.exec(between)![0]
    if (sentence === undefined && SENTENCE_END.test(word)) sentence = last
  }
  return sentence ?? most
}

function checkNumber(name: keyof ChunkOptions, value: number, least: number, most: number): void {
  if (Number.isInteger(value) && value >= least && value <= most) return
  const range = most === Number.MAX_SAFE_INTEGER ? `at least ${least}` : `from ${least} to ${most}`
  throw new KumoError(
    'KUMO_INVALID_OPTION',
    `chunks(): ${name} is a whole number, ${range}, not ${String(value)}`,
  )
}
