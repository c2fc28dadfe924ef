/** A crawl that indexes, killed without warning again and again: the crawl and the index agree, and nothing is lost. */

import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { seededRandom } from 'kumo/adapters'
import { openIndex, openWriter } from 'kumo/search'
import { describe, expect, onTestFinished, test } from 'vitest'
import { runProgram } from '../run-program.js'
import { madeQueries, opened, shown } from '../search/corpus.js'
import { indexingCrawl, madePages, served } from '../search/crawl/support.js'
import { isThorough } from '../thorough.js'

const KILLS = isThorough ? 50 : 2
/** Of each of eight hosts: more than all lives together can crawl before the last. */
const PAGES = KILLS * 4
/** A life lasts for so many requests, at most. */
const MOST_REQUESTS = 30

describe.each(isThorough ? [0, 2] : [2])('with %i workers', (workers) => {
  test(`${KILLS} kills: each page is indexed once, and the crawl never gives up one that is not`, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'kumo-index-kills-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const random = seededRandom(17 + workers)
    const { site, seeds } = await served(madePages(PAGES))
    /** In which life each page was requested last. */
    const lastVisit = new Map<string, number>()
    /** What the index had after each kill. */
    const states: Set<string>[] = []
    let seen = 0
    let kills = 0
    for (let life = 0; ; life++) {
      const killAt = kills < KILLS ? seen + 10 + Math.floor(random.next() * MOST_REQUESTS) : Infinity
      let watching: NodeJS.Timeout | undefined
      const args = [site.url('/'), folder, String(workers), String(PAGES)]
      const { stdout, stderr } = await runProgram('test/durability/index-program.ts', args, {
        onStart: (child) => {
          watching = setInterval(() => site.requests.length >= killAt && child.kill('SIGKILL'), 1)
        },
      })
      clearInterval(watching)
      expect(stderr).toBe('')
      for (const { host, path } of site.requests.slice(seen)) lastVisit.set(site.url(path, host), life)
      seen = site.requests.length
      states.push(await contentOf(join(folder, 'index'), seeds.length))
      if (stdout.includes('ended')) {
        expect(stdout).toBe('ended done\n')
        break
      }
      kills++
    }
    expect(kills).toBe(KILLS)
    // A page that no later life asked for was settled, so the index had it.
    for (const [life, state] of states.entries()) {
      const settled = [...lastVisit].filter(([, visit]) => visit <= life).map(([url]) => url)
      expect(settled.filter((url) => !state.has(url))).toEqual([])
    }
    expect([...states.at(-1)!].sort()).toEqual([...seeds].sort())

    await indexingCrawl(seeds, { index: join(folder, 'again'), workers: 0 }).run()
    const results = await Promise.all(
      ['index', 'again'].map(async (name) => {
        const index = await compacted(join(folder, name))
        return Promise.all([...madeQueries(40), '全文検索'].map((query) => shown(index, query, 30)))
      }),
    )
    expect(results[0]!.flat().length).toBeGreaterThan(300)
    expect(results[0]).toEqual(results[1])
  }, 1_800_000)
})

/** The ids of all documents; fails if one is there twice. */
async function contentOf(path: string, most: number): Promise<Set<string>> {
  if (!existsSync(path) || !readdirSync(path).some((shard) => existsSync(join(path, shard, 'manifest.json'))))
    return new Set()
  const index = await openIndex(path)
  const { documents } = await index.verify()
  const ids: string[] = []
  for (let offset = 0; offset < most + 1000; offset += 1000) {
    const { hits } = await index.search('firstfirstx', { limit: 1000, offset, highlight: false })
    ids.push(...hits.flatMap(({ id, duplicates }) => [id, ...duplicates]))
  }
  await index.close()
  expect(new Set(ids).size).toBe(ids.length)
  expect(documents).toBe(ids.length)
  return new Set(ids)
}

async function compacted(path: string) {
  for (const name of readdirSync(path)) {
    const writer = await openWriter(path, { shard: Number(name.slice('shard-'.length)), sync: false })
    await writer.compact()
    await writer.close()
  }
  return opened(path)
}
