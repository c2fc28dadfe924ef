import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { seededRandom } from 'kumo/adapters'
import { openGraph } from 'kumo/graph'
import { describe, expect, onTestFinished, test } from 'vitest'
import { GraphDatabase } from '../../../../src/hooks/graph/database.js'
import { Ranks } from '../../../../src/hooks/graph/rank/ranks.js'
import { newFolder } from '../../sinks/support.js'

const NODES = 1000
const DAMPING = 0.85

/** Some pages have many links, some have none, and some URLs were never visited. */
function randomLinks(seed: number): Map<number, number[]> {
  const random = seededRandom(seed)
  const links = new Map<number, number[]>()
  for (let from = 0; from < NODES; from++) {
    if (random.next() < 0.2) continue
    const count = Math.floor(20 * random.next() ** 2)
    links.set(from, [...new Set(Array.from({ length: count }, () => Math.floor(NODES * random.next() ** 2)))])
  }
  return links
}

/** The same by a dense matrix, with nothing clever. */
function denseRanks(links: ReadonlyMap<number, readonly number[]>): Float64Array {
  let ranks = new Float64Array(NODES).fill(1 / NODES)
  for (let iteration = 0; iteration < 300; iteration++) {
    const next = new Float64Array(NODES)
    for (let from = 0; from < NODES; from++) {
      const to = links.get(from) ?? []
      for (let n = 0; n < NODES; n++) {
        const followed = to.length === 0 ? 1 / NODES : to.includes(n) ? 1 / to.length : 0
        next[n]! += ranks[from]! * (DAMPING * followed + (1 - DAMPING) / NODES)
      }
    }
    const change = next.reduce((sum, rank, n) => sum + Math.abs(rank - ranks[n]!), 0)
    ranks = next
    if (change < 1e-12) break
  }
  return ranks
}

const urlOf = (n: number) => `https://example.com/${n}`

async function graphOf(links: ReadonlyMap<number, readonly number[]>) {
  const graph = await openGraph(newFolder())
  onTestFinished(() => graph.close())
  // All have a number, in order.
  await graph.add({ url: 'https://example.com/all', links: [] })
  for (let n = 0; n < NODES; n++)
    await graph.add({ url: urlOf(n), links: (links.get(n) ?? []).map((to) => ({ url: urlOf(to) })) })
  return graph
}

describe('rank', () => {
  test(`of ${NODES} URLs is that of a dense matrix, and of networkx where it is installed`, async () => {
    const links = randomLinks(1)
    const graph = await graphOf(links)
    // One more URL than the matrix has: it takes the same share of everybody.
    const summary = await graph.rank({ tolerance: 1e-12 })
    expect(summary.change).toBeLessThan(1e-12)
    const rankOf = await graph.ranks()
    const ours = Array.from({ length: NODES }, (_, n) => rankOf(urlOf(n))!)
    const scale = 1 - rankOf('https://example.com/all')!
    const dense = denseRanks(links)
    const worst = Math.max(...ours.map((rank, n) => Math.abs(rank / scale - dense[n]!)))
    expect(worst).toBeLessThan(1e-6)
    expect((await graph.top(3)).map(({ rank }) => rank)).toEqual([...ours].sort((a, b) => b - a).slice(0, 3))

    const file = join(newFolder(), 'edges.json')
    const edges = [...links].flatMap(([from, to]) => to.map((each) => [from, each]))
    writeFileSync(file, JSON.stringify(edges))
    const program = `import json, networkx as nx
g = nx.DiGraph(); g.add_nodes_from(range(${NODES + 1})); g.add_edges_from(json.load(open('${file}')))
print(json.dumps(list(nx.pagerank(g, alpha=${DAMPING}, tol=1e-13, max_iter=1000).values())))`
    const ran = spawnSync('python3', ['-c', program], { encoding: 'utf8' })
    if (ran.status === 0) {
      const theirs = JSON.parse(ran.stdout) as number[]
      expect(Math.max(...ours.map((rank, n) => Math.abs(rank - theirs[n]!)))).toBeLessThan(1e-6)
    }
  })

  test('goes on where it was interrupted, to the same ranks', async () => {
    const folder = newFolder()
    const graph = await openGraph(folder)
    for (const [n, to] of randomLinks(2))
      await graph.add({ url: urlOf(n), links: to.map((each) => ({ url: urlOf(each) })) })
    const { urls } = await graph.counts()
    await graph.rank()
    const wanted = await graph.top(urls)
    await graph.close()

    const database = await GraphDatabase.open(folder)
    onTestFinished(() => database.close())
    const stop = new AbortController()
    let readings = 0
    // Each look at the clock is six seconds later, so that every iteration is saved.
    const clock = {
      now: () => {
        if (++readings === 20) stop.abort(new Error('stopped'))
        return readings * 6000
      },
      wakeAt: () => ({ cancel: () => {} }),
    }
    const ranks = new Ranks(database, clock)
    await expect(ranks.compute(urls, { signal: stop.signal })).rejects.toThrow('stopped')
    const summary = await ranks.compute(urls, {})
    expect(summary.resumedAt).toBeGreaterThan(3)
    expect(summary.iterations).toBeGreaterThan(summary.resumedAt)
    const found = Array.from((await ranks.read())!).sort((x, y) => y - x)
    expect(Math.max(...found.map((rank, i) => Math.abs(rank - wanted[i]!.rank)))).toBeLessThan(1e-9)
    expect((await ranks.compute(urls, {})).resumedAt).toBe(0)
  })

  test('of an empty graph', async () => {
    const graph = await openGraph(newFolder())
    expect(await graph.rank()).toEqual({ iterations: 0, change: 0, resumedAt: 0 })
    expect(await graph.top(3)).toEqual([])
    await graph.close()
  })

  test.each<[object, string]>([
    [{ damping: 1 }, 'rank.damping: got 1'],
    [{ tolerance: 0 }, 'rank.tolerance: got 0'],
    [{ iterations: 0.5 }, 'rank.iterations: got 0.5'],
  ])('%j', async (options, message) => {
    const graph = await graphOf(new Map())
    await expect(graph.rank(options)).rejects.toThrow(message)
  })
})
