/**
 * The search index against SQLite's FTS5 and MiniSearch on the pages of ../shared/sites, and the quality of its results.
 * Costs are CPU time within one run, against
 * MiniSearch the time that a user waits.
 */

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openIndex, openWriter } from '../src/search/index.js'
import { seededRandom } from '../src/time.js'
import { runTypeScript } from './child.js'
import { type Bench, type Figure, median } from './report.js'
import { type CorpusDocument, hasSites, siteDocuments } from './search-corpus.js'
import { japanese, knownItems, nearDuplicates } from './search-quality.js'
import { Fts5, rowsOf } from './search-rivals.js'

const EACH_COMMIT = 100
/** Times that Kumo and FTS5 index everything, in turn. */
const ROUNDS = 3
/** Documents for MiniSearch, half of them Japanese, and bytes of each: as many as in SEARCH.md's table. */
const MINI_DOCUMENTS = 5000
const MINI_BYTES = 6000
const QUERIES = 500

export const search: Bench = async () => {
  if (!hasSites()) {
    console.log('search: ../shared/sites is missing, so there is nothing to measure')
    return []
  }
  const manuals = ['python', 'postgresql', 'sqlite'].flatMap((site) => siteDocuments(site))
  const japanesePages = [...siteDocuments('japanese'), ...siteDocuments('handbook', 'ja-JP')]
  const others = [...siteDocuments('rust-std'), ...siteDocuments('handbook')]
  const folder = mkdtempSync(join(tmpdir(), 'kumo-bench-search-'))
  try {
    return [
      ...(await againstFts5([...manuals, ...others, ...siteDocuments('japanese')], folder)),
      ...(await againstMiniSearch(manuals, japanesePages, folder)),
      ...(await knownItems(manuals, folder)),
      ...(await japanese(japanesePages, folder)),
      ...(await nearDuplicates(manuals, folder)),
    ]
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function cpuMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

async function againstFts5(documents: readonly CorpusDocument[], folder: string): Promise<Figure[]> {
  const order = shuffled(documents)
  const path = join(folder, 'kumo')
  const ratios: number[] = []
  const kumoTimesMs: number[] = []
  let fts = new Fts5(join(folder, 'fts-0.db'))
  let tokensMs = 0
  let ftsMs = 0
  for (let round = 0; round < ROUNDS; round++) {
    rmSync(path, { recursive: true, force: true })
    const kumoMs = await indexAll(path, order)
    if (round > 0) fts = newFts5(fts, join(folder, `fts-${round}.db`))
    let start = cpuMs()
    for (let at = 0; at < order.length; at += EACH_COMMIT) {
      fts.begin()
      for (const document of order.slice(at, at + EACH_COMMIT)) fts.put(rowsOf(document))
      fts.commit()
    }
    ftsMs = cpuMs() - start
    start = cpuMs()
    for (const document of order) rowsOf(document)
    tokensMs = cpuMs() - start
    kumoTimesMs.push(kumoMs)
    ratios.push(kumoMs / ftsMs)
  }
  const kumoMs = median(kumoTimesMs)

  const index = await openIndex(path)
  const { bytes, sections } = await index.stats()
  const ftsBytes = fts.bytes()
  const queries = queriesOf(order)
  const kumoTimes: number[] = []
  const ftsTimes: number[] = []
  for (const query of [...queries.slice(0, 50), ...queries]) {
    let before = performance.now()
    fts.search(query)
    ftsTimes.push(performance.now() - before)
    before = performance.now()
    await index.search(query, { groupBy: 'none' })
    kumoTimes.push(performance.now() - before)
  }
  await index.close()
  const replaced = order.slice(0, Math.floor(order.length / 4))
  const kumoReplaceMs = await indexAll(path, replaced)
  const start = cpuMs()
  for (let at = 0; at < replaced.length; at += EACH_COMMIT) {
    fts.begin()
    for (const document of replaced.slice(at, at + EACH_COMMIT)) {
      fts.delete(document.url)
      fts.put(rowsOf(document))
    }
    fts.commit()
  }
  const ftsReplaceMs = cpuMs() - start
  fts.close()
  const p95 = (times: readonly number[]) => times.slice(50).sort((a, b) => a - b)[Math.floor(QUERIES * 0.95)]!
  const p50 = (times: readonly number[]) => times.slice(50).sort((a, b) => a - b)[Math.floor(QUERIES * 0.5)]!
  return [
    { what: 'documents', value: order.length, unit: '' },
    { what: 'sections', value: sections, unit: '' },
    { what: 'CPU a page', value: kumoMs / order.length, unit: 'ms' },
    { what: 'CPU a page ÷ FTS5, tokens included', value: median(ratios), unit: '', bar: { atMost: 1 } },
    { what: 'the same in the first round, code not yet compiled', value: ratios[0]!, unit: '' },
    { what: 'CPU a page ÷ FTS5, its tokens free', value: kumoMs / (ftsMs - tokensMs), unit: '' },
    { what: 'disk ÷ FTS5', value: bytes / ftsBytes, unit: '', bar: { atMost: 0.5 } },
    { what: 'p50 of queries', value: p50(kumoTimes), unit: 'ms' },
    { what: 'p50 of queries ÷ FTS5', value: p50(kumoTimes) / p50(ftsTimes), unit: '' },
    { what: 'p95 of queries', value: p95(kumoTimes), unit: 'ms' },
    { what: 'p95 of queries ÷ FTS5', value: p95(kumoTimes) / p95(ftsTimes), unit: '', bar: { atMost: 2 } },
    { what: 'replace rate ÷ FTS5', value: ftsReplaceMs / kumoReplaceMs, unit: '', bar: { atLeast: 0.6 } },
  ]
}

/** Puts documents into an index, with a commit now and then; CPU time in ms, merges included. */
async function indexAll(path: string, documents: readonly CorpusDocument[]): Promise<number> {
  const start = cpuMs()
  const writer = await openWriter(path, { sync: false })
  for (const [at, document] of documents.entries()) {
    await writer.put(document)
    if (at % EACH_COMMIT === EACH_COMMIT - 1) await writer.commit()
  }
  await writer.close()
  return cpuMs() - start
}

function newFts5(before: Fts5, path: string): Fts5 {
  before.close()
  return new Fts5(path)
}

/** What `search-mini.ts` prints: the time of building, and by how much its process grew. */
interface MiniResult {
  readonly ms: number
  readonly cpuMs: number
  readonly bytes: number
}

/** Build time and memory on the same documents, each engine in a process of its own, in turn. */
async function againstMiniSearch(
  english: readonly CorpusDocument[],
  japanesePages: readonly CorpusDocument[],
  folder: string,
): Promise<Figure[]> {
  const own = join(folder, 'mini')
  mkdirSync(own)
  const file = join(own, 'documents.json')
  const documents = shuffled([
    ...madeOf(english, 'en', MINI_DOCUMENTS / 2),
    ...madeOf(japanesePages, 'ja', MINI_DOCUMENTS / 2),
  ])
  writeFileSync(file, JSON.stringify(documents))
  const run = async (engine: string, name: string) => {
    const printed = await runTypeScript('search-mini.ts', [engine, file, join(own, name)], ['--expose-gc'])
    return JSON.parse(printed) as MiniResult
  }
  const rounds: Record<'kumo' | 'mini' | 'other', MiniResult>[] = []
  for (let round = 0; round < ROUNDS; round++)
    rounds.push({
      kumo: await run('kumo', `kumo-${round}`),
      mini: await run('minisearch', ''),
      other: await run('minisearch-own', ''),
    })
  const middle = (of: (round: (typeof rounds)[number]) => number) => median(rounds.map(of))
  return [
    {
      what: 'MiniSearch with the same tokens: build time ÷ Kumo',
      value: middle(({ mini, kumo }) => mini.ms / kumo.ms),
      unit: '',
      bar: { atLeast: 8 },
    },
    { what: 'the same in CPU time', value: middle(({ mini, kumo }) => mini.cpuMs / kumo.cpuMs), unit: '' },
    {
      what: 'MiniSearch with its own tokens: build time ÷ Kumo',
      value: middle(({ other, kumo }) => other.ms / kumo.ms),
      unit: '',
    },
    {
      what: 'MiniSearch: growth of the process',
      value: middle(({ mini }) => mini.bytes) / 2 ** 20,
      unit: 'MB',
    },
    { what: 'Kumo: growth of the process', value: middle(({ kumo }) => kumo.bytes) / 2 ** 20, unit: 'MB' },
    {
      what: 'growth of the process ÷ MiniSearch',
      value: middle(({ mini, kumo }) => kumo.bytes / mini.bytes),
      unit: '',
      bar: { atMost: 0.1 },
    },
  ]
}

/** Documents of about the same size from lines of real ones. */
function madeOf(
  documents: readonly CorpusDocument[],
  language: string,
  count: number,
): { id: string; url: string; title: string; language: string; text: string }[] {
  const random = seededRandom(5)
  const lines = documents
    .flatMap(({ sections }) => sections.flatMap(({ text }) => text.split('\n')))
    .filter(({ length }) => length > 15 && length < 1000)
  const pick = () => lines[Math.floor(random.next() * lines.length)]!
  return Array.from({ length: count }, (_, at) => {
    const text: string[] = []
    for (let bytes = 0; bytes < MINI_BYTES; bytes += Buffer.byteLength(text.at(-1)!)) text.push(pick())
    const id = `${language}${at}`
    return {
      id,
      url: `https://${language}.example/${at}`,
      title: pick().slice(0, 60),
      language,
      text: text.join('\n'),
    }
  })
}

/** One to three words that stand side by side in a document, rare and frequent ones. */
function queriesOf(documents: readonly CorpusDocument[]): string[] {
  const random = seededRandom(11)
  return Array.from({ length: QUERIES }, () => {
    const { sections } = documents[Math.floor(random.next() * documents.length)]!
    const { text, heading = '' } = sections[Math.floor(random.next() * sections.length)]!
    const words = (text || heading).split(/[\s。、,.()]+/).filter((each) => each !== '' && each.length < 30)
    const from = Math.floor(random.next() * Math.max(1, words.length - 3))
    return words.slice(from, from + 1 + Math.floor(random.next() * 3)).join(' ')
  })
}

function shuffled<T>(items: readonly T[]): T[] {
  const random = seededRandom(7)
  return items
    .map((item) => ({ item, at: random.next() }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item)
}
