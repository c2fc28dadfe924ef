/**
 * The database under the store: opening it, reading ranges, writing commits, and opening it again after a write has
 * failed, for LevelDB writes nothing more after that. Errors of the database become errors that a user can act on.
 */

import { mkdir, realpath } from 'node:fs/promises'
import type { Level as LevelDatabase } from 'level'
import { KumoError, messageOf } from '../../../errors.js'
import { require } from '../../../require.js'
import { kindOf } from '../format/keys.js'
import type { ReopenBarrier } from '../threads/reopen-barrier.js'
import { SharedDatabase, type Sharing } from '../threads/shared-database.js'
import { damaged, explained, gone, isLocked, isOfTheDisk, locked, openError } from './errors.js'
import { OpenFolder } from './folder.js'
import { isLeftOpen } from './left-open.js'

/** Something that is written down when its commit is. */
export interface Writable {
  write(): string
}

/** Null: to be removed. */
export type Staged = string | Uint8Array | Writable | null

/** Something with a key of its own that is written once and never changed. */
export interface Once extends Writable {
  readonly key: string
  /** The commit that takes it to disk; `WITHDRAWN` if none is to. */
  commit: number
}

export const WITHDRAWN = -1

/** What one commit writes. */
export interface Changes {
  readonly values: ReadonlyMap<string, Staged>
  readonly once: readonly Once[]
}

/** From `from` on, up to and not including `to`. */
export interface Range {
  readonly from: string
  readonly to: string
  readonly limit?: number
}

/** LevelDB maps tables of 2 MB into memory, as many as are open: at most so much counts as the process's own. */
const OPEN_FILES = 100
/** Entries that are handed over at once when a long range is read. */
const STRIDE = 1000

const SETTINGS = {
  keyEncoding: 'utf8',
  valueEncoding: 'utf8',
  maxOpenFiles: OPEN_FILES,
} as const

export class Database {
  readonly #path: string
  /** The same without links. */
  readonly #place: string
  readonly #sync: boolean
  readonly #level: LevelDatabase<string, string>
  readonly #folder: OpenFolder
  /** Present: other threads have it open too. */
  readonly #hold: SharedDatabase | undefined
  /** Whether nobody else in this thread may open it. */
  readonly #isGuarded: boolean
  /** Waits until the disk is well again after this error, or throws it. Whoever writes knows. */
  recovered: (error: unknown) => Promise<void> = async (error) => {
    throw this.explain(error)
  }

  /** Called when something could be read that could not be before. */
  onRead: () => void = () => {}

  private constructor(
    path: string,
    place: string,
    sync: boolean,
    level: LevelDatabase<string, string>,
    sharing: Sharing | undefined,
  ) {
    this.#path = path
    this.#place = place
    this.#sync = sync
    this.#level = level
    this.#folder = new OpenFolder(place)
    this.#hold = sharing && new SharedDatabase(path, place, this.#folder, level, sharing)
    this.#isGuarded = isGuard(sharing)
    if (this.#isGuarded) inUse.add(place)
  }

  /**
   * `sync`: a commit has reached the disk, not only the operating system, before it counts as written. With `sharing` it
   * is one of several that have the database open, each in a thread of its own; the keeper is the first and the last.
   */
  static async open(path: string, sync: boolean, sharing?: Sharing): Promise<Database> {
    // Loaded here, because it is a native module that most programs never need.
    const { Level } = require('level') as typeof import('level')
    try {
      const createIfMissing = isGuard(sharing)
      if (createIfMissing) await mkdir(path, { recursive: true })
      const place = await realpath(path)
      if (isGuard(sharing) && inUse.has(place)) throw locked(path)
      if (sharing?.barrier.isKeeper === false) await comeIn(path, sharing.barrier)
      const multithreading = sharing !== undefined || isLeftOpen(place)
      const open = async () => {
        // Those who share it find each other by the spelling of its path.
        const location = multithreading ? place : path
        const level = new Level<string, string>(location, { ...SETTINGS, multithreading, createIfMissing })
        await level.open()
        return level
      }
      const level = await (sharing?.barrier.call(open) ?? open())
      return new Database(path, place, sync, level, sharing)
    } catch (error) {
      sharing?.barrier.leave()
      throw openError(path, error)
    }
  }

  /** Whether a crawl of this thread that is over had to leave it open. */
  static async isLeftOpen(path: string): Promise<boolean> {
    const place = await realpath(path).catch(() => undefined)
    return place !== undefined && isLeftOpen(place)
  }

  /**
   * Throws if somebody has the database in this folder open. LevelDB looks for that first, before it reads any file, and
   * then refuses what exists.
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

  /** Puts entries as they are into a database that nobody else uses. */
  async load(
    entries: readonly { readonly key: Uint8Array; readonly value: Uint8Array | undefined }[],
  ): Promise<void> {
    const batch = this.#level.batch()
    for (const { key, value } of entries) batch.put(key as never, value as never, RAW)
    await batch.write()
  }

  /** All or nothing. `sync`: it has reached the disk, and so has all that was written before. */
  async write(changes: Changes, sync = this.#sync): Promise<void> {
    const generation = this.#hold?.beginWriting() ?? 0
    try {
      await this.#write(changes, sync)
    } catch (error) {
      this.#assertThere()
      this.#hold?.trouble(error, generation)
      throw error
    }
    this.#assertThere()
  }

  /** What was written to a folder that was deleted under the crawl was written nowhere. */
  #assertThere(): void {
    if (this.#folder.isGone()) throw gone(this.#path)
  }

  /** What was written last must still be there when the database is opened anew. */
  set lastWritten(key: string) {
    if (this.#hold !== undefined) this.#hold.lastWritten = key
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
    return this.#patiently(() => this.#level.get(key))
  }

  getMany(keys: string[]): Promise<(Uint8Array | undefined)[]> {
    return this.#patiently(() => this.#level.getMany<string, Uint8Array>(keys, BYTES))
  }

  /** The first entries of a range, at most `limit`. */
  read({ from, to, limit = STRIDE }: Range): Promise<[key: string, value: string][]> {
    return this.#patiently(async () => {
      const iterator = this.#level.iterator({ gte: from, lt: to, limit, ...AT_ONCE })
      try {
        return await iterator.all()
      } finally {
        await iterator.close()
      }
    })
  }

  /** All entries of a range, some at a time. */
  async *scan({ from, to }: Range): AsyncGenerator<[key: string, value: string][]> {
    for (let next = from; ; ) {
      const entries = await this.read({ from: next, to })
      if (entries.length > 0) yield entries
      if (entries.length < STRIDE) return
      next = `${entries.at(-1)![0]}\0`
    }
  }

  /** The same, with values as bytes. */
  async *scanBytes({ from, to }: Range): AsyncGenerator<[key: string, value: Uint8Array][]> {
    for (let next = from; ; ) {
      const entries = await this.#patiently(async () => {
        const iterator = this.#level.iterator<string, Uint8Array>({
          gte: next,
          lt: to,
          limit: STRIDE,
          ...AT_ONCE,
          ...BYTES,
        })
        try {
          return await iterator.all()
        } finally {
          await iterator.close()
        }
      })
      if (entries.length > 0) yield entries
      if (entries.length < STRIDE) return
      next = `${entries.at(-1)![0]}\0`
    }
  }

  /** The same, without values. */
  async *scanKeys({ from, to }: Range): AsyncGenerator<string[]> {
    for (let next = from; ; ) {
      const keys = await this.#patiently(async () => {
        const iterator = this.#level.keys({ gte: next, lt: to, limit: STRIDE, ...AT_ONCE })
        try {
          return await iterator.all()
        } finally {
          await iterator.close()
        }
      })
      if (keys.length > 0) yield keys
      if (keys.length < STRIDE) return
      next = `${keys.at(-1)!}\0`
    }
  }

  /** How many entries a range has, as far as `limit`. */
  async count({ from, to, limit = Number.POSITIVE_INFINITY }: Range): Promise<number> {
    let count = 0
    for await (const keys of this.scanKeys({ from, to })) {
      count += keys.length
      if (count >= limit) return limit
    }
    return count
  }

  /** Reads again after the disk has recovered. */
  async #patiently<T>(read: () => Promise<T>): Promise<T> {
    for (let failed = false; ; failed = true) {
      const generation = this.#hold?.begin() ?? 0
      try {
        const answer = await this.#call(read)
        if (failed) this.onRead()
        return answer
      } catch (error) {
        this.#assertThere()
        if (!isOfTheDisk(error)) throw this.explain(error)
        this.#hold?.trouble(error, generation)
        await this.recovered(error)
      }
    }
  }

  #call<T>(act: () => Promise<T>): Promise<T> {
    return this.#hold?.call(act) ?? act()
  }

  /** After a failed write nothing can be written until this. */
  async reopen(): Promise<void> {
    if (this.#hold !== undefined) return this.#hold.renewed()
    this.#assertThere()
    await this.#level.close()
    await this.#level.open()
  }

  async close(): Promise<void> {
    await (this.#hold ?? this.#level).close()
    if (this.#isGuarded) inUse.delete(this.#place)
    this.#assertThere()
  }

  /** What is read makes no sense. */
  damaged(what: string, cause?: unknown): KumoError {
    return damaged(this.#path, what, cause)
  }

  /** What a record says: all that is read from disk goes through here. One that makes no sense is damage. */
  decode<Args extends unknown[], T>(key: string, read: (...args: Args) => T, ...args: Args): T {
    try {
      return read(...args)
    } catch (error) {
      if (error instanceof KumoError) throw error
      throw damaged(this.#path, `${kindOf(key)} cannot be read (${messageOf(error)})`, error)
    }
  }

  /** An error of the database in terms of this store. */
  explain(error: unknown): KumoError {
    return explained(this.#path, error)
  }
}

/** All entries by one call of native code, which begins where no thread is ended: see `Gate.call`. */
const AT_ONCE = { highWaterMarkBytes: 2 ** 30 } as const
const BYTES = { valueEncoding: 'view' } as const
const RAW = { keyEncoding: 'view', valueEncoding: 'view' } as const

/**
 * Folders that this thread has open. LevelDB's own lock is one of the operating system's, which a process loses when it
 * tries to take it a second time: so it must not try. Shards are let in by whoever opened for them.
 */
const inUse = new Set<string>()

/** The keeper may be opening it anew: its buffers must be the database's own. */
async function comeIn(path: string, barrier: ReopenBarrier): Promise<void> {
  if (!(await barrier.comeIn(() => barrier.isRuined))) throw damaged(path, 'it cannot be opened again')
}

function isGuard(sharing: Sharing | undefined): boolean {
  return sharing === undefined || sharing.barrier.isKeeper
}
