/**
 * Makes a consistent crawl from what could be read of a damaged one: every stored request is pending, has an entry for
 * its host and is marked as seen, and the counts match.
 */

import { NameSet } from '../../../seen/trusted-names.js'
import { fingerprint } from '../../../url/fingerprint.js'
import { knownAs } from '../../../url/known-as.js'
import type { Database, Staged } from '../db/database.js'
import { writeCounts } from '../format/counts.js'
import {
  batchIn,
  commitKey,
  entryKey,
  entryOf,
  FIRST_WRITER,
  filterKey,
  hostIn,
  MARKS,
  META,
  MOVES,
  OUTBOXES,
  partitionIn,
  partitionText,
  printsKey,
  rangesOf,
  WRITERS,
} from '../format/keys.js'
import { type Meta, readWriterMeta, type WriterEnd } from '../format/meta.js'
import { FORMAT } from '../format/migrations.js'
import { readHost, readRequest, writeHost } from '../format/records.js'
import { readFilter } from '../seen/archive.js'
import { countAll, eachHost, PRINT_BYTES } from './recount.js'
import { readStoreMeta, type StoreMeta } from './store-meta.js'

/** Changes written at a time. */
const PORTION = 10_000

/** `expected`: how many commits there should be, by writer. Undefined if nothing of a crawl is left. */
export async function repairCrawl(
  database: Database,
  meta: Meta | undefined,
  identity: Readonly<Record<string, string>>,
  expected: ReadonlyMap<number, number>,
): Promise<StoreMeta | undefined> {
  const changes = new PortionedWriter(database)
  await repairHosts(database, changes)
  const { counts, nextSeq: firstFree } = await countAll(database)
  if (meta === undefined && counts.length === 0) return undefined
  const commit = Math.max(meta?.commit ?? 0, expected.get(FIRST_WRITER) ?? 0) + 1
  const { writers, seq } = await writersLeft(database, meta, expected)
  let nextSeq = Math.max(meta?.seq ?? 0, seq, firstFree) + 1
  nextSeq = await repairArchive(database, changes, nextSeq)
  nextSeq = await markPendingAsSeen(database, changes, nextSeq)
  for (const range of [...MARKS, WRITERS, MOVES]) {
    for await (const keys of database.scanKeys(range)) {
      for (const key of keys) await changes.put(key, null)
    }
  }
  await changes.put(commitKey(FIRST_WRITER, commit), '')
  const repaired: Meta = {
    ...(meta ?? { at: 0, identity, nextBatch: 0 }),
    format: FORMAT,
    counts: writeCounts(counts),
    seq: nextSeq,
    commit,
    marksFrom: commit,
    lanes: writers,
  }
  await changes.put(META, JSON.stringify(repaired))
  await changes.write(true)
  return readStoreMeta(database, repaired)
}

/** Adds missing host entries, and corrects whether a host has requests scheduled for later. */
async function repairHosts(database: Database, changes: PortionedWriter): Promise<void> {
  const withLater = new NameSet()
  await eachHost(database, 'l', (_, host) => withLater.add(host))
  const listed = await repairEntries(database, changes, withLater)
  const addMissing = async (partition: string, host: string) => {
    if (listed.has(host)) return
    listed.add(host)
    const record = writeHost({ ...readHost(''), hasLater: withLater.has(host) })
    await changes.put(entryKey(partition, 0, host), record)
  }
  await eachHost(database, 'p', addMissing)
  await eachHost(database, 'l', addMissing)
}

/**
 * Returns the hosts that have an entry. If a host has several, because removals were lost, the last one is valid: it
 * has the latest delay.
 */
async function repairEntries(
  database: Database,
  changes: PortionedWriter,
  withLater: NameSet,
): Promise<NameSet> {
  const listed = new NameSet()
  /** The entries of hosts of this partition. */
  let keys = new Map<string, string>()
  let partition = -1
  for await (const entries of database.scan({ from: 'q', to: 'r' })) {
    for (const [key, record] of entries) {
      const { host, wakes } = entryOf(key)
      if (wakes) continue
      if (partitionIn(key) !== partition) keys = new Map()
      partition = partitionIn(key)
      const earlier = keys.get(host)
      if (earlier !== undefined) await changes.put(earlier, null)
      keys.set(host, key)
      listed.add(host)
      const known = readHost(record)
      if (withLater.has(host) && !known.hasLater) {
        await changes.put(key, writeHost({ ...known, hasLater: true }))
      }
    }
  }
  return listed
}

/** How far the other writers had got: none of their numbers may be used again. */
async function writersLeft(
  database: Database,
  meta: Meta | undefined,
  expected: ReadonlyMap<number, number>,
): Promise<{ writers: Record<string, WriterEnd>; seq: number }> {
  const writers: Record<string, WriterEnd> = {}
  let seq = 0
  const reached = (writer: number, commit: number, nextBatch: number) => {
    if (writer === FIRST_WRITER) return
    const before = writers[writer] ?? { commit: 0, nextBatch: 0 }
    const last = Math.max(commit, before.commit)
    writers[writer] = { commit: last, marksFrom: last + 1, nextBatch: Math.max(nextBatch, before.nextBatch) }
  }
  for (const [writer, commits] of expected) reached(writer, commits, 0)
  for (const [writer, end] of Object.entries(meta?.lanes ?? {}))
    reached(Number(writer), end.commit, end.nextBatch)
  for await (const entries of database.scan(WRITERS)) {
    for (const [key, record] of entries) {
      const writer = database.decode(key, readWriterMeta, record)
      reached(partitionIn(key), writer.commit, writer.nextBatch)
      seq = Math.max(seq, writer.seq)
    }
  }
  for await (const keys of database.scanKeys(OUTBOXES)) {
    for (const key of keys) reached(batchIn(key).writer, 0, batchIn(key).batch + 1)
  }
  return { writers, seq }
}

/**
 * Pages of fingerprints without a matching filter would not be found. They become lists, like fingerprints of URLs seen
 * recently. Returns the next number for a list.
 */
async function repairArchive(database: Database, changes: PortionedWriter, from: number): Promise<number> {
  let seq = from
  const inPages = new Map<number, number>()
  const inFilter = new Map<number, number>()
  for await (const entries of database.scanBytes({ from: 'f', to: 'g' })) {
    for (const [key, { length }] of entries) {
      const partition = partitionIn(key)
      inPages.set(partition, (inPages.get(partition) ?? 0) + length / PRINT_BYTES)
    }
  }
  for await (const entries of database.scanBytes({ from: 'b', to: 'c' })) {
    for (const [key, record] of entries) inFilter.set(partitionIn(key), readFilter(record).count)
  }
  for (const partition of new Set([...inPages.keys(), ...inFilter.keys()])) {
    if (inPages.get(partition) === inFilter.get(partition)) continue
    const at = partitionText(partition)
    await changes.put(filterKey(at), null)
    for await (const entries of database.scanBytes(rangesOf('f', [partition])[0]!)) {
      for (const [key, prints] of entries) {
        await changes.put(key, null)
        await changes.put(printsKey(at, seq++), prints)
      }
    }
  }
  return seq
}

/** Fingerprints in a list. */
const LIST = 1024

/**
 * The fingerprint of a request may be lost while the request is not; it would then be added again when a link to it is
 * found. So everything pending is marked as seen once more; duplicates count once.
 */
async function markPendingAsSeen(
  database: Database,
  changes: PortionedWriter,
  from: number,
): Promise<number> {
  let seq = from
  let partition = -1
  let prints: number[] = []
  const print = new Uint32Array(2)
  const list = async () => {
    if (prints.length === 0) return
    const bytes = new Uint8Array(Uint32Array.from(prints).buffer)
    await changes.put(printsKey(partitionText(partition), seq++), bytes)
    prints = []
  }
  for (const kind of [
    { from: 'l', to: 'm' },
    { from: 'p', to: 'q' },
  ]) {
    for await (const entries of database.scan(kind)) {
      for (const [key, record] of entries) {
        if (partitionIn(key) !== partition || prints.length >= 2 * LIST) await list()
        partition = partitionIn(key)
        fingerprint(knownAs(database.decode(key, readRequest, record, hostIn(key)).request), print)
        prints.push(print[0]!, print[1]!)
      }
    }
  }
  await list()
  return seq
}

/** Any number of changes, written in portions. */
class PortionedWriter {
  readonly #database: Database
  #values = new Map<string, Staged>()

  constructor(database: Database) {
    this.#database = database
  }

  async put(key: string, value: Staged): Promise<void> {
    this.#values.set(key, value)
    if (this.#values.size >= PORTION) await this.write()
  }

  /** `sync`: also waits for the disk. */
  async write(sync = false): Promise<void> {
    await this.#database.write({ values: this.#values, once: [] }, sync)
    this.#values = new Map()
  }
}
