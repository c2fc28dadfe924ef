/** `kumo/graph`: the links of a crawl as a graph, its questions and its ranks. */

export type { PriorityRule } from '../../url/scope/url-table.js'
export type {
  BrokenLink,
  GraphCounts,
  GraphFormat,
  GraphLink,
  GraphPage,
  GraphPageLink,
  HostLink,
  RankOptions,
  RankSummary,
} from './contract.js'
export { type Graph, type GraphOptions, openGraph } from './graph.js'
export { linkGraph } from './link-graph.js'
export { byRank, visitedIn } from './rules.js'
