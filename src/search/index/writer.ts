/**
 * Writes an index. Documents gather in a batch; a commit writes it as a segment, marks what it replaces as deleted, and
 * replaces the manifest. Until then nothing on disk says that the segment exists. Merges run between commits.
 */

import { mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { asKumoError, assertKeys, invalidOption, KumoError } from '../../errors.js'
import type { IndexStats, IndexWriter, SearchDocument, WriterOptions } from '../contract.js'
import { Batch } from '../segment/batch.js'
import { damaged } from '../segment/checked-file.js'
import { hashId } from '../segment/ids.js'
import type { Schema } from '../segment/layout.js'
import { hasBit, mergeSegments } from '../segment/merge.js'
import { Segment } from '../segment/segment.js'
import { Stopwatch } from '../segment/stopwatch.js'
import { TermTable } from '../segment/term-table.js'
import type { Analyzers } from '../words/analyzer.js'
import { plainDocument } from './document.js'
import { WriteLock } from './lock.js'
import { MANIFEST, type Manifest, readManifest, type Settings, writeManifest } from './manifest.js'
import { chooseMerge } from './merge-policy.js'
import { analyzersOf, checkSegmenters, checkSettings, compareSettings, schemaOf } from './settings.js'
import { statsOf } from './snapshot.js'
import { carryDeletions, entryOf, type LiveSegment, withoutIds, withoutPages } from './state.js'

/** A batch is committed when it has this many words: it takes 16 bytes for each while it is written. */
const MOST_WORDS = 2_000_000
/** Segments at which a commit waits for merges, so that they keep up. */
const MOST_SEGMENTS = 40

/** Words that are remembered from one batch to the next. */
const MOST_REMEMBERED = 75_000

/** Documents that a commit has to write, and ids that it has to delete. */
interface Waiting {
  readonly batch: Batch
  readonly deleted: ReadonlySet<string>
}

/**
 * Opens an index for writing, or creates it.
 *
 * @throws KumoError `KUMO_INDEX_LOCKED` if another writer has it open, `KUMO_INDEX_DAMAGED`, `KUMO_INDEX_MISMATCH` if the
 * index has other settings, `KUMO_INVALID_OPTION`.
 * @example
 * import { openWriter } from 'kumo/search'
 *
 * const writer = await openWriter('./index', { fields: { price: 'number' } })
 * await writer.put({ url: 'https://example.com/tea', title: 'Tea', text: 'Green and black', fields: { price: 4.5 } })
 * await writer.close()
 */
export async function openWriter(path: string, options: WriterOptions = {}): Promise<IndexWriter> {
  return openShard(path, options, false)
}

/** A writer as a crawl uses it, which shares its documents with writers of other shards. */
export interface ShardWriter extends IndexWriter {
  /** Whether a document with this id was put and not deleted since, committed or not. */
  has(id: string): boolean
  /** Time that its thread spent so far: writing segments, and merging them. */
  readonly work: WriterWork
}

/** In ms. */
export interface WriterWork {
  readonly indexMs: number
  readonly mergeMs: number
  /** Segments written by commits, and by merges. */
  readonly written: number
  readonly merged: number
}

/** `replaces`: the writer before was in a thread of this process that is gone. See `openWriter`. */
export async function openShard(
  path: string,
  options: WriterOptions,
  replaces: boolean,
): Promise<ShardWriter> {
  if (typeof path !== 'string' || path === '')
    throw invalidOption('openWriter()', path, 'the path of a folder')
  assertKeys('openWriter()', options, ['fields', 'stemming', 'segmenters', 'shard', 'sync'])
  const { shard = 0, sync = true } = options
  if (!Number.isSafeInteger(shard) || shard < 0 || shard > 9999)
    throw invalidOption('openWriter().shard', shard, 'a whole number from 0 to 9999')
  if (typeof sync !== 'boolean') throw invalidOption('openWriter().sync', sync, 'true or false')
  const asked = checkSettings('openWriter()', options)
  const folder = join(path, shardName(shard))
  try {
    mkdirSync(folder, { recursive: true })
    const lock = new WriteLock(folder, replaces)
    try {
      const manifest = readManifest(folder)
      if (manifest !== undefined) compareSettings(folder, options, asked, manifest.settings)
      return new Writer(
        folder,
        lock,
        manifest ?? emptyManifest(asked),
        checkSegmenters('openWriter()', options.segmenters),
        sync,
      )
    } catch (error) {
      lock.release()
      throw error
    }
  } catch (error) {
    throw asKumoError(error, 'KUMO_INDEX_FAILED', `${folder} cannot be opened`)
  }
}

function shardName(shard: number): string {
  return `shard-${shard}`
}

function emptyManifest(settings: Settings): Manifest {
  return { generation: 0, settings, languages: [], nextSegment: 1, segments: [] }
}

class Writer implements ShardWriter {
  readonly #folder: string
  readonly #lock: WriteLock
  readonly #settings: Settings
  readonly #schema: Schema
  readonly #analyzers: Analyzers
  readonly #sync: boolean
  #generation: number
  #nextSegment: number
  #segments: readonly LiveSegment[]
  /** Words that batches have had. */
  #table = new TermTable()
  #batch: Batch
  #deleted = new Set<string>()
  /** What earlier commits could not write. */
  #waiting: Waiting[] = []
  /** Commits and changes by merges, one after another. */
  #turn: Promise<unknown> = Promise.resolve()
  #merging: Promise<void> | undefined
  #mergeError: unknown
  #isClosed = false
  readonly #indexing = new Stopwatch()
  readonly #merges = new Stopwatch()

  constructor(
    folder: string,
    lock: WriteLock,
    manifest: Manifest,
    segmenters: Parameters<typeof analyzersOf>[1],
    sync: boolean,
  ) {
    this.#sync = sync
    this.#folder = folder
    this.#lock = lock
    this.#settings = manifest.settings
    this.#schema = schemaOf(manifest.settings)
    this.#analyzers = analyzersOf(manifest.settings, segmenters, manifest.languages)
    this.#generation = manifest.generation
    this.#nextSegment = manifest.nextSegment
    this.#segments = openSegments(folder, manifest)
    this.#batch = this.#newBatch()
    this.#removeStrangers()
  }

  async put(document: SearchDocument): Promise<void> {
    this.#assertOpen()
    const plain = plainDocument(document, this.#schema)
    this.#batch.put(plain)
    this.#deleted.add(plain.id)
    if (this.#batch.words >= MOST_WORDS) await this.commit()
  }

  async delete(id: string): Promise<void> {
    this.#assertOpen()
    if (typeof id !== 'string') throw invalidOption('delete()', id, 'the id of a document')
    this.#batch.drop(id)
    this.#deleted.add(id)
  }

  has(id: string): boolean {
    if (this.#batch.has(id)) return true
    if (this.#deleted.has(id)) return false
    for (const { batch, deleted } of [...this.#waiting].reverse()) {
      if (batch.has(id)) return true
      if (deleted.has(id)) return false
    }
    const hash = hashId(id)
    return this.#segments.some(({ segment, deleted }) => {
      const page = segment.ids.find(hash)
      return page >= 0 && !hasBit(deleted, segment.firstRecords[page]!)
    })
  }

  get work(): WriterWork {
    const { ms: indexMs, count: written } = this.#indexing
    const { ms: mergeMs, count: merged } = this.#merges
    return { indexMs, mergeMs, written, merged }
  }

  async commit(): Promise<void> {
    this.#assertOpen()
    await this.#commit()
  }

  async compact(): Promise<void> {
    this.#assertOpen()
    await this.#commit()
    await this.#mergesDone()
    const isWhole = this.#segments.length === 1 && this.#segments[0]!.deletedRecords === 0
    if (this.#segments.length > 0 && !isWhole) await this.#merge(this.#segments)
    this.#throwMergeError()
  }

  stats(): IndexStats {
    return statsOf(this.#segments)
  }

  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    try {
      await this.#commit()
      await this.#mergesDone()
      this.#throwMergeError()
    } finally {
      await this.#merging?.catch(() => {})
      for (const { segment } of this.#segments) segment.close()
      this.#lock.release()
    }
  }

  #assertOpen(): void {
    if (this.#isClosed) throw new KumoError('KUMO_INDEX_FAILED', `${this.#folder}: the writer was closed`)
  }

  #newBatch(): Batch {
    if (this.#table.terms.length > MOST_REMEMBERED) this.#table = new TermTable()
    return new Batch(this.#schema, this.#analyzers, this.#table)
  }

  async #commit(): Promise<void> {
    if (this.#deleted.size > 0) {
      this.#waiting.push({ batch: this.#batch, deleted: this.#deleted })
      this.#batch = this.#newBatch()
      this.#deleted = new Set()
    }
    await this.#inTurn(() => this.#write())
    this.#throwMergeError()
    this.#startMerges()
    if (this.#segments.length > MOST_SEGMENTS) await this.#mergesDone()
  }

  #inTurn<T>(run: () => Promise<T>): Promise<T> {
    const turn = this.#turn.then(run)
    this.#turn = turn.catch(() => {})
    return turn
  }

  async #write(): Promise<void> {
    // A copy: commits that begin while this one writes wait for their turn.
    const waiting = [...this.#waiting]
    if (waiting.length === 0 && this.#generation > 0) return
    let segments = this.#segments
    const added: Segment[] = []
    try {
      for (const { batch, deleted } of waiting) {
        segments = withoutIds(segments, [...deleted].map(hashId))
        if (batch.pages === 0) continue
        const live = await this.#writeBatch(batch)
        added.push(live.segment)
        segments = [...segments, live]
      }
      await this.#replaceManifest(segments)
    } catch (error) {
      for (const segment of added) this.#remove(segment)
      throw asKumoError(
        error,
        'KUMO_INDEX_FAILED',
        `${this.#folder} cannot be written, nothing of this commit is there`,
      )
    }
    this.#waiting = this.#waiting.slice(waiting.length)
    this.#segments = dropEmpty(segments)
    for (const { segment } of segments) if (!this.#has(segment)) this.#remove(segment)
  }

  #has(segment: Segment): boolean {
    return this.#segments.some((live) => live.segment === segment)
  }

  async #writeBatch(batch: Batch): Promise<LiveSegment> {
    const name = `segment-${this.#nextSegment++}`
    const path = join(this.#folder, name)
    try {
      // Up to its first pause it works; then it waits for the disk.
      await this.#indexing.measure(() => batch.write(path, this.#sync))
    } catch (error) {
      rmSync(path, { force: true })
      throw error
    }
    const segment = new Segment(path)
    const whole: LiveSegment = { segment, deleted: undefined, deletedRecords: 0, deletedPages: 0 }
    const dropped = batch.droppedPages()
    return dropped.length === 0 ? whole : withoutPages(whole, dropped)
  }

  async #replaceManifest(segments: readonly LiveSegment[]): Promise<void> {
    this.#lock.check(this.#folder)
    const generation = this.#generation + 1
    const manifest = {
      generation,
      settings: this.#settings,
      languages: this.#analyzers.languages,
      nextSegment: this.#nextSegment,
      segments: dropEmpty(segments).map(entryOf),
    }
    await writeManifest(this.#folder, manifest, this.#sync)
    this.#generation = generation
  }

  #startMerges(): void {
    if (this.#merging !== undefined || this.#mergeError !== undefined) return
    const sizes = this.#segments.map(({ segment, deletedRecords }) => ({
      bytes: segment.file.size,
      records: segment.records,
      deletedRecords,
    }))
    const chosen = chooseMerge(sizes).map((index) => this.#segments[index]!)
    if (chosen.length === 0) return
    this.#merging = this.#merge(chosen)
      .catch((error: unknown) => {
        this.#mergeError = error
      })
      .finally(() => {
        this.#merging = undefined
        this.#startMerges()
      })
  }

  async #mergesDone(): Promise<void> {
    while (this.#merging !== undefined) await this.#merging
  }

  /** A failed merge loses nothing, but the disk may be full or a file damaged: the next commit says so. */
  #throwMergeError(): void {
    const error = this.#mergeError
    this.#mergeError = undefined
    if (error !== undefined) throw asKumoError(error, 'KUMO_INDEX_FAILED', `${this.#folder} cannot be merged`)
  }

  async #merge(sources: readonly LiveSegment[]): Promise<void> {
    const name = `segment-${this.#nextSegment++}`
    const path = join(this.#folder, name)
    let merged: Segment | undefined
    try {
      await mergeSegments(path, sources, this.#schema, this.#sync, this.#merges)
      merged = new Segment(path)
      await this.#inTurn(() => this.#exchange(sources, merged!))
    } catch (error) {
      merged?.close()
      rmSync(path, { force: true })
      throw error
    }
    for (const { segment } of sources) this.#remove(segment)
  }

  /** Puts a merged segment in the place of its sources. */
  async #exchange(sources: readonly LiveSegment[], merged: Segment): Promise<void> {
    const names = new Set(sources.map(({ segment }) => segment.name))
    const now = sources.map(
      ({ segment, ...rest }) =>
        this.#segments.find((live) => live.segment === segment) ?? allDeleted({ segment, ...rest }),
    )
    const live = carryDeletions(merged, sources, now)
    const first = this.#segments.findIndex(({ segment }) => names.has(segment.name))
    const others = this.#segments.filter(({ segment }) => !names.has(segment.name))
    const segments = [...others.slice(0, Math.max(0, first)), live, ...others.slice(Math.max(0, first))]
    await this.#replaceManifest(segments)
    this.#segments = dropEmpty(segments)
    if (!this.#has(merged)) this.#remove(merged)
  }

  #remove(segment: Segment): void {
    segment.close()
    rmSync(segment.file.path, { force: true })
  }

  /** Removes files that a crash left behind. */
  #removeStrangers(): void {
    const known = new Set(this.#segments.map(({ segment }) => segment.name))
    for (const name of readdirSync(this.#folder)) {
      const isOurs =
        /^segment-\d+$/.test(name) || name === `${MANIFEST}.new` || /^write\.lock\.\w+/.test(name)
      if (isOurs && !known.has(name)) rmSync(join(this.#folder, name), { force: true })
    }
  }
}

/** A segment of which nothing is left leaves with the next manifest. */
function dropEmpty(segments: readonly LiveSegment[]): readonly LiveSegment[] {
  return segments.filter(({ segment, deletedRecords }) => deletedRecords < segment.records)
}

function allDeleted({ segment }: LiveSegment): LiveSegment {
  const deleted = new Uint8Array((segment.records + 7) >>> 3).fill(255)
  return { segment, deleted, deletedRecords: segment.records, deletedPages: segment.pages }
}

function openSegments(folder: string, { segments }: Manifest): LiveSegment[] {
  const opened: LiveSegment[] = []
  try {
    for (const { name, size, deleted, deletedRecords, deletedPages } of segments) {
      const segment = openSegment(join(folder, name))
      opened.push({ segment, deleted, deletedRecords, deletedPages })
      if (segment.file.size !== size)
        throw damaged(segment.file.path, `it has ${segment.file.size} bytes, not ${size}`)
    }
  } catch (error) {
    for (const { segment } of opened) segment.close()
    throw error
  }
  return opened
}

function openSegment(path: string): Segment {
  try {
    return new Segment(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') throw damaged(path, 'it is missing')
    throw error
  }
}
