/**
 * The only file that knows what time it is and what chance brings. Everything else is handed a `Clock` and a
 * `Random`, so that the simulator can run the same code in virtual time and replay a run from its seed.
 */

import { readFileSync } from 'node:fs'
import { performance } from 'node:perf_hooks'

/** Milliseconds. Instants are counted from the epoch, so that a store can keep them. */
export interface Clock {
  /** Never goes backwards within a process, even when the system clock is set. May have a fraction. */
  now(): number
  /** Calls `callback` once, at `at` or later, never before. An instant in the past fires as soon as it can. */
  wakeAt(at: number, callback: () => void): Timer
  /**
   * Calls `callback` once what has arrived at sockets by now was handed over. Timers come first in a turn of the event
   * loop: after a loop that was blocked, they find answers missing that wait to be read. Absent: nothing waits.
   */
  afterArrivals?(callback: () => void): Timer
  /** Share of the time since the last call that the thread was busy (0…1); undefined where that has no meaning. */
  busyShare?(): number | undefined
  /**
   * The time on a scale that nobody can set and that processes share, in ms, and the name of that scale: for knowing how
   * long ago another process did something. Undefined, or absent, where there is no such scale.
   */
  steady?(): { readonly scale: string; readonly ms: number } | undefined
}

export interface Timer {
  /** After this the callback is not called; cancelling twice or late does nothing. */
  cancel(): void
}

export interface Random {
  /** Uniform in [0, 1). */
  next(): number
}

/** setTimeout fires at once beyond this many ms (it is a 32-bit number), so a longer sleep is a chain of naps. */
const LONGEST_NAP_MS = 2 ** 31 - 1

/** Where the counting of a clock began: for a clock in another thread of this process that agrees with it. */
export type TimeOrigin = number

/** The origin of a clock that counts steadily, by the counter that all threads share. */
export function timeOrigin(clock: Clock): TimeOrigin {
  return clock.now() - counterMs()
}

function counterMs(): number {
  return Number(process.hrtime.bigint() / 1000n) / 1000
}

/**
 * Real time, counted steadily from the moment the process started: setting the system clock while a crawl runs
 * neither breaks a visit interval nor leaves a request waiting for an hour. With the origin of another thread's clock it
 * tells the same time as that.
 */
export function systemClock(like?: TimeOrigin): Clock {
  const origin = like === undefined ? performance.timeOrigin : like + counterMs() - performance.now()
  let lastLoop = performance.eventLoopUtilization()
  const now = () => origin + performance.now()
  return {
    now,
    wakeAt(at, callback) {
      let handle: NodeJS.Timeout
      const nap = () => {
        const left = at - now()
        // Node may fire up to a millisecond early; a clock that keeps its word naps again.
        if (left <= 0) return callback()
        handle = setTimeout(nap, Math.min(Math.ceil(left), LONGEST_NAP_MS))
      }
      handle = setTimeout(nap, Math.min(Math.max(Math.ceil(at - now()), 0), LONGEST_NAP_MS))
      return { cancel: () => clearTimeout(handle) }
    },
    afterArrivals(callback) {
      const handle = setImmediate(callback)
      return { cancel: () => clearImmediate(handle) }
    },
    busyShare() {
      const loop = performance.eventLoopUtilization()
      const share = performance.eventLoopUtilization(loop, lastLoop).utilization
      lastLoop = loop
      return share
    },
    steady() {
      const scale = bootName()
      return scale === undefined ? undefined : { scale, ms: counterMs() }
    },
  }
}

let boot: string | undefined | null = null

/** The monotonic clock counts from the start of the machine, so its scale is named after that. Known on Linux. */
function bootName(): string | undefined {
  if (boot === null) {
    try {
      boot = readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim()
    } catch {
      boot = undefined
    }
  }
  return boot
}

export function systemRandom(): Random {
  return { next: Math.random }
}

/**
 * A small, well mixed generator (sfc32) for tests and simulations: the same seed gives the same numbers on every
 * machine.
 */
export function seededRandom(seed: number): Random {
  let a = seed | 0
  let b = (seed ^ 0x9e3779b9) | 0
  let c = 0x243f6a88
  let counter = 1
  const next = () => {
    const sum = (((a + b) | 0) + counter) | 0
    counter = (counter + 1) | 0
    a = b ^ (b >>> 9)
    b = (c + (c << 3)) | 0
    c = (c << 21) | (c >>> 11)
    c = (c + sum) | 0
    return (sum >>> 0) / 2 ** 32
  }
  // Neighbouring seeds start alike; a few turns part them.
  for (let i = 0; i < 12; i++) next()
  return { next }
}

/** Calls back once a second, until it is cancelled. */
export function everySecond(clock: Clock, callback: () => void): Timer {
  return every(clock, 1000, callback)
}

/** Calls back again and again, so long after the last time, until it is cancelled. */
export function every(clock: Clock, ms: number, callback: () => void): Timer {
  let timer: Timer
  const next = () => {
    timer = clock.wakeAt(clock.now() + ms, () => {
      next()
      callback()
    })
  }
  next()
  return { cancel: () => timer.cancel() }
}

/** What `within` answers when time is up. */
export const LATE = Symbol('late')

/** The promise's value, or `LATE` if it is not there after `ms`. The promise itself goes on; its end is ignored. */
export function within<T>(
  clock: Clock,
  ms: number,
  promise: PromiseLike<T>,
  timers?: Set<Timer>,
): Promise<T | typeof LATE> {
  if (ms === Number.POSITIVE_INFINITY) return Promise.resolve(promise)
  return new Promise((resolve, reject) => {
    const over = () => {
      timer.cancel()
      timers?.delete(timer)
    }
    const timer = clock.wakeAt(clock.now() + ms, () => {
      over()
      resolve(LATE)
    })
    timers?.add(timer)
    promise.then(
      (value) => {
        over()
        resolve(value)
      },
      (error) => {
        over()
        reject(error)
      },
    )
  })
}

/** Waits of one length, whose timers are gone once it is closed: user code that never returns must not keep a process. */
export class Waits {
  readonly #clock: Clock
  readonly ms: number
  readonly #timers = new Set<Timer>()

  constructor(clock: Clock, ms: number) {
    this.#clock = clock
    this.ms = ms
  }

  /** The promise's value, or `LATE`. After `close` nobody is told any more. */
  wait<T>(promise: PromiseLike<T>): Promise<T | typeof LATE> {
    return within(this.#clock, this.ms, promise, this.#timers)
  }

  close(): void {
    for (const timer of this.#timers) timer.cancel()
    this.#timers.clear()
  }
}

const UNIT_MS = { ms: 1, s: 1000, m: 60_000, min: 60_000, h: 3_600_000, d: 86_400_000 } as const

/** A duration: a number of milliseconds, or a number with a unit: `'250ms'`, `'5s'`, `'2m'`, `'12h'`, `'7d'`. */
export type Duration = number | `${number}${keyof typeof UNIT_MS}`

/** Milliseconds, or undefined if it is not a duration. */
export function parseDuration(value: unknown): number | undefined {
  if (typeof value === 'number') return Number.isFinite(value) && value >= 0 ? value : undefined
  if (typeof value !== 'string') return undefined
  const match = /^(\d+(?:\.\d+)?)\s*(ms|s|m|min|h|d)$/.exec(value.trim())
  return match ? Number(match[1]) * UNIT_MS[match[2] as keyof typeof UNIT_MS] : undefined
}

/** Digits only; a fraction or a sign is nobody's Retry-After. */
const SECONDS = /^\d{1,10}$/

/**
 * How long a Retry-After header asks to wait, in ms from `now`: a number of seconds or a date (RFC 9110, 10.2.3).
 * Undefined for anything else; a date that is over is 0.
 */
export function retryAfterMs(value: string | null | undefined, now: number): number | undefined {
  const text = value?.trim()
  if (!text) return undefined
  if (SECONDS.test(text)) return Number(text) * 1000
  const at = /[a-z]/i.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(at) ? undefined : Math.max(0, at - now)
}
