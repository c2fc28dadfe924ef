/**
 * How much slower a crawl of whole sites gets with an archive, a link graph and a file of its pages: with one thread, and
 * with the hooks as modules on two workers. Alternating, once with pages as they are and once with the gzip coding that most
 * servers use. Needs ../shared/sites; `KUMO_BENCH_SITES=sqlite,japanese` takes fewer.
 */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Crawler, fromModule } from 'kumo'
import { linkGraph } from 'kumo/graph'
import { jsonl } from 'kumo/sinks'
import { warc } from 'kumo/warc'
import { type FileSites, SITE_NAMES, startFileSites } from '../test/loopback/files.js'
import { type Bench, type Figure, median } from './report.js'

const ROUNDS = Number(process.env.KUMO_BENCH_ROUNDS ?? 5)
const NAMES = process.env.KUMO_BENCH_SITES?.split(',') ?? SITE_NAMES
const MODULE = new URL('./hooks-module.mjs', import.meta.url)

export const hooks: Bench = async () => {
  if (SITE_NAMES.length === 0) {
    console.log('hooks: skipped, ../shared is not there')
    return []
  }
  const figures: Figure[] = []
  for (const isCoded of [false, true]) {
    const sites = await startFileSites(NAMES, isCoded)
    try {
      figures.push(...(await crawls(sites, isCoded ? ', pages with gzip coding' : '')))
    } finally {
      await sites.close()
    }
  }
  return figures
}

interface Times {
  readonly rate: number
  readonly cpu: number
}

async function crawls(sites: FileSites, what: string): Promise<Figure[]> {
  const times: Record<string, Times[]> = {
    bare: [],
    hooks: [],
    'bare, 2 workers': [],
    'hooks, 2 workers': [],
  }
  // The first round warms up.
  for (let round = 0; round <= ROUNDS; round++) {
    for (const [name, list] of Object.entries(times)) {
      const folder = mkdtempSync(join(tmpdir(), 'kumo-bench-hooks-'))
      const crawler = crawlerOf(sites, name.endsWith('workers') ? 2 : 0)
      const time = await timeOf(name.startsWith('bare') ? crawler : withHooks(crawler, name, folder))
      if (round > 0) list.push(time)
      console.log(
        `${name}${what}: ${Math.round(time.rate)} pages a second, ${Math.round(time.cpu)} µs CPU a page`,
      )
      rmSync(folder, { recursive: true, force: true })
    }
  }
  const share = (name: string, to: string, of: keyof Times) =>
    median(times[name]!.map((each, at) => each[of] / times[to]![at]![of]))
  return [
    { what: `bare${what}, pages a second`, value: median(times.bare!.map(({ rate }) => rate)), unit: '' },
    {
      what: `hooks ÷ bare, one thread${what}, pages a second`,
      value: share('hooks', 'bare', 'rate'),
      unit: '',
      bar: { atLeast: 0.6 },
    },
    {
      what: `hooks as modules on 2 workers ÷ bare on 2 workers${what}, pages a second`,
      value: share('hooks, 2 workers', 'bare, 2 workers', 'rate'),
      unit: '',
      bar: { atLeast: 0.8 },
    },
    {
      what: `hooks as modules on 2 workers ÷ bare, one thread${what}, pages a second`,
      value: share('hooks, 2 workers', 'bare', 'rate'),
      unit: '',
    },
    { what: `bare ÷ hooks, one thread${what}, CPU`, value: share('bare', 'hooks', 'cpu'), unit: '' },
    {
      what: `bare ÷ hooks, 2 workers${what}, CPU`,
      value: share('bare, 2 workers', 'hooks, 2 workers', 'cpu'),
      unit: '',
    },
  ]
}

function crawlerOf(sites: FileSites, workers: number): Crawler {
  return new Crawler()
    .seeds(...sites.seeds)
    .scope('origin')
    .delay(0)
    .perHost({ connections: 16, growAt: 1 })
    .retries({ times: 0 })
    .traps(false)
    .workers(workers)
}

function withHooks(crawler: Crawler, name: string, folder: string): Crawler {
  const archived = crawler.use(warc(join(folder, 'archive')))
  if (!name.endsWith('workers'))
    return archived.use(linkGraph(join(folder, 'graph'))).use(jsonl(join(folder, 'pages.jsonl')))
  return archived
    .use(fromModule(MODULE, { export: 'graph', with: folder }))
    .use(fromModule(MODULE, { export: 'lines', with: folder }))
}

async function timeOf(crawler: Crawler): Promise<Times> {
  const startedAt = performance.now()
  const start = process.cpuUsage()
  const { pages } = await crawler.run()
  const { user, system } = process.cpuUsage(start)
  return { rate: (pages / (performance.now() - startedAt)) * 1000, cpu: (user + system) / pages }
}
