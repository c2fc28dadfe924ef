/**
 * Whole sites as they are published: `../shared/sites` beside the checkout or, without it, generated pages like them.
 * Beside Kumo: undici on the same URLs, and wget2 where it is installed. What Kumo found must not change.
 */

import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Bench, Figure } from './report.js'
import { median } from './report.js'
import {
  type Contest,
  contestant,
  cpu,
  cpuMicros,
  pace,
  ratio,
  type Turn,
  takeTurns,
  urlsAskedFor,
} from './web/contest.js'
import { type ServedUrl, startBenchWeb } from './web/web.js'
import { hasWget2, wget2 } from './web/wget2.js'

const CONCURRENCY = 60
const PER_HOST = 10
const ROUNDS = { warmUps: 3, turns: 5 }
const CORES = 2
/** The pages that were found on each site, as a digest of their sorted paths. */
const KNOWN = fileURLToPath(new URL('./web/found.json', import.meta.url))

export const sites: Bench = async () => {
  const web = await startBenchWeb({ sites: true })
  const contest: Contest = {
    name: 'kumo',
    seeds: web.seeds,
    concurrency: CONCURRENCY,
    perHost: PER_HOST,
    delayMs: 0,
    workers: 0,
    store: 'memory',
  }
  const { asked, urls } = await urlsAskedFor(web, contest)
  const kumo = await contestant(contest)
  const disk = await contestant({ ...contest, store: 'level' })
  const two = await contestant({ ...contest, workers: 2 })
  const raw = await contestant({ ...contest, name: 'raw', urls })
  const pagesServed = async () => new Set((await web.log()).urls.filter(isPage).map(({ url }) => url)).size
  const c = hasWget2() ? wget2(web.seeds, CONCURRENCY, pagesServed) : undefined
  await takeTurns(web, [kumo, raw, disk, two, ...(c ? [c] : [])], ROUNDS)
  await web.close()

  const speed = ({ pages, seconds }: Turn) => pages / seconds
  const server = median(kumo.turns.map(({ served, pages }) => (1000 * served.cpuMs) / pages))
  const crawler = median(kumo.turns.map(cpuMicros))
  const most = (CORES * crawler) / (crawler + server)
  const figures: Figure[] = [
    { what: 'pages', value: kumo.turns[0]!.pages, unit: '' },
    cpu('kumo', kumo),
    cpu('raw undici', raw),
    pace('kumo', kumo),
    pace('raw undici', raw),
    { what: 'server, CPU', value: server, unit: 'µs/page' },
    ratio('CPU ÷ raw undici', kumo, raw, cpuMicros, { atMost: 2.5 }),
  ]
  if (c !== undefined) {
    figures.push(cpu('wget2', c), pace('wget2', c), ratio('CPU ÷ wget2', kumo, c, cpuMicros, { atMost: 1 }))
    figures.push({ what: 'pages of wget2', value: c.turns[0]!.pages, unit: '' })
  }
  figures.push(
    cpu('kumo on disk', disk),
    ratio('pages/s on disk ÷ in memory', disk, kumo, speed, { atLeast: 0.9 }),
    pace('2 workers', two),
    cpu('2 workers', two),
    ratio('pages/s, 2 workers ÷ none', two, kumo, speed, { atLeast: 0.85 * most }),
    { what: 'memory, kumo', value: median(kumo.turns.map(({ rssMb }) => rssMb)), unit: 'MB' },
    ...sameAsBefore(web.names, asked),
  )
  return figures
}

function isPage({ found, path }: ServedUrl): boolean {
  return found && path !== '/robots.txt'
}

/** How many sites have the pages that they had. */
function sameAsBefore(names: readonly string[], asked: readonly ServedUrl[]): Figure[] {
  const known: Record<string, { pages: number; digest: string }> = existsSync(KNOWN)
    ? JSON.parse(readFileSync(KNOWN, 'utf8'))
    : {}
  const found = names.map((name, host) => {
    const paths = asked.filter((each) => each.host === host && isPage(each)).map(({ path }) => path)
    const distinct = [...new Set(paths)].sort()
    const digest = createHash('sha256').update(distinct.join('\n')).digest('hex').slice(0, 16)
    return { name, pages: distinct.length, digest }
  })
  const changed = found.filter(
    ({ name, digest }) => known[name] !== undefined && known[name].digest !== digest,
  )
  const unknown = found.filter(({ name }) => known[name] === undefined)
  for (const { name, pages, digest } of [...changed, ...unknown])
    console.log(`  ${name}: ${pages} pages, digest ${digest}, was ${JSON.stringify(known[name])}`)
  return [
    {
      what: 'sites whose pages are not those of before',
      value: changed.length,
      unit: '',
      bar: { atMost: 0 },
    },
  ]
}
