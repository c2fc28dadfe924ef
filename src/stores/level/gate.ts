/**
 * How threads that share a database close it and open it anew together. After a failed write LevelDB writes nothing more,
 * and the database itself is closed only when the last of them has closed it.
 *
 * All know by a few numbers in memory that they share: the gate is open or shut, who is inside, and a bell that rings
 * whenever one of these has changed.
 */

/** Grows by one whenever the gate is shut, and whenever it is opened again: odd while it is shut. */
const GENERATION = 0
/** How often it could not be opened again. */
const FAILURES = 1
/** 1: it never will be. */
const RUIN = 2
/** Rung by adding to it. */
const BELL = 3
/** From here on there is a place for each lane. */
const LANES = 4

/** Places: the lane's thread has the database open, or not. */
const INSIDE = 1
const OUTSIDE = 0

/** Since ES2024; Node has it. */
interface Waiting {
  waitAsync(
    cells: Int32Array,
    index: number,
    value: number,
  ): { async: false } | { async: true; value: Promise<unknown> }
}

export class Gate {
  readonly #cells: Int32Array
  readonly #lane: number
  /** The first lane opens first and closes last. */
  readonly isKeeper: boolean

  /** `lanes` is the number of all. */
  static make(lanes: number): SharedArrayBuffer {
    return new SharedArrayBuffer((LANES + lanes) * Int32Array.BYTES_PER_ELEMENT)
  }

  constructor(memory: SharedArrayBuffer, lane: number) {
    this.#cells = new Int32Array(memory)
    this.#lane = lane
    this.isKeeper = lane === 0
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
    Atomics.store(this.#cells, LANES + this.#lane, INSIDE)
  }

  leave(): void {
    Atomics.store(this.#cells, LANES + this.#lane, OUTSIDE)
    this.ring()
  }

  /**
   * Goes inside as soon as the gate is open: from then on the keeper waits for this thread before it closes the database.
   * Whoever died inside is waited for too, until its successor comes to the gate. False: it was given up.
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
    for (let at = LANES; at < this.#cells.length; at++) {
      if (at !== LANES + this.#lane && Atomics.load(this.#cells, at) === INSIDE) return true
    }
    return false
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
