/** Archiving real pages: what it costs beside compressing the same bytes. Needs ../shared/sites. */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { Crawler } from 'kumo'
import type { HttpExchange } from '../src/fetch/contract.js'
import { seededRandom, systemClock } from '../src/time.js'
import { Archive } from '../src/warc/archive.js'
import { readWarc } from '../src/warc/reader.js'
import { type FileSites, SITE_NAMES, startFileSites } from '../test/loopback/files.js'
import { type Bench, type Figure, median } from './report.js'

const ROUNDS = 7
const LEVEL = 5

export const warc: Bench = async () => {
  if (SITE_NAMES.length === 0) {
    console.log('warc: skipped, ../shared is not there')
    return []
  }
  const sites = await startFileSites()
  const folder = mkdtempSync(join(tmpdir(), 'kumo-bench-warc-'))
  try {
    return await writing(sites, folder)
  } finally {
    await sites.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The exchanges of a crawl of all sites, in memory. */
async function exchangesOf(sites: FileSites): Promise<HttpExchange[]> {
  const exchanges: HttpExchange[] = []
  await crawlerOf(sites)
    .use({ name: 'collect', exchange: (exchange: HttpExchange) => void exchanges.push(exchange) })
    .run()
  return exchanges
}

function crawlerOf(sites: FileSites): Crawler {
  return new Crawler()
    .seeds(...sites.seeds)
    .scope('origin')
    .delay(0)
    .perHost({ connections: 16, growAt: 1 })
    .retries({ times: 0 })
    .traps(false)
}

async function openArchive(folder: string, level: number): Promise<Archive> {
  const settings = { folder, prefix: 'bench', maxBytes: 1e9, level, credentials: false, info: {} }
  return Archive.open(settings, 0, systemClock().now, seededRandom(1), () => {})
}

async function writing(sites: FileSites, folder: string): Promise<Figure[]> {
  const exchanges = await exchangesOf(sites)
  const plain = await recordsOf(exchanges, join(folder, 'plain'))
  // Request and response together, as if they were one record.
  const pairs = plain.reduce<Buffer[]>((list, record, at) => {
    if (at % 2 === 1) list.push(Buffer.concat([plain[at - 1]!, record]))
    return list
  }, [])
  const times: Record<'archive' | 'gzip' | 'pairs', number[]> = { archive: [], gzip: [], pairs: [] }
  for (let round = 0; round <= ROUNDS; round++) {
    const place = join(folder, `round-${round}`)
    const archive = await openArchive(place, LEVEL)
    const work = {
      archive: async () => {
        for (const exchange of exchanges) await archive.write(exchange)
        await archive.close()
      },
      gzip: () => {
        for (const record of plain) gzipSync(record, { level: LEVEL })
      },
      pairs: () => {
        for (const pair of pairs) gzipSync(pair, { level: LEVEL })
      },
    }
    for (const [name, run] of Object.entries(work)) {
      const start = process.cpuUsage()
      await run()
      const { user, system } = process.cpuUsage(start)
      // The first round warms up.
      if (round > 0) times[name as keyof typeof times].push((user + system) / exchanges.length)
    }
    rmSync(place, { recursive: true })
  }
  const ratio = (to: 'gzip' | 'pairs') => median(times.archive.map((time, at) => time / times[to][at]!))
  return [
    { what: 'exchanges', value: exchanges.length, unit: '' },
    { what: 'an exchange archived, CPU', value: median(times.archive), unit: 'µs' },
    { what: 'gzipSync of the same records, CPU', value: median(times.gzip), unit: 'µs' },
    { what: 'archived ÷ gzipSync of the same records', value: ratio('gzip'), unit: '', bar: { atMost: 1.3 } },
    { what: 'archived ÷ gzipSync of request and response in one', value: ratio('pairs'), unit: '' },
  ]
}

/** The records that the exchanges become, before compression; without the description of the file. */
async function recordsOf(exchanges: readonly HttpExchange[], folder: string): Promise<Buffer[]> {
  const archive = await openArchive(folder, 0)
  for (const exchange of exchanges) await archive.write(exchange)
  await archive.close()
  const { readFileSync } = await import('node:fs')
  const records: Buffer[] = []
  let file: Buffer | undefined
  for await (const record of readWarc(folder)) {
    if (!record.ok) throw new Error(record.message)
    file ??= readFileSync(record.file)
    if (record.type !== 'warcinfo') records.push(file.subarray(record.offset, record.offset + record.length))
  }
  return records
}
