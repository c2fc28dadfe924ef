/**
 * Decides which partitions should move (load balancing between peers, see docs/papers.md, made continuous). The load of a shard is the work that
 * politeness lets it do within the next seconds, not the number of its URLs: a host that may be visited once a second
 * is a small load no matter how many URLs it has.
 */

/** The work of a partition. */
export interface PartitionWork {
  readonly partition: number
  /** Requests that are due. */
  readonly pending: number
  readonly hosts: number
  /** Requests of the host that has most of them. */
  readonly longest: number
  /** Visits per second that known pages will need. Default 0. */
  readonly scheduled?: number | undefined
}

export interface BalanceRules {
  /**
   * From the start of a visit to a host to the start of the next one: the duration of a visit and the pause after it.
   */
  readonly visitCycleMs: number
  /** Pages that one shard can process in a second. */
  readonly pagesPerSecond: number
}

export interface PlannedMove {
  readonly partitions: readonly number[]
  readonly from: number
  readonly to: number
}

/** How far ahead to look. Longer than a move takes, and short enough to react soon. */
const HORIZON_MS = 10_000
/** Tolerated imbalance: the busiest shard may exceed the mean by this share … */
const MAX_IMBALANCE = 0.25
/** … or the least busy shard by this much work, in seconds, which is done before a move would be. */
const MIN_GAP_S = 0.5
/** Moves are small, because hosts are not visited while they move. */
const MAX_PARTITIONS_A_MOVE = 16

/** Pages of a partition that politeness allows within the horizon, for requests that are due now or will be. */
export function workOf(
  { pending, hosts, longest, scheduled = 0 }: PartitionWork,
  visitCycleMs: number,
): number {
  const turns = Math.max(1, HORIZON_MS / Math.max(visitCycleMs, 1))
  // Requests of one host are sequential. The other hosts are assumed to be alike.
  const others = Math.min(pending - longest, (hosts - 1) * turns)
  return Math.min(longest, turns) + Math.max(0, others) + (scheduled * HORIZON_MS) / 1000
}

/** The load of each shard, in seconds of work. */
export function loadsOf(shards: readonly (readonly PartitionWork[])[], rules: BalanceRules): number[] {
  return shards.map((parts) => {
    const pages = parts.reduce((sum, part) => sum + workOf(part, rules.visitCycleMs), 0)
    return pages / rules.pagesPerSecond
  })
}

/**
 * What to move from the busiest shard to the least busy one; undefined if their loads are close enough, or if no move
 * would help.
 */
export function plannedMove(
  shards: readonly (readonly PartitionWork[])[],
  rules: BalanceRules,
): PlannedMove | undefined {
  const uneven = unevenLoads(loadsOf(shards, rules))
  if (uneven === undefined) return undefined
  const { from, to, gap } = uneven
  const partitions = choosePartitions(shards[from]!, rules, gap / 2, MAX_PARTITIONS_A_MOVE)
  return partitions.length === 0 ? undefined : { partitions, from, to }
}

/** The busiest and the least busy one, and how many seconds of work are between them; undefined if that is little. */
export function unevenLoads(
  loads: readonly number[],
): { readonly from: number; readonly to: number; readonly gap: number } | undefined {
  const from = loads.indexOf(Math.max(...loads))
  const to = loads.indexOf(Math.min(...loads))
  const mean = loads.reduce((sum, load) => sum + load, 0) / loads.length
  const gap = loads[from]! - loads[to]!
  if (gap < MIN_GAP_S || loads[from]! <= mean * (1 + MAX_IMBALANCE)) return undefined
  return { from, to, gap }
}

/**
 * Largest first, as long as they fit into half of the gap. If none fits, the smallest one that still narrows the gap.
 */
export function choosePartitions(
  parts: readonly PartitionWork[],
  rules: BalanceRules,
  room: number,
  most: number,
): number[] {
  const sized = parts
    .map((part) => ({
      partition: part.partition,
      seconds: workOf(part, rules.visitCycleMs) / rules.pagesPerSecond,
    }))
    .filter(({ seconds }) => seconds > 0)
    .sort((a, b) => b.seconds - a.seconds)
  const found: number[] = []
  let left = room
  for (const { partition, seconds } of sized) {
    if (found.length === most) break
    if (seconds > left) continue
    found.push(partition)
    left -= seconds
  }
  const smallest = sized.at(-1)
  if (found.length === 0 && sized.length > 1 && smallest!.seconds < 2 * room) found.push(smallest!.partition)
  return found
}
