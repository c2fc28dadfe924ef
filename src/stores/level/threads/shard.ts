/** The store as a shard sees it: some of its partitions, in the shard's own thread. */

import { KumoError } from '../../../errors.js'
import type { OpenStore, ShardContext, StoreContext } from '../../contract.js'
import { Database } from '../db/database.js'
import { CommitCount, closeToOthers } from '../db/folder.js'
import { Counts, type MoveRecord, readCounts, readMove, writeMove } from '../format/counts.js'
import { MOVES, moveKey, partitionIn } from '../format/keys.js'
import type { WriterMeta } from '../format/meta.js'
import { TimeScale } from '../format/time-scale.js'
import { readWriter } from '../opening/store-meta.js'
import type { Settings } from '../settings.js'
import { ReopenBarrier } from './reopen-barrier.js'
import { NEW_WRITER, type SharedLayout, writerOf } from './shared.js'
import { openWriter } from './writer-store.js'

/**
 * A shard that died may have sent batches that it had not committed. Its replacement starts numbering far beyond them.
 */
const BATCHES_UNKNOWN = 2 ** 20

export async function openShard(
  settings: Settings,
  context: StoreContext,
  shard: ShardContext,
): Promise<OpenStore> {
  const shared = shard.shared as SharedLayout | undefined
  if (shared?.barrier === undefined) throw unshared()
  const { path, durability } = settings
  const writer = writerOf(shard.index)
  const sharing = { barrier: new ReopenBarrier(shared.barrier, writer), clock: context.clock }
  const database = await Database.open(path, durability === 'machine', sharing)
  try {
    // A module that only this thread has loaded may need cookies.
    if (context.isPrivate) closeToOthers(path)
    const before = await readWriter(database, writer)
    const { counts, seq, changes } = await partitionsOf(context, shard, database, before)
    const end = before ?? shared.writers[writer] ?? NEW_WRITER
    const { writer: _, ...opened } = await openWriter(settings, context, database, {
      writer,
      count: new CommitCount(path, writer),
      end: before === undefined ? end : { ...end, nextBatch: end.nextBatch + BATCHES_UNKNOWN },
      seq: Math.max(shared.seq, before?.seq ?? 0, seq),
      scale: new TimeScale(context.clock, shared.offset),
      counts,
      isCautious: shared.crashed || shard.replaces,
      sharers: shared.shards,
      changes,
    })
    return opened
  } catch (error) {
    await database.close().catch(() => {})
    throw error
  }
}

/**
 * The counts of a shard's partitions: from its writer's meta if it owned them before, otherwise from their own records.
 * Partitions of the writer that the shard does not own get records of their own again.
 */
async function partitionsOf(
  { partitions }: StoreContext,
  shard: ShardContext,
  database: Database,
  before: WriterMeta | undefined,
): Promise<{ counts: Counts; seq: number; changes: Map<string, string | null> }> {
  const counts = new Counts(partitions)
  const changes = new Map<string, string | null>()
  const moving = new Map<number, MoveRecord>()
  for await (const entries of database.scan(MOVES)) {
    for (const [key, record] of entries) {
      const move = database.decode(key, readMove, partitionIn(key), record)
      moving.set(move.partition, move)
    }
  }
  const had = new Map(readCounts(before?.counts ?? '').map((count) => [count.partition, count]))
  let seq = 0
  for (const partition of shard.partitions) {
    const move = moving.get(partition)
    counts.own(had.get(partition) ?? move ?? { partition, pending: 0, known: 0 })
    had.delete(partition)
    if (move === undefined) continue
    seq = Math.max(seq, move.seq)
    changes.set(moveKey(partition), null)
  }
  for (const count of had.values()) {
    changes.set(moveKey(count.partition), writeMove({ ...count, seq: before!.seq }))
  }
  return { counts, seq, changes }
}

function unshared(): KumoError {
  const message = 'level: a shard was opened without the result of Store.share'
  return new KumoError('KUMO_CONTRACT_BROKEN', message)
}
