/**
 * A durable store from scratch: a log of what the crawl did, replayed when the store is opened. Kill the program, run it
 * again with the same file, and it resumes. test/examples.test.ts tests it with the suites of kumo/conformance.
 *
 *     npx tsx examples/custom-store.ts https://example.com/ crawl.log
 */

import { appendFileSync, readFileSync, truncateSync } from 'node:fs'
import { Crawler, type CrawlRequest, type Frontier, type SeenStore, type Store } from 'kumo'
import { fingerprintTable, knownAs, memoryFrontier, type Settlement } from 'kumo/adapters'

type Outcome = Omit<Settlement, 'request' | 'visitedAt'>
/** One call, one line: a settlement and the links it found are stored together or, if the line is cut off, not at all. */
type Line = [added: readonly CrawlRequest[], settled: (Omit<Settlement, 'request'> & { key: string })[]]

const keyOf = (request: CrawlRequest) => JSON.stringify([knownAs(request), request.purpose, request.via])

export function logStore(path: string): Store {
  return {
    name: 'log',
    async open({ politeness, policy }) {
      const text = readFileSync(path, { encoding: 'utf8', flag: 'a+' })
      const whole = text.slice(0, text.lastIndexOf('\n') + 1)
      truncateSync(path, Buffer.byteLength(whole))
      const write = (...line: Line) => appendFileSync(path, `${JSON.stringify(line)}\n`)
      const inner = memoryFrontier({ politeness, policy })
      const seen = fingerprintTable()
      await restore(inner, seen, whole, politeness.delayMs)
      const leased = new Set<CrawlRequest>()
      const frontier: Frontier = {
        add(requests) {
          write(requests, [])
          return inner.add(requests)
        },
        async lease(max, now) {
          const leases = await inner.lease(max, now)
          for (const request of leases) leased.add(request)
          return leases
        },
        settle(settlements) {
          const mine = settlements.filter(({ request }) => leased.delete(request))
          const settled = mine.map(({ request, ...outcome }) => ({ ...outcome, key: keyOf(request) }))
          write([], settled)
          return inner.settle(mine)
        },
        nextDue: () => inner.nextDue(),
        get pending() {
          return inner.pending
        },
        get leased() {
          return inner.leased
        },
        get hosts() {
          return inner.hosts
        },
        close: () => inner.close(),
      }
      // Written data survives the process. To survive a power failure, flush would have to wait for the disk.
      return { frontier, seen, flush() {}, close() {} }
    },
  }
}

/** Replays the log. It has no lines for known URLs or leases: a request that was added is known and pending. */
async function restore(frontier: Frontier, seen: SeenStore, log: string, delayMs: number): Promise<void> {
  const pending = new Map<string, [request: CrawlRequest, again: Outcome | undefined][]>()
  const hosts = new Map<string, [request: CrawlRequest, clock: Outcome]>()
  const add = (request: CrawlRequest, again?: Outcome) => {
    seen.addAll([knownAs(request)])
    pending.set(keyOf(request), [...(pending.get(keyOf(request)) ?? []), [request, again]])
  }
  for (const line of log.split('\n').slice(0, -1)) {
    const [added, settled] = JSON.parse(line) as Line
    for (const request of added) add(request)
    for (const { key, visitedAt = 0, again, found = [], ...news } of settled) {
      const [{ notBefore: _, ...request }] = pending.get(key)!.shift()!
      const before = hosts.get(request.host)?.[1]
      const clock = { ...before, ...news }
      const rested = visitedAt + Math.max(delayMs, clock.hostDelayMs ?? 0)
      const hostNotBefore = Math.max(rested, news.hostNotBefore ?? 0, before?.hostNotBefore ?? 0)
      hosts.set(request.host, [request, { ...clock, hostNotBefore }])
      if (again)
        add({ ...request, attempt: again.attempt, ...(again.revisit && { revisit: true }) }, { again })
      for (const each of found) add(each)
    }
  }
  // Only settlements set a host's clock and the time of a retry, so these requests are leased and settled in memory.
  const waiting = [...pending.values()].flat()
  for (const [request, outcome] of [...waiting.filter(([, again]) => again), ...hosts.values()]) {
    await frontier.add([request])
    const [lease] = await frontier.lease(1, 0)
    await frontier.settle([{ request: lease!, visitedAt: undefined, ...outcome }])
  }
  await frontier.add(waiting.filter(([, again]) => !again).map(([request]) => request))
}

const [, , start = 'https://example.com/', path = 'crawl.log'] = process.argv
const crawler = new Crawler().seeds(start).store(logStore(path))
const summary = await crawler.on('page', ({ url, title }) => console.log(url, title)).run()
console.log(`${summary.pages} pages, ${summary.pending} URLs left; it ended with: ${summary.reason}`)
