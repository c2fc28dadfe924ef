import type { OpenStore, StoreContext } from '../../contract.js'
import type { Database } from '../db/database.js'
import type { Counts } from '../format/counts.js'
import { FIRST_LANE } from '../format/keys.js'
import { LevelFrontier } from '../frontier/frontier.js'
import { LevelSeen } from '../seen/seen.js'
import type { Settings } from '../settings.js'
import { levelState } from '../state.js'
import { LevelHandover } from './handover.js'
import { LevelSpool } from './outbox.js'
import { Lane, type LaneStart, type LaneState } from './writer.js'

/** What a thread begins with that crawls. */
export interface CrawlStart extends LaneStart {
  /** The number of the next request. */
  readonly seq: number
  /** Its partitions, and what they hold. */
  readonly counts: Counts
  /** Whoever crawled before may have visited any host at the last moment, without a trace. */
  readonly isCautious: boolean
  /** How many share the memory that the settings allow. */
  readonly sharers: number
  /** Changes to be made with the first commit. */
  readonly changes: ReadonlyMap<string, string | null>
}

export interface LaneStore extends OpenStore {
  readonly lane: Lane
  readonly handover: LevelHandover
  readonly spool: LevelSpool
}

/** The parts of a store, as one thread has them. */
export async function openLane(
  settings: Settings,
  context: StoreContext,
  database: Database,
  start: CrawlStart,
): Promise<LaneStore> {
  const { clock, politeness, policy, partitions } = context
  const { counts, scale, seq, isCautious } = start
  const partitionOf = context.partitionOf?.bind(context) ?? (() => 0)
  const share = (amount: number) => Math.ceil(amount / start.sharers)
  const lane: Lane = new Lane(settings, context, database, start, (): LaneState => {
    seen.contribute()
    handover.writeParcels()
    return {
      seq: frontier.seq,
      counts: counts.write((partition) => handover.isDeparting(partition)),
      nextBatch: spool.nextBatch,
    }
  })
  const { journal } = lane
  const seen = new LevelSeen({
    database,
    journal,
    counts,
    partitionOf,
    inMemory: share(settings.seenInMemory),
    mayLeave: lane.number !== FIRST_LANE,
    nextSeq: () => frontier.seq,
  })
  const frontier: LevelFrontier = new LevelFrontier({
    database,
    journal,
    scale,
    politeness,
    policy,
    partitions,
    partitionOf,
    hostsInMemory: share(settings.hostsInMemory),
    requestsInMemory: share(settings.requestsInMemory),
    counts,
    seq,
    isCautious,
    taken: (request, partition) => seen.taken(request, partition),
  })
  const handover = new LevelHandover({ database, journal, counts, frontier, seen })
  const spool = new LevelSpool(journal, lane.number, start.end.nextBatch)
  for (const [key, value] of start.changes) journal.put(key, value)
  seen.load()
  await frontier.open(clock.now())
  const owns = (partition: number) => counts.owns(partition)
  const touched = (partition: number) => frontier.moves.touched(partition)
  let closing: Promise<void> | undefined
  return {
    lane,
    frontier,
    seen,
    handover,
    spool,
    state: levelState({ database, journal, partitions, partitionOf, owns, touched }),
    flush: () => journal.flush(),
    onCommit: (write) => journal.beforeCommit(write),
    condition: () => journal.condition,
    close() {
      closing ??= closeAll(frontier, seen, lane)
      return closing
    },
  }
}

async function closeAll(frontier: LevelFrontier, seen: LevelSeen, lane: Lane): Promise<void> {
  frontier.close()
  try {
    await lane.close()
  } finally {
    seen.close()
  }
}
