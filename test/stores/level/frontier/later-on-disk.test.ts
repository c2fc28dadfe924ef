/** Requests for later that are added to hosts on disk: found when they are due, also after a crash and a reopening. */

import type { CrawlRequest, Frontier } from 'kumo'
import { expect, test } from 'vitest'
import { A_DAY_MS } from '../../../../src/conformance/frontier/fixtures.js'
import { requestFor } from '../../../fetch/support.js'
import { folder } from '../folders.js'
import { patient } from '../patient.js'
import { openStore, withDatabase } from '../support.js'

const HOSTS = 12
const TINY = { hostsInMemory: 2, requestsInMemory: 1 }
const politeness = { delayMs: 0, connections: 1, growAt: 1000 }

const urlOf = (host: number, path: string) => `https://h${host}.example/${path}`

/** What all hosts have, of each a bare request and one for later; some hosts got the one for later first. */
function requests(due: number): CrawlRequest[] {
  const all: CrawlRequest[] = []
  for (let host = 0; host < HOSTS; host++) {
    const now = requestFor(urlOf(host, 'now'))
    const later = { ...requestFor(urlOf(host, 'later')), notBefore: due, extras: { label: `later ${host}` } }
    all.push(...(host % 2 === 0 ? [now, later] : [later, now]))
  }
  // Hosts with nothing else.
  for (let host = HOSTS; host < 2 * HOSTS; host++)
    all.push({ ...requestFor(urlOf(host, 'later')), notBefore: due })
  return all
}

test.each([
  ['in one life', false],
  ['after reopening', true],
] as const)('%s each is handed out at its time', async (_, reopens) => {
  const path = await folder()
  const now = Date.now()
  const due = now + A_DAY_MS
  let opened = await openStore(path, TINY, { politeness })
  await opened.frontier.add(requests(due))
  if (reopens) {
    await opened.close()
    opened = await openStore(path, TINY, { politeness })
  }
  const frontier = patient(opened)
  expect(frontier.pending).toBe(3 * HOSTS)
  const early = await visitAll(frontier, HOSTS, now)
  expect(early.map(({ url }) => url).sort()).toEqual(
    Array.from({ length: HOSTS }, (_, host) => urlOf(host, 'now')).sort(),
  )
  expect(await frontier.lease(100, due - 2)).toEqual([])
  const late = await visitAll(frontier, 2 * HOSTS, due + 1)
  expect(late.map(({ url }) => url).sort()).toEqual(
    Array.from({ length: 2 * HOSTS }, (_, host) => urlOf(host, 'later')).sort(),
  )
  expect(late.filter(({ extras }) => extras?.label?.startsWith('later'))).toHaveLength(HOSTS)
  expect([frontier.pending, frontier.hosts]).toEqual([0, 0])
  await opened.close()
  // No mark is left.
  expect(await withDatabase(path, (database) => database.keys({ gte: 'v', lt: 'w' }).all())).toEqual([])
})

test('a time beyond all calendars does not disturb the others', async () => {
  const path = await folder()
  const now = Date.now()
  const frontier = patient(await openStore(path, TINY, { politeness }))
  await frontier.add([
    { ...requestFor(urlOf(0, 'never')), notBefore: Number.MAX_VALUE },
    { ...requestFor(urlOf(0, 'soon')), notBefore: now + 1000 },
    { ...requestFor(urlOf(1, 'never')), notBefore: Number.MAX_SAFE_INTEGER },
    requestFor(urlOf(1, 'now')),
  ])
  const met = await visitAll(frontier, 2, now + 1001)
  expect(met.map(({ url }) => url).sort()).toEqual([urlOf(0, 'soon'), urlOf(1, 'now')])
  expect(frontier.pending).toBe(2)
})

/** One host after the other has to make room. */
async function visitAll(frontier: Frontier, count: number, now: number): Promise<CrawlRequest[]> {
  const met: CrawlRequest[] = []
  while (met.length < count) {
    const leases = await frontier.lease(100, now)
    expect(leases.length, `handed out after ${met.length} of ${count}`).toBeGreaterThan(0)
    met.push(...leases)
    await frontier.settle(leases.map((request) => ({ request, visitedAt: now })))
  }
  return met
}
