/** This machine runs out of descriptors, ports or memory: nobody else pays for it. */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Crawler, type Fetcher } from 'kumo'
import type { Outcome } from 'kumo/adapters'
import { virtualClock } from 'kumo/sim'
import { describe, expect, onTestFinished, test } from 'vitest'
import { dnsServer } from '../fetch/dns/dns-server.js'
import type { Route } from '../loopback/site.js'
import { runProgram } from '../run-program.js'
import { crawl, htmlOutcome, linksTo, quick, site } from './support.js'

const SHORT: Outcome = {
  ok: false,
  code: 'connect-failed',
  message: 'a.example was not connected to, this process has too many open files.',
  shortage: true,
}

/** Warnings of Kumo since now. */
function watchWarnings(): string[] {
  const warnings: string[] = []
  const collect = ({ name, message }: Error) => void (name === 'KumoWarning' && warnings.push(message))
  process.on('warning', collect)
  onTestFinished(() => void process.off('warning', collect))
  return warnings
}

describe.skipIf(process.platform !== 'linux')('a process with few descriptors', () => {
  const HOSTS = 120
  const SPARE_FILES = 30

  /** Answers nobody before many have asked: by then the rest has tried, too, and found no descriptor. */
  function whenManyAsked(): (answer: () => void) => void {
    const waiting: (() => void)[] = []
    let isOpen = false
    const open = () => {
      isOpen = true
      for (const answer of waiting.splice(0)) answer()
    }
    return (answer) => {
      if (isOpen) answer()
      else if (waiting.push(answer) === SPARE_FILES / 2) setTimeout(open, 500)
    }
  }

  test.each([
    ['memory', 'addresses', false],
    ['memory', 'names', true],
    ['level', 'addresses', true],
  ])('gives nothing up: %s store, hosts by %s, robots.txt: %s', async (store, by, robots) => {
    const then = whenManyAsked()
    const page: Route = (_, response) =>
      then(() => response.setHeader('content-type', 'text/html').end(linksTo('/', '/b')))
    const none: Route = (_, response) => then(() => response.writeHead(404).end())
    const started = await site({ '/': page, '/b': page, '/robots.txt': none })
    const addressOf = (i: number) => `127.0.1.${i + 1}`
    const names = await dnsServer(({ name }) => ({
      addresses: [addressOf(Number.parseInt(name.slice(1), 10))],
    }))
    const folder = store === 'level' ? await mkdtemp(join(tmpdir(), 'kumo-few-')) : undefined
    if (folder) onTestFinished(() => rm(folder, { recursive: true, force: true }))
    const order = {
      seeds: Array.from({ length: HOSTS }, (_, i) =>
        started.url('/', by === 'names' ? `n${i}.test` : addressOf(i)),
      ),
      servers: [names.server],
      robots,
      folder,
      spare: SPARE_FILES,
    }
    const { stdout, stderr } = await runProgram('test/crawler/programs/few-files.ts', [JSON.stringify(order)])
    expect(stdout, stderr).toMatch(/^\{/)
    const { warnings, shortestGapMs, ...result } = JSON.parse(stdout)
    expect(result).toEqual({ pages: HOSTS * 2, reason: 'done', retries: 0, failures: [] })
    expect(shortestGapMs).toBeGreaterThanOrEqual(10)
    expect(warnings).toEqual([expect.stringMatching(/too many open files.*ulimit/s)])
  })
})

describe('a fetcher that came short of something', () => {
  /** Answers, but to the first requests for each URL. */
  function short(times: number): Fetcher & { readonly asked: string[] } {
    const asked: string[] = []
    const fetch = ({ url, attempt }: { url: string; attempt: number }) => {
      asked.push(`${url} ${attempt}`)
      if (asked.filter((each) => each.startsWith(`${url} `)).length <= times) return SHORT
      return url.endsWith('.txt') ? htmlOutcome('', 404) : htmlOutcome(linksTo('/b'))
    }
    return { fetch, asked }
  }

  test.each([true, false])('is asked again, as if for the first time; robots.txt: %s', async (robots) => {
    const warnings = watchWarnings()
    const clock = virtualClock()
    const fetcher = short(20)
    const run = new Crawler()
      .clock(clock)
      .robots(robots)
      .retries({ times: 1 })
      .fetcher(fetcher)
      .seeds('http://a.example/')
    const { pages, failures, retries, reason } = await clock.run(run.run())
    expect({ pages, failures, retries, reason }).toEqual({
      pages: 2,
      failures: {},
      retries: 0,
      reason: 'done',
    })
    expect(new Set(fetcher.asked)).toEqual(
      new Set([...(robots ? ['robots.txt'] : []), '', 'b'].map((path) => `http://a.example/${path} 0`)),
    )
    await new Promise((resolve) => setImmediate(resolve))
    expect(warnings).toHaveLength(1)
  })

  test('is left alone for a while each time, so that a shortage that lasts takes no work', async () => {
    const clock = virtualClock()
    const fetcher = short(Number.POSITIVE_INFINITY)
    const seeds = Array.from({ length: 100 }, (_, i) => `http://h${i}.example/`)
    const run = new Crawler()
      .clock(clock)
      .robots(false)
      .delay(0)
      .concurrency(10)
      .fetcher(fetcher)
      .seeds(seeds)
    const summary = await clock.run(run.limit({ time: '10s' }).run())
    expect(summary).toMatchObject({ reason: 'limit', failures: {}, retries: 0, pending: 100 })
    expect(fetcher.asked.length).toBeLessThanOrEqual(10 * 10)
  })

  test('does not hold up the end of the crawl', async () => {
    const abort = new AbortController()
    const fetch = () => {
      setTimeout(() => abort.abort(), 5)
      return SHORT
    }
    const run = quick.robots(false).fetcher(fetch).seeds('http://a.example/').run({ signal: abort.signal })
    expect(await run).toMatchObject({ reason: 'aborted', pending: 1, failures: {} })
  })

  test('is given no more requests at once than it has room for', async () => {
    let running = 0
    let most = 0
    const fetcher: Fetcher = {
      capacity: 3,
      async fetch() {
        most = Math.max(most, ++running)
        await new Promise((resolve) => setTimeout(resolve, 1))
        running--
        return htmlOutcome('x')
      },
    }
    const seeds = Array.from({ length: 50 }, (_, i) => `http://h${i}.example/`)
    const { pages } = await crawl(quick.robots(false).fetcher(fetcher).seeds(seeds))
    expect(pages).toHaveLength(50)
    expect(most).toBe(3)
  })
})
