import type { Clock, Timer } from '../../../src/time.js'

/** What a thread is part of. */
export interface ThreadWorld {
  readonly clock: Clock
  /** Its turn begins. */
  turn(thread: SimThread): void
  died(thread: SimThread): void
}

/**
 * A thread of a simulation: code of this thread that behaves as if it ran in another. All that makes it run comes through
 * `run`, all that it does to others asks `acts` before. So it can stand still, and all comes late; and once it is dead
 * nothing of it has any effect, even if that happens in the middle of a turn.
 */
export class SimThread {
  /** The shard that it runs. */
  readonly shard: number
  /** Its own number: a shard may have several threads, one after the other. */
  readonly number: number
  /** Silent once the thread is dead. */
  readonly clock: Clock
  readonly #world: ThreadWorld
  readonly #timers = new Set<Timer>()
  readonly #lastActs = new Set<() => void>()
  /** What came while it stood still; filled by `run`, emptied one a turn. */
  readonly #late: (() => void)[] = []
  #awakeAt = 0
  #actsLeft = Number.POSITIVE_INFINITY
  #isAlive = true
  /** It died in the middle of a turn. */
  wasCutShort = false

  constructor(shard: number, number: number, world: ThreadWorld) {
    this.shard = shard
    this.number = number
    this.#world = world
    this.clock = { now: () => world.clock.now(), wakeAt: (at, callback) => this.#wakeAt(at, callback) }
  }

  get isAlive(): boolean {
    return this.#isAlive
  }

  /** Something happens to it: now, or once it no longer stands still. */
  run(callback: () => void): void {
    if (!this.#isAlive) return
    if (this.#late.length === 0 && this.#world.clock.now() >= this.#awakeAt) {
      this.#world.turn(this)
      callback()
    } else if (this.#late.push(callback) === 1) this.#catchUp()
  }

  /** Whether what it is about to do reaches anybody. */
  acts(): boolean {
    if (this.#isAlive && --this.#actsLeft < 0) {
      this.wasCutShort = true
      this.die()
    }
    return this.#isAlive
  }

  /** Passes a result on to it. */
  told<T>(result: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      result.then(
        (value) => this.run(() => resolve(value)),
        (error) => this.run(() => reject(error)),
      )
    })
  }

  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => void this.clock.wakeAt(this.clock.now() + ms, resolve))
  }

  /** It stands still for so long. */
  stall(ms: number): void {
    this.#awakeAt = Math.max(this.#awakeAt, this.#world.clock.now() + ms)
  }

  /** It dies when it has done so many things more: posted, fetched, written. */
  dieAfter(acts: number): void {
    this.#actsLeft = acts
  }

  /** Called when it dies, unless it is taken back by what this returns. */
  atDeath(act: () => void): () => void {
    this.#lastActs.add(act)
    return () => void this.#lastActs.delete(act)
  }

  die(): void {
    if (!this.#isAlive) return
    this.#isAlive = false
    for (const timer of this.#timers) timer.cancel()
    this.#late.length = 0
    for (const act of this.#lastActs) act()
    this.#world.died(this)
  }

  #wakeAt(at: number, callback: () => void): Timer {
    if (!this.#isAlive) return { cancel: () => {} }
    let isSet = true
    const alarm = this.#world.clock.wakeAt(at, () => {
      this.#timers.delete(alarm)
      this.run(() => {
        if (isSet) callback()
      })
    })
    this.#timers.add(alarm)
    return {
      cancel: () => {
        isSet = false
        alarm.cancel()
        this.#timers.delete(alarm)
      },
    }
  }

  #catchUp(): void {
    const { clock } = this.#world
    clock.wakeAt(this.#awakeAt, () => {
      if (!this.#isAlive) return
      if (clock.now() >= this.#awakeAt) {
        this.#world.turn(this)
        this.#late.shift()!()
      }
      if (this.#late.length > 0) this.#catchUp()
    })
  }
}
