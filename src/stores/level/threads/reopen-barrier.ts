/**
 * How threads that share a database close it and open it anew together, and how they end without harm to it. After a
 * failed write LevelDB writes nothing more, and the database itself is closed only when the last of them has closed it.
 *
 * All know by a few numbers in memory that they share: the barrier is open or shut, who is inside, who is in the middle of a
 * call, and a bell that rings whenever one of these has changed.
 */

import type { Clock } from '../../../time.js'

/** Grows by one whenever the barrier is shut, and whenever it is opened again: odd while it is shut. */
const GENERATION = 0
/** How often it could not be opened again. */
const FAILURES = 1
/** 1: it never will be. */
const RUIN = 2
/** Rung by adding to it. */
const BELL = 3
/** 1: a thread ended in the middle of a call, and may have left an iterator behind that holds the database for ever. */
const CUT_OFF = 4
/** From here on there are some cells for each writer. */
const WRITERS = 5
const CELLS_PER_WRITER = 3

/** Cells of a writer. Whether its thread has the database open. */
const INSIDE = 0
/** Whether its thread is in the middle of a call of the database's native code. */
const IN_CALL = 1
/** Whether its thread is about to be ended, and may not call any more. */
const BARRED = 2

/** A call takes microseconds: a thread that is in it after this long gets no processor, or died in it. */
const LONGEST_CALL_MS = 5000
/** How often a thread that ends the process looks whether another is still in a call. */
const LOOK_MS = 1
/** An answer for a thread that will not live to use it. */
const NEVER = new Promise<never>(() => {})

/** Since ES2024; Node has it. */
interface Waiting {
  waitAsync(
    cells: Int32Array,
    index: number,
    value: number,
  ): { async: false } | { async: true; value: Promise<unknown> }
}

export class ReopenBarrier {
  readonly #cells: Int32Array
  /** Where its writer's cells begin. */
  readonly #own: number
  /** The first writer opens first and closes last. */
  readonly isKeeper: boolean

  /** `writers` is the number of all. */
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

  /** All are to leave. Nothing if that is known already, or if it has been opened again since `generation`. */
  shut(generation: number): void {
    if (generation % 2 === 1) return
    if (Atomics.compareExchange(this.#cells, GENERATION, generation, generation + 1) === generation)
      this.ring()
  }

  /** The database is open again: for the keeper to say. */
  open(): void {
    if (this.isShut) Atomics.add(this.#cells, GENERATION, 1)
    this.ring()
  }

  /** It could not be opened; `forGood`: nor will it be. */
  failed(forGood: boolean): void {
    if (forGood) Atomics.store(this.#cells, RUIN, 1)
    Atomics.add(this.#cells, FAILURES, 1)
    this.ring()
  }

  get isRuined(): boolean {
    return Atomics.load(this.#cells, RUIN) === 1
  }

  enter(): void {
    Atomics.store(this.#cells, this.#own + INSIDE, 1)
  }

  leave(): void {
    Atomics.store(this.#cells, this.#own + INSIDE, 0)
    this.ring()
  }

  /**
   * Goes inside as soon as the barrier is open: from then on the keeper waits for this thread before it closes the database.
   * A thread that died inside is waited for too, until `gone`. False: it was given up.
   */
  async comeIn(isGivenUp: () => boolean): Promise<boolean> {
    for (;;) {
      this.leave()
      await this.until(() => !this.isShut || isGivenUp())
      if (isGivenUp()) return false
      this.enter()
      // It may have been shut at the same moment.
      if (!this.isShut) return true
    }
  }

  /** Whether anybody else is inside. */
  get isOccupied(): boolean {
    for (let at = WRITERS; at < this.#cells.length; at += CELLS_PER_WRITER) {
      if (at !== this.#own && this.#is(at + INSIDE)) return true
    }
    return false
  }

  /** Whether a thread ended in the middle of a call: then the database must never be closed. */
  get wasCutOff(): boolean {
    return this.#is(CUT_OFF)
  }

  /**
   * Calls the database's native code, which `act` does before it returns. A thread that is ended in the middle of such a
   * call crashes the process, at once or when the database is closed: so whoever ends a thread waits (`bar`). A thread
   * that is about to be ended gets no answer.
   */
  call<T>(act: () => Promise<T>): Promise<T> {
    Atomics.store(this.#cells, this.#own + IN_CALL, 1)
    try {
      // After the store, as `bar` looks after its own: one of the two sees the other.
      return this.#is(this.#own + BARRED) ? NEVER : act()
    } finally {
      // Not reached by a thread that is ended meanwhile.
      Atomics.store(this.#cells, this.#own + IN_CALL, 0)
      if (this.#is(this.#own + BARRED)) this.ring()
    }
  }

  /** Lets a writer's thread make no more calls. Resolves when it is in none, so that it can be ended. */
  async bar(writer: number, clock: Clock): Promise<void> {
    const at = cellsOf(writer)
    Atomics.store(this.#cells, at + BARRED, 1)
    let isLate = false
    const timer = clock.wakeAt(clock.now() + LONGEST_CALL_MS, () => {
      isLate = true
      this.ring()
    })
    await this.until(() => isLate || !this.#is(at + IN_CALL))
    timer.cancel()
  }

  /** The same for all, and at once: for the end of the process, after which nothing resolves. */
  barAll(): void {
    for (let at = WRITERS; at < this.#cells.length; at += CELLS_PER_WRITER) {
      Atomics.store(this.#cells, at + BARRED, 1)
      for (let ms = 0; ms < LONGEST_CALL_MS && this.#is(at + IN_CALL); ms += LOOK_MS) {
        Atomics.wait(this.#cells, at + IN_CALL, 1, LOOK_MS)
      }
    }
  }

  /** A writer's thread is dead. Another may take its place. */
  gone(writer: number): void {
    const at = cellsOf(writer)
    if (this.#is(at + IN_CALL)) Atomics.store(this.#cells, CUT_OFF, 1)
    for (let cell = at; cell < at + CELLS_PER_WRITER; cell++) Atomics.store(this.#cells, cell, 0)
    this.ring()
  }

  #is(cell: number): boolean {
    return Atomics.load(this.#cells, cell) === 1
  }

  ring(): void {
    Atomics.add(this.#cells, BELL, 1)
    Atomics.notify(this.#cells, BELL)
  }

  /** Resolves when the condition holds; it is looked at whenever the bell rings. */
  async until(condition: () => boolean): Promise<void> {
    for (;;) {
      // Before the condition: a ring after it must not be missed.
      const rung = Atomics.load(this.#cells, BELL)
      if (condition()) return
      const waiting = (Atomics as unknown as Waiting).waitAsync(this.#cells, BELL, rung)
      if (waiting.async) await waiting.value
    }
  }
}

/** Where the cells of a writer begin; with the number of writers, where all end. */
function cellsOf(writer: number): number {
  return WRITERS + writer * CELLS_PER_WRITER
}
