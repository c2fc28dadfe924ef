/**
 * The metas of all writers of a store, combined. A crawl stored by several threads may be resumed by a different number
 * of them, so the metas are combined when the store is opened, and written as one before anything changes.
 */

import type { KumoError } from '../../../errors.js'
import type { Database, Staged } from '../db/database.js'
import { damaged } from '../db/errors.js'
import { MARKS_KEPT } from '../db/journal.js'
import { type PartitionCount, readCounts, readMove, writeCounts, writeMove } from '../format/counts.js'
import {
  commitKey,
  FIRST_WRITER,
  MARKS,
  META,
  MOVES,
  markIn,
  metaKey,
  moveKey,
  partitionIn,
  WRITERS,
} from '../format/keys.js'
import { type Meta, readWriterMeta, type WriterEnd, type WriterMeta } from '../format/meta.js'
import { FORMAT } from '../format/migrations.js'
import type { TimeMark } from '../format/time-scale.js'

export interface StoreMeta {
  readonly identity: Readonly<Record<string, string>>
  /** The latest commit of any writer. Undefined: there is none. */
  readonly time: TimeMark | undefined
  /** Number of the next request: greater than any that a writer has used. */
  readonly seq: number
  readonly counts: readonly PartitionCount[]
  readonly first: WriterEnd
  /** All other writers so far, by number. */
  readonly writers: Readonly<Record<string, WriterEnd>>
  /** Keys of the parts that are not stored with the first writer. */
  readonly scattered: readonly string[]
}

export function emptyStoreMeta(identity: Readonly<Record<string, string>>): StoreMeta {
  const first = { commit: 0, marksFrom: 1, nextBatch: 0 }
  return { identity, time: undefined, seq: 0, counts: [], first, writers: {}, scattered: [] }
}

export async function readStoreMeta(database: Database, meta: Meta): Promise<StoreMeta> {
  const counts = new Map(readCounts(meta.counts).map((count) => [count.partition, count]))
  const writers: Record<string, WriterEnd> = { ...meta.lanes }
  const scattered: string[] = []
  let { seq } = meta
  let latest: TimeMark = meta
  for await (const entries of database.scan(WRITERS)) {
    for (const [key, record] of entries) {
      const writer = database.decode(key, readWriterMeta, record)
      for (const count of readCounts(writer.counts)) counts.set(count.partition, count)
      writers[partitionIn(key)] = endOf(writer)
      seq = Math.max(seq, writer.seq)
      if (writer.at > latest.at) latest = writer
      scattered.push(key)
    }
  }
  for await (const entries of database.scan(MOVES)) {
    for (const [key, record] of entries) {
      const move = database.decode(key, readMove, partitionIn(key), record)
      counts.set(move.partition, move)
      seq = Math.max(seq, move.seq)
      scattered.push(key)
    }
  }
  const { at, wall, steady } = latest
  return {
    identity: meta.identity,
    time: { at, wall, steady },
    seq,
    counts: [...counts.values()],
    first: endOf(meta),
    writers,
    scattered,
  }
}

function endOf({ commit, marksFrom, nextBatch }: WriterEnd): WriterEnd {
  return { commit, marksFrom, nextBatch }
}

/**
 * Writes everything as one commit of the first writer. `apart`: each partition gets a record of its own, for other
 * writers to adopt; otherwise the first writer owns all partitions.
 */
export async function writeMerged(
  database: Database,
  before: StoreMeta,
  time: TimeMark,
  apart: boolean,
): Promise<StoreMeta> {
  const { identity, seq, counts, writers, scattered } = before
  const changes = new Map<string, Staged>(scattered.map((key) => [key, null]))
  if (apart) for (const count of counts) changes.set(moveKey(count.partition), writeMove({ ...count, seq }))
  const first = { ...before.first, commit: before.first.commit + 1 }
  const meta: Meta = {
    format: FORMAT,
    identity,
    ...time,
    seq,
    ...first,
    counts: apart ? '' : writeCounts(counts),
    lanes: writers,
  }
  changes.set(META, JSON.stringify(meta))
  changes.set(commitKey(FIRST_WRITER, first.commit), '')
  if (first.commit > MARKS_KEPT) changes.set(commitKey(FIRST_WRITER, first.commit - MARKS_KEPT), null)
  await database.write({ values: changes, once: [] })
  return { ...before, time, first, scattered: [] }
}

/** The meta of a writer, from this run or an earlier one; undefined once its partitions were merged. */
export async function readWriter(database: Database, writer: number): Promise<WriterMeta | undefined> {
  const key = metaKey(writer)
  const record = await database.get(key)
  return record === undefined ? undefined : database.decode(key, readWriterMeta, record)
}

/** Every commit leaves a mark, so that a missing commit is noticed: LevelDB silently skips what it cannot read. */
export async function checkMarks(
  path: string,
  database: Database,
  { first, writers }: StoreMeta,
): Promise<void> {
  const ends = new Map<number, WriterEnd>([[FIRST_WRITER, first]])
  for (const [writer, end] of Object.entries(writers)) ends.set(Number(writer), end)
  const last = new Map<number, number>()
  for (const [writer, { commit, marksFrom }] of ends) {
    last.set(writer, Math.max(marksFrom, commit - MARKS_KEPT + 1) - 1)
  }
  for (const range of MARKS) {
    for await (const keys of database.scanKeys(range)) {
      for (const key of keys) {
        const { writer, commit } = markIn(key)
        const before = last.get(writer) ?? 0
        if (commit !== before + 1) throw missingCommits(path, before + 1, commit - 1)
        last.set(writer, commit)
      }
    }
  }
  for (const [writer, at] of last) {
    const { commit } = ends.get(writer) ?? { commit: 0 }
    if (at !== commit) throw missingCommits(path, at + 1, commit)
  }
}

function missingCommits(path: string, from: number, to: number): KumoError {
  const commits = from === to ? `commit ${from}` : `commits ${from} to ${to}`
  return damaged(path, `${commits} cannot be read, so URLs may be missing`)
}
