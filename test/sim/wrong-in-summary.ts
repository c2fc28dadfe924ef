/** What a summary claims, against what was seen from outside. */

import type { EndReason } from '../../src/index.js'
import { hostOf } from '../../src/url/canonicalize.js'
import type { ScenarioRun } from './run-scenario.js'
import type { Course, Scenario } from './scenario.js'

/** What an aborted crawl may take until it is over. */
const ABORT_MS = 1000
/** Instants of today are kept to about a quarter of a microsecond. */
const ROUNDING_MS = 0.001

export function wrongInSummary(
  { course, delayMs, connections }: Scenario,
  { log, delivered, summary }: Omit<ScenarioRun, 'findings'>,
  expected: ReadonlySet<string>,
): string[] {
  const wrong: string[] = []
  const claim = (what: string, holds: boolean) => {
    if (!holds) wrong.push(`summary: ${what}`)
  }
  const { reason, pages, inFlight, pending, robots, shortestGapMs, elapsedMs } = summary
  claim(`a ${course.kind} ended as '${reason}'`, reasonsOf(course, expected.size).includes(reason))
  const rulesFetched = log.filter(({ url }) => url.endsWith('/robots.txt')).length
  claim(`${robots} requests for robots.txt, not ${rulesFetched}`, robots === rulesFetched)
  if (course.kind !== 'abort' && course.kind !== 'leave' && course.kind !== 'time limit') {
    claim(`${pages} pages, not ${delivered.length}`, pages === delivered.length)
    claim(`${inFlight} in flight at the end`, inFlight === 0)
  }
  if (reason === 'done') claim(`done with ${pending} pending`, pending === 0)
  if (course.kind === 'page limit') {
    const exact = Math.min(course.pages, expected.size)
    claim(`${delivered.length} pages where the limit makes it ${exact}`, delivered.length === exact)
  }
  if (course.kind === 'host limit') {
    const most = Math.max(0, ...countBy(delivered.map(hostOf)).values())
    claim(`${most} pages of a host; the limit is ${course.pagesPerHost}`, most <= course.pagesPerHost)
  }
  if (course.kind === 'time limit' || course.kind === 'abort') {
    claim(`${elapsedMs} ms, aborted after ${course.afterMs}`, elapsedMs <= course.afterMs + ABORT_MS)
  }
  if (connections === 1 && shortestGapMs !== undefined) {
    claim(`a gap of ${shortestGapMs} ms; the delay is ${delayMs}`, shortestGapMs >= delayMs - ROUNDING_MS)
  }
  return wrong
}

function reasonsOf(course: Course, pages: number): readonly EndReason[] {
  switch (course.kind) {
    case 'page limit':
      return [course.pages <= pages ? 'limit' : 'done']
    case 'byte limit':
    case 'time limit':
      return ['limit', 'done']
    case 'stop':
      return ['stopped', 'done']
    case 'abort':
    case 'leave':
      return ['aborted', 'done']
    default:
      return ['done']
  }
}

function countBy(words: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1)
  return counts
}
