/** The memory store of a shard. Everything is kept by partition, so that partitions can move to another shard. */

import { longestDelayMs } from '../frontier/politeness.js'
import { type MovedPartitions, ShardFrontier } from '../frontier/shard.js'
import { partitionedTable } from '../seen/partitioned.js'
import type { Handover, OpenStore, ShardContext, StoreContext, StoreSnapshot } from './contract.js'
import { type MovedRecords, movableState } from './memory-state.js'

interface Moved extends StoreSnapshot {
  readonly frontier: MovedPartitions
  /** Fingerprints of seen URLs, in the order of the partitions. */
  readonly seen: readonly Uint32Array[]
  readonly records: MovedRecords
}

export function memoryShard(context: StoreContext, shard: ShardContext): OpenStore {
  const { politeness, policy, clock } = context
  const partitionOf = (host: string) => context.partitionOf?.(host) ?? 0
  const frontier = new ShardFrontier({ politeness, policy, partitionOf })
  const seen = partitionedTable(partitionOf)
  const state = movableState()
  if (shard.replaces) frontier.rest(shard.partitions, clock.now() + longestDelayMs(politeness))
  const handover: Handover = {
    async release(partitions, left): Promise<Moved> {
      await frontier.hold(partitions)
      // Synchronously: nothing may query a partition of which only a part is left.
      const leaving = new Set(partitions)
      const moved = {
        partitions,
        frontier: frontier.release(),
        seen: partitions.map((partition) => seen.release(partition)),
        records: state.release((host) => leaving.has(partitionOf(host))),
      }
      left?.()
      return moved
    },
    adopt(snapshot) {
      const moved = snapshot as Moved
      for (const [i, partition] of moved.partitions.entries()) seen.adopt(partition, moved.seen[i]!)
      state.adopt(moved.records)
      frontier.adopt(moved.frontier)
    },
    load: () => frontier.load(),
  }
  return {
    frontier,
    seen,
    state,
    handover,
    close() {
      frontier.close()
      seen.close()
    },
  }
}
