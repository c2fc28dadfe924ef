import type { Clock } from '../../../time.js'

/** The time of a commit. */
export interface TimeMark {
  /** The instant of the commit, on the store's scale. */
  readonly at: number
  /** The same according to the system clock. */
  readonly wall?: number | undefined
  /** The same according to a monotonic clock, if there is one. */
  readonly steady?: { readonly scale: string; readonly ms: number } | undefined
}

/**
 * The time scale of a store: it continues smoothly from run to run, whatever happens to the system clock in between.
 * Without it, setting the clock back by an hour would leave every host resting for an hour, and setting it forward
 * would cut every delay short.
 */
export class TimeScale {
  readonly #clock: Clock
  /** How far the clock is ahead of the store's time. Other threads, whose clocks agree with this one, use the same. */
  readonly offset: number

  /** Continues from the last commit; or uses the offset of an existing scale. */
  constructor(clock: Clock, last: TimeMark | number | undefined) {
    this.#clock = clock
    if (typeof last === 'number') this.offset = last
    else this.offset = last === undefined ? 0 : offsetFrom(clock, last)
  }

  toStore(instant: number): number {
    return instant === 0 ? 0 : instant - this.offset
  }

  /** 0 stands for "never" on both scales. */
  fromStore(instant: number): number {
    return instant === 0 ? 0 : instant + this.offset
  }

  mark(): TimeMark {
    const { now, steady } = bothOf(this.#clock)
    return { at: this.toStore(now), wall: now, steady }
  }
}

/**
 * The time since the last commit. As long as the machine has not restarted, a monotonic clock tells; otherwise the
 * system clock is used, unless it claims that the commit is in the future.
 */
function offsetFrom(clock: Clock, { at, wall = at, steady: then }: TimeMark): number {
  const { now, steady } = bothOf(clock)
  const isSteady = then !== undefined && steady !== undefined && steady.scale === then.scale
  const elapsed = isSteady ? steady.ms - then.ms : now - wall
  return now - (at + Math.max(0, elapsed))
}

/** Two readings further apart than this were not made at the same moment. */
const ONE_MOMENT_MS = 0.1
const TRIES = 10

/**
 * Both clocks at the same moment: a thread that was preempted between the two readings would mistake that for elapsed
 * time.
 */
function bothOf(clock: Clock): { now: number; steady: TimeMark['steady'] } {
  for (let i = 1; ; i++) {
    const now = clock.now()
    const steady = clock.steady?.()
    if (i === TRIES || clock.now() - now < ONE_MOMENT_MS) return { now, steady }
  }
}
