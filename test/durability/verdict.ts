/**
 * Whether a crawl that was killed again and again kept its promises, as the server saw it: the log of requests and the
 * moments of the kills go in, findings and figures come out. The crawler's own word counts for nothing here; all that is
 * taken from its program is the pulse, and `lateRepeats` tells how much that had to excuse.
 */

import type { WebRequest } from '../loopback/web.js'
import type { Run } from './run.js'

/** What was seen of one crawl. */
export interface Evidence {
  /** In the order of their starts. */
  readonly requests: readonly WebRequest[]
  readonly runs: readonly Run[]
  /** Every URL that must have been served in the end; undefined where the crawl was not to be whole. */
  readonly wanted: ReadonlySet<string> | undefined
  /** URLs that robots.txt forbids. */
  readonly forbidden: ReadonlySet<string>
  readonly delayMs: number
  /** What a kill may take back: the time between two commits of the store. */
  readonly commitMs: number
}

export interface Figures {
  readonly kills: number
  /** Pages that had to be served, and those of them that were. */
  readonly wanted: number
  readonly served: number
  /** Requests for what had been asked for before, robots.txt included. */
  readonly repeats: number
  /** As many could have been excused: what each kill caught in flight or not yet committed. */
  readonly excusable: number
  /** How long before its kill the answer to a repeated request was given, at most. */
  readonly oldestRepeatMs: number
  /** Repeats of what was older than a commit and a write, and excused only because the program was busy or starved. */
  readonly lateRepeats: number
  /** Rests of a host during which the program was started anew. */
  readonly restsAcrossRestarts: number
  readonly shortestGapMs: number
  readonly shortestGapAcrossRestartsMs: number
  /** From the start of a program that takes up a crawl to its first request. */
  readonly restartsMs: readonly number[]
}

export interface Verdict extends Figures {
  /** What is wrong, a sentence each; empty if all is well. */
  readonly findings: readonly string[]
}

/** From the moment that a commit is due until a kill cannot undo it: a write of some thousand entries. */
export const SLACK_MS = 100
/** An answer is read in one turn of the program's loop, dealt with in another, and its commit begins in a third. */
const TURNS_TO_COMMIT = 3
/** No program is loaded in less: what is logged sooner after its start is what the one before left in its sockets. */
const LOADING_MS = 50
/** Each process sets its steady clock by the system's when it starts, and that is not exact. */
const CLOCKS_DIFFER_MS = 1

/** Judges one crawl. */
export function verdictOf(evidence: Evidence): Verdict {
  const findings: string[] = []
  const visits = evidence.requests.map((request) => ({ request, run: runOf(request, evidence.runs) }))
  const figures: Figures = {
    kills: evidence.runs.filter(({ killed }) => killed).length,
    ...checkPages(evidence, findings),
    ...checkRepeats(evidence, visits, findings),
    ...checkPoliteness(evidence, visits, findings),
    restartsMs: restartsOf(evidence.runs, visits),
  }
  for (const { complaints } of evidence.runs) {
    if (complaints !== '') findings.push(`the program complained: ${complaints.trim()}`)
  }
  return { ...figures, findings }
}

interface Visit {
  readonly request: WebRequest
  /** The number of the run that made it. */
  readonly run: number
}

/** The number of the run that made a request. */
function runOf({ start }: WebRequest, runs: readonly Run[]): number {
  return Math.max(
    0,
    runs.findLastIndex(({ startedAt }) => startedAt + LOADING_MS <= start),
  )
}

function checkPages({ requests, wanted, forbidden }: Evidence, findings: string[]) {
  const answered = new Set<string>()
  for (const { url, answered: isAnswered } of requests) {
    if (url === undefined) findings.push('something was asked for that the site does not have')
    else if (forbidden.has(url)) findings.push(`${url} was asked for, and robots.txt forbids it`)
    else if (isAnswered) answered.add(url)
  }
  let served = 0
  for (const url of wanted ?? []) {
    if (answered.has(url)) served++
    else findings.push(`${url} was never served`)
  }
  return { wanted: wanted?.size ?? 0, served }
}

/** A URL may be asked for again only if a kill caught it in flight, or answered and not yet committed. */
function checkRepeats({ runs, commitMs }: Evidence, visits: readonly Visit[], findings: string[]) {
  const latest = new Map<string, Visit>()
  const excusable = runs.map(() => new Set<string>())
  const repeated = runs.map(() => 0)
  let oldestRepeatMs = 0
  let lateRepeats = 0
  for (const visit of visits) {
    const { url, end } = visit.request
    if (url === undefined) continue
    const before = latest.get(url)
    latest.set(url, visit)
    if (mayBeUncommitted(end, runs[visit.run]!, commitMs)) excusable[visit.run]!.add(url)
    if (before === undefined) continue
    repeated[before.run]!++
    const ageMs = ageAtKill(before.request.end, runs[before.run]!)
    oldestRepeatMs = Math.max(oldestRepeatMs, ageMs)
    if (ageMs >= commitMs + SLACK_MS) lateRepeats++
    if (before.run === visit.run) findings.push(`${url} was asked for twice by run ${visit.run}`)
    else if (!excusable[before.run]!.has(url)) findings.push(staleRepeat(url, visit, before, runs))
  }
  for (const [index, urls] of excusable.entries()) {
    if (repeated[index]! <= urls.size) continue
    findings.push(`run ${index} was repeated ${repeated[index]} times, and ${urls.size} can be excused`)
  }
  const total = excusable.reduce((sum, urls) => sum + urls.size, 0)
  return { repeats: repeated.reduce((sum, n) => sum + n, 0), excusable: total, oldestRepeatMs, lateRepeats }
}

function mayBeUncommitted(end: number, run: Run, commitMs: number): boolean {
  if (!run.killed) return false
  const turnsMs = TURNS_TO_COMMIT * run.pulse.longestTurnMs(end, run.interruptedAt ?? end)
  return ageAtKill(end, run) < commitMs + SLACK_MS + turnsMs
}

/** How long before its kill an answer was given; 0 where there was no kill. */
function ageAtKill(end: number, { killed, interruptedAt = end }: Run): number {
  return killed ? interruptedAt - end : 0
}

function staleRepeat(url: string, visit: Visit, before: Visit, runs: readonly Run[]): string {
  const { killed, interruptedAt = Number.NaN } = runs[before.run]!
  const again = `${url} was asked for again by run ${visit.run}, though run ${before.run}`
  if (!killed) return `${again} was not killed`
  return `${again} had its answer ${Math.round(interruptedAt - before.request.end)} ms before it was killed`
}

/** One request at a time and a pause after each, whether or not the crawler was killed in between. */
function checkPoliteness({ runs, delayMs }: Evidence, visits: readonly Visit[], findings: string[]) {
  /** The visit of each host that ended last. */
  const latest = new Map<number, Visit>()
  let restsAcrossRestarts = 0
  let shortestGapMs = Number.POSITIVE_INFINITY
  let shortestGapAcrossRestartsMs = Number.POSITIVE_INFINITY
  for (const visit of visits) {
    const { host, url, start, end } = visit.request
    const before = latest.get(host)
    if (before === undefined || end > before.request.end) latest.set(host, visit)
    if (before === undefined) continue
    const gapMs = start - before.request.end
    const isAcross = before.run !== visit.run
    shortestGapMs = Math.min(shortestGapMs, gapMs)
    if (isAcross) {
      shortestGapAcrossRestartsMs = Math.min(shortestGapAcrossRestartsMs, gapMs)
      if (runs[visit.run]!.startedAt < before.request.end + delayMs) restsAcrossRestarts++
    }
    if (gapMs < 0) findings.push(`${url} was asked for while its host was busy with ${before.request.url}`)
    else if (gapMs < delayMs - (isAcross ? CLOCKS_DIFFER_MS : 0)) {
      const when = isAcross ? ', across a restart' : ''
      findings.push(
        `${url} was asked for ${gapMs.toFixed(1)} ms after the visit before, not ${delayMs}${when}`,
      )
    }
  }
  return { restsAcrossRestarts, shortestGapMs, shortestGapAcrossRestartsMs }
}

function restartsOf(runs: readonly Run[], visits: readonly Visit[]): number[] {
  const first = new Map<number, number>()
  for (const { request, run } of visits) if (!first.has(run)) first.set(run, request.start)
  return runs.flatMap(({ startedAt }, index) => {
    const at = first.get(index)
    return index === 0 || at === undefined ? [] : [at - startedAt]
  })
}
