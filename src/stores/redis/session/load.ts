/** Reads partitions that a node has claimed. Nobody else writes them from then on. */

import type { Command, RedisClient } from '../client/contract.js'
import type { StoredPartition } from '../parts/frontier.js'
import { printsIn } from '../parts/seen.js'
import { readRange } from '../protocol/blocks.js'

/** Partitions that are read with one round trip. */
const AT_ONCE = 64
/** Blocks that are read with one round trip: about a megabyte. */
const BLOCKS_AT_ONCE = 128

export interface LoadedPartition {
  readonly stored: StoredPartition
  readonly prints: Uint32Array
  readonly records: readonly (readonly [field: string, json: string])[]
}

/** Yields some of them at a time. */
export async function* loadPartitions(
  client: RedisClient,
  key: string,
  claimed: readonly number[],
): AsyncGenerator<readonly LoadedPartition[]> {
  for (let i = 0; i < claimed.length; i += AT_ONCE) {
    const some = claimed.slice(i, i + AT_ONCE)
    const replies = await client.read([
      ['HMGET', `${key}:q`, ...some],
      ...some.flatMap((partition): Command[] => [
        ['HGETALL', `${key}:h:${partition}`],
        ['LRANGE', `${key}:s:${partition}`, 0, -1],
        ['HGETALL', `${key}:k:${partition}`],
      ]),
    ])
    const ranges = (replies[0] as readonly (Buffer | null)[]).map((range) => range?.toString() ?? '')
    const blocks = await blocksOf(client, key, some, ranges)
    yield some.map((partition, at) => {
      const [hosts, prints, records] = replies.slice(1 + 3 * at, 4 + 3 * at) as [Buffer[], Buffer[], Buffer[]]
      return {
        stored: { partition, range: ranges[at]!, blocks: blocks[at]!, hosts: pairsOf(hosts) },
        prints: printsIn(prints),
        records: pairsOf(records),
      }
    })
  }
}

/** The blocks of some partitions. */
async function blocksOf(
  client: RedisClient,
  key: string,
  partitions: readonly number[],
  ranges: readonly string[],
): Promise<readonly (readonly [block: number, lines: readonly string[]])[][]> {
  const wanted: { readonly at: number; readonly block: number }[] = []
  for (const [at, range] of ranges.entries()) {
    if (range === '') continue
    const { first, last } = readRange(range)
    for (let block = first; block <= last; block++) wanted.push({ at, block })
  }
  const blocks = partitions.map((): (readonly [number, readonly string[]])[] => [])
  for (let from = 0; from < wanted.length; from += BLOCKS_AT_ONCE) {
    const some = wanted.slice(from, from + BLOCKS_AT_ONCE)
    const replies = await client.read(
      some.map(({ at, block }): Command => ['LRANGE', `${key}:q:${partitions[at]}:${block}`, 0, -1]),
    )
    for (const [i, { at, block }] of some.entries()) {
      const lines = replies[i] as readonly Buffer[]
      if (lines.length > 0) blocks[at]!.push([block, lines.map((line) => line.toString())])
    }
  }
  return blocks
}

/** RESP3 gives a map as pairs one after the other too. */
function pairsOf(flat: readonly Buffer[]): (readonly [string, string])[] {
  const pairs: (readonly [string, string])[] = []
  for (let i = 0; i < flat.length; i += 2) pairs.push([flat[i]!.toString(), flat[i + 1]!.toString()])
  return pairs
}
