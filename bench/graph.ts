/**
 * A graph of a million pages with 20 links each: its size, what inserting costs beside putting the same bytes into LevelDB
 * without thinking, and how long its ranks take.
 */

import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Level } from 'level'
import { openGraph } from '../src/hooks/graph/index.js'
import { seededRandom } from '../src/time.js'
import type { Bench } from './report.js'

const PAGES = Number(process.env.KUMO_GRAPH_PAGES ?? 1_000_000)
const LINKS = 20
const PAGES_A_HOST = 1000
/** Links that stay on their host, as on the web. */
const LOCAL = 0.75
const BATCH = 2000
/** Made before the time is taken. */
const PAGES_AT_ONCE = 20_000

export const graph: Bench = async () => {
  const folder = mkdtempSync(join(tmpdir(), 'kumo-bench-graph-'))
  try {
    return await measure(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function measure(folder: string) {
  const urls = Array.from({ length: PAGES }, (_, n) => urlOf(n))
  const targets = linksOf()
  const made = await openGraph(join(folder, 'graph'), { texts: false })
  let insertMs = 0
  let insertWall = 0
  for (let from = 0; from < PAGES; from += PAGES_AT_ONCE) {
    const pages = Array.from({ length: Math.min(PAGES_AT_ONCE, PAGES - from) }, (_, i) => ({
      url: urls[from + i]!,
      links: Array.from(targets.subarray((from + i) * LINKS, (from + i + 1) * LINKS), (to) => ({
        url: urls[to]!,
      })),
      seenAt: 1_700_000_000_000 + from + i,
    }))
    const time = cpu()
    const began = performance.now()
    for (const page of pages) {
      const behind = made.writer.add(page)
      if (behind !== undefined) await behind
    }
    await made.flush()
    insertMs += time()
    insertWall += performance.now() - began
  }
  const { links } = await made.counts()
  const forwardBytes = bytesIn(join(folder, 'graph'))
  const rankBegan = performance.now()
  const { iterations } = await made.rank()
  const rankS = (performance.now() - rankBegan) / 1000
  await made.in(urls[1]!)
  await made.close()

  const raw = await rawPuts(join(folder, 'raw'), await storedEntries(join(folder, 'graph')))
  const linksOfPage = (page: number) => Array.from(targets.subarray(page * LINKS, (page + 1) * LINKS))
  const came = await rawPuts(
    join(folder, 'came'),
    madeEntries((page) => [
      [
        urls[page]!,
        linksOfPage(page)
          .map((to) => urls[to])
          .join('\n'),
      ],
    ]),
  )
  const apart = await rawPuts(
    join(folder, 'apart'),
    madeEntries((page) => linksOfPage(page).map((to) => [`${urls[page]!}\n${urls[to]!}`, ''])),
  )
  const compacted = await compactedBytes(join(folder, 'graph'))
  return [
    { what: `links of ${PAGES} pages`, value: links, unit: '' },
    {
      what: 'bytes a link on disk, before incoming links and ranks',
      value: forwardBytes / links,
      unit: 'bytes',
    },
    {
      what: 'bytes a link on disk, with incoming links and ranks',
      value: compacted / links,
      unit: 'bytes',
      bar: { atMost: 8 },
    },
    { what: 'insert, CPU a page', value: micros(insertMs), unit: 'µs' },
    { what: 'raw puts of what comes in, one for a page, CPU a page', value: micros(came.ms), unit: 'µs' },
    { what: 'raw puts of what comes in, one for a link, CPU a page', value: micros(apart.ms), unit: 'µs' },
    { what: 'raw puts of what is stored, CPU a page', value: micros(raw.ms), unit: 'µs' },
    {
      what: 'insert rate ÷ raw puts of what comes in, one for a page',
      value: came.ms / insertMs,
      unit: '',
      bar: { atLeast: 0.5 },
    },
    { what: 'the same on the wall', value: came.wall / insertWall, unit: '' },
    { what: 'insert rate ÷ one raw put for a link', value: apart.ms / insertMs, unit: '' },
    { what: 'insert rate ÷ raw puts of what is stored', value: raw.ms / insertMs, unit: '' },
    { what: 'the same on the wall', value: raw.wall / insertWall, unit: '' },
    { what: `ranks, ${iterations} iterations`, value: rankS, unit: 's', bar: { atMost: 60 } },
  ]
}

type Entry = readonly [key: Uint8Array, value: Uint8Array]

const VIEW = { keyEncoding: 'view', valueEncoding: 'view' } as const
const micros = (ms: number) => (ms * 1000) / PAGES

/** The entries that the inserts made, in batches. */
async function storedEntries(folder: string): Promise<AsyncIterable<Entry[]>> {
  const source = new Level<Uint8Array, Uint8Array>(folder, VIEW)
  const entries: Entry[] = []
  for (const kind of ['u', 'p']) {
    const bounds = { gte: Buffer.from(kind), lt: Buffer.from([kind.charCodeAt(0) + 1]) }
    for await (const entry of source.iterator(bounds)) entries.push(entry)
  }
  await source.close()
  return (async function* () {
    for (let at = 0; at < entries.length; at += BATCH) yield entries.slice(at, at + BATCH)
  })()
}

/** URLs as they come in: what a program without a graph would put. Made before the time is taken. */
async function* madeEntries(
  entriesOf: (page: number) => readonly (readonly [string, string])[],
): AsyncGenerator<Entry[]> {
  for (let page = 0; page < PAGES; page += BATCH) {
    const entries: Entry[] = []
    for (let each = page; each < Math.min(PAGES, page + BATCH); each++)
      for (const [key, value] of entriesOf(each)) entries.push([Buffer.from(key), Buffer.from(value)])
    yield entries
  }
}

/** Puts of entries into an empty database. Only these are measured. */
async function rawPuts(to: string, batches: AsyncIterable<Entry[]>): Promise<{ ms: number; wall: number }> {
  const target = new Level<Uint8Array, Uint8Array>(to, {
    ...VIEW,
    writeBufferSize: 32 * 2 ** 20,
    blockSize: 16_384,
  })
  await target.open()
  const result = { ms: 0, wall: 0 }
  for await (const entries of batches) {
    const time = cpu()
    const began = performance.now()
    const batch = target.batch()
    for (const [key, value] of entries) batch.put(key, value)
    await batch.write()
    result.ms += time()
    result.wall += performance.now() - began
  }
  await target.close()
  rmSync(to, { recursive: true, force: true })
  return result
}

async function compactedBytes(folder: string): Promise<number> {
  const database = new Level<Uint8Array, Uint8Array>(folder, { keyEncoding: 'view', valueEncoding: 'view' })
  await database.open()
  const classic = database as unknown as { compactRange(from: Uint8Array, to: Uint8Array): Promise<void> }
  await classic.compactRange(Buffer.from([0]), Buffer.from([255]))
  await database.close()
  return bytesIn(folder)
}

function bytesIn(folder: string): number {
  return readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0)
}

function cpu(): () => number {
  const start = process.cpuUsage()
  return () => {
    const { user, system } = process.cpuUsage(start)
    return (user + system) / 1000
  }
}

/** Through a buffer, so that the text is one piece as that of a page is. */
function urlOf(n: number): string {
  const host = Math.floor(n / PAGES_A_HOST)
  return Buffer.from(`https://host${host}.example.com/articles/page-${n % PAGES_A_HOST}.html`).toString(
    'latin1',
  )
}

function linksOf(): Uint32Array {
  const random = seededRandom(20)
  const targets = new Uint32Array(PAGES * LINKS)
  for (let at = 0; at < targets.length; at++) {
    const page = Math.floor(at / LINKS)
    const first = page - (page % PAGES_A_HOST)
    targets[at] =
      random.next() < LOCAL
        ? Math.min(PAGES - 1, first + Math.floor(random.next() * PAGES_A_HOST))
        : Math.floor(random.next() ** 2 * PAGES)
  }
  return targets
}
