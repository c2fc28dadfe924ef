/** The store as the thread has it that starts the shards: it opens first, looks whether all is well, and closes last. */

import { invalidOption } from '../../../errors.js'
import type { SharedStore, StoreContext } from '../../contract.js'
import { Database } from '../db/database.js'
import { locked } from '../db/errors.js'
import { FIRST_WRITER } from '../format/keys.js'
import type { WriterEnd } from '../format/meta.js'
import { TimeScale } from '../format/time-scale.js'
import { type Crawl, gather, openCrawl } from '../opening/opening.js'
import { readWriter, type StoreMeta } from '../opening/store-meta.js'
import type { Settings } from '../settings.js'
import { levelState } from '../state.js'
import { Leftovers } from './outbox.js'
import { ReopenBarrier } from './reopen-barrier.js'
import { Writer } from './writer.js'

/** What shards must know to open the store: can be posted to another thread. */
export interface SharedLayout {
  readonly shards: number
  /** Of the scale of time that all share. */
  readonly offset: number
  /** Whether the last run did not end, so that hosts may have been visited without a trace. */
  readonly wasCut: boolean
  /** The number of the next request. */
  readonly seq: number
  /** How far the writers had come, by number. */
  readonly writers: Readonly<Record<string, WriterEnd>>
  readonly barrier: SharedArrayBuffer
}

/** The first writer is that of the thread that starts the shards. */
export function writerOf(shard: number): number {
  return FIRST_WRITER + 1 + shard
}

/** Where a writer begins that has never committed anything. */
export const NEW_WRITER: WriterEnd = { commit: 0, marksFrom: 1, nextBatch: 0 }

export async function share(settings: Settings, context: StoreContext, shards: number): Promise<SharedStore> {
  if (!Number.isInteger(shards) || shards < 1) {
    throw invalidOption('shards', shards, 'a whole number, 1 or more')
  }
  const crawl = await openCrawl(settings, context)
  const { count, wasCut } = crawl
  const scale = new TimeScale(context.clock, crawl.meta.time)
  const memory = ReopenBarrier.make(1 + shards)
  const barrier = new ReopenBarrier(memory, FIRST_WRITER)
  try {
    const meta = await layOut(crawl, scale)
    const sharing = { barrier, clock: context.clock }
    const database = await Database.open(settings.path, settings.durability === 'machine', sharing)
    try {
      await assertOurs(settings, database, meta)
    } catch (error) {
      await database.close().catch(() => {})
      throw error
    }
    const writer = new Writer(
      settings,
      context,
      database,
      { writer: FIRST_WRITER, count, end: meta.first, scale, whole: meta },
      () => ({ seq: meta.seq, counts: '', nextBatch: 0 }),
    )
    const { seq, writers } = meta
    const shared: SharedLayout = { shards, offset: scale.offset, wasCut, seq, writers, barrier: memory }
    return sharedStore(context, database, writer, shared, barrier)
  } catch (error) {
    count.abandon()
    throw error
  }
}

/** Takes together what the writers of the last run have left, and lays it out for those of this one. */
async function layOut(crawl: Crawl, scale: TimeScale): Promise<StoreMeta> {
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
async function assertOurs({ path }: Settings, database: Database, { first }: StoreMeta): Promise<void> {
  const last = await readWriter(database, FIRST_WRITER)
  if (last?.commit !== first.commit) throw locked(path)
}

function sharedStore(
  context: StoreContext,
  database: Database,
  writer: Writer,
  shared: SharedLayout,
  barrier: ReopenBarrier,
): SharedStore {
  const { journal } = writer
  const { partitions, clock } = context
  const leave = onProcessExit(() => barrier.barAll())
  const partitionOf = context.partitionOf?.bind(context) ?? (() => 0)
  const leftovers = new Leftovers(database, journal)
  /** Batches of this run have larger numbers. */
  const isOfEarlierRun = (number: number, batch: number) => {
    const isOfThisRun = number > FIRST_WRITER && number <= writerOf(shared.shards - 1)
    return !isOfThisRun || batch < (shared.writers[number] ?? NEW_WRITER).nextBatch
  }
  let closing: Promise<void> | undefined
  return {
    shared,
    state: levelState({ database, journal, partitions, partitionOf }),
    flush: () => journal.flush(),
    leftovers(shard) {
      if (shard === undefined) return leftovers.read(isOfEarlierRun)
      return leftovers.read((number) => number === writerOf(shard))
    },
    dropLeftover: (id) => leftovers.drop(id),
    ending: (shard) => barrier.bar(writerOf(shard), clock),
    ended: (shard) => barrier.gone(writerOf(shard)),
    close() {
      closing ??= writer.close().finally(leave)
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
