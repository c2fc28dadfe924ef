/**
 * What must hold for every crawl, checked on the web's own log of a run. The checks know the contract but not the
 * engine or the frontier, so they apply to any implementation.
 */

import { originOf } from '../url/canonicalize.js'
import type { FetchRecord } from './web.js'

/** A run, as observed from outside. */
export interface RunRecord {
  readonly log: readonly FetchRecord[]
  /** URLs of the delivered pages, in order. */
  readonly delivered: readonly string[]
  /** The pages that a complete crawl delivers. */
  readonly expected: ReadonlySet<string>
  /** Whether the run was complete, so that no page may be missing. */
  readonly complete: boolean
  readonly concurrency: number
  readonly delayMs: number
  /** Maximum number of connections to one host. */
  readonly connections: number
  readonly retries: number
  /** Whether the run obeyed robots.txt. */
  readonly robots: boolean
  readonly allows: (url: string) => boolean
  readonly crawlDelayMs: (host: string) => number
  /** Periods in which no fetch may start: after a stop, during a pause. Their ends are exclusive. */
  readonly quiet?: readonly (readonly [from: number, to: number])[]
  /**
   * Shortest pause of a host after a first failure; it doubles with each consecutive one. Checked for hosts with one
   * connection.
   */
  readonly backoffMs?: number
}

export type FindingKind =
  /** More concurrent fetches than the concurrency. */
  | 'too-many-in-flight'
  /** More concurrent fetches on a host than its connections. */
  | 'overlap'
  /** A connection was used again before its pause was over. */
  | 'interval'
  /** A failing host was requested again too soon. */
  | 'backoff'
  /** A URL was fetched again after a final answer, or twice with the same attempt. */
  | 'fetched-again'
  /** A URL was fetched more often than the retries allow. */
  | 'too-many-tries'
  | 'delivered-twice'
  /** A page that a complete crawl delivers is missing. */
  | 'missing'
  /** A page was delivered that no link leads to. */
  | 'unexpected'
  /** A page was fetched although robots.txt disallows it. */
  | 'robots-ignored'
  /** A page was fetched before the robots.txt of its origin was answered. */
  | 'robots-late'
  /** A fetch started after a stop or during a pause. */
  | 'not-quiet'
  /** A fetch was still in progress when the run was over. */
  | 'left-behind'

/** A violation. */
export interface Finding {
  readonly kind: FindingKind
  readonly message: string
}

/** Checks a run and returns all violations; empty if there are none. */
export function checkRun(run: RunRecord): Finding[] {
  const findings: Finding[] = []
  const found = (kind: FindingKind, message: string) => void findings.push({ kind, message })
  checkDelivery(run, found)
  checkTries(run, found)
  if (run.robots) checkRobots(run, found)
  checkLoad(run, found)
  for (const visits of byHost(run.log).values()) checkHost(run, visits, found)
  return findings
}

type Report = (kind: FindingKind, message: string) => void

function checkDelivery({ delivered, expected, complete }: RunRecord, found: Report): void {
  const out = new Set<string>()
  for (const url of delivered) {
    if (out.has(url)) found('delivered-twice', url)
    if (!expected.has(url)) found('unexpected', url)
    out.add(url)
  }
  if (!complete) return
  for (const url of expected) if (!out.has(url)) found('missing', url)
}

function checkTries({ log, retries }: RunRecord, found: Report): void {
  const last = new Map<string, FetchRecord>()
  for (const fetch of log) {
    const before = last.get(fetch.url)
    last.set(fetch.url, fetch)
    if (isRules(fetch.url)) continue
    if (fetch.attempt > retries) found('too-many-tries', `${fetch.url}, attempt ${fetch.attempt}`)
    if (before === undefined) continue
    const again =
      before.result === 'final' || (before.result !== 'aborted' && before.attempt >= fetch.attempt)
    if (again) found('fetched-again', `${fetch.url} at ${at(fetch)} after ${before.result} at ${at(before)}`)
  }
}

function checkRobots({ log, allows }: RunRecord, found: Report): void {
  const answeredAt = new Map<string, number>()
  for (const fetch of log) {
    const origin = originOf(fetch.url)
    if (isRules(fetch.url)) {
      const known = answeredAt.get(origin) ?? Number.POSITIVE_INFINITY
      if (fetch.result === 'final') answeredAt.set(origin, Math.min(known, fetch.endedAt))
      continue
    }
    if (!allows(fetch.url)) found('robots-ignored', fetch.url)
    if ((answeredAt.get(origin) ?? Number.POSITIVE_INFINITY) > fetch.startedAt)
      found('robots-late', fetch.url)
  }
}

function checkLoad({ log, concurrency, quiet = [] }: RunRecord, found: Report): void {
  const atOnce = mostAtOnce(log.map(({ startedAt, endedAt }) => [startedAt, endedAt]))
  if (atOnce > concurrency)
    found('too-many-in-flight', `${atOnce} fetches at once; the concurrency is ${concurrency}`)
  for (const fetch of log) {
    if (fetch.result === 'pending') found('left-behind', `${fetch.url}, started at ${at(fetch)}`)
    for (const [from, to] of quiet) {
      if (fetch.startedAt <= from || fetch.startedAt >= to) continue
      found('not-quiet', `${fetch.url} started at ${at(fetch)}, between ${from} and ${to}`)
    }
  }
}

function checkHost(run: RunRecord, visits: readonly FetchRecord[], found: Report): void {
  const { connections, robots, backoffMs } = run
  const { host } = visits[0]!
  const atOnce = mostAtOnce(visits.map(({ startedAt, endedAt }) => [startedAt, endedAt]))
  if (atOnce > connections) found('overlap', `${atOnce} fetches at once on ${host}; allowed: ${connections}`)

  // A connection is in use from the start of a visit until its pause is over, so a pause that is too short shows as one
  // connection too many.
  const delays = robots ? delaysOf(run, visits) : visits.map(() => run.delayMs)
  const taken = mostAtOnce(visits.map(({ startedAt, endedAt }, i) => [startedAt, endedAt + delays[i]!]))
  if (taken > connections && atOnce <= connections) {
    found(
      'interval',
      `${host}: ${shortestGap(visits)} ms between two visits; the pause is ${delays.at(-1)} ms`,
    )
  }
  if (backoffMs === undefined || connections > 1) return
  let inARow = 0
  for (const [i, { url, result, endedAt }] of visits.slice(0, -1).entries()) {
    // robots.txt has its own retry rules.
    if (isRules(url)) continue
    inARow = result === 'trouble' ? inARow + 1 : 0
    const gap = visits[i + 1]!.startedAt - endedAt
    if (inARow > 0 && gap < backoffMs * 2 ** (inARow - 1)) {
      found('backoff', `${host}: ${gap} ms after the failure of ${url}, number ${inARow} in a row`)
    }
  }
}

/**
 * The pause that each visit requires: the crawl's own, or the host's Crawl-delay once the rules of the origin are
 * known.
 */
function delaysOf({ delayMs, crawlDelayMs }: RunRecord, visits: readonly FetchRecord[]): number[] {
  const knownAt = new Map<string, number>()
  for (const { url, result, endedAt } of visits) {
    if (isRules(url) && result === 'final' && !knownAt.has(originOf(url))) knownAt.set(originOf(url), endedAt)
  }
  return visits.map(({ url, host, endedAt }) => {
    const known = (knownAt.get(originOf(url)) ?? Number.POSITIVE_INFINITY) <= endedAt
    return known ? Math.max(delayMs, crawlDelayMs(host)) : delayMs
  })
}

/** The largest number of intervals that share an instant. Intervals that only touch do not count. */
function mostAtOnce(intervals: readonly (readonly [start: number, end: number])[]): number {
  const starts = intervals.map(([start]) => start).sort((a, b) => a - b)
  const ends = intervals.map(([, end]) => end).sort((a, b) => a - b)
  let most = 0
  let over = 0
  for (const [begun, start] of starts.entries()) {
    while (ends[over]! <= start) over++
    most = Math.max(most, begun + 1 - over)
  }
  return most
}

function shortestGap(visits: readonly FetchRecord[]): number {
  let shortest = Number.POSITIVE_INFINITY
  for (const [i, { endedAt }] of visits.slice(0, -1).entries()) {
    shortest = Math.min(shortest, visits[i + 1]!.startedAt - endedAt)
  }
  return shortest
}

function byHost(log: readonly FetchRecord[]): Map<string, FetchRecord[]> {
  const hosts = new Map<string, FetchRecord[]>()
  for (const fetch of log) {
    const visits = hosts.get(fetch.host)
    if (visits === undefined) hosts.set(fetch.host, [fetch])
    else visits.push(fetch)
  }
  return hosts
}

function isRules(url: string): boolean {
  return url.endsWith('/robots.txt')
}

function at({ startedAt }: FetchRecord): string {
  return new Date(startedAt).toISOString()
}
