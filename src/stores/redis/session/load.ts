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

export async function* loadPartitions(
  client: RedisClient,
  key: string,
  claimed: ReadonlyMap<number, boolean>,
): AsyncGenerator<LoadedPartition> {
  const partitions = [...claimed.keys()]
  for (let i = 0; i < partitions.length; i += AT_ONCE) {
    const some = partitions.slice(i, i + AT_ONCE)
    const replies = await client.read([
      ['HMGET', `${key}:q`, ...some],
      ...some.flatMap((partition): Command[] => [
        ['HGETALL', `${key}:h:${partition}`],
        ['LRANGE', `${key}:s:${partition}`, 0, -1],
        ['HGETALL', `${key}:k:${partition}`],
      ]),
    ])
    const ranges = replies[0] as readonly (Buffer | null)[]
    for (const [at, partition] of some.entries()) {
      const range = ranges[at]?.toString() ?? ''
      const [hosts, prints, records] = replies.slice(1 + 3 * at, 4 + 3 * at) as [Buffer[], Buffer[], Buffer[]]
      yield {
        stored: {
          partition,
          range,
          blocks: await blocksOf(client, `${key}:q:${partition}`, range),
          hosts: pairsOf(hosts),
          isDirty: claimed.get(partition) === true,
        },
        prints: printsIn(prints),
        records: pairsOf(records),
      }
    }
  }
}

async function blocksOf(
  client: RedisClient,
  key: string,
  range: string,
): Promise<(readonly [block: number, lines: readonly string[]])[]> {
  if (range === '') return []
  const { first, last } = readRange(range)
  const blocks: (readonly [number, readonly string[]])[] = []
  for (let from = first; from <= last; from += BLOCKS_AT_ONCE) {
    const numbers = Array.from({ length: Math.min(BLOCKS_AT_ONCE, last - from + 1) }, (_, i) => from + i)
    const replies = await client.read(numbers.map((block): Command => ['LRANGE', `${key}:${block}`, 0, -1]))
    for (const [i, block] of numbers.entries()) {
      const lines = replies[i] as readonly Buffer[]
      if (lines.length > 0) blocks.push([block, lines.map((line) => line.toString())])
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
