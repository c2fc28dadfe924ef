/**
 * Limits for endless sites. A site can have more URLs than anyone could fetch, through malice or, far more often, through a
 * relative link that should be absolute. A single URL proves nothing; but URLs made by people are short, shallow and do not
 * repeat themselves, and these limits are well beyond that.
 */

import { invalidOption } from '../../errors.js'
import type { SkipReason } from '../../types.js'
import { QueryVariety } from './query-variety.js'

/** Limits on URLs. `Infinity` disables a limit. */
export interface TrapOptions {
  /** Maximum length of a URL. Default 2,000: browsers and servers used to reject longer ones, so sites avoid them. */
  readonly urlLength?: number | undefined
  /** Maximum number of path segments. Default 20. */
  readonly pathDepth?: number | undefined
  /** How often a segment may occur in a path. Default 3; numbers may occur more often, as in a date. */
  readonly pathRepeats?: number | undefined
  /** Maximum number of different queries of a path on a host, within a few percent. Default 1,000. */
  readonly queriesPerPath?: number | undefined
  /**
   * Parameters whose values select a page, as in `/item?id=17`; `*` matches any text. Queries that differ only in these
   * count as one. Default none.
   */
  readonly identifiers?: readonly string[] | undefined
}

/** Created by `traps`. */
export interface Traps {
  /**
   * The reason not to fetch a canonical URL; undefined if there is none. It counts queries: call it when a URL is about to
   * enter the seen-set. Checking the same URL again does not count it again, but once a path has exceeded its limit, even
   * URLs that were accepted before are rejected.
   */
  check(url: string): SkipReason | undefined
}

const DEFAULT_URL_LENGTH = 2000
const DEFAULT_PATH_DEPTH = 20
const DEFAULT_PATH_REPEATS = 3
const DEFAULT_QUERIES_PER_PATH = 1000

/** In deeper paths, only this many segments are compared: comparing is quadratic. */
const MOST_COMPARED = 64
/** A sequence of segments that occurs this often in a row is a loop; twice happens (`/en/docs/en/docs/`). */
const ROUNDS = 3

const NUMBER = /^\d+$/

/**
 * The limits of one crawl. Deterministic: the result depends only on the URLs and their order. Its memory is fixed.
 *
 * @example
 * const bounds = traps({ identifiers: ['id'] })
 * bounds.check('https://example.com/a/b/a/b/a/b/') // 'path-repeats'
 */
export function traps(options: TrapOptions = {}): Traps {
  const urlLength = bound('urlLength', options.urlLength, DEFAULT_URL_LENGTH)
  const pathDepth = bound('pathDepth', options.pathDepth, DEFAULT_PATH_DEPTH)
  const pathRepeats = bound('pathRepeats', options.pathRepeats, DEFAULT_PATH_REPEATS)
  const queriesPerPath = bound('queriesPerPath', options.queriesPerPath, DEFAULT_QUERIES_PER_PATH)
  const isCounted = queriesPerPath !== Number.POSITIVE_INFINITY
  const variety = isCounted ? new QueryVariety(queriesPerPath, options.identifiers ?? []) : undefined
  // The least number of segments that look like an earlier one in a path that repeats itself.
  const fewestMet = Math.min(pathRepeats, 2 * (ROUNDS - 1))

  /** Jumps from slash to slash; compares segments only if several look alike. */
  const checkPath = (url: string, start: number, end: number): SkipReason | undefined => {
    let depth = 0
    let looks = 0
    let alike = 0
    // After a trailing slash there is no segment.
    for (let begin = start; begin < end; ) {
      let next = url.indexOf('/', begin)
      if (next < 0 || next > end) next = end
      if (++depth > pathDepth) return 'path-too-deep'
      const look = 1 << (next - begin + url.charCodeAt(begin) + 3 * url.charCodeAt(next - 1))
      if ((looks & look) !== 0) alike++
      looks |= look
      begin = next + 1
    }
    if (alike < fewestMet) return undefined
    return repeats(url.slice(start, end).split('/', MOST_COMPARED), pathRepeats) ? 'path-repeats' : undefined
  }

  return {
    check(url) {
      if (url.length > urlLength) return 'url-too-long'
      const query = url.indexOf('?')
      const end = query < 0 ? url.length : query
      const reason = checkPath(url, url.indexOf('/', 'https://'.length) + 1, end)
      if (reason !== undefined || query < 0) return reason
      return variety?.add(url, query) ? 'query-variety' : undefined
    },
  }
}

/** Whether a segment occurs more than `most` times, or a sequence of segments forms a loop. */
function repeats(segments: readonly string[], most: number): boolean {
  if (most === Number.POSITIVE_INFINITY) return false
  const count = segments.at(-1) === '' ? segments.length - 1 : segments.length
  for (let i = 0; i + most < count; i++) {
    let times = 1
    for (let j = i + 1; j < count; j++) if (segments[j] === segments[i]) times++
    if (times > most && !NUMBER.test(segments[i]!)) return true
  }
  for (let length = 2; length * ROUNDS <= count; length++) {
    let same = 0
    for (let i = length; i < count; i++) {
      same = segments[i] === segments[i - length] ? same + 1 : 0
      if (same === length * (ROUNDS - 1)) return true
    }
  }
  return false
}

function bound(name: string, given: number | undefined, fallback: number): number {
  if (given === undefined) return fallback
  const isCount = Number.isInteger(given) && given >= 1
  if (isCount || given === Number.POSITIVE_INFINITY) return given
  throw invalidOption(`traps.${name}`, given, 'a whole number, 1 or more, or Infinity')
}
