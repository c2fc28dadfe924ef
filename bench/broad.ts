/**
 * Many hosts with few pages each, over HTTP and over TLS. Beside Kumo: undici on the same URLs, which keeps every
 * connection. Then 20,000 hosts with a long delay, where politeness is the limit and memory counts.
 */

import { execFileSync } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Bench, Figure } from './report.js'
import { median } from './report.js'
import {
  type Contest,
  type Contestant,
  contestant,
  cpu,
  cpuMicros,
  pace,
  ratio,
  type Turn,
  takeTurns,
  urlsAskedFor,
} from './web/contest.js'
import { type BenchWeb, startBenchWeb } from './web/web.js'

/** As in the core bench. */
const PAGE = { linksPerPage: 60, bytes: 14 * 1024 }
const HOSTS = 2000
const TLS_HOSTS = 1000
const PAGES_PER_HOST = 15
const CONCURRENCY = 200
const ROUNDS = { warmUps: 2, turns: 7 }
const TLS_ROUNDS = { warmUps: 1, turns: 3 }
const CORES = 2
/** With the crawl's own files and pipes, room for some two hundred connections. */
const FEW_DESCRIPTORS = 300

export const broad: Bench = async () => [...(await plain()), ...(await encrypted()), ...(await polite())]

function contestOf(web: BenchWeb): Contest {
  return {
    name: 'kumo',
    seeds: web.seeds,
    concurrency: CONCURRENCY,
    perHost: 1,
    delayMs: 0,
    workers: 0,
    store: 'memory',
    ca: web.certificates?.ca,
  }
}

const speed = ({ pages, seconds }: Turn) => pages / seconds

async function plain(): Promise<Figure[]> {
  const web = await startBenchWeb({ hosts: HOSTS, pagesPerHost: PAGES_PER_HOST, ...PAGE })
  const contest = contestOf(web)
  const { urls } = await urlsAskedFor(web, contest)
  const kumo = await contestant(contest)
  const wide = await contestant({ ...contest, concurrency: HOSTS })
  const two = await contestant({ ...contest, workers: 2 })
  const raw = await contestant({ ...contest, name: 'raw', urls })
  await takeTurns(web, [kumo, raw, wide, two], ROUNDS)
  await web.close()
  const server = median(kumo.turns.map(({ served, pages }) => (1000 * served.cpuMs) / pages))
  const crawler = median(kumo.turns.map(cpuMicros))
  const name = `${HOSTS} hosts`
  return [
    cpu(`${name}, concurrency ${CONCURRENCY}`, kumo),
    cpu(`${name}, concurrency ${HOSTS}`, wide),
    cpu(`${name}, raw undici`, raw),
    pace(`${name}, concurrency ${CONCURRENCY}`, kumo),
    pace(`${name}, raw undici`, raw),
    perPage(`${name}, connections a page`, kumo, ({ served }) => served.connections),
    ratio(`${name}: CPU ÷ raw undici`, kumo, raw, cpuMicros, { atMost: 1.5 }),
    ratio(`${name}: CPU ÷ raw undici, concurrency ${HOSTS}`, wide, raw, cpuMicros),
    ratio(`${name}: pages/s, 2 workers ÷ none`, two, kumo, speed, {
      atLeast: (0.85 * CORES * crawler) / (crawler + server),
    }),
    { what: `${name}, memory`, value: median(kumo.turns.map(({ rssMb }) => rssMb)), unit: 'MB' },
  ]
}

async function encrypted(): Promise<Figure[]> {
  const web = await startBenchWeb({ hosts: TLS_HOSTS, pagesPerHost: PAGES_PER_HOST, ...PAGE }, { tls: true })
  const contest = contestOf(web)
  const { urls } = await urlsAskedFor(web, contest)
  const kumo = await contestant(contest)
  const few = await contestant(contest, { descriptors: FEW_DESCRIPTORS })
  const raw = await contestant({ ...contest, name: 'raw', urls })
  await takeTurns(web, [kumo, few, raw], TLS_ROUNDS)
  await web.close()
  const name = `TLS, ${TLS_HOSTS} hosts`
  const full = ({ served }: Turn) => served.connections - served.resumed
  return [
    cpu(name, kumo),
    cpu(`${name}, raw undici`, raw),
    ratio(`${name}: CPU ÷ raw undici`, kumo, raw, cpuMicros),
    perPage(`${name}, full handshakes a page`, kumo, full, { atMost: 0.1 }),
    perPage(
      `${name}, ${FEW_DESCRIPTORS} descriptors, connections a page`,
      few,
      ({ served }) => served.connections,
    ),
    {
      what: `${name}, ${FEW_DESCRIPTORS} descriptors, reconnections that resume`,
      value: median(few.turns.map(({ served }) => served.resumed / (served.connections - TLS_HOSTS))),
      unit: '',
      bar: { atLeast: 0.9 },
    },
    cpu(`${name}, ${FEW_DESCRIPTORS} descriptors`, few),
  ]
}

function perPage(
  what: string,
  { turns }: Contestant,
  of: (turn: Turn) => number,
  bar?: Figure['bar'],
): Figure {
  return { what, value: median(turns.map((turn) => of(turn) / turn.pages)), unit: '', ...(bar && { bar }) }
}

const POLITE_HOSTS = 20_000
const POLITE_DELAY_MS = 10_000
/** More than fit into the time: the crawl is stopped. */
const POLITE_PAGES_PER_HOST = 20
const SETTLE_MS = 30_000
const WINDOW_MS = 30_000
const SOME_DESCRIPTORS = 4096
/** A process has room for so many sockets, also that of a server. */
const HOSTS_PER_SERVER = 10_000

async function polite(): Promise<Figure[]> {
  const most = Number(execFileSync('bash', ['-c', 'ulimit -Hn']).toString().trim())
  if (most < HOSTS_PER_SERVER + 100) {
    console.log(`  ${POLITE_HOSTS} hosts need servers with more than ${most} open files: left out`)
    return []
  }
  const servers = Array.from({ length: POLITE_HOSTS / HOSTS_PER_SERVER }, () =>
    startBenchWeb({ hosts: HOSTS_PER_SERVER, pagesPerHost: POLITE_PAGES_PER_HOST, ...PAGE }),
  )
  const webs = await Promise.all(servers)
  const all = await politeShare(webs)
  const some = await politeShare(webs, SOME_DESCRIPTORS)
  for (const web of webs) await web.close()
  const name = `${POLITE_HOSTS} hosts, ${POLITE_DELAY_MS / 1000} s of delay`
  return [
    { what: `${name}: share of the bound`, value: all.share, unit: '', bar: { atLeast: 0.95 } },
    { what: `${name}: memory`, value: all.rssMb, unit: 'MB', bar: { atMost: 400 } },
    {
      what: `${name}, ${SOME_DESCRIPTORS} descriptors: share`,
      value: some.share,
      unit: '',
      bar: { atLeast: 0.9 },
    },
    { what: `${name}, ${SOME_DESCRIPTORS} descriptors: memory`, value: some.rssMb, unit: 'MB' },
  ]
}

/** Requests in the midst of a crawl, as a share of what the delay allows. */
async function politeShare(
  webs: readonly BenchWeb[],
  descriptors?: number,
): Promise<{ readonly share: number; readonly rssMb: number }> {
  const contest: Contest = {
    ...contestOf(webs[0]!),
    seeds: webs.flatMap(({ seeds }) => seeds),
    delayMs: POLITE_DELAY_MS,
    concurrency: CONCURRENCY,
    extra: { limit: { time: `${SETTLE_MS + WINDOW_MS + 5000}ms` } },
  }
  const kumo = await contestant(contest, { descriptors })
  const running = kumo.run()
  await sleep(SETTLE_MS)
  for (const web of webs) await web.reset()
  await sleep(WINDOW_MS)
  const served = await Promise.all(webs.map((web) => web.report()))
  const { rssMb } = await running
  kumo.close()
  const requests = served.reduce((sum, each) => sum + each.requests, 0)
  return { share: requests / ((POLITE_HOSTS * WINDOW_MS) / POLITE_DELAY_MS), rssMb }
}
