import type { Level } from 'level'
import { KumoError } from '../../../errors.js'
import type { Clock } from '../../../time.js'
import { damaged, explained, gone, isClosed, isOfTheDisk } from '../db/errors.js'
import type { OpenFolder } from '../db/folder.js'
import { leaveOpen } from '../db/left-open.js'
import type { ReopenBarrier } from './reopen-barrier.js'

/** How long to wait before trying to reopen it again. */
const RETRY_MS = 1000

/** What threads need to share a database. */
export interface Sharing {
  readonly barrier: ReopenBarrier
  readonly clock: Clock
}

/**
 * One thread's handle of a shared database. After a disk error in any thread, all close it, the keeper reopens it, and
 * the others follow. Reads and writes in the meantime find it closed, and wait as they would for the disk.
 */
export class SharedDatabase {
  readonly #path: string
  /** The path with symbolic links resolved. */
  readonly #place: string
  readonly #folder: OpenFolder
  readonly #level: Level<string, string>
  readonly #barrier: ReopenBarrier
  readonly #clock: Clock
  readonly #attending: Promise<void>
  /** Generation of the last error: older ones are dealt with. */
  #troubledAt: number | undefined = undefined
  #isInside = true
  #closed = false
  /** Why it can no longer be used. */
  #ruin: Error | undefined = undefined
  /** The key that this thread has written last. */
  lastWritten: string | undefined = undefined

  /** The database is open, and threads other than the keeper have entered the barrier. */
  constructor(
    path: string,
    place: string,
    folder: OpenFolder,
    level: Level<string, string>,
    { barrier, clock }: Sharing,
  ) {
    this.#path = path
    this.#place = place
    this.#folder = folder
    this.#level = level
    this.#barrier = barrier
    this.#clock = clock
    if (barrier.isKeeper) barrier.enter()
    this.#attending = this.#attend()
  }

  /** Call this before each read and write, for `failed`. Throws if the database can no longer be used. */
  begin(): number {
    if (this.#ruin !== undefined) throw this.#ruin
    return this.#barrier.generation
  }

  /** The same for writes: anything written after an incomplete record would not be found again. */
  beginWriting(): number {
    const generation = this.begin()
    if (this.#barrier.isShut) throw inconvenient('another thread has met an error of the disk')
    return generation
  }

  /** A read or write has failed. */
  trouble(error: unknown, generation: number): void {
    if (!isOfTheDisk(error) || isClosed(error)) return
    this.#troubledAt = generation
    this.#barrier.shut(generation)
  }

  /** Resolves once the database was reopened; rejects if that failed. */
  async renewed(): Promise<void> {
    const barrier = this.#barrier
    barrier.shut(this.#troubledAt ?? barrier.generation)
    this.#troubledAt = undefined
    const { failures } = barrier
    const isSettled = () => this.#ruin !== undefined || (this.#isInside && !barrier.isShut)
    await barrier.until(() => this.#closed || barrier.failures > failures || isSettled())
    if (barrier.isRuined) this.#ruin ??= damaged(this.#path, 'it cannot be opened again')
    if (this.#ruin !== undefined) throw this.#ruin
    if (!this.#isInside) throw inconvenient('it could not be opened again')
  }

  async close(): Promise<void> {
    this.#closed = true
    this.#barrier.ring()
    await this.#attending
    await this.#letGo()
    this.#barrier.leave()
  }

  /** Makes a native call during which this thread may not be terminated: see `ReopenBarrier.call`. */
  call<T>(act: () => Promise<T>): Promise<T> {
    return this.#barrier.call(act)
  }

  /**
   * If the keeper closes, the database itself closes. That would abort the process if another thread has it open, or
   * has left an iterator; then it stays open until the process exits.
   */
  async #letGo(): Promise<void> {
    const { isKeeper, isOccupied, wasCutOff } = this.#barrier
    if (isKeeper && (isOccupied || wasCutOff)) await leaveOpen(this.#path, this.#place, this.#level)
    await this.#level.close()
  }

  async #attend(): Promise<void> {
    const barrier = this.#barrier
    for (;;) {
      await barrier.until(() => barrier.isShut || this.#closed)
      if (this.#closed) return
      this.#isInside = false
      try {
        if (barrier.isKeeper) await this.#openAnew()
        else await this.#follow()
        await this.#check()
      } catch (error) {
        await this.#giveUp(error)
      }
      if (this.#closed || this.#ruin !== undefined) return
      this.#isInside = true
      if (barrier.isKeeper) barrier.open()
      else barrier.ring()
    }
  }

  async #follow(): Promise<void> {
    await this.#level.close()
    if (await this.#barrier.comeIn(() => this.#closed)) await this.call(() => this.#level.open())
  }

  /** The keeper's buffers are the database's own, so it must be the last to close it and the first to reopen it. */
  async #openAnew(): Promise<void> {
    const barrier = this.#barrier
    await barrier.until(() => !barrier.isOccupied || this.#closed)
    while (!this.#closed) {
      if (barrier.wasCutOff) throw cutOff(this.#path)
      if (this.#folder.isGone()) throw gone(this.#path)
      await this.#level.close()
      try {
        await this.#level.open()
        return
      } catch (error) {
        if (!isOfTheDisk(error)) throw error
        barrier.failed(false)
      }
      await this.#pause()
    }
  }

  async #pause(): Promise<void> {
    let isOver = false
    const timer = this.#clock.wakeAt(this.#clock.now() + RETRY_MS, () => {
      isOver = true
      this.#barrier.ring()
    })
    await this.#barrier.until(() => isOver || this.#closed)
    timer.cancel()
  }

  async #giveUp(error: unknown): Promise<void> {
    this.#ruin = explained(this.#path, error)
    await this.#letGo().catch(() => {})
    if (this.#barrier.isKeeper) this.#barrier.failed(true)
    else this.#barrier.ring()
  }

  /** What other threads wrote after an incomplete write may be lost, even though it counted as written. */
  async #check(): Promise<void> {
    if (this.#closed || this.lastWritten === undefined) return
    if ((await this.call(() => this.#level.get(this.lastWritten!))) !== undefined) return
    throw damaged(this.#path, 'the disk failed, and commits are gone that were written')
  }
}

/** The database would have to be reopened, but cannot be closed. */
function cutOff(path: string): KumoError {
  const message =
    `the level store at ${path} has met an error of the disk, and cannot be opened again in this process, for a worker ` +
    'thread died in the middle of reading it. What was committed is whole: run the same program again'
  return new KumoError('KUMO_STORE_FAILED', message)
}

/** An error as LevelDB reports it, so that callers wait for it to pass. */
function inconvenient(what: string): Error {
  return Object.assign(new Error(`IO error: ${what}`), { code: 'LEVEL_IO_ERROR' })
}
