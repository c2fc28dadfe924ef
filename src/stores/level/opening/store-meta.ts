/**
 * What the lanes of a store know, taken together. Several threads may have written it, and as many or fewer or more may go
 * on with it, so it is read as one when a store is opened, and written as one before anybody changes anything.
 */

import type { KumoError } from '../../../errors.js'
import type { Database, Staged } from '../db/database.js'
import { damaged } from '../db/errors.js'
import { MARKS_KEPT } from '../db/journal.js'
import { type PartitionCount, readCounts, readParcel, writeCounts, writeParcel } from '../format/counts.js'
import {
  commitKey,
  FIRST_LANE,
  LANES,
  MARKS,
  META,
  markIn,
  metaKey,
  PARCELS,
  parcelKey,
  partitionIn,
} from '../format/keys.js'
import { type LaneEnd, type LaneMeta, type Meta, readLaneMeta } from '../format/meta.js'
import { FORMAT } from '../format/migrations.js'
import type { TimeMark } from '../format/time-scale.js'

export interface Books {
  readonly identity: Readonly<Record<string, string>>
  /** The latest commit of any lane. Undefined: there is none. */
  readonly time: TimeMark | undefined
  /** The number of the next request, larger than any lane has given. */
  readonly seq: number
  readonly counts: readonly PartitionCount[]
  readonly first: LaneEnd
  /** The other lanes that there are or have been, by number. */
  readonly lanes: Readonly<Record<string, LaneEnd>>
  /** Keys under which parts of this lie that are not in the first lane. */
  readonly scattered: readonly string[]
}

export function blankBooks(identity: Readonly<Record<string, string>>): Books {
  const first = { commit: 0, marksFrom: 1, nextBatch: 0 }
  return { identity, time: undefined, seq: 0, counts: [], first, lanes: {}, scattered: [] }
}

export async function readBooks(database: Database, meta: Meta): Promise<Books> {
  const counts = new Map(readCounts(meta.counts).map((count) => [count.partition, count]))
  const lanes: Record<string, LaneEnd> = { ...meta.lanes }
  const scattered: string[] = []
  let { seq } = meta
  let latest: TimeMark = meta
  for await (const entries of database.scan(LANES)) {
    for (const [key, record] of entries) {
      const lane = database.decode(key, readLaneMeta, record)
      for (const count of readCounts(lane.counts)) counts.set(count.partition, count)
      lanes[partitionIn(key)] = endOf(lane)
      seq = Math.max(seq, lane.seq)
      if (lane.at > latest.at) latest = lane
      scattered.push(key)
    }
  }
  for await (const entries of database.scan(PARCELS)) {
    for (const [key, record] of entries) {
      const parcel = database.decode(key, readParcel, partitionIn(key), record)
      counts.set(parcel.partition, parcel)
      seq = Math.max(seq, parcel.seq)
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
    lanes,
    scattered,
  }
}

function endOf({ commit, marksFrom, nextBatch }: LaneEnd): LaneEnd {
  return { commit, marksFrom, nextBatch }
}

/**
 * Makes all of it one commit of the first lane. `apart`: the partitions are laid out one by one, for other lanes to take
 * them up; otherwise they are the first lane's.
 */
export async function takeTogether(
  database: Database,
  books: Books,
  time: TimeMark,
  apart: boolean,
): Promise<Books> {
  const { identity, seq, counts, lanes, scattered } = books
  const changes = new Map<string, Staged>(scattered.map((key) => [key, null]))
  if (apart)
    for (const count of counts) changes.set(parcelKey(count.partition), writeParcel({ ...count, seq }))
  const first = { ...books.first, commit: books.first.commit + 1 }
  const meta: Meta = {
    format: FORMAT,
    identity,
    ...time,
    seq,
    ...first,
    counts: apart ? '' : writeCounts(counts),
    lanes,
  }
  changes.set(META, JSON.stringify(meta))
  changes.set(commitKey(FIRST_LANE, first.commit), '')
  if (first.commit > MARKS_KEPT) changes.set(commitKey(FIRST_LANE, first.commit - MARKS_KEPT), null)
  await database.write({ values: changes, once: [] })
  return { ...books, time, first, scattered: [] }
}

/** What a lane has written of itself, in this run or in one before its partitions were last taken together. */
export async function readLane(database: Database, lane: number): Promise<LaneMeta | undefined> {
  const key = metaKey(lane)
  const record = await database.get(key)
  return record === undefined ? undefined : database.decode(key, readLaneMeta, record)
}

/** Every commit leaves a mark, so that one that is missing is noticed: LevelDB passes over what it cannot read. */
export async function checkMarks(path: string, database: Database, { first, lanes }: Books): Promise<void> {
  const ends = new Map<number, LaneEnd>([[FIRST_LANE, first]])
  for (const [lane, end] of Object.entries(lanes)) ends.set(Number(lane), end)
  const last = new Map<number, number>()
  for (const [lane, { commit, marksFrom }] of ends) {
    last.set(lane, Math.max(marksFrom, commit - MARKS_KEPT + 1) - 1)
  }
  for (const range of MARKS) {
    for await (const keys of database.scanKeys(range)) {
      for (const key of keys) {
        const { lane, commit } = markIn(key)
        const before = last.get(lane) ?? 0
        if (commit !== before + 1) throw hole(path, before + 1, commit - 1)
        last.set(lane, commit)
      }
    }
  }
  for (const [lane, at] of last) {
    const { commit } = ends.get(lane) ?? { commit: 0 }
    if (at !== commit) throw hole(path, at + 1, commit)
  }
}

function hole(path: string, from: number, to: number): KumoError {
  const commits = from === to ? `commit ${from}` : `commits ${from} to ${to}`
  return damaged(path, `${commits} cannot be read, so that URLs may be missing`)
}
