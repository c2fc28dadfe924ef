import { asKumoError, KumoError, sentence } from '../../../errors.js'
import type { Clock, Timer } from '../../../time.js'
import type { MaybePromise } from '../../../types.js'
import type { StoreCondition, StoreEvent } from '../../contract.js'
import { commitKey } from '../format/keys.js'
import { type Changes, type Database, type Staged, WITHDRAWN, type WriteOnce } from './database.js'
import { isDiskError } from './errors.js'

/** This many changes are committed without waiting for the timer. */
const COMMIT_SIZE = 2048
/** With this many changes waiting for the disk, no new visits start. They take a few megabytes. */
const BACKLOG_LIMIT = 4 * COMMIT_SIZE
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
  #values = new Map<string, Staged>()
  /** Requests, which make up most of a commit. Appending to an array is faster than to a map. */
  #once: WriteOnce[] = []
  #writing: Changes | undefined = undefined
  /** `#writing` as it was when its commit began, if that waits for hooks: hosts and requests go on changing meanwhile. */
  #fixed: Changes | undefined = undefined
  #writingCommit = 0
  #timer: Timer | undefined = undefined
  #isCommitScheduled = false
  #isRetrying = false
  #cannotRead = false
  #problem: string | undefined = undefined
  #fatal: KumoError | undefined = undefined
  #closed = false
  /** Readers waiting for the disk. */
  #readers: { resolve: () => void; reject: (error: unknown) => void }[] = []
  #waiters: { commit: number; resolve: () => void; reject: (error: unknown) => void }[] = []
  readonly #contributors: (() => void)[] = []
  /** What each commit waits for before it is written. */
  #prepare: (() => MaybePromise<void>) | undefined = undefined
  #writeMeta: () => void = () => {}
  /** Callbacks in order; `commit` is the one that must be on disk. */
  #durableCallbacks: { commit: number; then: () => void }[] = []
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
    options.database.whenRecovered = (error) => this.#whenRecovered(error)
    options.database.onRead = () => this.#recover()
  }

  /** True: the disk is behind, and no new visits may start. */
  get isBehind(): boolean {
    return this.#problem !== undefined || this.#size >= BACKLOG_LIMIT
  }

  /** Why nothing can be written any more. */
  get fatal(): KumoError | undefined {
    return this.#fatal
  }

  get condition(): StoreCondition {
    if (this.#fatal !== undefined)
      return { state: 'paused', message: this.#fatal.message, failure: this.#fatal }
    if (this.#problem !== undefined) return { state: 'paused', message: this.#problem }
    return { state: this.isBehind ? 'busy' : 'ok' }
  }

  /** Registers a function that adds to each commit. */
  onCommit(contribute: () => void): void {
    this.#contributors.push(contribute)
  }

  /** Registers the function that each commit waits for, once its content is fixed. If it throws, the journal fails. */
  beforeCommit(prepare: () => MaybePromise<void>): void {
    this.#prepare = prepare
  }

  /** Registers the function that writes the writer's meta, after everything else in a commit. */
  setMetaWriter(write: () => void): void {
    this.#writeMeta = write
  }

  put(key: string, value: Staged): void {
    this.#values.set(key, value)
    this.#scheduleCommit()
  }

  remove(key: string): void {
    this.put(key, null)
  }

  putOnce(record: WriteOnce): void {
    record.commit = this.commit
    this.#once.push(record)
    this.#scheduleCommit()
  }

  /** Removes it again; what is not on disk yet is not written at all. */
  withdraw(record: WriteOnce): void {
    if (record.commit === this.commit) record.commit = WITHDRAWN
    else this.remove(record.key)
  }

  /** The value about to be written for a key: null if it is being removed, undefined if there is none. */
  staged(key: string): Staged | undefined {
    const staged = this.#values.get(key)
    return staged === undefined ? this.#writing?.values.get(key) : staged
  }

  /** A promise that resolves when the disk has caught up; undefined if it has. For callers that can wait. */
  whenCaughtUp(): Promise<void> | undefined {
    // While nothing can be written callers are not blocked: it must be possible to stop the crawl.
    return this.#problem === undefined && this.isBehind ? this.flush().catch(() => {}) : undefined
  }

  /** Resolves once all changes so far are on disk. */
  flush(): Promise<void> {
    if (this.#fatal !== undefined) return Promise.reject(this.#fatal)
    if (this.#size === 0 && this.#writing === undefined) return Promise.resolve()
    const commit = this.#size > 0 ? this.commit : this.#writingCommit
    const flushing = new Promise<void>((resolve, reject) => this.#waiters.push({ commit, resolve, reject }))
    this.#commitSoon()
    return flushing
  }

  /** Calls back once all changes so far are on disk, in the order of the calls. Does not speed anything up. */
  whenDurable(then: () => void): void {
    const commit = this.#size > 0 ? this.commit : this.#writingCommit
    this.#durableCallbacks.push({ commit, then })
    if (commit <= this.flushed) queueMicrotask(() => this.#callDurable())
  }

  /** Writes what is left. Rejects if that is not possible; earlier commits are not affected. */
  async close(): Promise<void> {
    if (this.#closed) return
    for (const contribute of this.#contributors) contribute()
    const flushing = this.flush()
    this.#closed = true
    this.#stopTimer()
    // One last attempt, immediately, unless one is in progress.
    if (this.#problem !== undefined && !this.#isRetrying) void this.#retry()
    await flushing
  }

  get #size(): number {
    return this.#values.size + this.#once.length
  }

  #scheduleCommit(): void {
    if (this.#size >= COMMIT_SIZE) this.#commitSoon()
    else if (
      this.#problem === undefined &&
      this.#timer === undefined &&
      this.#writing === undefined &&
      !this.#closed
    ) {
      const { clock, commitMs } = this.#options
      this.#timer = clock.wakeAt(clock.now() + commitMs, () => {
        this.#timer = undefined
        this.#startCommit()
      })
    }
  }

  /** After the running code: changes that it makes together stay together. */
  #commitSoon(): void {
    if (this.#isCommitScheduled || this.#writing !== undefined) return
    this.#isCommitScheduled = true
    queueMicrotask(() => {
      this.#isCommitScheduled = false
      this.#startCommit()
    })
  }

  #startCommit(): void {
    if (this.#writing !== undefined || this.#fatal !== undefined || this.#size === 0) return
    for (const contribute of this.#contributors) contribute()
    this.#writeMeta()
    // Not earlier: contributing would start it again.
    this.#stopTimer()
    const { writer } = this.#options
    const commit = this.commit++
    this.#values.set(commitKey(writer, commit), '')
    if (commit > MARKS_KEPT) this.#values.set(commitKey(writer, commit - MARKS_KEPT), null)
    this.#writing = { values: this.#values, once: this.#once }
    this.#values = new Map()
    this.#once = []
    this.#writingCommit = commit
    this.#fixed = this.#prepare && fixed(this.#writing)
    void (this.#prepare === undefined ? this.#write() : this.#prepareAndWrite(this.#prepare))
  }

  async #prepareAndWrite(prepare: () => MaybePromise<void>): Promise<void> {
    try {
      await prepare()
    } catch (error) {
      this.#end(error)
      return
    }
    await this.#write()
  }

  async #write(): Promise<void> {
    const { database } = this.#options
    try {
      await database.write(this.#fixed ?? this.#writing!)
    } catch (error) {
      this.#failed(error)
      return
    }
    this.#written()
  }

  #written(): void {
    const { database, writer, committed } = this.#options
    this.flushed = this.#writingCommit
    this.#writing = this.#fixed = undefined
    database.lastWritten = commitKey(writer, this.flushed)
    committed(this.flushed)
    // A successful write does not mean that reading works.
    if (!this.#cannotRead) this.#recover()
    const waiters = this.#waiters
    this.#waiters = waiters.filter(({ commit }) => commit > this.flushed)
    for (const { commit, resolve } of waiters) if (commit <= this.flushed) resolve()
    if (this.#waiters.length > 0) this.#commitSoon()
    else if (this.#size > 0) this.#scheduleCommit()
    this.#callDurable()
    this.onFlushed()
  }

  #callDurable(): void {
    while (this.#durableCallbacks.length > 0 && this.#durableCallbacks[0]!.commit <= this.flushed)
      this.#durableCallbacks.shift()!.then()
  }

  #failed(error: unknown): void {
    const { database, clock, report } = this.#options
    const explained = database.toStoreError(error)
    if (this.#closed || !isDiskError(error)) {
      const message = `${sentence(explained.message)} ${STATE_IS_INTACT}`
      this.#end(error instanceof KumoError ? error : new KumoError(explained.code, message, { cause: error }))
      return
    }
    const message = `${sentence(explained.message)} The crawl is paused, and resumes when writing succeeds again`
    if (this.#problem === undefined) report({ kind: 'paused', message, cause: error })
    this.#problem = message
    this.#stopTimer()
    this.#timer = clock.wakeAt(clock.now() + RETRY_MS, () => void this.#retry())
  }

  /** Nothing is written any more. */
  #end(error: unknown): void {
    const fatal = asKumoError(error, 'KUMO_STORE_FAILED', 'a commit could not be prepared')
    this.#fatal = fatal
    this.#stopTimer()
    for (const { reject } of [...this.#waiters.splice(0), ...this.#readers.splice(0)]) reject(fatal)
    this.onFlushed()
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
    if (readers.length === 0) this.#recover()
  }

  #recover(): void {
    for (const { resolve } of this.#readers.splice(0)) resolve()
    this.#cannotRead = false
    if (this.#problem === undefined) return
    this.#problem = undefined
    this.#stopTimer()
    this.#options.report({ kind: 'resumed', message: 'the store can write again; the crawl resumes' })
    this.onFlushed()
    this.#scheduleCommit()
  }

  /** For a reader that got a disk error: resolves when it may try again. */
  #whenRecovered(error: unknown): Promise<void> {
    if (this.#fatal !== undefined || this.#closed) return Promise.reject(this.#fatal ?? error)
    // While the database is being reopened, readers find it closed, and wait.
    const isKnown = this.#isRetrying || (this.#problem !== undefined && this.#timer !== undefined)
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

const STATE_IS_INTACT =
  'Everything committed before is intact: fix the cause, then run the same program again'

/** The same changes as texts: objects are otherwise encoded when they are written. */
function fixed({ values, once }: Changes): Changes {
  const written = new Map<string, Staged>()
  for (const each of once) if (each.commit !== WITHDRAWN) written.set(each.key, each.write())
  for (const [key, value] of values) {
    const isPlain = value === null || typeof value === 'string' || value instanceof Uint8Array
    written.set(key, isPlain ? value : value.write())
  }
  return { values: written, once: [] }
}
