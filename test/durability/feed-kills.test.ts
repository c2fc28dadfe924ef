/**
 * A program that follows feeds is killed again and again. Every entry that a server ever showed to it is delivered, and an
 * entry that is delivered twice has the same key. Some of the feeds redirect, so that what is known of them travels between
 * hosts, and with workers between threads.
 */

import type { ChildProcess } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { seededRandom } from 'kumo/adapters'
import { expect, onTestFinished, test } from 'vitest'
import { runProgram } from '../run-program.js'
import { isThorough } from '../thorough.js'

const FEEDS = 12
/** Entries that a feed shows: what one poll shows is still there five polls later. */
const WINDOW = 10
const NEW_PER_POLL = 2

interface ServedFeed {
  last: number
  polls: number
}

async function feedServer() {
  const feeds = Array.from({ length: FEEDS }, (): ServedFeed => ({ last: WINDOW, polls: 0 }))
  const shown = new Set<string>()
  let isFrozen = false
  const server = createServer((request, response) => {
    const { pathname, port } = new URL(request.url!, `http://${request.headers.host}`)
    const number = Number(/\d+/.exec(pathname)?.[0])
    const feed = feeds[number]!
    const target = `http://127.0.7.${number + 1}:${port}/moved/${number}`
    // One moves for good after a while, and one sends its readers elsewhere each time.
    const redirect = number === 3 && feed.polls > 2 ? 301 : number === 4 ? 302 : undefined
    if (redirect !== undefined && !pathname.startsWith('/moved'))
      return void response.writeHead(redirect, { location: target }).end()
    const ids = Array.from({ length: WINDOW }, (_, i) => `${number}-${feed.last - i}`)
    for (const id of ids) shown.add(id)
    feed.polls++
    if (!isFrozen) feed.last += NEW_PER_POLL
    const items = ids.map((id) => `<item><guid>${id}</guid><title>${id}</title></item>`)
    response.setHeader('content-type', 'application/rss+xml')
    response.end(`<rss><channel><title>${number}</title>${items.join('')}</channel></rss>`)
  })
  await new Promise<void>((resolve) => server.listen(0, '0.0.0.0', resolve))
  const { port } = server.address() as { port: number }
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return {
    seeds: feeds.map((_, n) => `http://127.0.6.${(n % 4) + 1}:${port}/feed/${n}`),
    shown,
    get polls() {
      return feeds.reduce((sum, { polls }) => sum + polls, 0)
    },
    get leastPolls() {
      return Math.min(...feeds.map(({ polls }) => polls))
    },
    freeze: () => {
      isFrozen = true
    },
  }
}

async function killed(kills: number, workersOf: (run: number) => number, seed: number) {
  const server = await feedServer()
  const folder = mkdtempSync(join(tmpdir(), 'kumo-feed-kills-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const deliveries = join(folder, 'deliveries.txt')
  const random = seededRandom(seed)
  const start = (run: number, watch: (child: ChildProcess) => void) =>
    runProgram(
      'test/durability/feeds-program.ts',
      [join(folder, 'store'), String(workersOf(run)), deliveries, ...server.seeds],
      {
        onStart(child) {
          const watching = setInterval(() => watch(child), 2)
          child.once('close', () => clearInterval(watching))
        },
      },
    )
  for (let kill = 0; kill < kills; kill++) {
    const until = server.polls + 1 + Math.floor(random.next() * 2.5 * FEEDS)
    const { stderr } = await start(kill, (child) => {
      if (server.polls >= until) child.kill('SIGKILL')
    })
    expect(stderr).toBe('')
  }
  const from = server.leastPolls
  let enough = Number.POSITIVE_INFINITY
  const { stderr, code } = await start(kills, (child) => {
    if (Number.isNaN(enough)) return
    if (enough === Number.POSITIVE_INFINITY && server.leastPolls >= from + 2) {
      server.freeze()
      enough = server.leastPolls + 2
    }
    if (server.leastPolls < enough) return
    enough = Number.NaN
    child.kill('SIGTERM')
  })
  expect(stderr).toBe('')
  expect(code).toBe(0)
  const lines = readFileSync(deliveries, 'utf8').trimEnd().split('\n')
  const keys = new Map<string, Set<string>>()
  for (const line of lines) {
    const [, id, key] = line.split(' ') as [string, string, string]
    keys.set(id, (keys.get(id) ?? new Set()).add(key))
  }
  const lost = [...server.shown].filter((id) => !keys.has(id))
  const renamed = [...keys].filter(([, all]) => all.size > 1)
  const moved = lines.filter((line) => line.includes('/moved/3')).length
  return { lost, renamed, moved, delivered: lines.length, different: keys.size }
}

const CASES: readonly (readonly [name: string, kills: number, workersOf: (run: number) => number])[] =
  isThorough
    ? [
        ['20 kills with one thread', 20, () => 0],
        ['20 kills with two workers', 20, () => 2],
      ]
    : [['4 kills, with one thread and with two workers in turn', 4, (run) => (run % 2) * 2]]

test.each(CASES)(
  '%s: no entry is lost, and repeats have the same key',
  async (_, kills, workersOf) => {
    const { lost, renamed, moved, delivered, different } = await killed(kills, workersOf, 7)
    expect(lost).toEqual([])
    expect(renamed).toEqual([])
    expect(different).toBeGreaterThan(FEEDS * WINDOW)
    // At most what was delivered and not stored at a kill comes again.
    expect(delivered - different).toBeLessThanOrEqual(kills * FEEDS * (WINDOW + NEW_PER_POLL))
    expect(moved).toBeGreaterThan(0)
  },
  600_000,
)
