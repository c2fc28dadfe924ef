/** The links of a graph in memory, for questions that visit all of it: 4 bytes a link and 8 bytes a URL. */

import { type GraphDatabase, numberOf } from '../database.js'
import { decodeNode } from '../node-record.js'

export interface Adjacency {
  /** The links of URL n are `targets[starts[n]]` to `targets[starts[n + 1] - 1]`. */
  readonly starts: Float64Array
  readonly targets: Uint32Array
}

const FIRST_ROOM = 65_536

export async function readAdjacency(database: GraphDatabase, size: number): Promise<Adjacency> {
  const starts = new Float64Array(size + 1)
  let targets = new Uint32Array(FIRST_ROOM)
  let count = 0
  let next = 0
  for await (const entries of database.scan('p')) {
    for (const [key, value] of entries) {
      const own = numberOf(key)
      const { links } = decodeNode(own, value)
      while (next <= own) starts[next++] = count
      if (count + links.length > targets.length) {
        const larger = new Uint32Array(2 * (count + links.length))
        larger.set(targets)
        targets = larger
      }
      targets.set(links, count)
      count += links.length
    }
  }
  while (next <= size) starts[next++] = count
  return { starts, targets: targets.subarray(0, count) }
}

/** The number of links from the nearest of `from` to each URL; -1 where no path leads. `parents`, if given, gets the way back. */
export function depthsFrom(
  { starts, targets }: Adjacency,
  from: readonly number[],
  parents?: Int32Array,
): Int32Array {
  const depths = new Int32Array(starts.length - 1).fill(-1)
  const queue = new Uint32Array(depths.length)
  let end = 0
  for (const id of from) {
    if (depths[id] === 0) continue
    depths[id] = 0
    queue[end++] = id
  }
  for (let at = 0; at < end; at++) {
    const id = queue[at]!
    for (let i = starts[id]!; i < starts[id + 1]!; i++) {
      const target = targets[i]!
      if (depths[target] !== -1) continue
      depths[target] = depths[id]! + 1
      if (parents !== undefined) parents[target] = id
      queue[end++] = target
    }
  }
  return depths
}

/** The shortest path, both ends included; undefined if there is none. */
export function shortestPath(graph: Adjacency, from: number, to: number): number[] | undefined {
  const parents = new Int32Array(graph.starts.length - 1).fill(-1)
  const depths = depthsFrom(graph, [from], parents)
  if (depths[to] === -1) return undefined
  const path = [to]
  for (let at = to; at !== from; ) {
    at = parents[at]!
    path.push(at)
  }
  return path.reverse()
}

/** The strongly connected component of each URL (Tarjan, without recursion: a chain of pages may be a million long). */
export function componentsOf({ starts, targets }: Adjacency): Uint32Array {
  const size = starts.length - 1
  const NONE = 0
  const order = new Uint32Array(size)
  const low = new Uint32Array(size)
  const component = new Uint32Array(size)
  const isOpen = new Uint8Array(size)
  const open: number[] = []
  const path: number[] = []
  const next = new Float64Array(size)
  let count = 0
  let components = 0
  for (let root = 0; root < size; root++) {
    if (order[root] !== NONE) continue
    path.push(root)
    while (path.length > 0) {
      const id = path[path.length - 1]!
      if (order[id] === NONE) {
        order[id] = low[id] = ++count
        next[id] = starts[id]!
        open.push(id)
        isOpen[id] = 1
      }
      let went = false
      while (next[id]! < starts[id + 1]!) {
        const target = targets[next[id]!++]!
        if (order[target] === NONE) {
          path.push(target)
          went = true
          break
        }
        if (isOpen[target] === 1) low[id] = Math.min(low[id]!, order[target]!)
      }
      if (went) continue
      path.pop()
      const parent = path[path.length - 1]
      if (parent !== undefined) low[parent] = Math.min(low[parent]!, low[id]!)
      if (low[id] !== order[id]) continue
      for (;;) {
        const member = open.pop()!
        isOpen[member] = 0
        component[member] = components
        if (member === id) break
      }
      components++
    }
  }
  return component
}
