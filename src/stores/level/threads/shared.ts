/** The store as the thread has it that starts the shards: it opens first, looks whether all is well, and closes last. */

import { KumoError } from '../../../errors.js'
import type { SharedStore, StoreContext } from '../../contract.js'
import { Database } from '../db/database.js'
import { locked } from '../db/errors.js'
import { FIRST_LANE } from '../format/keys.js'
import type { LaneEnd } from '../format/meta.js'
import { TimeScale } from '../format/time-scale.js'
import { type Crawl, gather, openCrawl } from '../opening/opening.js'
import { type Books, readLane } from '../opening/store-meta.js'
import type { Settings } from '../settings.js'
import { levelState } from '../state.js'
import { Gate } from './gate.js'
import { Leftovers } from './outbox.js'
import { Lane } from './writer.js'

/** What shards must know to open the store: can be posted to another thread. */
export interface Shared {
  readonly shards: number
  /** Of the scale of time that all share. */
  readonly offset: number
  /** Whether the last run did not end, so that hosts may have been visited without a trace. */
  readonly wasCut: boolean
  /** The number of the next request. */
  readonly seq: number
  /** How far the lanes had come, by number. */
  readonly lanes: Readonly<Record<string, LaneEnd>>
  readonly gate: SharedArrayBuffer
}

/** The first lane is that of the thread that starts the shards. */
export function laneOf(shard: number): number {
  return FIRST_LANE + 1 + shard
}

/** Where a lane begins that has never committed anything. */
export const NEW_LANE: LaneEnd = { commit: 0, marksFrom: 1, nextBatch: 0 }

export async function share(settings: Settings, context: StoreContext, shards: number): Promise<SharedStore> {
  if (!Number.isInteger(shards) || shards < 1) {
    throw new KumoError('KUMO_INVALID_OPTION', `shards is a whole number from 1 on, not ${String(shards)}`)
  }
  const crawl = await openCrawl(settings, context)
  const { count, wasCut } = crawl
  const scale = new TimeScale(context.clock, crawl.books.time)
  const memory = Gate.make(1 + shards)
  const gate = new Gate(memory, FIRST_LANE)
  try {
    const books = await layOut(crawl, scale)
    const sharing = { gate, clock: context.clock }
    const database = await Database.open(settings.path, settings.durability === 'machine', sharing)
    try {
      await assertOurs(settings, database, books)
    } catch (error) {
      await database.close().catch(() => {})
      throw error
    }
    const lane = new Lane(
      settings,
      context,
      database,
      { lane: FIRST_LANE, count, end: books.first, scale, whole: books },
      () => ({ seq: books.seq, counts: '', nextBatch: 0 }),
    )
    const { seq, lanes } = books
    const shared: Shared = { shards, offset: scale.offset, wasCut, seq, lanes, gate: memory }
    return sharedStore(context, database, lane, shared, gate)
  } catch (error) {
    count.abandon()
    throw error
  }
}

/** Takes together what the lanes of the last run have left, and lays it out for those of this one. */
async function layOut(crawl: Crawl, scale: TimeScale): Promise<Books> {
  try {
    return await gather(crawl, scale.mark(), true)
  } finally {
    await crawl.database.close()
  }
}

/**
 * Nobody else could have the database open until now, but whoever opens it to share it is let in: so another crawl of this
 * process may have come in between. Then it has made a commit as we have, and it was the last.
 */
async function assertOurs({ path }: Settings, database: Database, { first }: Books): Promise<void> {
  const last = await readLane(database, FIRST_LANE)
  if (last?.commit !== first.commit) throw locked(path)
}

function sharedStore(
  context: StoreContext,
  database: Database,
  lane: Lane,
  shared: Shared,
  gate: Gate,
): SharedStore {
  const { journal } = lane
  const { partitions, clock } = context
  const leave = onProcessExit(() => gate.barAll())
  const partitionOf = context.partitionOf?.bind(context) ?? (() => 0)
  const leftovers = new Leftovers(database, journal)
  /** Batches of this run have larger numbers. */
  const isOfEarlierRun = (number: number, batch: number) => {
    const isOfThisRun = number > FIRST_LANE && number <= laneOf(shared.shards - 1)
    return !isOfThisRun || batch < (shared.lanes[number] ?? NEW_LANE).nextBatch
  }
  let closing: Promise<void> | undefined
  return {
    shared,
    state: levelState({ database, journal, partitions, partitionOf }),
    flush: () => journal.flush(),
    leftovers(shard) {
      if (shard === undefined) return leftovers.read(isOfEarlierRun)
      return leftovers.read((number) => number === laneOf(shard))
    },
    dropLeftover: (id) => leftovers.drop(id),
    ending: (shard) => gate.bar(laneOf(shard), clock),
    ended: (shard) => gate.gone(laneOf(shard)),
    close() {
      closing ??= lane.close().finally(leave)
      return closing
    },
  }
}

const leaving = new Set<() => void>()

/** Before the process ends its threads. Answers with what calls it off. */
function onProcessExit(leave: () => void): () => void {
  if (leaving.size === 0) process.once('exit', leaveAll)
  leaving.add(leave)
  return () => {
    leaving.delete(leave)
    if (leaving.size === 0) process.off('exit', leaveAll)
  }
}

function leaveAll(): void {
  for (const leave of leaving) leave()
}
