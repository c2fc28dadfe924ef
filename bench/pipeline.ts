/**
 * The pipeline of Udagawa, Sato, Uehara & Sakai (2002), made again: what each stage can do, how many downloads a server
 * needs at once, updating everything against updating what changed, and indexing shared by cost over 1 to 4 workers.
 * Prints the tables of docs/search.md and draws its chart.
 */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Crawler, level } from 'kumo'
import { searchIndex } from 'kumo/search'
import type { Bench, Figure } from './report.js'
import { crawlAndIndex } from './search-crawl.js'
import { type IndexingWeb, indexingWeb } from './search-web.js'
import { svgOf } from './svg.js'

const HOSTS = 8
const PAGES = 800
/** Pages of the slow server, which sends one every 50 ms to each connection. */
const SLOW_PAGES = 160
const DOWNLOADS = [1, 4, 8, 16, 32]
const WORKERS = [1, 2, 3, 4]
const UNEVEN = 0.8
const CHART = fileURLToPath(new URL('../docs/pipeline.svg', import.meta.url))

export const pipeline: Bench = async () => {
  const folder = mkdtempSync(join(tmpdir(), 'kumo-pipeline-'))
  const web = await indexingWeb(HOSTS, PAGES)
  try {
    const stages = await stagesOf(web, folder)
    const { figures: downloads, points } = await downloadsOf(web)
    const updates = await updatesOf(web, folder)
    const { figures: sharing, shared, alone } = await sharingOf(web, folder)
    writeFileSync(
      CHART,
      svgOf('Downloads of one server, and indexing over workers', [
        {
          title: 'One server with 16 slots',
          xLabel: 'downloads at once',
          yLabel: 'pages a second',
          scale: 'linear',
          xTicks: DOWNLOADS,
          lines: [{ label: 'pages/s', points }],
        },
        {
          title: '80 % of the text on one worker',
          xLabel: 'workers',
          yLabel: 'documents per CPU second',
          scale: 'linear',
          xTicks: WORKERS,
          lines: [
            { label: 'shared by cost', points: shared },
            { label: 'not shared', points: alone },
          ],
        },
      ]),
    )
    return [...stages, ...downloads, ...updates, ...sharing]
  } finally {
    await web.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** What one thread can do in each stage, if it did nothing else. */
async function stagesOf(web: IndexingWeb, folder: string): Promise<Figure[]> {
  const seeds = web.even(1)
  const { pagesPerSecond } = await crawlOf(seeds).concurrency(16).run()
  const summary = await crawlOf(seeds)
    .concurrency(16)
    .use(searchIndex(join(folder, 'stages'), { sync: false }))
    .run()
  const { stages } = summary.queues['search-index']!
  const rate = (stage: string) => summary.pages / ((stages[stage]!.busyShare * summary.elapsedMs) / 1000)
  return [
    { what: 'download and links, alone', value: pagesPerSecond, unit: '/s' },
    { what: 'segment, alone', value: rate('segment'), unit: '/s' },
    { what: 'index, alone', value: rate('index'), unit: '/s' },
    { what: 'all of it in one thread', value: summary.pagesPerSecond, unit: '/s' },
    { what: `bottleneck: ${summary.bottleneck}`, value: 1, unit: '' },
  ]
}

/** Pages a second of one server with 16 slots. */
async function downloadsOf(web: IndexingWeb) {
  const host = new URL(web.even(1)[0]!).host
  const seeds = web
    .even(1)
    .slice(0, SLOW_PAGES)
    .map((url) => `http://${host}/slow${new URL(url).pathname}`)
  const points: (readonly [number, number])[] = []
  for (const downloads of DOWNLOADS) {
    const { pagesPerSecond } = await crawlOf(seeds)
      .concurrency(downloads)
      .perHost({ connections: downloads, growAt: 1 })
      .run()
    points.push([downloads, pagesPerSecond])
  }
  const at = (downloads: number) => points.find(([each]) => each === downloads)![1]
  const figures: Figure[] = [
    ...points.map(([each, value]) => ({ what: `one server, ${each} at once`, value, unit: '/s' })),
    { what: '16 ÷ 1 at once', value: at(16) / at(1), unit: '×', bar: { atLeast: 8 } },
    { what: '32 ÷ 16 at once', value: at(32) / at(16), unit: '×', bar: { atMost: 1.3 } },
  ]
  return { figures, points }
}

/**
 * Everything again, and what changed, as in the paper: one download at a time, and for the second also 16. Nothing has
 * changed here, so a simple update confirms each page.
 */
async function updatesOf(web: IndexingWeb, folder: string): Promise<Figure[]> {
  const seeds = web.even(1)
  const update = async (complete: boolean, downloads: number): Promise<number> => {
    const { changes, elapsedMs } = await crawlOf(seeds)
      .concurrency(downloads)
      .store(level(join(folder, 'update')))
      .refresh({ rounds: 1, complete })
      .use(searchIndex(join(folder, 'updated'), { sync: false }))
      .run()
    return (Object.values(changes).reduce((sum, count) => sum + count, 0) * 1000) / elapsedMs
  }
  await update(false, 16)
  const complete = await update(true, 1)
  const simple = await update(false, 1)
  const multiplied = await update(false, 16)
  return [
    { what: 'complete update, 1 download', value: complete, unit: '/s' },
    { what: 'simple update, 1 download', value: simple, unit: '/s' },
    { what: 'simple update, 16 downloads', value: multiplied, unit: '/s' },
    { what: 'simple, 16 downloads ÷ complete', value: multiplied / complete, unit: '×', bar: { atLeast: 4 } },
  ]
}

/** Uneven hosts. What the busiest thread takes is how long it would take with a core for each worker. */
async function sharingOf(web: IndexingWeb, folder: string) {
  const shared: (readonly [number, number])[] = []
  const alone: (readonly [number, number])[] = []
  const figures: Figure[] = []
  for (const workers of WORKERS) {
    const seeds = web.uneven(workers, workers === 1 ? 1 : UNEVEN)
    for (const balance of [false, true]) {
      const { documentsPerSecond, busiestSeconds } = await crawlAndIndex(seeds, workers, balance, folder)
      const ofBusiest = seeds.length / busiestSeconds
      ;(balance ? shared : alone).push([workers, ofBusiest])
      const what = `${workers} workers, ${balance ? 'shared by cost' : 'not shared'}`
      figures.push({ what, value: documentsPerSecond, unit: '/s' })
      figures.push({ what: `${what}: a second of the busiest thread`, value: ofBusiest, unit: '/s' })
    }
  }
  const gain = shared.at(-1)![1] / alone.at(-1)![1]
  figures.push({ what: '4 workers: shared ÷ not shared', value: gain, unit: '×', bar: { atLeast: 1.5 } })
  return { figures, shared, alone }
}

function crawlOf(seeds: readonly string[]): Crawler {
  return new Crawler().seeds(seeds).robots(false).delay(0).depth(0)
}
