import type { Level } from 'level'
import { KumoError } from '../../../errors.js'
import type { Clock } from '../../../time.js'
import { damaged, folderGone, isClosed, isDiskError, toStoreError } from '../db/errors.js'
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
  readonly #realPath: string
  readonly #folder: OpenFolder
  readonly #level: Level<string, string>
  readonly #barrier: ReopenBarrier
  readonly #clock: Clock
  readonly #watching: Promise<void>
  /** Generation of the last error: older ones are dealt with. */
  #failedAt: number | undefined = undefined
  #isInside = true
  #closed = false
  /** Why it can no longer be used. */
  #failure: Error | undefined = undefined
  /** The key that this thread has written last. */
  lastWritten: string | undefined = undefined

  /** The database is open, and threads other than the keeper have entered the barrier. */
  constructor(
    path: string,
    realPath: string,
    folder: OpenFolder,
    level: Level<string, string>,
    { barrier, clock }: Sharing,
  ) {
    this.#path = path
    this.#realPath = realPath
    this.#folder = folder
    this.#level = level
    this.#barrier = barrier
    this.#clock = clock
    markNativeClose(level, barrier)
    if (barrier.isKeeper) barrier.enter()
    this.#watching = this.#watchBarrier()
  }

  /** Call this before each read and write, for `failed`. Throws if the database can no longer be used. */
  begin(): number {
    if (this.#failure !== undefined) throw this.#failure
    return this.#barrier.generation
  }

  /** The same for writes: anything written after an incomplete record would not be found again. */
  beginWriting(): number {
    const generation = this.begin()
    if (this.#barrier.isShut) throw ioError('another thread had a disk error')
    return generation
  }

  /** A read or write has failed. */
  failed(error: unknown, generation: number): void {
    if (!isDiskError(error) || isClosed(error)) return
    this.#failedAt = generation
    this.#barrier.shut(generation)
  }

  /** Resolves once the database was reopened; rejects if that failed. */
  async reopened(): Promise<void> {
    const barrier = this.#barrier
    barrier.shut(this.#failedAt ?? barrier.generation)
    this.#failedAt = undefined
    const { failures } = barrier
    const isSettled = () => this.#failure !== undefined || (this.#isInside && !barrier.isShut)
    await barrier.until(() => this.#closed || barrier.failures > failures || isSettled())
    if (barrier.hasFailed) this.#failure ??= damaged(this.#path, 'it cannot be reopened')
    if (this.#failure !== undefined) throw this.#failure
    if (!this.#isInside) throw ioError('it could not be reopened')
  }

  async close(): Promise<void> {
    this.#closed = true
    this.#barrier.notify()
    await this.#watching
    await this.#release()
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
  async #release(): Promise<void> {
    const { isKeeper, isOccupied, hasInterruptedCall } = this.#barrier
    if (isKeeper && (isOccupied || hasInterruptedCall))
      await leaveOpen(this.#path, this.#realPath, this.#level)
    await this.#level.close()
  }

  async #watchBarrier(): Promise<void> {
    const barrier = this.#barrier
    for (;;) {
      await barrier.until(() => barrier.isShut || this.#closed)
      if (this.#closed) return
      this.#isInside = false
      try {
        if (barrier.isKeeper) await this.#reopen()
        else await this.#rejoin()
        await this.#check()
      } catch (error) {
        await this.#fail(error)
      }
      if (this.#closed || this.#failure !== undefined) return
      this.#isInside = true
      if (barrier.isKeeper) barrier.open()
      else barrier.notify()
    }
  }

  async #rejoin(): Promise<void> {
    await this.#level.close()
    if (await this.#barrier.enterWhenOpen(() => this.#closed)) await this.call(() => this.#level.open())
  }

  /** The keeper's buffers are the database's own, so it must be the last to close it and the first to reopen it. */
  async #reopen(): Promise<void> {
    const barrier = this.#barrier
    await barrier.until(() => !barrier.isOccupied || this.#closed)
    while (!this.#closed) {
      if (barrier.hasInterruptedCall) throw interruptedCall(this.#path)
      if (this.#folder.isGone()) throw folderGone(this.#path)
      await this.#level.close()
      try {
        await this.#level.open()
        return
      } catch (error) {
        if (!isDiskError(error)) throw error
        barrier.failed(false)
      }
      await this.#pause()
    }
  }

  async #pause(): Promise<void> {
    let isOver = false
    const timer = this.#clock.wakeAt(this.#clock.now() + RETRY_MS, () => {
      isOver = true
      this.#barrier.notify()
    })
    await this.#barrier.until(() => isOver || this.#closed)
    timer.cancel()
  }

  async #fail(error: unknown): Promise<void> {
    this.#failure = toStoreError(this.#path, error)
    await this.#release().catch(() => {})
    if (this.#barrier.isKeeper) this.#barrier.failed(true)
    else this.#barrier.notify()
  }

  /** What other threads wrote after an incomplete write may be lost, even though it counted as written. */
  async #check(): Promise<void> {
    if (this.#closed || this.lastWritten === undefined) return
    if ((await this.call(() => this.#level.get(this.lastWritten!))) !== undefined) return
    throw damaged(this.#path, 'the disk failed, and commits that had been written are missing')
  }
}

/**
 * `close` starts its native call only after a microtask, so `call` around it would be over too early: the native call
 * itself is marked.
 */
function markNativeClose(level: Level<string, string>, barrier: ReopenBarrier): void {
  const native = level as unknown as { _close(): Promise<void> }
  const close = native._close.bind(level)
  native._close = () => barrier.call(close)
}

/** The database would have to be reopened, but cannot be closed. */
function interruptedCall(path: string): KumoError {
  const message =
    `the level store at ${path} had a disk error and cannot be reopened in this process, because a worker thread died ` +
    'while reading it. Everything committed is intact: run the same program again'
  return new KumoError('KUMO_STORE_FAILED', message)
}

/** An error as LevelDB reports it, so that callers wait for it to pass. */
function ioError(message: string): Error {
  return Object.assign(new Error(`IO error: ${message}`), { code: 'LEVEL_IO_ERROR' })
}
