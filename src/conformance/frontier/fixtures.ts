/** What the cases of the frontier's suite share: politeness, requests, and helpers. */

import assert from 'node:assert/strict'
import type { Frontier, Politeness, Settlement } from '../../frontier/contract.js'
import type { Random } from '../../time.js'
import type { CrawlRequest, RequestExtras } from '../../types.js'

/** Times are in ms since the epoch, as in a crawl: an adapter may store them in a format for such numbers. */
export const START = 1_700_000_000_000
export const DELAY_MS = 1000
export const A_DAY_MS = 86_400_000

/** One connection per host, a pause of one second. */
export const ORDINARY: Politeness = { delayMs: DELAY_MS, connections: 1, growAt: 1000 }
export const HURRIED: Politeness = { ...ORDINARY, delayMs: 0 }
export const GENEROUS: Politeness = { delayMs: DELAY_MS, connections: 4, growAt: 10 }

/** Registers a case with a frontier of this politeness. */
export type Check = (name: string, politeness: Politeness, run: (frontier: Frontier) => Promise<void>) => void

export function request(host: string, path: string | number): CrawlRequest {
  const url = `https://${host}/${path}`
  return { url, host, depth: 1, priority: 0, attempt: 0, redirects: 0, parent: `https://${host}/` }
}

export function paths(host: string, count: number): CrawlRequest[] {
  return Array.from({ length: count }, (_, i) => request(host, i + 1))
}

export function done(lease: CrawlRequest, visitedAt: number): Settlement {
  return { request: lease, visitedAt }
}

/** A comparable copy: a frontier may return objects with additional fields, or with getters. */
export function fieldsOf({
  url,
  host,
  depth,
  priority,
  attempt,
  redirects,
  parent,
}: CrawlRequest): CrawlRequest {
  return { url, host, depth, priority, attempt, redirects, parent }
}

/** The same for fields that few requests have. */
export function rareFieldsOf({ purpose, via, hint, revisit, extras }: CrawlRequest): Partial<CrawlRequest> {
  return { purpose, via, hint, revisit, extras }
}

/** What a program may ask for, also in texts that are hard to store. */
export const EXTRAS: readonly RequestExtras[] = [
  { label: 'list' },
  { data: '{"a":"\\n \\"quoted\\"","b":[1.5,null,"é","蜘蛛"]}' },
  { label: 'two\nlines, a \0, "quotes", 蜘蛛, half a pair: \ud800', data: '{}' },
  { method: 'HEAD', headers: { accept: 'text/html;q=0.9', 'x-note': 'a: "b", \\n é' } },
  {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"q":\n\t"1"}\r\n\n',
    label: 'search',
    data: '[]',
  },
  { method: 'POST', body: '' },
  { method: 'PUT', body: 'AAEC/w==', binary: true },
  { outside: 2 },
]

/** The largest of a walk. */
const TOP_PRIORITY = 1

/**
 * Sometimes extras, sometimes a time in the future: what a random request has besides its URL. Requests for later have
 * the largest priority, so that those whose time has come do not pile up behind others: see the frontier's contract.
 */
export function randomMore(random: Random, now: number): Partial<CrawlRequest> {
  const upTo = (limit: number) => Math.floor(random.next() * limit)
  const notBefore = now + 1 + upTo(random.next() < 0.5 ? 5 : 3000)
  return {
    ...(random.next() < 0.3 && { extras: EXTRAS[upTo(EXTRAS.length)]! }),
    ...(random.next() < 0.08 && { notBefore, priority: TOP_PRIORITY }),
  }
}

export function byUrl(requests: readonly CrawlRequest[]): Map<string, CrawlRequest> {
  return new Map(requests.map((each) => [each.url, each]))
}

export function assertCounts(frontier: Frontier, pending: number, leased: number, hosts: number): void {
  const counts = { pending: frontier.pending, leased: frontier.leased, hosts: frontier.hosts }
  assert.deepEqual(counts, { pending, leased, hosts })
}

/** Leases everything at `now` and expects exactly these paths, in any order. */
export async function expectLeases(
  frontier: Frontier,
  now: number,
  expected: readonly string[],
): Promise<readonly CrawlRequest[]> {
  const leases = await frontier.lease(100, now)
  const met = leases.map(({ url }) => url.slice(url.lastIndexOf('/') + 1))
  assert.deepEqual(met.toSorted(), expected.toSorted(), `handed out ${now - START} ms after the start`)
  return leases
}

/** Nothing is due before `due`, and `nextDue` is neither too late nor in the past. */
export async function expectNothingDueBefore(frontier: Frontier, due: number): Promise<void> {
  await expectLeases(frontier, due - 1, [])
  const told = frontier.nextDue()
  assert.ok(told <= due, `nextDue() is ${told - due} ms too late`)
  assert.ok(told > due - 1, 'nextDue() is in the past, although nothing is due')
}

/** Visits one request after the other until nothing is due; returns the URLs in order. */
export async function drain(frontier: Frontier, now: number): Promise<string[]> {
  const met: string[] = []
  for (;;) {
    const [lease] = await frontier.lease(1, now)
    if (lease === undefined) return met
    met.push(lease.url)
    await frontier.settle([done(lease, now)])
  }
}

export async function servedSoon(
  frontier: Frontier,
  start: number,
  visits: number,
  others: number,
): Promise<void> {
  const served = new Set<string>()
  for (let now = start; now < start + visits; now++) {
    const [lease] = await frontier.lease(1, now)
    assert.ok(lease, 'nothing was handed out')
    if (lease.host !== 'large.example') served.add(lease.url)
    await frontier.settle([done(lease, now)])
  }
  assert.equal(served.size, others, `number of the ${others} small hosts in ${visits} visits`)
}
