import { KumoError, sentence } from '../../../errors.js'
import type { Clock, Timer } from '../../../time.js'
import type { StoreCondition, StoreEvent } from '../../contract.js'
import { commitKey } from '../format/keys.js'
import { type Changes, type Database, type Once, type Staged, WITHDRAWN } from './database.js'
import { isOfTheDisk } from './errors.js'

/** This many changes are committed without waiting for the timer. */
const MANY = 2048
/** With this many changes waiting for the disk, no new visits start. They take a few megabytes. */
const TOO_MANY = 4 * MANY
/** How long to wait after a failed write before retrying. */
const RETRY_MS = 1000
/** Commit marks kept: more than fit into the log that LevelDB replays after a crash. */
export const MARKS_KEPT = 65_536

export interface JournalOptions {
  readonly database: Database
  /** The writer whose commits these are. */
  readonly writer: number
  readonly clock: Clock
  readonly commitMs: number
  /** Number of the last commit on disk. */
  readonly lastCommit: number
  /** Called with the number of a commit once it is on disk. */
  committed(commit: number): void
  report(event: StoreEvent): void
}

/**
 * Group commit: collects changes and writes them together, every 100 ms or when there are many. Changes made in one
 * turn of the event loop are never split between commits. Filled by everything that changes the store, emptied by the
 * commit; while one commit is being written, the next one is filled.
 *
 * A write that fails because of the disk is retried until it succeeds or the store is closed. Its changes are still
 * here, so that nothing is lost but time.
 */
export class Journal {
  readonly #options: JournalOptions
  #stage = new Map<string, Staged>()
  /** Requests, which make up most of a commit. Appending to an array is faster than to a map. */
  #once: Once[] = []
  #writing: Changes | undefined = undefined
  #writingCommit = 0
  #timer: Timer | undefined = undefined
  #cutting = false
  #isRetrying = false
  #cannotRead = false
  #trouble: string | undefined = undefined
  #fatal: KumoError | undefined = undefined
  #closed = false
  /** Readers waiting for the disk. */
  #readers: { resolve: () => void; reject: (error: unknown) => void }[] = []
  #waiters: { commit: number; resolve: () => void; reject: (error: unknown) => void }[] = []
  readonly #contributors: (() => void)[] = []
  #meta: () => void = () => {}
  /** Callbacks in order; `commit` is the one that must be on disk. */
  #keepers: { commit: number; then: () => void }[] = []
  /** The commit that will contain what is changed now. */
  commit: number
  /** The last commit on disk. */
  flushed: number
  /** Called when a commit has been written, or the disk has recovered or failed. */
  onFlushed: () => void = () => {}

  constructor(options: JournalOptions) {
    this.#options = options
    this.flushed = options.lastCommit
    this.commit = options.lastCommit + 1
    options.database.recovered = (error) => this.#recovered(error)
    options.database.onRead = () => this.#well()
  }

  /** True: the disk is behind, and no new visits may start. */
  get isBehind(): boolean {
    return this.#trouble !== undefined || this.#size >= TOO_MANY
  }

  /** Why nothing can be written any more. */
  get fatal(): KumoError | undefined {
    return this.#fatal
  }

  get condition(): StoreCondition {
    if (this.#fatal !== undefined)
      return { state: 'paused', message: this.#fatal.message, failure: this.#fatal }
    if (this.#trouble !== undefined) return { state: 'paused', message: this.#trouble }
    return { state: this.isBehind ? 'busy' : 'ok' }
  }

  /** Registers a function that adds to each commit. */
  beforeCommit(contribute: () => void): void {
    this.#contributors.push(contribute)
  }

  /** Registers the function that writes the writer's meta, after everything else in a commit. */
  beforeWrite(write: () => void): void {
    this.#meta = write
  }

  put(key: string, value: Staged): void {
    this.#stage.set(key, value)
    this.#arm()
  }

  remove(key: string): void {
    this.put(key, null)
  }

  putOnce(what: Once): void {
    what.commit = this.commit
    this.#once.push(what)
    this.#arm()
  }

  /** Removes it again; what is not on disk yet is not written at all. */
  withdraw(what: Once): void {
    if (what.commit === this.commit) what.commit = WITHDRAWN
    else this.remove(what.key)
  }

  /** The value about to be written for a key: null if it is being removed, undefined if there is none. */
  staged(key: string): Staged | undefined {
    const staged = this.#stage.get(key)
    return staged === undefined ? this.#writing?.values.get(key) : staged
  }

  /** A promise that resolves when the disk has caught up; undefined if it has. For callers that can wait. */
  room(): Promise<void> | undefined {
    // While nothing can be written callers are not blocked: it must be possible to stop the crawl.
    return this.#trouble === undefined && this.isBehind ? this.flush().catch(() => {}) : undefined
  }

  /** Resolves once all changes so far are on disk. */
  flush(): Promise<void> {
    if (this.#fatal !== undefined) return Promise.reject(this.#fatal)
    if (this.#size === 0 && this.#writing === undefined) return Promise.resolve()
    const commit = this.#size > 0 ? this.commit : this.#writingCommit
    const flushing = new Promise<void>((resolve, reject) => this.#waiters.push({ commit, resolve, reject }))
    this.#cutSoon()
    return flushing
  }

  /** Calls back once all changes so far are on disk, in the order of the calls. Does not speed anything up. */
  whenKept(then: () => void): void {
    const commit = this.#size > 0 ? this.commit : this.#writingCommit
    this.#keepers.push({ commit, then })
    if (commit <= this.flushed) queueMicrotask(() => this.#tellKeepers())
  }

  /** Writes what is left. Rejects if that is not possible; earlier commits are not affected. */
  async close(): Promise<void> {
    if (this.#closed) return
    for (const contribute of this.#contributors) contribute()
    const flushing = this.flush()
    this.#closed = true
    this.#stopTimer()
    // One last attempt, immediately, unless one is in progress.
    if (this.#trouble !== undefined && !this.#isRetrying) void this.#retry()
    await flushing
  }

  get #size(): number {
    return this.#stage.size + this.#once.length
  }

  #arm(): void {
    if (this.#size >= MANY) this.#cutSoon()
    else if (
      this.#trouble === undefined &&
      this.#timer === undefined &&
      this.#writing === undefined &&
      !this.#closed
    ) {
      const { clock, commitMs } = this.#options
      this.#timer = clock.wakeAt(clock.now() + commitMs, () => {
        this.#timer = undefined
        this.#cut()
      })
    }
  }

  /** After the running code: changes that it makes together stay together. */
  #cutSoon(): void {
    if (this.#cutting || this.#writing !== undefined) return
    this.#cutting = true
    queueMicrotask(() => {
      this.#cutting = false
      this.#cut()
    })
  }

  #cut(): void {
    if (this.#writing !== undefined || this.#fatal !== undefined || this.#size === 0) return
    for (const contribute of this.#contributors) contribute()
    this.#meta()
    // Not earlier: contributing would start it again.
    this.#stopTimer()
    const { writer } = this.#options
    const commit = this.commit++
    this.#stage.set(commitKey(writer, commit), '')
    if (commit > MARKS_KEPT) this.#stage.set(commitKey(writer, commit - MARKS_KEPT), null)
    this.#writing = { values: this.#stage, once: this.#once }
    this.#stage = new Map()
    this.#once = []
    this.#writingCommit = commit
    void this.#write()
  }

  async #write(): Promise<void> {
    const { database } = this.#options
    try {
      await database.write(this.#writing!)
    } catch (error) {
      this.#failed(error)
      return
    }
    this.#written()
  }

  #written(): void {
    const { database, writer, committed } = this.#options
    this.flushed = this.#writingCommit
    this.#writing = undefined
    database.lastWritten = commitKey(writer, this.flushed)
    committed(this.flushed)
    // A successful write does not mean that reading works.
    if (!this.#cannotRead) this.#well()
    const waiters = this.#waiters
    this.#waiters = waiters.filter(({ commit }) => commit > this.flushed)
    for (const { commit, resolve } of waiters) if (commit <= this.flushed) resolve()
    if (this.#waiters.length > 0) this.#cutSoon()
    else if (this.#size > 0) this.#arm()
    this.#tellKeepers()
    this.onFlushed()
  }

  #tellKeepers(): void {
    while (this.#keepers.length > 0 && this.#keepers[0]!.commit <= this.flushed) this.#keepers.shift()!.then()
  }

  #failed(error: unknown): void {
    const { database, clock, report } = this.#options
    const explained = database.explain(error)
    if (this.#closed || !isOfTheDisk(error)) {
      const message = `${sentence(explained.message)} ${STATE_IS_WHOLE}`
      this.#fatal =
        error instanceof KumoError ? error : new KumoError(explained.code, message, { cause: error })
      for (const { reject } of [...this.#waiters.splice(0), ...this.#readers.splice(0)]) reject(this.#fatal)
      this.onFlushed()
      return
    }
    const message = `${sentence(explained.message)} The crawl pauses, and goes on when writing is possible again`
    if (this.#trouble === undefined) report({ kind: 'paused', message, cause: error })
    this.#trouble = message
    this.#stopTimer()
    this.#timer = clock.wakeAt(clock.now() + RETRY_MS, () => void this.#retry())
  }

  async #retry(): Promise<void> {
    this.#stopTimer()
    this.#isRetrying = true
    try {
      await this.#options.database.reopen()
    } catch (error) {
      this.#isRetrying = false
      this.#failed(error)
      return
    }
    this.#isRetrying = false
    if (this.#writing !== undefined) {
      await this.#write()
      return
    }
    // The readers will find out whether the disk works; until then nothing new starts.
    const readers = this.#readers.splice(0)
    for (const { resolve } of readers) resolve()
    if (readers.length === 0) this.#well()
  }

  #well(): void {
    for (const { resolve } of this.#readers.splice(0)) resolve()
    this.#cannotRead = false
    if (this.#trouble === undefined) return
    this.#trouble = undefined
    this.#stopTimer()
    this.#options.report({ kind: 'resumed', message: 'the store works again; the crawl goes on' })
    this.onFlushed()
    this.#arm()
  }

  /** For a reader that got a disk error: resolves when it may try again. */
  #recovered(error: unknown): Promise<void> {
    if (this.#fatal !== undefined || this.#closed) return Promise.reject(this.#fatal ?? error)
    // While the database is being reopened, readers find it closed, and wait.
    const isKnown = this.#isRetrying || (this.#trouble !== undefined && this.#timer !== undefined)
    if (!isKnown && (this.#writing === undefined || this.#cannotRead)) {
      this.#cannotRead = true
      this.#failed(error)
    }
    return new Promise((resolve, reject) => {
      this.#readers.push({ resolve, reject })
    })
  }

  #stopTimer(): void {
    this.#timer?.cancel()
    this.#timer = undefined
  }
}

const STATE_IS_WHOLE =
  'What was committed before is whole: run the same program again once the cause is mended'
