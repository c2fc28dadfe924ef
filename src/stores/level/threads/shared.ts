/** The store as seen by the thread that starts the shards: it opens and checks the store first, and closes it last. */

import { invalidOption } from '../../../errors.js'
import type { SharedStore, StoreContext } from '../../contract.js'
import { Database } from '../db/database.js'
import { locked } from '../db/errors.js'
import { FIRST_WRITER } from '../format/keys.js'
import type { WriterEnd } from '../format/meta.js'
import { TimeScale } from '../format/time-scale.js'
import { type Crawl, mergeWriters, openCrawl } from '../opening/opening.js'
import { readWriter, type StoreMeta } from '../opening/store-meta.js'
import type { Settings } from '../settings.js'
import { levelState } from '../state.js'
import { Leftovers } from './outbox.js'
import { ReopenBarrier } from './reopen-barrier.js'
import { Writer } from './writer.js'

/** What shards need to open the store; can be posted to another thread. */
export interface SharedLayout {
  readonly shards: number
  /** Offset of the time scale that all share. */
  readonly offset: number
  /** Whether the last run did not close, so that hosts may have been visited without a record. */
  readonly crashed: boolean
  /** Number of the next request. */
  readonly seq: number
  /** How far each writer had got, by number. */
  readonly writers: Readonly<Record<string, WriterEnd>>
  readonly barrier: SharedArrayBuffer
}

/** The first writer belongs to the thread that starts the shards. */
export function writerOf(shard: number): number {
  return FIRST_WRITER + 1 + shard
}

/** The start of a writer that has never committed. */
export const NEW_WRITER: WriterEnd = { commit: 0, marksFrom: 1, nextBatch: 0 }

export async function share(settings: Settings, context: StoreContext, shards: number): Promise<SharedStore> {
  if (!Number.isInteger(shards) || shards < 1) {
    throw invalidOption('shards', shards, 'a whole number, 1 or more')
  }
  const crawl = await openCrawl(settings, context)
  const { count, crashed } = crawl
  const scale = new TimeScale(context.clock, crawl.meta.time)
  const memory = ReopenBarrier.make(1 + shards)
  const barrier = new ReopenBarrier(memory, FIRST_WRITER)
  try {
    const meta = await layOut(crawl, scale)
    const sharing = { barrier, clock: context.clock }
    const database = await Database.open(settings.path, settings.durability === 'machine', sharing)
    try {
      await assertLastCommit(settings, database, meta)
    } catch (error) {
      await database.close().catch(() => {})
      throw error
    }
    const writer = new Writer(
      settings,
      context,
      database,
      { writer: FIRST_WRITER, count, end: meta.first, scale, store: meta },
      () => ({ seq: meta.seq, counts: '', nextBatch: 0 }),
    )
    const { seq, writers } = meta
    const shared: SharedLayout = { shards, offset: scale.offset, crashed, seq, writers, barrier: memory }
    return sharedStore(context, database, writer, shared, barrier)
  } catch (error) {
    count.abandon()
    throw error
  }
}

/** Merges what the writers of the last run have left, and lays it out for those of this run. */
async function layOut(crawl: Crawl, scale: TimeScale): Promise<StoreMeta> {
  try {
    return await mergeWriters(crawl, scale.mark(), true)
  } finally {
    await crawl.database.close()
  }
}

/**
 * The database was locked until now, but opening it as shared admits other threads of this process, so another crawl
 * may have slipped in. It would then have made the last commit.
 */
async function assertLastCommit({ path }: Settings, database: Database, { first }: StoreMeta): Promise<void> {
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
  const leave = onProcessExit(() => barrier.blockAll())
  const partitionOf = context.partitionOf?.bind(context) ?? (() => 0)
  const leftovers = new Leftovers(database, journal)
  /** Batches of this run have greater numbers. */
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
    terminating: (shard) => barrier.block(writerOf(shard), clock),
    exited: (shard) => barrier.exited(writerOf(shard)),
    close() {
      closing ??= writer.close().finally(leave)
      return closing
    },
  }
}

const exitListeners = new Set<() => void>()

/** Called before the process terminates its threads. Returns a function that removes the listener. */
function onProcessExit(leave: () => void): () => void {
  if (exitListeners.size === 0) process.once('exit', leaveAll)
  exitListeners.add(leave)
  return () => {
    exitListeners.delete(leave)
    if (exitListeners.size === 0) process.off('exit', leaveAll)
  }
}

function leaveAll(): void {
  for (const leave of exitListeners) leave()
}
