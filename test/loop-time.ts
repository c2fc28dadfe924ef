/** Upper bounds on time for machines that are busy with other things. */

const TICK_MS = 10

/**
 * Milliseconds in which this process had its turns: each short wait counts for what it was meant to take, not for what it
 * took. A bound in this time is broken by a program that waits too long, and not by a machine that is slow.
 */
export class LoopTime {
  #ticks = 0
  readonly #timer = setInterval(() => this.#ticks++, TICK_MS).unref()

  /** Since it was made. To be asked once. */
  stop(): number {
    clearInterval(this.#timer)
    return this.#ticks * TICK_MS
  }
}
