/**
 * Which partitions should change hands (system D's balancing, made continuous). The load of a shard is the work that it
 * could do and has not: what politeness lets it do within the next seconds, not the mere number of URLs, for a host that
 * may be visited once a second is no burden, however much it has waiting.
 */

/** What a partition has to do. */
export interface PartitionWork {
  readonly partition: number
  /** Requests that are due. */
  readonly pending: number
  readonly hosts: number
  /** Requests of the host that has most. */
  readonly longest: number
  /** Visits a second that known pages will need. Default 0. */
  readonly scheduled?: number | undefined
}

export interface BalanceRules {
  /** From the start of a visit to a host to the start of the next: the time a visit takes, and the pause after it. */
  readonly turnMs: number
  /** Pages that one shard can do in a second. */
  readonly pagesPerSecond: number
}

export interface PlannedMove {
  readonly partitions: readonly number[]
  readonly from: number
  readonly to: number
}

/** How far ahead is looked. Longer than a move takes, shorter than anybody likes to wait. */
const HORIZON_MS = 10_000
/** Shards may drift apart by this share of what they have on average … */
const BEARABLE = 0.25
/** … and by this much work, in seconds: less is done before a move would be. */
const WORTH_IT_S = 0.5
/** A few at a time: what moves is not visited meanwhile. */
const MOST_AT_ONCE = 16

/** Pages of a partition that politeness allows within the horizon: of those that are due, and of those that will be. */
export function workOf({ pending, hosts, longest, scheduled = 0 }: PartitionWork, turnMs: number): number {
  const turns = Math.max(1, HORIZON_MS / Math.max(turnMs, 1))
  // One host's requests come one after the other; those of the others are taken to be alike.
  const others = Math.min(pending - longest, (hosts - 1) * turns)
  return Math.min(longest, turns) + Math.max(0, others) + (scheduled * HORIZON_MS) / 1000
}

/** The loads of shards, in seconds of work. */
export function loadsOf(shards: readonly (readonly PartitionWork[])[], rules: BalanceRules): number[] {
  return shards.map((parts) => {
    const pages = parts.reduce((sum, part) => sum + workOf(part, rules.turnMs), 0)
    return pages / rules.pagesPerSecond
  })
}

/**
 * What to move from the shard with most to the one with least; undefined if they are close enough, or if nothing that
 * could move would help.
 */
export function plannedMove(
  shards: readonly (readonly PartitionWork[])[],
  rules: BalanceRules,
): PlannedMove | undefined {
  const loads = loadsOf(shards, rules)
  const from = loads.indexOf(Math.max(...loads))
  const to = loads.indexOf(Math.min(...loads))
  const mean = loads.reduce((sum, load) => sum + load, 0) / loads.length
  const gap = loads[from]! - loads[to]!
  if (gap < WORTH_IT_S || loads[from]! <= mean * (1 + BEARABLE)) return undefined
  const partitions = chosen(shards[from]!, rules, gap / 2)
  return partitions.length === 0 ? undefined : { partitions, from, to }
}

/** Largest first, as long as they fit into half of the gap; if none does, the smallest that still narrows it. */
function chosen(parts: readonly PartitionWork[], rules: BalanceRules, room: number): number[] {
  const sized = parts
    .map((part) => ({
      partition: part.partition,
      seconds: workOf(part, rules.turnMs) / rules.pagesPerSecond,
    }))
    .filter(({ seconds }) => seconds > 0)
    .sort((a, b) => b.seconds - a.seconds)
  const found: number[] = []
  let left = room
  for (const { partition, seconds } of sized) {
    if (found.length === MOST_AT_ONCE) break
    if (seconds > left) continue
    found.push(partition)
    left -= seconds
  }
  const smallest = sized.at(-1)
  if (found.length === 0 && sized.length > 1 && smallest!.seconds < 2 * room) found.push(smallest!.partition)
  return found
}
