/**
 * The search index against SQLite's FTS5 and MiniSearch on the pages of ../shared/sites, and the quality of its results.
 * Costs are CPU time within one run.
 */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import MiniSearch from 'minisearch'
import { openIndex, openWriter } from '../src/search/index.js'
import { seededRandom } from '../src/time.js'
import type { Bench, Figure } from './report.js'
import { type CorpusDocument, hasSites, siteDocuments } from './search-corpus.js'
import { japanese, knownItems, nearDuplicates } from './search-quality.js'
import { Fts5, rowsOf, tokens } from './search-rivals.js'

const EACH_COMMIT = 100
const QUERIES = 500

export const search: Bench = async () => {
  if (!hasSites()) {
    console.log('search: ../shared/sites is missing, so there is nothing to measure')
    return []
  }
  const manuals = ['python', 'postgresql', 'sqlite'].flatMap((site) => siteDocuments(site))
  const handbook = siteDocuments('handbook', '', 500)
  const folder = mkdtempSync(join(tmpdir(), 'kumo-bench-search-'))
  try {
    return [
      ...(await againstFts5([...manuals, ...handbook], folder)),
      ...(await againstMiniSearch([...manuals, ...handbook], folder)),
      ...(await knownItems(manuals, folder)),
      ...(await japanese([...siteDocuments('japanese'), ...siteDocuments('handbook', 'ja-JP')], folder)),
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
  const fts = new Fts5(join(folder, 'fts.db'))
  let start = cpuMs()
  for (let at = 0; at < order.length; at += EACH_COMMIT) {
    fts.begin()
    for (const document of order.slice(at, at + EACH_COMMIT)) fts.put(rowsOf(document))
    fts.commit()
  }
  const ftsMs = cpuMs() - start
  start = cpuMs()
  for (const document of order) rowsOf(document)
  const tokensMs = cpuMs() - start

  const path = join(folder, 'kumo')
  const writer = await openWriter(path, { sync: false })
  start = cpuMs()
  for (const [at, document] of order.entries()) {
    await writer.put(document)
    if (at % EACH_COMMIT === EACH_COMMIT - 1) await writer.commit()
  }
  await writer.close()
  const kumoMs = cpuMs() - start

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
  const again = await openWriter(path, { sync: false })
  start = cpuMs()
  for (const [at, document] of replaced.entries()) {
    await again.put(document)
    if (at % EACH_COMMIT === EACH_COMMIT - 1) await again.commit()
  }
  await again.close()
  const kumoReplaceMs = cpuMs() - start
  start = cpuMs()
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
    { what: 'CPU a page ÷ FTS5, tokens included', value: kumoMs / ftsMs, unit: '', bar: { atMost: 1 } },
    { what: 'CPU a page ÷ FTS5, its tokens free', value: kumoMs / (ftsMs - tokensMs), unit: '' },
    { what: 'disk ÷ FTS5', value: bytes / ftsBytes, unit: '', bar: { atMost: 0.5 } },
    { what: 'p50 of queries', value: p50(kumoTimes), unit: 'ms' },
    { what: 'p50 of queries ÷ FTS5', value: p50(kumoTimes) / p50(ftsTimes), unit: '' },
    { what: 'p95 of queries', value: p95(kumoTimes), unit: 'ms' },
    { what: 'p95 of queries ÷ FTS5', value: p95(kumoTimes) / p95(ftsTimes), unit: '', bar: { atMost: 2 } },
    { what: 'replace rate ÷ FTS5', value: ftsReplaceMs / kumoReplaceMs, unit: '', bar: { atLeast: 0.6 } },
  ]
}

async function againstMiniSearch(documents: readonly CorpusDocument[], folder: string): Promise<Figure[]> {
  const rows = documents.flatMap(({ url, title, language, sections }) =>
    sections.map((section, at) => ({ id: `${url} ${at}`, url, title, language, ...section })),
  )
  const chosen = shuffled(rows).slice(0, 5000)
  const memory = () => {
    globalThis.gc?.()
    const { heapUsed, external } = process.memoryUsage()
    return heapUsed + external
  }
  const before = memory()
  let start = cpuMs()
  const mini = new MiniSearch({
    fields: ['title', 'heading', 'text'],
    storeFields: ['url', 'title', 'heading', 'text'],
    tokenize: (text) => tokens(text, undefined).split(' '),
    processTerm: (term) => term,
  })
  mini.addAll(chosen)
  const miniMs = cpuMs() - start
  const miniBytes = memory() - before
  const path = join(folder, 'against-mini')
  const writer = await openWriter(path, { sync: false })
  start = cpuMs()
  for (const { id, url, title, language, heading, text } of chosen)
    await writer.put({ id, url, title, language, sections: [{ heading: heading ?? '', text }] })
  await writer.close()
  const kumoMs = cpuMs() - start
  const between = memory()
  const index = await openIndex(path)
  for (const query of queriesOf(documents).slice(0, 20)) await index.search(query)
  const kumoBytes = memory() - between
  await index.close()
  // What MiniSearch holds must outlive the measurement.
  if (mini.documentCount !== chosen.length) throw new Error('MiniSearch lost documents')
  return [
    { what: 'MiniSearch: build time ÷ Kumo', value: miniMs / kumoMs, unit: '', bar: { atLeast: 8 } },
    // Without a bar: the growth is within the noise of the collector, and may be negative.
    { what: 'MiniSearch: heap of a Kumo reader ÷ its heap', value: kumoBytes / miniBytes, unit: '' },
  ]
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
