/**
 * One engine indexes documents in a process of its own, so that its memory can be seen. Run as
 * `search-mini.ts ENGINE DOCUMENTS FOLDER`, where ENGINE is `kumo`, `minisearch`, or `minisearch-own` for MiniSearch with its
 * own tokenizer. Prints JSON: time and CPU time of building in ms, and by how many bytes the process grew with a searchable
 * index.
 */

import { readFileSync } from 'node:fs'
import MiniSearch from 'minisearch'
import { openIndex, openWriter } from '../src/search/index.js'
import { tokens } from './search-rivals.js'

interface MiniDocument {
  readonly id: string
  readonly url: string
  readonly title: string
  readonly language: string
  readonly text: string
}

const [engine = '', file = '', folder = ''] = process.argv.slice(2)
const documents: MiniDocument[] = JSON.parse(readFileSync(file, 'utf8'))
const queries = documents.slice(0, 50).map(({ title }) => title)
/** What runs once before it is measured: the code is compiled then, and its memory counts for nobody. */
const warmUp = documents.slice(0, 200)

let result = 0
const run = engine === 'kumo' ? kumo : mini
await run(warmUp, `${folder}-warm`)
const before = resident()
const built = await run(documents, folder)
console.log(JSON.stringify({ ...built, bytes: resident() - before, result }))

interface Times {
  readonly ms: number
  readonly cpuMs: number
}

async function kumo(all: readonly MiniDocument[], path: string): Promise<Times> {
  const times = started()
  const writer = await openWriter(path, { sync: false })
  for (const document of all) await writer.put(document)
  await writer.close()
  const built = times()
  const index = await openIndex(path)
  for (const query of queries) result += (await index.search(query)).total
  keep(index)
  return built
}

async function mini(all: readonly MiniDocument[]): Promise<Times> {
  const index = new MiniSearch<MiniDocument>({
    fields: ['title', 'text'],
    storeFields: ['url', 'title', 'text'],
    ...(engine === 'minisearch' && {
      tokenize: (text: string) => tokens(text, undefined).split(' '),
      processTerm: (term: string) => term,
    }),
  })
  const times = started()
  index.addAll(all)
  const built = times()
  for (const query of queries) result += index.search(query).length
  keep(index)
  return built
}

/** The last index stays in memory until the end. */
function keep(index: unknown): void {
  ;(globalThis as { kept?: unknown }).kept = index
}

/** Begins to measure; the function that it returns ends. */
function started(): () => Times {
  const startedAt = performance.now()
  const before = process.cpuUsage()
  return () => {
    const ms = performance.now() - startedAt
    const { user, system } = process.cpuUsage(before)
    return { ms, cpuMs: (user + system) / 1000 }
  }
}

/** Resident bytes when everything that can be collected is: the system gets pages back only after some collections. */
function resident(): number {
  for (let times = 0; times < 6; times++) globalThis.gc!()
  return process.memoryUsage.rss()
}
