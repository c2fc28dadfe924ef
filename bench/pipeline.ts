/**
 * The pipeline of Udagawa, Sato, Uehara & Sakai (2002), made again: what each stage can do, how many downloads a server
 * needs at once, updating everything against updating what changed, and indexing shared by cost over 1 to 4 workers.
 * Prints the tables of docs/search.md and draws its chart.
 */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Crawler, level, type Summary } from 'kumo'
import { searchIndex } from 'kumo/search'
import type { Bench, Figure } from './report.js'
import { crawlAndIndex } from './search-crawl.js'
import { type IndexingWeb, indexingWeb } from './search-web.js'
import { svgOf } from './svg.js'

const HOSTS = 8
const PAGES = 160
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
          title: '80 % of the text on one worker’s hosts',
          xLabel: 'workers',
          yLabel: 'documents a second',
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
  const seeds = web.even(1).map((url) => `http://${host}/slow${new URL(url).pathname}`)
  const points: (readonly [number, number])[] = []
  for (const downloads of DOWNLOADS) {
    const { pagesPerSecond } = await crawlOf(seeds)
      .concurrency(downloads)
      .perHost({ connections: downloads })
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

/** Everything again against what changed: here nothing has, so a simple update confirms each page. */
async function updatesOf(web: IndexingWeb, folder: string): Promise<Figure[]> {
  const seeds = web.even(1)
  const update = (complete: boolean): Promise<Summary> =>
    crawlOf(seeds)
      .concurrency(16)
      .store(level(join(folder, 'update')))
      .refresh({ rounds: 1, complete })
      .use(searchIndex(join(folder, 'updated'), { sync: false }))
      .run()
  const first = await update(false)
  const complete = await update(true)
  const simple = await update(false)
  const ofRun = ({ changes, elapsedMs }: Summary) =>
    (Object.values(changes).reduce((sum, count) => sum + count, 0) * 1000) / elapsedMs
  return [
    { what: 'first crawl', value: ofRun(first), unit: '/s' },
    { what: 'complete update', value: ofRun(complete), unit: '/s' },
    { what: 'simple update', value: ofRun(simple), unit: '/s' },
    { what: 'simple ÷ complete', value: ofRun(simple) / ofRun(complete), unit: '×', bar: { atLeast: 2 } },
  ]
}

async function sharingOf(web: IndexingWeb, folder: string) {
  const shared: (readonly [number, number])[] = []
  const alone: (readonly [number, number])[] = []
  for (const workers of WORKERS) {
    const seeds = web.uneven(workers, workers === 1 ? 1 : UNEVEN)
    alone.push([workers, (await crawlAndIndex(seeds, workers, false, folder)).documentsPerSecond])
    shared.push([workers, (await crawlAndIndex(seeds, workers, true, folder)).documentsPerSecond])
  }
  const figures: Figure[] = WORKERS.flatMap((workers, i) => [
    { what: `${workers} workers, not shared`, value: alone[i]![1], unit: '/s' },
    { what: `${workers} workers, shared by cost`, value: shared[i]![1], unit: '/s' },
  ])
  return { figures, shared, alone }
}

function crawlOf(seeds: readonly string[]): Crawler {
  return new Crawler().seeds(seeds).robots(false).delay(0).depth(0)
}
