/**
 * A graph of a million pages with 20 links each: its size, what inserting costs beside putting the same bytes into LevelDB
 * without thinking, and how long its ranks take. Contestants alternate, each with a database of its own, and medians count.
 * `KUMO_GRAPH_PAGES=300000` makes it smaller.
 */

import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Level } from 'level'
import { openGraph } from '../src/hooks/graph/index.js'
import { flat } from '../src/owned.js'
import { seededRandom } from '../src/time.js'
import { type Bench, median } from './report.js'

const PAGES = Number(process.env.KUMO_GRAPH_PAGES ?? 1_000_000)
const ROUNDS = Number(process.env.KUMO_BENCH_ROUNDS ?? 3)
const LINKS = 20
const PAGES_A_HOST = 1000
/** Links that stay on their host, as on the web. */
const LOCAL = 0.75
/** Entries that are written together, as the graph does it. */
const BATCH = 2000
/** Pages that are made at once: few, so that they are in the processor's cache, as those of a crawl are. */
const MADE = 500

export const graph: Bench = async () => {
  const folder = mkdtempSync(join(tmpdir(), 'kumo-bench-graph-'))
  try {
    return await measure(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** CPU time of all threads, and time on the wall. */
interface Took {
  readonly ms: number
  readonly wall: number
}

async function measure(folder: string) {
  const targets = linksOf()
  const place = join(folder, 'graph')
  const took = { inserts: [] as Took[], came: [] as Took[], stored: [] as Took[] }
  for (let round = 0; round < ROUNDS; round++) {
    rmSync(place, { recursive: true, force: true })
    took.inserts.push(await inserts(place, targets))
    took.came.push(await putsOfWhatComes(join(folder, 'raw'), targets))
    took.stored.push(await putsOfWhatIsStored(join(folder, 'raw'), place))
    console.log(
      Object.entries(took)
        .map(([name, list]) => `${name} ${micros(list[round]!.ms).toFixed(2)} µs CPU a page`)
        .join(', '),
    )
  }
  const forwardBytes = bytesIn(place)
  const made = await openGraph(place, { texts: false })
  const { links } = await made.counts()
  const rankBegan = performance.now()
  const { iterations } = await made.rank()
  const rankS = (performance.now() - rankBegan) / 1000
  await made.in(urlOf(1))
  await made.close()
  const compacted = await compactedBytes(place)

  const middle = (name: keyof typeof took, of: keyof Took) =>
    micros(median(took[name].map((each) => each[of])))
  const ratio = (to: keyof typeof took, of: keyof Took) =>
    median(took.inserts.map((each, round) => took[to][round]![of] / each[of]))
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
    { what: 'insert, CPU a page', value: middle('inserts', 'ms'), unit: 'µs' },
    { what: 'raw puts of the URLs that come in, CPU a page', value: middle('came', 'ms'), unit: 'µs' },
    { what: 'raw puts of what is stored, CPU a page', value: middle('stored', 'ms'), unit: 'µs' },
    {
      what: 'insert rate ÷ raw puts of the URLs that come in, CPU',
      value: ratio('came', 'ms'),
      unit: '',
      bar: { atLeast: 0.5 },
    },
    { what: 'the same on the wall', value: ratio('came', 'wall'), unit: '', bar: { atLeast: 0.5 } },
    { what: 'insert rate ÷ raw puts of what is stored, CPU', value: ratio('stored', 'ms'), unit: '' },
    { what: 'the same on the wall', value: ratio('stored', 'wall'), unit: '' },
    { what: `ranks, ${iterations} iterations`, value: rankS, unit: 's', bar: { atMost: 60 } },
  ]
}

type Entry = readonly [key: Uint8Array, value: Uint8Array]

const VIEW = { keyEncoding: 'view', valueEncoding: 'view' } as const
const micros = (ms: number) => (ms * 1000) / PAGES

async function inserts(place: string, targets: Uint32Array): Promise<Took> {
  const graph = await openGraph(place, { texts: false })
  const took = await timed(PAGES, {
    make: (page) => ({
      url: urlOf(page),
      links: urlsOfLinks(page, targets).map((url) => ({ url })),
      seenAt: 1_700_000_000_000 + page,
    }),
    add: (page) => graph.writer.add(page),
    flush: () => graph.flush(),
  })
  await graph.close()
  return took
}

/** A page and its links as URLs, in one entry with a short key: what a program without a graph would put. */
function putsOfWhatComes(to: string, targets: Uint32Array): Promise<Took> {
  return rawPuts(to, PAGES, (page) => {
    const key = Buffer.alloc(5, 'p')
    key.writeUInt32BE(page, 1)
    return [key, Buffer.from([urlOf(page), ...urlsOfLinks(page, targets)].join('\n'))]
  })
}

/** The entries that the inserts made. */
async function putsOfWhatIsStored(to: string, folder: string): Promise<Took> {
  const source = new Level<Uint8Array, Uint8Array>(folder, VIEW)
  const entries: Entry[] = []
  for (const kind of ['u', 'p']) {
    const bounds = { gte: Buffer.from(kind), lt: Buffer.from([kind.charCodeAt(0) + 1]) }
    for await (const entry of source.iterator(bounds)) entries.push(entry)
  }
  await source.close()
  return rawPuts(to, entries.length, (at) => entries[at]!)
}

async function rawPuts(to: string, count: number, make: (at: number) => Entry): Promise<Took> {
  const target = new Level<Uint8Array, Uint8Array>(to, {
    ...VIEW,
    writeBufferSize: 32 * 2 ** 20,
    blockSize: 16_384,
  })
  await target.open()
  let batch = target.batch()
  const took = await timed(count, {
    make,
    add: ([key, value]) => void batch.put(key, value),
    flush() {
      const full = batch
      batch = target.batch()
      return full.write()
    },
  })
  await target.close()
  rmSync(to, { recursive: true, force: true })
  return took
}

interface Contestant<T> {
  /** Not timed, and nor is collecting its garbage. */
  make(at: number): T
  add(item: T): Promise<void> | undefined
  flush(): Promise<void>
}

async function timed<T>(count: number, { make, add, flush }: Contestant<T>): Promise<Took> {
  let ms = 0
  let wall = 0
  for (let from = 0; from < count; from += MADE) {
    const items = Array.from({ length: Math.min(MADE, count - from) }, (_, i) => make(from + i))
    globalThis.gc?.({ type: 'minor', execution: 'sync' })
    const start = process.cpuUsage()
    const began = performance.now()
    for (const item of items) {
      const behind = add(item)
      if (behind !== undefined) await behind
    }
    if (from % BATCH === BATCH - MADE || from + MADE >= count) await flush()
    const { user, system } = process.cpuUsage(start)
    ms += (user + system) / 1000
    wall += performance.now() - began
  }
  return { ms, wall }
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

/** A new string each time, in one piece, as the links of a page are. */
function urlOf(n: number): string {
  const host = Math.floor(n / PAGES_A_HOST)
  return flat(`https://host${host}.example.com/articles/page-${n % PAGES_A_HOST}.html`)
}

function urlsOfLinks(page: number, targets: Uint32Array): string[] {
  return Array.from(targets.subarray(page * LINKS, (page + 1) * LINKS), urlOf)
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
