/**
 * Lets threads that share a database close and reopen it together, and lets them be terminated without harm to it.
 * After a failed write LevelDB accepts no more writes, and the database itself is only closed once all threads have
 * closed it.
 *
 * The threads coordinate through a few numbers in shared memory: whether the barrier is open or shut, which threads
 * have the database open, which are in a native call, and a signal that changes whenever one of these does.
 */

import type { Clock } from '../../../time.js'

/** Incremented whenever the barrier is shut or opened: odd while it is shut. */
const GENERATION = 0
/** How often reopening has failed. */
const FAILURES = 1
/** 1: reopening has failed for good. */
const FAILED_FOR_GOOD = 2
/** Incremented to wake up waiters. */
const SIGNAL = 3
/**
 * 1: a thread was terminated during a native call, and may have left an iterator that keeps the database open forever.
 */
const INTERRUPTED_CALL = 4
/** From here on, a few cells per writer. */
const WRITERS = 5
const CELLS_PER_WRITER = 3

/** Per writer: whether its thread has the database open. */
const INSIDE = 0
/** Per writer: whether its thread is in a native call. */
const IN_CALL = 1
/** Per writer: whether its thread is about to be terminated and must not start a native call. */
const BLOCKED = 2

/** A call takes microseconds. A thread still in one after this long gets no CPU time, or died in it. */
const LONGEST_CALL_MS = 5000
/** How often the exiting process checks whether another thread is still in a call. */
const CHECK_MS = 1
/** For a thread that will not live to see the result. */
const NEVER = new Promise<never>(() => {})

/** Since ES2024; Node has it. */
interface AtomicsWaitAsync {
  waitAsync(
    cells: Int32Array,
    index: number,
    value: number,
  ): { async: false } | { async: true; value: Promise<unknown> }
}

export class ReopenBarrier {
  readonly #cells: Int32Array
  /** Index of its writer's cells. */
  readonly #own: number
  /** The keeper is the first writer: it opens the database first and closes it last. */
  readonly isKeeper: boolean

  /** `writers` is the total number. */
  static make(writers: number): SharedArrayBuffer {
    return new SharedArrayBuffer(cellsOf(writers) * Int32Array.BYTES_PER_ELEMENT)
  }

  constructor(memory: SharedArrayBuffer, writer: number) {
    this.#cells = new Int32Array(memory)
    this.#own = cellsOf(writer)
    this.isKeeper = writer === 0
  }

  get isShut(): boolean {
    return this.generation % 2 === 1
  }

  get generation(): number {
    return Atomics.load(this.#cells, GENERATION)
  }

  get failures(): number {
    return Atomics.load(this.#cells, FAILURES)
  }

  /** All threads must close the database. No effect if they know already, or if it was reopened after `generation`. */
  shut(generation: number): void {
    if (generation % 2 === 1) return
    if (Atomics.compareExchange(this.#cells, GENERATION, generation, generation + 1) === generation)
      this.notify()
  }

  /** The keeper has reopened the database. */
  open(): void {
    if (this.isShut) Atomics.add(this.#cells, GENERATION, 1)
    this.notify()
  }

  /** Reopening has failed; `forGood`: and will not be tried again. */
  failed(forGood: boolean): void {
    if (forGood) Atomics.store(this.#cells, FAILED_FOR_GOOD, 1)
    Atomics.add(this.#cells, FAILURES, 1)
    this.notify()
  }

  get hasFailed(): boolean {
    return Atomics.load(this.#cells, FAILED_FOR_GOOD) === 1
  }

  enter(): void {
    Atomics.store(this.#cells, this.#own + INSIDE, 1)
  }

  leave(): void {
    Atomics.store(this.#cells, this.#own + INSIDE, 0)
    this.notify()
  }

  /**
   * Waits until the barrier is open and enters: from then on the keeper waits for this thread before it closes the
   * database. It also waits for a thread that died inside, until `exited`. Returns false if the thread gave up.
   */
  async enterWhenOpen(isGivenUp: () => boolean): Promise<boolean> {
    for (;;) {
      this.leave()
      await this.until(() => !this.isShut || isGivenUp())
      if (isGivenUp()) return false
      this.enter()
      // It may have been shut at the same moment.
      if (!this.isShut) return true
    }
  }

  /** Whether any other thread has the database open. */
  get isOccupied(): boolean {
    for (let at = WRITERS; at < this.#cells.length; at += CELLS_PER_WRITER) {
      if (at !== this.#own && this.#is(at + INSIDE)) return true
    }
    return false
  }

  /** Whether a thread was terminated during a native call. The database must then never be closed. */
  get hasInterruptedCall(): boolean {
    return this.#is(INTERRUPTED_CALL)
  }

  /**
   * Makes a native call, which `act` must start before it returns. Terminating a thread in such a call crashes the
   * process, immediately or when the database is closed; so termination waits (`block`). For a thread that is about to
   * be terminated the promise never settles.
   */
  call<T>(act: () => Promise<T>): Promise<T> {
    Atomics.store(this.#cells, this.#own + IN_CALL, 1)
    try {
      // After the store, just as `block` checks after its own: one of the two sees the other.
      return this.#is(this.#own + BLOCKED) ? NEVER : act()
    } finally {
      // Not reached if the thread is terminated in between.
      Atomics.store(this.#cells, this.#own + IN_CALL, 0)
      if (this.#is(this.#own + BLOCKED)) this.notify()
    }
  }

  /** Keeps a writer's thread from starting native calls. Resolves when it is in none, so that it can be terminated. */
  async block(writer: number, clock: Clock): Promise<void> {
    const at = cellsOf(writer)
    Atomics.store(this.#cells, at + BLOCKED, 1)
    let isLate = false
    const timer = clock.wakeAt(clock.now() + LONGEST_CALL_MS, () => {
      isLate = true
      this.notify()
    })
    await this.until(() => isLate || !this.#is(at + IN_CALL))
    timer.cancel()
  }

  /** The same for all threads, synchronously: for the exit of the process, after which no promise resolves. */
  blockAll(): void {
    for (let at = WRITERS; at < this.#cells.length; at += CELLS_PER_WRITER) {
      Atomics.store(this.#cells, at + BLOCKED, 1)
      for (let ms = 0; ms < LONGEST_CALL_MS && this.#is(at + IN_CALL); ms += CHECK_MS) {
        Atomics.wait(this.#cells, at + IN_CALL, 1, CHECK_MS)
      }
    }
  }

  /** A writer's thread has exited. Another may take its place. */
  exited(writer: number): void {
    const at = cellsOf(writer)
    if (this.#is(at + IN_CALL)) Atomics.store(this.#cells, INTERRUPTED_CALL, 1)
    for (let cell = at; cell < at + CELLS_PER_WRITER; cell++) Atomics.store(this.#cells, cell, 0)
    this.notify()
  }

  #is(cell: number): boolean {
    return Atomics.load(this.#cells, cell) === 1
  }

  notify(): void {
    Atomics.add(this.#cells, SIGNAL, 1)
    Atomics.notify(this.#cells, SIGNAL)
  }

  /** Resolves when the condition holds; it is checked at every signal. */
  async until(condition: () => boolean): Promise<void> {
    for (;;) {
      // Before the condition: a signal after it must not be missed.
      const rung = Atomics.load(this.#cells, SIGNAL)
      if (condition()) return
      const waiting = (Atomics as unknown as AtomicsWaitAsync).waitAsync(this.#cells, SIGNAL, rung)
      if (waiting.async) await waiting.value
    }
  }
}

/** Index of a writer's first cell; for the number of writers, the total size. */
function cellsOf(writer: number): number {
  return WRITERS + writer * CELLS_PER_WRITER
}
