/**
 * How close a crawl of very many hosts comes to what politeness allows: with H hosts and a pause of d, at most H / d
 * pages a second. The whole engine runs, in virtual time, so that the answer tells of its decisions and not of the
 * machine: a host that is ready but left waiting costs, a slow processor does not.
 *
 *     node --import tsx bench/micro/virtual-politeness.ts [hosts]
 */

import { performance } from 'node:perf_hooks'
import { pathToFileURL } from 'node:url'
import { type Outcome, type ResponseHeaders, seededRandom } from '../../src/adapters.js'
import { Crawler, type Fetcher } from '../../src/index.js'
import { type VirtualClock, virtualClock } from '../../src/sim/index.js'

export interface VirtualPoliteness {
  /** Pages a virtual second, as a share of hosts / delay. At most 1, less what the visits themselves take. */
  readonly ratio: number
  readonly pages: number
  /** From the start to the end of the last visit's pause. */
  readonly virtualSeconds: number
  readonly realSeconds: number
}

const DELAY_MS = 200
const VISITS_PER_HOST = 10
const LATENCY_MS = [1, 5] as const
const MOST_CONCURRENCY = 100_000

/** Crawls ten pages of every host, each linked from the one before, and measures. Throws if a pause was cut short. */
export async function measureVirtualPoliteness(hosts: number): Promise<VirtualPoliteness> {
  const clock = virtualClock()
  const chains = new ChainsOfPages(clock, hosts)
  const crawler = new Crawler()
    .seeds(firstPages(hosts))
    .scope('all')
    .concurrency(Math.min(hosts, MOST_CONCURRENCY))
    .delay(DELAY_MS)
    .robots(false)
    .clock(clock)
    .random(seededRandom(1))
    .fetcher(chains)
  const startedAt = clock.now()
  const reallyAt = performance.now()
  const { pages } = await clock.run(crawler.run())
  const realSeconds = (performance.now() - reallyAt) / 1000
  if (pages !== hosts * VISITS_PER_HOST)
    throw new Error(`${pages} pages; there are ${hosts * VISITS_PER_HOST}`)

  // Each visit owes its pause, the last one too: without it ten visits would seem to need nine.
  const virtualSeconds = (chains.lastEnd + DELAY_MS - startedAt) / 1000
  const ratio = pages / virtualSeconds / (hosts / (DELAY_MS / 1000))
  return { ratio, pages, virtualSeconds, realSeconds }
}

function* firstPages(hosts: number): Generator<string> {
  for (let host = 0; host < hosts; host++) yield `http://h${host}.test/0`
}

const HTML: ResponseHeaders = {
  get: (name) => (name === 'content-type' ? 'text/html' : undefined),
  entries: () => [['content-type', 'text/html']],
}

/** On every host, page n links to page n + 1. It keeps no log but the end of each host's last visit. */
class ChainsOfPages implements Fetcher {
  readonly #clock: VirtualClock
  readonly #random = seededRandom(2)
  readonly #endOfVisit: Float64Array
  readonly #answers: readonly Outcome[]
  lastEnd = 0

  constructor(clock: VirtualClock, hosts: number) {
    this.#clock = clock
    this.#endOfVisit = new Float64Array(hosts)
    this.#answers = Array.from({ length: VISITS_PER_HOST }, (_, page) => {
      const body = new TextEncoder().encode(
        page + 1 < VISITS_PER_HOST ? `<a href="/${page + 1}">next</a>` : '',
      )
      return { ok: true, status: 200, headers: HTML, body, wireBytes: body.length, skippedBody: false }
    })
  }

  fetch({ url, host }: { url: string; host: string }): Promise<Outcome> {
    const number = Number(host.slice(1, host.indexOf('.')))
    const startedAt = this.#clock.now()
    if (startedAt < this.#endOfVisit[number]! + DELAY_MS) throw new Error(`${host} was visited too soon`)
    const answer = this.#answers[Number(url.slice(url.lastIndexOf('/') + 1))]!
    const [least, most] = LATENCY_MS
    const endedAt = startedAt + least + (most - least) * this.#random.next()
    return new Promise((resolve) => {
      this.#clock.wakeAt(endedAt, () => {
        this.#endOfVisit[number] = this.#clock.now()
        this.lastEnd = this.#clock.now()
        resolve(answer)
      })
    })
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const hosts = Number(process.argv[2] ?? 100_000)
  const { ratio, pages, virtualSeconds, realSeconds } = await measureVirtualPoliteness(hosts)
  const perSecond = Math.round(pages / virtualSeconds).toLocaleString('en')
  console.log(
    `${hosts.toLocaleString('en')} hosts, a pause of ${DELAY_MS} ms, ${pages.toLocaleString('en')} pages`,
  )
  console.log(`  ${perSecond} pages a virtual second: ${ratio.toFixed(3)} of what politeness allows`)
  console.log(`  ${virtualSeconds.toFixed(2)} s of virtual time in ${realSeconds.toFixed(1)} s`)
}
