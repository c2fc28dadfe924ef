/**
 * What visits observed about a page, as a short string. There is one for every known page, so an observation takes two
 * characters, or four if the server reported when the content changed. JSON does not escape any of these characters.
 * Only the latest observations are kept: older ones describe habits that a page may have given up.
 */

import type { Observation } from './contract.js'

/** Enough for an estimate within 20 percent; older observations would have little weight. */
const REMEMBERED = 24

/** A time is stored as its logarithm in steps of 1 %, so the error is at most half of that. */
const STEP = 0.01
/** From 1 ms to 56 years: with the kind, what two characters can encode. */
const STEPS = 2820

/** Without `"` and `\`, which JSON would escape, and without the space. */
const DIGITS = ((): string => {
  let digits = ''
  for (let code = 33; code < 127; code++) if (code !== 34 && code !== 92) digits += String.fromCharCode(code)
  return digits
})()
const BASE = DIGITS.length
const VALUES = new Int8Array(128).fill(-1)
for (let i = 0; i < BASE; i++) VALUES[DIGITS.charCodeAt(i)] = i

/** The kinds of observations; `DATED` is followed by the age. */
const UNCHANGED = 0
const CHANGED = 1
const DATED = 2
const KINDS = 3

/**
 * Content that seems younger than this was generated for the visit: the server reports the time of its response, not of
 * a change. It would indicate a page that changes every second.
 */
const YOUNGEST_MS = 2_000

/**
 * Appends an observation. The oldest one is dropped if there are too many. The first visit to a page is an observation
 * too if the server reports the age: a change `ageMs` ago, with an infinite `elapsedMs`.
 */
export function observed(history: string, observation: Observation): string {
  const start = startOf(history)
  return history.slice(start) + encoded(observation)
}

/**
 * The observations of a history, oldest first. The age is present only where it adds information: at a change, and if
 * the content is newer than the previous visit.
 */
export function observations(history: string): Observation[] {
  const found: Observation[] = []
  for (let at = 0; at + 1 < history.length; ) {
    const code = codeAt(history, at)
    if (code < 0) break
    at += 2
    const elapsedMs = timeOf(Math.floor(code / KINDS))
    const kind = code % KINDS
    if (kind !== DATED) {
      found.push({ elapsedMs, changed: kind === CHANGED })
      continue
    }
    const age = codeAt(history, at)
    at += 2
    found.push(
      age < 0
        ? { elapsedMs, changed: true }
        : { elapsedMs, changed: true, ageMs: timeOf(Math.floor(age / KINDS)) },
    )
  }
  return found
}

function encoded({ elapsedMs, changed, ageMs }: Observation): string {
  if (!changed) return digits(stepOf(elapsedMs) * KINDS + UNCHANGED)
  const isTold = ageMs !== undefined && ageMs >= YOUNGEST_MS && ageMs < elapsedMs
  if (!isTold) return digits(stepOf(elapsedMs) * KINDS + CHANGED)
  return digits(stepOf(elapsedMs) * KINDS + DATED) + digits(stepOf(ageMs) * KINDS)
}

/** The index from which to keep observations so that one more fits. */
function startOf(history: string): number {
  const starts: number[] = []
  for (let at = 0; at < history.length; ) {
    starts.push(at)
    at += codeAt(history, at) % KINDS === DATED ? 4 : 2
  }
  return starts.length < REMEMBERED ? 0 : starts[starts.length - REMEMBERED + 1]!
}

/** An invalid or missing time counts as the shortest. */
function stepOf(ms: number): number {
  if (!(ms > 1)) return 0
  return Math.min(STEPS - 1, Math.round(Math.log(ms) / STEP))
}

function timeOf(step: number): number {
  return Math.exp(step * STEP)
}

function digits(code: number): string {
  return DIGITS[Math.floor(code / BASE)]! + DIGITS[code % BASE]!
}

/** Negative if there is no character. */
function codeAt(history: string, at: number): number {
  const high = VALUES[history.charCodeAt(at)] ?? -1
  const low = VALUES[history.charCodeAt(at + 1)] ?? -1
  return high < 0 || low < 0 ? -1 : high * BASE + low
}
