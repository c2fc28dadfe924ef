import type { OpenStore, StoreContext } from '../../contract.js'
import type { Database } from '../db/database.js'
import type { Counts } from '../format/counts.js'
import { FIRST_WRITER } from '../format/keys.js'
import { LevelFrontier } from '../frontier/frontier.js'
import { LevelSeen } from '../seen/seen.js'
import type { Settings } from '../settings.js'
import { levelState } from '../state.js'
import { LevelHandover } from './handover.js'
import { LevelOutbox } from './outbox.js'
import { Writer, type WriterStart, type WriterState } from './writer.js'

/** What a writer that crawls starts with. */
export interface CrawlStart extends WriterStart {
  /** Number of the next request. */
  readonly seq: number
  /** Its partitions, and what they hold. */
  readonly counts: Counts
  /** Whether hosts may have been visited last without a record. */
  readonly isCautious: boolean
  /** Number of writers that share the memory limits. */
  readonly sharers: number
  /** Changes for the first commit. */
  readonly changes: ReadonlyMap<string, string | null>
}

export interface WriterStore extends OpenStore {
  readonly writer: Writer
  readonly handover: LevelHandover
  readonly outbox: LevelOutbox
}

/** The parts of a store for one thread. */
export async function openWriter(
  settings: Settings,
  context: StoreContext,
  database: Database,
  start: CrawlStart,
): Promise<WriterStore> {
  const { clock, politeness, policy, partitions } = context
  const { counts, scale, seq, isCautious } = start
  const partitionOf = context.partitionOf?.bind(context) ?? (() => 0)
  const share = (amount: number) => Math.ceil(amount / start.sharers)
  const writer: Writer = new Writer(settings, context, database, start, (): WriterState => {
    seen.contribute()
    handover.writeMoveRecords()
    return {
      seq: frontier.seq,
      counts: counts.write((partition) => handover.hasMoveRecord(partition)),
      nextBatch: outbox.nextBatch,
    }
  })
  const { journal } = writer
  const seen = new LevelSeen({
    database,
    journal,
    counts,
    partitionOf,
    inMemory: share(settings.seenInMemory),
    mayLeave: writer.number !== FIRST_WRITER,
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
    added: (request, partition) => seen.added(request, partition),
  })
  const handover = new LevelHandover({ database, journal, counts, frontier, seen })
  const outbox = new LevelOutbox(journal, writer.number, start.end.nextBatch)
  for (const [key, value] of start.changes) journal.put(key, value)
  seen.load()
  await frontier.open(clock.now())
  const owns = (partition: number) => counts.owns(partition)
  const touched = (partition: number) => frontier.moves.touched(partition)
  let closing: Promise<void> | undefined
  return {
    writer,
    frontier,
    seen,
    handover,
    outbox,
    state: levelState({ database, journal, partitions, partitionOf, owns, touched }),
    flush: () => journal.flush(),
    onCommit: (write) => journal.onCommit(write),
    beforeCommit: (prepare) => journal.beforeCommit(prepare),
    condition: () => journal.condition,
    close() {
      closing ??= closeAll(frontier, seen, writer)
      return closing
    },
  }
}

async function closeAll(frontier: LevelFrontier, seen: LevelSeen, writer: Writer): Promise<void> {
  frontier.close()
  try {
    await writer.close()
  } finally {
    seen.close()
  }
}
