/** What a crawl can do with the graph of an earlier one. */

import { invalidOption } from '../../errors.js'
import type { ScopeRule } from '../../url/scope/scope.js'
import { inTable, type PriorityRule, tablePriorities, UrlTable } from '../../url/scope/url-table.js'
import { Graph } from './graph.js'

/** A rank twice as high is this much more. */
const STEPS_OF_TWO = 10

/**
 * The ranks of a graph as priorities: within a host, pages with a higher rank are fetched first. The lowest rank of the graph
 * is 0, and twice the rank is 10 more; a URL that the graph does not know has no priority from this rule. Call `rank()`
 * before, and leave the graph open until the crawl has begun. Works with workers.
 *
 * @example
 * const graph = await openGraph('./graph')
 * await graph.rank()
 * await new Crawler().seeds('https://example.com/').prioritize(byRank(graph)).run()
 * await graph.close()
 */
export function byRank(graph: Graph): PriorityRule {
  const table = tableOf('byRank', graph, async (set) => {
    const ranks = await graph.readRanks()
    if (ranks === undefined) return
    let lowest = Number.POSITIVE_INFINITY
    for (const rank of ranks) if (rank > 0 && rank < lowest) lowest = rank
    set((id) => (ranks[id]! > 0 ? Math.round(STEPS_OF_TWO * Math.log2(ranks[id]! / lowest)) : undefined))
  })
  return tablePriorities('the ranks of a graph', table.buffer)
}

/**
 * Matches the URLs that a graph has visited, for example on another machine: with `exclude()`, a crawl leaves them out.
 * Leave the graph open until the crawl has begun. Works with workers.
 *
 * @example
 * const other = await openGraph('./graph-of-another-machine')
 * await new Crawler().seeds('https://example.com/').exclude(visitedIn(other)).run()
 * await other.close()
 */
export function visitedIn(graph: Graph): ScopeRule {
  const table = tableOf('visitedIn', graph, async (set) => {
    const visited = await graph.visited()
    set((id) => (visited[id] === 1 ? 0 : undefined))
  })
  return inTable('visited in a graph', table.buffer)
}

type SetAll = (numberOf: (id: number) => number | undefined) => void

/** Filled in the background; rules wait for it before the first link. */
function tableOf(what: string, graph: Graph, fill: (set: SetAll) => Promise<void>): UrlTable {
  if (!(graph instanceof Graph)) throw invalidOption(what, graph, 'a graph that openGraph() returned')
  const prints = graph.fingerprints()
  const table = UrlTable.withRoomFor(prints.length / 2)
  const set: SetAll = (numberOf) => {
    for (let id = 0; 2 * id < prints.length; id++) {
      const number = numberOf(id)
      if (number !== undefined) table.set(prints[2 * id]!, prints[2 * id + 1]!, number)
    }
  }
  fill(set).then(
    () => table.end(true),
    () => table.end(false),
  )
  return table
}
