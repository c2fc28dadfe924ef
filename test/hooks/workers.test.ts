/** With two workers, every hook does the same in the program's thread and, as a module, in the workers. */

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Crawler, fromModule, level } from 'kumo'
import { linkGraph, openGraph } from 'kumo/graph'
import { csv, jsonl, sqlite } from 'kumo/sinks'
import { readWarc, warc } from 'kumo/warc'
import Database from 'libsql'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { builtProgram } from '../built-program.js'
import { type LoopbackSite, startSite } from '../loopback/site.js'
import { sample } from '../thorough.js'
import { newFolder } from './sinks/support.js'

const HOSTS = 8
const PAGES = 6

let site: LoopbackSite
let program: string
const expected: string[] = []

beforeAll(async () => {
  const paths = Array.from({ length: PAGES }, (_, n) => `/${n}`)
  site = await startSite({
    '/': paths.map((path) => `<a href="${path}">to ${path}</a>`).join(''),
    ...Object.fromEntries(paths.map((path) => [path, `<title>${path}</title><a href="/">home</a>`])),
  })
  for (let i = 1; i <= HOSTS; i++)
    for (const path of ['/', ...paths]) expected.push(site.url(path, `127.0.0.${i}`))
  expected.sort()
  program = await builtProgram('test/hooks/worker-hooks.ts')
})
afterAll(() => site.close())

const crawlerOf = (folder: string) =>
  new Crawler()
    .seeds(...expected.filter((url) => url.endsWith('/')))
    .delay(0)
    .robots(false)
    .store(level(join(folder, 'crawl')))
    .workers(2)

const filesOf = (folder: string, ending: string) =>
  readdirSync(folder).filter((name) => name.endsWith(ending))

async function visitedIn(folder: string): Promise<string[]> {
  const [first = '', ...others] = readdirSync(folder).filter((name) => name.startsWith('graph'))
  const graph = await openGraph(join(folder, first))
  for (const each of others) {
    const other = await openGraph(join(folder, each))
    await graph.merge(other)
    await other.close()
  }
  const { links } = await graph.counts()
  expect(links).toBe(HOSTS * 2 * PAGES)
  const urls: string[] = []
  for await (const url of graph.urls()) if ((await graph.out(url)).length > 0) urls.push(url)
  await graph.close()
  return urls
}

const urlsOf: Record<string, (folder: string) => string[] | Promise<string[]>> = {
  archive: async (folder) => {
    const urls: string[] = []
    for await (const record of readWarc(folder))
      if (record.ok && /^re(sponse|visit)$/.test(record.type)) urls.push(record.url!)
    return urls
  },
  graph: visitedIn,
  lines: (folder) =>
    filesOf(folder, '.jsonl').flatMap((name) =>
      readFileSync(join(folder, name), 'utf8')
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line).url),
    ),
  table: (folder) =>
    filesOf(folder, '.csv').flatMap((name) =>
      readFileSync(join(folder, name), 'utf8')
        .trimEnd()
        .split('\r\n')
        .slice(1)
        .map((line) => line.split(',')[1]!),
    ),
  database: (folder) => {
    const database = new Database(join(folder, 'pages.db'))
    const rows = database.prepare('SELECT url FROM pages').all() as { url: string }[]
    database.close()
    return rows.map(({ url }) => url)
  },
}

const inline: Record<string, (folder: string) => Parameters<Crawler['use']>[0]> = {
  archive: warc,
  graph: (folder) => linkGraph(join(folder, 'graph')),
  lines: (folder) => jsonl(join(folder, 'pages.jsonl')),
  table: (folder) => csv(join(folder, 'pages.csv')),
  database: (folder) => sqlite(join(folder, 'pages.db')),
}

const MODULES = Object.keys(inline).map((name) => [name, 'as a module'] as const)
const INLINE = Object.keys(inline).map((name) => [name, 'inline'] as const)

test.each([...MODULES, ...sample(INLINE, 2)])('%s %s: every page once', async (name, how) => {
  const folder = newFolder()
  const hook =
    how === 'inline'
      ? inline[name]!(folder)
      : fromModule(pathToFileURL(program), { export: name, with: folder })
  const summary = await crawlerOf(folder)
    .use(hook as Parameters<Crawler['use']>[0])
    .run()
  expect(summary.workers.every(({ pages }) => pages > 0)).toBe(true)
  expect((await urlsOf[name]!(folder)).sort()).toEqual(expected)
})
