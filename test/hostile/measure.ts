/**
 * A program that measures how long our code holds the loop on hostile pages of the default body limit, and prints it as
 * one line of JSON. It is run as built code in a process of its own, since what test runners make of modules is several
 * times slower in such loops. It counts CPU time, which says less about what else the machine does than a clock.
 */

import { pageOf } from '../../src/conformance/page.js'
import { HOSTILE_PAGES, type HostilePage, ORDINARY_PAGE } from './pages.js'

/** What the program prints. */
export interface Measured {
  /** At most this long may a page hold the loop here. */
  readonly barMs: number
  readonly measured: readonly Slowest[]
}

/** One view of a page that was slower than the others of it. */
export interface Slowest {
  readonly name: string
  readonly view: string
  /** The best of all attempts. */
  readonly ms: number
}

const BODY_LIMIT = 8 * 1024 * 1024
const BAR_MS = 50
/** On a machine that is busy with other things all pages take longer, an ordinary one too. */
const ORDINARY_PAGES = 4
/** An attempt is for nothing if the machine or the collector was busy with other things. */
const ATTEMPTS = 12
const WARM_UP_PAGES = 2000
const WARM_UP_SIZE = 14_000

/** In the order in which a crawl touches them: each does its own part of the work, since all are kept. */
const VIEWS = ['content', 'base', 'title', 'robots', 'canonical', 'links', 'text'] as const

function cpuMs(work: () => unknown): number {
  const before = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

function slowest({ name, make }: HostilePage, barMs: number): Slowest {
  const body = Buffer.from(make(BODY_LIMIT))
  const best = new Map<string, number>()
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const page = pageOf({ url: 'https://example.com/a/b', body }) as ReturnType<typeof pageOf> & {
      base: string
    }
    for (const view of VIEWS) {
      best.set(
        view,
        Math.min(
          best.get(view) ?? Number.POSITIVE_INFINITY,
          cpuMs(() => page[view]),
        ),
      )
    }
    if (Math.max(...best.values()) < barMs) break
  }
  const [view, ms] = [...best].reduce((worst, each) => (each[1] > worst[1] ? each : worst))
  return { name, view, ms }
}

const ordinary = ORDINARY_PAGE.make(WARM_UP_SIZE)
for (let n = 0; n < WARM_UP_PAGES; n++) {
  const page = pageOf({ url: 'https://example.com/', body: ordinary })
  for (const view of ['title', 'links', 'text'] as const) void page[view]
}
const { ms } = slowest(ORDINARY_PAGE, 0)
const barMs = Math.max(BAR_MS, ORDINARY_PAGES * ms)
console.log(JSON.stringify({ barMs, measured: HOSTILE_PAGES.map((page) => slowest(page, barMs)) }))
