/**
 * The measure of article-extraction-benchmark: a text is a multiset of four words each. Hits, extra and missed ones of a
 * page are divided by their sum, so that every page counts alike, and added up.
 */

import { existsSync, readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'

export interface Article {
  readonly url: string
  readonly html: string
  readonly articleBody: string
}

export interface Score {
  readonly precision: number
  readonly recall: number
  readonly f1: number
}

/** Shares of found, extra and missed shingles of one page. */
export type Tally = readonly [found: number, extra: number, missed: number]
type Shingles = ReadonlyMap<string, number>

const ARTICLES = new URL('../../shared/suites/content/articles.json.gz', import.meta.url)
const WORDS_A_SHINGLE = 4

/** Undefined without ../shared. */
export function articles(): readonly Article[] | undefined {
  return existsSync(ARTICLES)
    ? (JSON.parse(gunzipSync(readFileSync(ARTICLES)).toString()) as Article[])
    : undefined
}

export function shinglesOf(text: string): Shingles {
  const words = text.match(/[\p{L}\p{N}_]+/gu) ?? []
  const shingles = new Map<string, number>()
  for (let at = 0; at < Math.max(1, words.length - WORDS_A_SHINGLE + 1); at++) {
    const shingle = words.slice(at, at + WORDS_A_SHINGLE).join(' ')
    shingles.set(shingle, (shingles.get(shingle) ?? 0) + 1)
  }
  return shingles
}

export function tally(truth: Shingles, found: Shingles): Tally {
  let [hits, extra, missed] = [0, 0, 0]
  for (const [shingle, count] of truth) {
    const both = Math.min(count, found.get(shingle) ?? 0)
    hits += both
    missed += count - both
  }
  for (const [shingle, count] of found) extra += Math.max(0, count - (truth.get(shingle) ?? 0))
  const sum = hits + extra + missed
  return sum === 0 ? [0, 0, 0] : [hits / sum, extra / sum, missed / sum]
}

export function scoreOf(tallies: readonly Tally[]): Score {
  const sum = (which: 0 | 1 | 2) => tallies.reduce((total, each) => total + each[which], 0)
  const precision = sum(0) / (sum(0) + sum(1))
  const recall = sum(0) / (sum(0) + sum(2))
  return { precision, recall, f1: (2 * precision * recall) / (precision + recall) }
}

/** The score of every fifth page, from the first, the second, … */
export function foldScores(tallies: readonly Tally[], folds: number): readonly Score[] {
  return Array.from({ length: folds }, (_, fold) => scoreOf(tallies.filter((_, at) => at % folds === fold)))
}
