/** What must be true of a crawl over several shards, whatever moves and whoever dies. */

import { byHost } from '../../../src/partition/by-host.js'
import { checkRun, type FindingKind } from '../../../src/sim/index.js'
import { WebMap } from '../../../src/sim/web-map.js'
import { hostOf } from '../../../src/url/canonicalize.js'
import { baseFor, resolve } from '../../../src/url/resolve.js'
import type { CrewRun } from './run.js'
import type { CrewScenario } from './scenario.js'

/** What a death may bring about: somebody tries a page again who knows nothing of the first time. See `unexplained`. */
const OF_DEATHS: ReadonlySet<FindingKind> = new Set([
  'delivered-twice',
  'fetched-again',
  'too-many-tries',
  'backoff',
  'robots-late',
  'missing',
])

/** Half of the first wait before a retry: chance takes at most the other half. */
const LEAST_BACKOFF_MS = 500
/** Failures in a row heal after so many tries. */
const LAST_TRY = 2

export function wrongInCrew(scenario: CrewScenario, run: CrewRun): string[] {
  const { web, delivered, deaths } = run
  const { concurrency, delayMs, robots } = scenario
  const expected = web.expected({ robots })
  const hasDeaths = deaths.length > 0
  const findings = checkRun({
    log: web.log,
    delivered,
    expected,
    complete: run.summary.reason === 'done' && scenario.course.kind !== 'host limit',
    concurrency,
    delayMs,
    connections: 1,
    retries: 2,
    robots,
    allows: (url) => web.allows(url),
    // Whoever takes the place of a dead thread may know nothing of what hosts had asked for.
    crawlDelayMs: (host) => (hasDeaths ? 0 : web.crawlDelayMs(host)),
    backoffMs: LEAST_BACKOFF_MS,
  })
  return [
    ...run.findings,
    ...findings
      .filter(({ kind }) => !hasDeaths || !OF_DEATHS.has(kind))
      .map(({ kind, message }) => `${kind}: ${message}`),
    ...(hasDeaths ? [...fetchedAgain(scenario, run), ...missing(scenario, run, expected)] : []),
    ...notRetried(scenario, run),
    ...wrongInSummary(scenario, run, expected),
    ...wrongInEvents(scenario, run),
    ...wrongInLimits(scenario, run),
  ]
}

function wrongInSummary(scenario: CrewScenario, run: CrewRun, expected: ReadonlySet<string>): string[] {
  const { course, store } = scenario
  const { delivered, summary } = run
  const { reason, pages, pending, inFlight, lost, failures } = summary
  const hasDeaths = run.deaths.length > 0
  const wrong: string[] = []
  const claim = (what: string, holds: boolean) => {
    if (!holds) wrong.push(`summary: ${what}`)
  }
  claim(
    `a ${course.kind} ended as '${reason}'`,
    reasonsOf(scenario, expected.size, hasDeaths).includes(reason),
  )
  if (reason === 'done') claim(`done with ${pending} pending`, pending === 0)
  if (reason !== 'aborted') claim(`${inFlight} in flight at the end`, inFlight === 0)
  if (!hasDeaths || store !== 'memory') claim(`${lost} lost, though none could be`, lost === 0)
  if (hasDeaths) {
    const distinct = new Set(delivered).size
    const isExact = store !== 'memory' && reason === 'done' && failures['worker-crashed'] === undefined
    if (isExact) claim(`${pages} pages, though ${distinct} came`, pages === distinct)
    else if (reason !== 'aborted') claim(`${pages} pages of ${delivered.length}`, pages <= delivered.length)
    return wrong
  }
  if (reason !== 'aborted') claim(`${pages} pages, not ${delivered.length}`, pages === delivered.length)
  if (course.kind === 'page limit') {
    const exact = Math.min(course.pages, expected.size)
    claim(`${delivered.length} pages where the limit makes it ${exact}`, delivered.length === exact)
  }
  return wrong
}

function wrongInLimits(
  { course, shards }: CrewScenario,
  { delivered, visits, deaths, rouses }: CrewRun,
): string[] {
  const wrong: string[] = []
  // Each visit may give its share back, and each shard may be told of it.
  if (rouses > 10 * (1 + shards) * (visits.length + deaths.length + 10)) wrong.push(`${rouses} rouses`)
  if (course.kind !== 'host limit' || deaths.length > 0) return wrong
  const counts = new Map<string, number>()
  for (const url of delivered) counts.set(hostOf(url), (counts.get(hostOf(url)) ?? 0) + 1)
  for (const [host, pages] of counts) {
    if (pages > course.pagesPerHost)
      wrong.push(`${pages} pages of ${host}; the limit is ${course.pagesPerHost}`)
  }
  return wrong
}

function reasonsOf({ course, crash }: CrewScenario, pages: number, hasDeaths: boolean): readonly string[] {
  switch (course.kind) {
    case 'page limit':
      if (hasDeaths) return ['limit', 'done']
      return [course.pages <= pages ? 'limit' : 'done']
    case 'host limit':
      return ['done', 'already-done']
    case 'stop':
      return ['stopped', 'done']
    case 'abort':
      return ['aborted', 'done']
    default:
      return crash === undefined ? ['done'] : ['done', 'already-done']
  }
}

/** What is told of a death: how much went with it, to the request. */
function wrongInEvents({ store, shards, crash }: CrewScenario, { deaths, replaced }: CrewRun): string[] {
  const wrong: string[] = []
  // The first process was told of some deaths, and its own end of none.
  if (crash !== undefined) return wrong
  for (let shard = 0; shard < shards; shard++) {
    const died = deaths.filter(({ thread }) => thread.shard === shard)
    const told = replaced.filter(({ worker }) => worker === shard)
    if (told.length > died.length)
      wrong.push(`events: ${died.length} deaths of ${shard}, told ${told.length}`)
    for (const [i, { lost }] of told.entries()) {
      const { pending, thread } = died[i]!
      if (store === 'memory' && !thread.wasCutShort && lost !== pending) {
        wrong.push(`events: ${lost} told as lost by thread ${thread.number}, which had ${pending}`)
      }
    }
  }
  return wrong
}

/**
 * A page is asked for again after a final answer only if who had asked died meanwhile, before that was written down; or,
 * where nothing is written down, if whoever had its partition died.
 */
function fetchedAgain({ store, partitions }: CrewScenario, { visits, deaths }: CrewRun): string[] {
  const wrong: string[] = []
  const { partition } = byHost(partitions)
  const last = new Map<string, CrewRun['visits'][number]>()
  for (const visit of visits) {
    const { url, host, startedAt } = visit.fetch
    const before = last.get(url)
    last.set(url, visit)
    if (before?.fetch.result !== 'final' || url.endsWith('/robots.txt')) continue
    const isExplained = deaths.some(({ thread, at, held }) => {
      if (at < before.fetch.startedAt || at > startedAt) return false
      return held.has(partition(host)) && (store === 'memory' || thread === before.thread)
    })
    if (isExplained) continue
    wrong.push(`fetched-again: ${url} by thread ${visit.thread.number}, after ${before.thread.number}`)
  }
  return wrong
}

/**
 * With a durable store nothing is missing. Without one a page is, if it was lost with a thread: with who found it, or with
 * who had its partition, or had had it and would have passed it on, after it was found for the last time; or if all that
 * lead to it are missing.
 */
function missing(scenario: CrewScenario, run: CrewRun, expected: ReadonlySet<string>): string[] {
  const { visits, deaths, summary, delivered, web } = run
  // A page on which threads die is set aside, and what it leads to is not found.
  if (summary.reason !== 'done' || summary.failures['worker-crashed'] !== undefined) return []
  if (scenario.course.kind === 'host limit') return []
  const out = new Set(delivered)
  const gone = [...expected].filter((url) => !out.has(url))
  if (scenario.store !== 'memory') return gone.map((url) => `missing: ${url}`)
  const leadingTo = linksOf(scenario, visits)
  const { partition } = byHost(scenario.partitions)
  const isSeed = new Set(web.seeds)
  const unexplained = gone.filter((url) => {
    const home = partition(hostOf(url))
    const found = leadingTo.get(url) ?? []
    if (found.length === 0 && !isSeed.has(url)) return false
    return !deaths.some(({ thread, at, hadHeld }) => {
      if (hadHeld.has(home)) return found.every(({ fetch }) => fetch.endedAt <= at) || isSeed.has(url)
      return found.some((visit) => visit.thread === thread)
    })
  })
  return unexplained.map((url) => `missing: ${url}, and nobody died who had it`)
}

/** What a thread had under way when it died is tried again, unless whoever has it then dies as well. */
function notRetried({ partitions }: CrewScenario, { visits, deaths, summary }: CrewRun): string[] {
  if (summary.reason !== 'done' || summary.failures['worker-crashed'] !== undefined) return []
  const { partition } = byHost(partitions)
  return deaths.flatMap(({ thread, at }, i) => {
    const cut = visits.filter((visit) => {
      return visit.thread === thread && visit.fetch.result === 'aborted' && visit.fetch.endedAt === at
    })
    return cut.flatMap(({ fetch: { url, host } }) => {
      if (url.endsWith('/robots.txt')) return []
      if (visits.some(({ fetch }) => fetch.url === url && fetch.startedAt >= at)) return []
      if (deaths.slice(i + 1).some(({ hadHeld }) => hadHeld.has(partition(host)))) return []
      return [`not retried: ${url}, which thread ${thread.number} had when it died`]
    })
  })
}

/** The visits that led to each URL. */
function linksOf({ web }: CrewScenario, visits: CrewRun['visits']): Map<string, CrewRun['visits'][number][]> {
  const map = new WebMap(web)
  const leading = new Map<string, CrewRun['visits'][number][]>()
  for (const visit of visits) {
    const { url, result } = visit.fetch
    if (result !== 'final') continue
    const answer = map.answer(url, LAST_TRY)
    const hrefs =
      answer.kind === 'redirect'
        ? [answer.location]
        : answer.kind === 'page'
          ? [...answer.html.matchAll(/href="([^"]*)"/g)].map(([, href]) => href!)
          : []
    for (const href of hrefs) {
      const to = resolve(href, baseFor(url))!
      leading.set(to, [...(leading.get(to) ?? []), visit])
    }
  }
  return leading
}
