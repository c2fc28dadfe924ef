/**
 * The database below the store: opens it, reads ranges, writes commits, and reopens it after a failed write, because
 * LevelDB accepts no writes after one has failed. Converts LevelDB's errors into errors that a user can act on.
 */

import { mkdir, realpath } from 'node:fs/promises'
import type { Level as LevelDatabase } from 'level'
import { KumoError, messageOf } from '../../../errors.js'
import { require } from '../../../require.js'
import { kindOf } from '../format/keys.js'
import type { ReopenBarrier } from '../threads/reopen-barrier.js'
import { SharedDatabase, type Sharing } from '../threads/shared-database.js'
import { damaged, folderGone, isDiskError, isLocked, locked, openError, toStoreError } from './errors.js'
import { OpenFolder } from './folder.js'
import { isLeftOpen } from './left-open.js'

/** A value that is serialized when its commit is written. */
export interface Writable {
  write(): string
}

/** Null: remove the key. */
export type Staged = string | Uint8Array | Writable | null

/** A value with its own key that is written once and never changes. */
export interface WriteOnce extends Writable {
  readonly key: string
  /** The commit that writes it; `WITHDRAWN` if none does. */
  commit: number
}

export const WITHDRAWN = -1

/** The contents of one commit. */
export interface Changes {
  readonly values: ReadonlyMap<string, Staged>
  readonly once: readonly WriteOnce[]
}

/** From `from`, inclusive, to `to`, exclusive. */
export interface Range {
  readonly from: string
  readonly to: string
  readonly limit?: number
}

/** LevelDB maps each open table (2 MB) into memory; this limits how much of that counts as the process's own. */
const OPEN_FILES = 100
/**
 * What LevelDB collects in memory, and in its log, before it writes a table. Twice its default: requests with data fill
 * tables faster than merging keeps up with. The marks of commits are kept for more than two such logs: see `MARKS_KEPT`.
 */
const WRITE_BUFFER_BYTES = 8 * 2 ** 20
/** Entries returned at a time when a long range is read. */
const CHUNK = 1000

const SETTINGS = {
  keyEncoding: 'utf8',
  valueEncoding: 'utf8',
  maxOpenFiles: OPEN_FILES,
  writeBufferSize: WRITE_BUFFER_BYTES,
} as const

export class Database {
  readonly #path: string
  /** The path with symbolic links resolved. */
  readonly #realPath: string
  readonly #sync: boolean
  readonly #level: LevelDatabase<string, string>
  readonly #folder: OpenFolder
  /** Present: other threads have the database open too. */
  readonly #shared: SharedDatabase | undefined
  /** Whether no other crawl on this thread may open it. */
  readonly #isExclusive: boolean
  /** Waits until the disk has recovered from this error, or throws it. Set by the journal. */
  whenRecovered: (error: unknown) => Promise<void> = async (error) => {
    throw this.toStoreError(error)
  }

  /** Called when a read succeeds after one has failed. */
  onRead: () => void = () => {}

  private constructor(
    path: string,
    realPath: string,
    sync: boolean,
    level: LevelDatabase<string, string>,
    sharing: Sharing | undefined,
  ) {
    this.#path = path
    this.#realPath = realPath
    this.#sync = sync
    this.#level = level
    this.#folder = new OpenFolder(realPath)
    this.#shared = sharing && new SharedDatabase(path, realPath, this.#folder, level, sharing)
    this.#isExclusive = isExclusive(sharing)
    if (this.#isExclusive) inUse.add(realPath)
  }

  /**
   * `sync`: a commit counts as written once it has reached the disk, not just the operating system. `sharing`: several
   * threads have the database open; the keeper opens it first and closes it last.
   */
  static async open(path: string, sync: boolean, sharing?: Sharing): Promise<Database> {
    // Loaded here, because it is a native module that most programs never need.
    const { Level } = require('level') as typeof import('level')
    try {
      const createIfMissing = isExclusive(sharing)
      if (createIfMissing) await mkdir(path, { recursive: true })
      const realPath = await realpath(path)
      if (isExclusive(sharing) && inUse.has(realPath)) throw locked(path)
      if (sharing?.barrier.isKeeper === false) await enterBarrier(path, sharing.barrier)
      const multithreading = sharing !== undefined || isLeftOpen(realPath)
      const open = async () => {
        // Threads that share the database find each other by the exact spelling of its path.
        const location = multithreading ? realPath : path
        const level = new Level<string, string>(location, { ...SETTINGS, multithreading, createIfMissing })
        await level.open()
        return level
      }
      const level = await (sharing?.barrier.call(open) ?? open())
      return new Database(path, realPath, sync, level, sharing)
    } catch (error) {
      sharing?.barrier.leave()
      throw openError(path, error)
    }
  }

  /** Whether an earlier crawl on this thread had to leave it open. */
  static async isLeftOpen(path: string): Promise<boolean> {
    const realPath = await realpath(path).catch(() => undefined)
    return realPath !== undefined && isLeftOpen(realPath)
  }

  /**
   * Throws if the database in this folder is open elsewhere. LevelDB checks the lock before it reads any file, and then
   * refuses because the database exists.
   */
  static async assertFree(path: string): Promise<void> {
    if (inUse.has(await realpath(path))) throw locked(path)
    const { Level } = require('level') as typeof import('level')
    const probe = new Level(path, { createIfMissing: false, errorIfExists: true })
    try {
      await probe.open()
      await probe.close()
    } catch (error) {
      if (isLocked(error)) throw locked(path, error)
    }
  }

  /** Writes raw entries into a database that is not in use. */
  async load(
    entries: readonly { readonly key: Uint8Array; readonly value: Uint8Array | undefined }[],
  ): Promise<void> {
    const batch = this.#level.batch()
    for (const { key, value } of entries) batch.put(key as never, value as never, RAW)
    await batch.write()
  }

  /** All or nothing. `sync`: also waits until it has reached the disk, with everything written before. */
  async write(changes: Changes, sync = this.#sync): Promise<void> {
    const generation = this.#shared?.beginWriting() ?? 0
    try {
      await this.#write(changes, sync)
    } catch (error) {
      this.#assertFolderExists()
      this.#shared?.failed(error, generation)
      throw error
    }
    this.#assertFolderExists()
  }

  /** Writes to a folder that was deleted during the crawl are lost. */
  #assertFolderExists(): void {
    if (this.#folder.isGone()) throw folderGone(this.#path)
  }

  /** Must still be there when the database is reopened. */
  set lastWritten(key: string) {
    if (this.#shared !== undefined) this.#shared.lastWritten = key
  }

  async #write(changes: Changes, sync: boolean): Promise<void> {
    const batch = this.#level.batch()
    for (const each of changes.once) if (each.commit !== WITHDRAWN) batch.put(each.key, each.write())
    for (const [key, value] of changes.values) {
      if (value === null) batch.del(key)
      else if (typeof value === 'string') batch.put(key, value)
      else if (value instanceof Uint8Array) batch.put(key, value as never, BYTES)
      else batch.put(key, value.write())
    }
    await this.#call(() => batch.write({ sync }))
  }

  get(key: string): Promise<string | undefined> {
    return this.#retrying(() => this.#level.get(key))
  }

  getMany(keys: string[]): Promise<(Uint8Array | undefined)[]> {
    return this.#retrying(() => this.#level.getMany<string, Uint8Array>(keys, BYTES))
  }

  /** The first entries of a range, at most `limit`. */
  read({ from, to, limit = CHUNK }: Range): Promise<[key: string, value: string][]> {
    return this.#retrying(async () => {
      const iterator = this.#level.iterator({ gte: from, lt: to, limit, ...IN_ONE_CALL })
      try {
        return await iterator.all()
      } finally {
        await iterator.close()
      }
    })
  }

  /** All entries of a range, in chunks. */
  async *scan({ from, to }: Range): AsyncGenerator<[key: string, value: string][]> {
    for (let next = from; ; ) {
      const entries = await this.read({ from: next, to })
      if (entries.length > 0) yield entries
      if (entries.length < CHUNK) return
      next = `${entries.at(-1)![0]}\0`
    }
  }

  /** The same, with values as bytes. */
  async *scanBytes({ from, to }: Range): AsyncGenerator<[key: string, value: Uint8Array][]> {
    for (let next = from; ; ) {
      const entries = await this.#retrying(async () => {
        const iterator = this.#level.iterator<string, Uint8Array>({
          gte: next,
          lt: to,
          limit: CHUNK,
          ...IN_ONE_CALL,
          ...BYTES,
        })
        try {
          return await iterator.all()
        } finally {
          await iterator.close()
        }
      })
      if (entries.length > 0) yield entries
      if (entries.length < CHUNK) return
      next = `${entries.at(-1)![0]}\0`
    }
  }

  /** The same, without values. */
  async *scanKeys({ from, to }: Range): AsyncGenerator<string[]> {
    for (let next = from; ; ) {
      const keys = await this.#retrying(async () => {
        const iterator = this.#level.keys({ gte: next, lt: to, limit: CHUNK, ...IN_ONE_CALL })
        try {
          return await iterator.all()
        } finally {
          await iterator.close()
        }
      })
      if (keys.length > 0) yield keys
      if (keys.length < CHUNK) return
      next = `${keys.at(-1)!}\0`
    }
  }

  /** Number of entries in a range, counted up to `limit`. */
  async count({ from, to, limit = Number.POSITIVE_INFINITY }: Range): Promise<number> {
    let count = 0
    for await (const keys of this.scanKeys({ from, to })) {
      count += keys.length
      if (count >= limit) return limit
    }
    return count
  }

  /** Retries a read after the disk has recovered. */
  async #retrying<T>(read: () => Promise<T>): Promise<T> {
    for (let failed = false; ; failed = true) {
      const generation = this.#shared?.begin() ?? 0
      try {
        const answer = await this.#call(read)
        if (failed) this.onRead()
        return answer
      } catch (error) {
        this.#assertFolderExists()
        if (!isDiskError(error)) throw this.toStoreError(error)
        this.#shared?.failed(error, generation)
        await this.whenRecovered(error)
      }
    }
  }

  #call<T>(act: () => Promise<T>): Promise<T> {
    return this.#shared?.call(act) ?? act()
  }

  /** After a failed write, nothing can be written until this has succeeded. */
  async reopen(): Promise<void> {
    if (this.#shared !== undefined) return this.#shared.reopened()
    this.#assertFolderExists()
    await this.#level.close()
    await this.#level.open()
  }

  async close(): Promise<void> {
    await (this.#shared ?? this.#level).close()
    if (this.#isExclusive) inUse.delete(this.#realPath)
    this.#assertFolderExists()
  }

  /** The error for data that makes no sense. */
  damaged(problem: string, cause?: unknown): KumoError {
    return damaged(this.#path, problem, cause)
  }

  /** Decodes a record; everything read from disk goes through here. A record that cannot be decoded is damage. */
  decode<Args extends unknown[], T>(key: string, read: (...args: Args) => T, ...args: Args): T {
    try {
      return read(...args)
    } catch (error) {
      if (error instanceof KumoError) throw error
      throw damaged(this.#path, `${kindOf(key)} cannot be read (${messageOf(error)})`, error)
    }
  }

  /** Converts an error of the database into one of this store. */
  toStoreError(error: unknown): KumoError {
    return toStoreError(this.#path, error)
  }
}

/** All entries in one native call, which starts while the thread is safe from termination: see `ReopenBarrier.call`. */
const IN_ONE_CALL = { highWaterMarkBytes: 2 ** 30 } as const
const BYTES = { valueEncoding: 'view' } as const
const RAW = { keyEncoding: 'view', valueEncoding: 'view' } as const

/**
 * Folders that this thread has open. LevelDB's lock belongs to the operating system, and a process loses it by trying
 * to acquire it a second time, so a second attempt must be prevented here. Shards are admitted by the keeper.
 */
const inUse = new Set<string>()

/** The keeper may be reopening it, and must be the first to do so. */
async function enterBarrier(path: string, barrier: ReopenBarrier): Promise<void> {
  if (!(await barrier.enterWhenOpen(() => barrier.hasFailed))) throw damaged(path, 'it cannot be reopened')
}

function isExclusive(sharing: Sharing | undefined): boolean {
  return sharing === undefined || sharing.barrier.isKeeper
}
