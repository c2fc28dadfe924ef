/**
 * A site can have more URLs than anybody could fetch, by malice or, far more often, by a link that is relative where it
 * should not be. Nobody can tell for certain from a URL; but URLs that people made are short, shallow and do not repeat
 * themselves, and these bounds are set where people have long stopped.
 */

import { invalidOption } from '../../errors.js'
import type { SkipReason } from '../../types.js'
import { QueryVariety } from './query-variety.js'

/** Bounds for URLs. `Infinity` lifts one. */
export interface TrapOptions {
  /** Characters of a URL. Default 2,000: browsers and servers used to refuse longer ones, so sites avoid them. */
  readonly urlLength?: number | undefined
  /** Directories and file of a path. Default 20. */
  readonly pathDepth?: number | undefined
  /** How often one segment may occur in a path. Default 3; numbers may occur more often, as in a date. */
  readonly pathRepeats?: number | undefined
  /** Different queries of one path on one host, give or take some percent. Default 1,000. */
  readonly queriesPerPath?: number | undefined
  /**
   * Parameters whose values name a page each, as in `/item?id=17`, with `*` for any text: queries that differ in nothing
   * else count as one. Default none.
   */
  readonly identifiers?: readonly string[] | undefined
}

/** Made by `traps`. */
export interface Traps {
  /**
   * Why a canonical URL should not be fetched; undefined if nothing speaks against it. It counts: ask when a URL is about
   * to enter the seen-set. Asking again for the same URL does not count again, but once a path has had all its queries,
   * it refuses those that it let in before as well.
   */
  check(url: string): SkipReason | undefined
}

const DEFAULT_URL_LENGTH = 2000
const DEFAULT_PATH_DEPTH = 20
const DEFAULT_PATH_REPEATS = 3
const DEFAULT_QUERIES_PER_PATH = 1000

/** Where deeper paths are allowed, repetition is looked for in this many segments only: comparing them is quadratic. */
const MOST_COMPARED = 64
/** A run of segments that follows itself so often is a circle; twice happens (`/en/docs/en/docs/`). */
const ROUNDS = 3

const NUMBER = /^\d+$/

/**
 * The bounds of one crawl. It depends on nothing but the URLs asked about and their order, and its memory is fixed.
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
  // So many segments at least occurred before, in a path that repeats itself.
  const fewestMet = Math.min(pathRepeats, 2 * (ROUNDS - 1))

  /** It jumps from slash to slash; only a path several of whose segments look alike is compared. */
  const checkPath = (url: string, start: number, end: number): SkipReason | undefined => {
    let depth = 0
    let looks = 0
    let alike = 0
    // Behind a last slash there is no segment.
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

/** Does one segment occur more than `most` times, or do several follow themselves in a circle? */
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
