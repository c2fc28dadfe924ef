/**
 * Makes a whole crawl of what can be read of a damaged one: every request that is there is pending, its host is known to
 * have it, and the counts are what is there.
 */

import { Named } from '../../seen/named.js'
import { type Books, readBooks } from './books.js'
import { writeCounts } from './counts.js'
import type { Database, Staged } from './database.js'
import {
  batchIn,
  commitKey,
  entryKey,
  entryOf,
  FIRST_LANE,
  LANES,
  MARKS,
  META,
  PARCELS,
  partitionIn,
  SPOOLS,
} from './keys.js'
import type { LaneEnd, LaneMeta, Meta } from './meta.js'
import { FORMAT } from './migrations.js'
import { readHost, writeHost } from './records.js'
import { countAll, eachHost } from './recount.js'

/** Changes that are written at once. */
const PORTION = 10_000

/** `told` is the number of commits that there should be, by lane. Undefined if nothing of a crawl is left. */
export async function mend(
  database: Database,
  meta: Meta | undefined,
  identity: Readonly<Record<string, string>>,
  told: ReadonlyMap<number, number>,
): Promise<Books | undefined> {
  const changes = new Portions(database)
  await mendHosts(database, changes)
  const { counts, nextSeq } = await countAll(database)
  if (meta === undefined && counts.length === 0) return undefined
  const commit = Math.max(meta?.commit ?? 0, told.get(FIRST_LANE) ?? 0) + 1
  const { lanes, seq } = await lanesLeft(database, meta, told)
  for (const range of [...MARKS, LANES, PARCELS]) {
    for await (const keys of database.scanKeys(range)) {
      for (const key of keys) await changes.put(key, null)
    }
  }
  await changes.put(commitKey(FIRST_LANE, commit), '')
  const whole: Meta = {
    ...(meta ?? { at: 0, identity, nextBatch: 0 }),
    format: FORMAT,
    counts: writeCounts(counts),
    seq: Math.max(meta?.seq ?? 0, seq, nextSeq),
    commit,
    marksFrom: commit,
    lanes,
  }
  await changes.put(META, JSON.stringify(whole))
  await changes.write()
  return readBooks(database, whole)
}

/** Every host with requests gets an entry, and entries say whether there are requests with a time of their own. */
async function mendHosts(database: Database, changes: Portions): Promise<void> {
  const withLater = new Named()
  await eachHost(database, 'l', (_, host) => withLater.add(host))
  const listed = await mendEntries(database, changes, withLater)
  const addMissing = async (partition: string, host: string) => {
    if (listed.has(host)) return
    listed.add(host)
    const record = writeHost({ ...readHost(''), hasLater: withLater.has(host) })
    await changes.put(entryKey(partition, 0, host), record)
  }
  await eachHost(database, 'p', addMissing)
  await eachHost(database, 'l', addMissing)
}

/** The hosts that have an entry. */
async function mendEntries(database: Database, changes: Portions, withLater: Named): Promise<Named> {
  const listed = new Named()
  for await (const entries of database.scan({ from: 'q', to: 'r' })) {
    for (const [key, record] of entries) {
      const { host, wakes } = entryOf(key)
      if (wakes) continue
      listed.add(host)
      const known = readHost(record)
      if (withLater.has(host) && !known.hasLater) {
        await changes.put(key, writeHost({ ...known, hasLater: true }))
      }
    }
  }
  return listed
}

/** How far the other lanes had come: no number that they have given may be given again. */
async function lanesLeft(
  database: Database,
  meta: Meta | undefined,
  told: ReadonlyMap<number, number>,
): Promise<{ lanes: Record<string, LaneEnd>; seq: number }> {
  const lanes: Record<string, LaneEnd> = {}
  let seq = 0
  const reached = (lane: number, commit: number, nextBatch: number) => {
    if (lane === FIRST_LANE) return
    const before = lanes[lane] ?? { commit: 0, nextBatch: 0 }
    const last = Math.max(commit, before.commit)
    lanes[lane] = { commit: last, marksFrom: last + 1, nextBatch: Math.max(nextBatch, before.nextBatch) }
  }
  for (const [lane, commits] of told) reached(lane, commits, 0)
  for (const [lane, end] of Object.entries(meta?.lanes ?? {}))
    reached(Number(lane), end.commit, end.nextBatch)
  for await (const entries of database.scan(LANES)) {
    for (const [key, record] of entries) {
      const lane = JSON.parse(record) as LaneMeta
      reached(partitionIn(key), lane.commit, lane.nextBatch)
      seq = Math.max(seq, lane.seq)
    }
  }
  for await (const keys of database.scanKeys(SPOOLS)) {
    for (const key of keys) reached(batchIn(key).lane, 0, batchIn(key).batch + 1)
  }
  return { lanes, seq }
}

/** Changes of any number, written some at a time. */
class Portions {
  readonly #database: Database
  #values = new Map<string, Staged>()

  constructor(database: Database) {
    this.#database = database
  }

  async put(key: string, value: Staged): Promise<void> {
    this.#values.set(key, value)
    if (this.#values.size >= PORTION) await this.write()
  }

  async write(): Promise<void> {
    await this.#database.write({ values: this.#values, once: [] })
    this.#values = new Map()
  }
}
