import type { Timer } from '../../../src/time.js'
import type { SimThread } from '../threads/sim-thread.js'
import type { Change, SimDisk } from './disk.js'

/**
 * Changes of one thread on their way to the disk: filled by what it does, emptied by commits. What a thread has not
 * committed dies with it.
 */
export class DiskLog {
  readonly #disk: SimDisk
  readonly #thread: SimThread
  readonly #commitMs: number
  readonly #writeMs: () => number
  readonly #writers: (() => void)[] = []
  #stage: Change[] = []
  #whenDurable: (() => void)[] = []
  #timer: Timer | undefined = undefined
  /** What is being written. */
  #writing: { changes: Change[]; kept: (() => void)[] } | undefined = undefined
  #isClosed = false

  constructor(disk: SimDisk, thread: SimThread, commitMs: number, writeMs: () => number) {
    this.#disk = disk
    this.#thread = thread
    this.#commitMs = commitMs
    this.#writeMs = writeMs
  }

  record(...changes: Change[]): void {
    for (const change of changes) this.#stage.push(change)
    this.#arm()
  }

  beforeCommit(write: () => void): void {
    this.#writers.push(write)
  }

  whenDurable(then: () => void): void {
    this.#whenDurable.push(then)
    this.#arm()
  }

  flush(): Promise<void> {
    return new Promise((resolve) => this.whenDurable(resolve))
  }

  /** All that was changed so far is on disk when this returns. */
  commitNow(): void {
    this.#written()
    this.#begin()
    this.#written()
  }

  async close(): Promise<void> {
    await this.#thread.sleep(this.#writeMs())
    this.commitNow()
    this.#isClosed = true
    this.#timer?.cancel()
  }

  #arm(): void {
    if (this.#isClosed || this.#timer !== undefined || this.#writing !== undefined) return
    const { clock } = this.#thread
    this.#timer = clock.wakeAt(clock.now() + this.#commitMs, () => this.#commit())
  }

  #commit(): void {
    this.#begin()
    const writing = this.#writing
    void this.#thread.sleep(this.#writeMs()).then(() => {
      if (this.#writing === writing) this.#written()
    })
  }

  #begin(): void {
    for (const write of this.#writers) write()
    this.#timer?.cancel()
    this.#timer = undefined
    this.#writing = { changes: this.#stage, kept: this.#whenDurable }
    this.#stage = []
    this.#whenDurable = []
  }

  #written(): void {
    const writing = this.#writing
    this.#writing = undefined
    if (writing === undefined || !this.#thread.acts()) return
    this.#disk.commit(this.#thread.shard, structuredClone(writing.changes))
    for (const then of writing.kept) then()
    if (this.#stage.length > 0 || this.#whenDurable.length > 0) this.#arm()
  }
}
