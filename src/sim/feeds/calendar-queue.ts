/** Which feeds are due at which step: a list per step, linked through two arrays, so that a million feeds fit. */
export class CalendarQueue {
  readonly #heads: Int32Array
  readonly #next: Int32Array

  /** `steps` is the number of steps; what is due later is never taken. */
  constructor(feeds: number, steps: number) {
    this.#heads = new Int32Array(steps + 1).fill(-1)
    this.#next = new Int32Array(feeds).fill(-1)
  }

  /** The feed must not be in the queue. */
  put(feed: number, step: number): void {
    const at = Math.min(step, this.#heads.length - 1)
    this.#next[feed] = this.#heads[at]!
    this.#heads[at] = feed
  }

  /** Removes and returns all feeds of a step. */
  takeAll(step: number): number[] {
    const feeds: number[] = []
    for (let feed = this.#heads[step]!; feed !== -1; feed = this.#next[feed]!) feeds.push(feed)
    this.#heads[step] = -1
    return feeds
  }
}
