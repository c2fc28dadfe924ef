import type { Clock } from '../../../time.js'

/** What a commit remembers of time. */
export interface TimeMark {
  /** The instant of the commit, on the store's scale. */
  readonly at: number
  /** The same as the system clock told it. */
  readonly wall?: number | undefined
  /** The same on a scale that nobody can set, if the clock has one. */
  readonly steady?: { readonly scale: string; readonly ms: number } | undefined
}

/**
 * Time as a store tells it: it goes on smoothly from one run to the next, whatever happened to the system clock between
 * them. Without this, a clock that is set back by an hour would leave every host resting for an hour, and one that is
 * set forward would cut every pause short.
 */
export class TimeScale {
  readonly #clock: Clock
  /** How far the clock is ahead of the store's time: for the scale of another thread, whose clock agrees with this. */
  readonly offset: number

  /** Goes on from the last commit, or, with an offset, as the scale that has it. */
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
 * How long ago the last commit was. Since the machine was started there is a clock that cannot be set; otherwise the
 * system clock must be believed, unless it says that the commit is still to come.
 */
function offsetFrom(clock: Clock, { at, wall = at, steady: then }: TimeMark): number {
  const { now, steady } = bothOf(clock)
  const isSteady = then !== undefined && steady !== undefined && steady.scale === then.scale
  const elapsed = isSteady ? steady.ms - then.ms : now - wall
  return now - (at + Math.max(0, elapsed))
}

/** Two readings that are further apart were not made at one moment. */
const ONE_MOMENT_MS = 0.1
const TRIES = 10

/** Both clocks at one moment: a thread that has to wait for its turn between two questions would take that for time. */
function bothOf(clock: Clock): { now: number; steady: TimeMark['steady'] } {
  for (let i = 1; ; i++) {
    const now = clock.now()
    const steady = clock.steady?.()
    if (i === TRIES || clock.now() - now < ONE_MOMENT_MS) return { now, steady }
  }
}
