import { KumoError } from '../../../errors.js'
import type { Handover, PartitionLoad, StoreSnapshot } from '../../contract.js'
import type { Database } from '../db/database.js'
import type { Journal } from '../db/journal.js'
import { type Counts, type MoveRecord, readMove, writeMove } from '../format/counts.js'
import { moveKey } from '../format/keys.js'
import type { LevelFrontier } from '../frontier/frontier.js'
import type { LevelSeen } from '../seen/seen.js'
import type { MovedFrontier } from './moves.js'

/** Partitions in transit to another thread, which finds everything else on disk. */
export interface LevelSnapshot extends StoreSnapshot {
  readonly counts: readonly MoveRecord[]
  readonly frontier: MovedFrontier
  /** Fingerprints of seen URLs that were in memory. */
  readonly prints: readonly (readonly [partition: number, prints: Uint32Array])[]
}

export interface HandoverParts {
  readonly database: Database
  readonly journal: Journal
  readonly counts: Counts
  readonly frontier: LevelFrontier
  readonly seen: LevelSeen
}

/**
 * Moves partitions between threads that share a database; nothing is copied. The sender writes its last changes and
 * forgets them; the receiver reads. In between, the counts are stored under a key of their own, so that a crash at any
 * time finds them in exactly one place.
 */
export class LevelHandover implements Handover {
  readonly #parts: HandoverParts
  #departing: ReadonlySet<number> = new Set()

  constructor(parts: HandoverParts) {
    this.#parts = parts
  }

  async release(given: readonly number[], left?: () => void): Promise<LevelSnapshot> {
    const { journal, counts, frontier, seen } = this.#parts
    const partitions = sortedUnique(given).filter((partition) => counts.owns(partition))
    await frontier.moves.hold(partitions)
    await seen.hold(partitions)
    this.#departing = new Set(partitions)
    this.writeMoveRecords()
    frontier.moves.finalize()
    frontier.moves.takeTouched()
    do await journal.flush()
    while (frontier.moves.takeTouched())
    // Synchronously: nothing can change between what is on disk and what is forgotten.
    const moved = frontier.release()
    const prints = seen.release()
    this.#departing = new Set()
    const records = partitions.map((partition) => ({ ...counts.disown(partition), seq: moved.seq }))
    left?.()
    return { partitions: given, counts: records, frontier: moved, prints }
  }

  async adopt(snapshot: StoreSnapshot): Promise<void> {
    const { journal, counts, frontier, seen } = this.#parts
    const { frontier: moved, counts: sent, prints } = snapshot as LevelSnapshot
    const records = await Promise.all(sent.map((record) => this.#latest(record)))
    const partitions = sortedUnique(records.map(({ partition }) => partition))
    for (const partition of partitions) if (counts.owns(partition)) throw alreadyOwned(partition)
    await seen.adopt(partitions, prints)
    for (const record of records) {
      counts.own(record)
      journal.remove(moveKey(record.partition))
    }
    const seq = Math.max(moved.seq, ...records.map((record) => record.seq))
    await frontier.adopt(partitions, { ...moved, seq })
  }

  /** A receiver that died may have worked on it for a while: the record on disk is newer. */
  async #latest(sent: MoveRecord): Promise<MoveRecord> {
    const { database } = this.#parts
    const key = moveKey(sent.partition)
    const record = await database.get(key)
    return record === undefined ? sent : database.decode(key, readMove, sent.partition, record)
  }

  load(): PartitionLoad[] {
    return this.#parts.frontier.moves.load()
  }

  /** Whether the counts of a partition are written in a record of their own. */
  hasMoveRecord(partition: number): boolean {
    return this.#departing.has(partition)
  }

  /** Call this at each commit. */
  writeMoveRecords(): void {
    const { journal, counts, frontier } = this.#parts
    for (const partition of this.#departing) {
      journal.put(moveKey(partition), writeMove({ ...counts.of(partition), seq: frontier.seq }))
    }
  }
}

function sortedUnique(partitions: readonly number[]): number[] {
  return [...new Set(partitions)].sort((a, b) => a - b)
}

function alreadyOwned(partition: number): KumoError {
  const message = `a shard was asked to adopt partition ${partition}, which it already owns`
  return new KumoError('KUMO_CONTRACT_BROKEN', message)
}
