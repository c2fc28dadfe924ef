/**
 * The only file that reads the system's time and random numbers. Everything else gets a `Clock` and a `Random`, so that
 * the simulator can run the same code in virtual time and replay a run from its seed.
 */

import { readFileSync } from 'node:fs'
import { performance } from 'node:perf_hooks'

/** All times are in milliseconds. Instants count from the epoch, so that a store can keep them. */
export interface Clock {
  /** Never goes backwards within a process, even if the system clock is changed. May have a fraction. */
  now(): number
  /** Calls `callback` once, at `at` or later, never earlier. For an instant in the past, as soon as possible. */
  wakeAt(at: number, callback: () => void): Timer
  /**
   * Calls `callback` after the data that sockets have received so far was delivered. Timers run first in a turn of the
   * event loop: if the loop was blocked, they fire before responses that have already arrived. Absent: there are no
   * sockets.
   */
  afterArrivals?(callback: () => void): Timer
  /** Share of the time since the last call in which the thread was busy (0…1); undefined in virtual time. */
  busyShare?(): number | undefined
  /**
   * The time on a scale that cannot be changed and that processes share, and the name of that scale. It tells how long
   * ago another process did something. Undefined, or absent, if there is no such scale.
   */
  steady?(): { readonly scale: string; readonly ms: number } | undefined
  /**
   * The system clock, which may be changed, and which goes on while the machine sleeps. Absent: `now` does that too.
   */
  wall?(): number
}

export interface Timer {
  /** The callback will not be called. Cancelling twice, or too late, does nothing. */
  cancel(): void
}

export interface Random {
  /** Uniform in [0, 1). */
  next(): number
}

/** `setTimeout` fires at once if given more (a 32-bit number), so longer waits are split. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1

/** The zero point of a clock, from which another thread of this process can create a clock that agrees with it. */
export type TimeOrigin = number

/** The origin of a monotonic clock, relative to the counter that all threads share. */
export function timeOrigin(clock: Clock): TimeOrigin {
  return clock.now() - counterMs()
}

function counterMs(): number {
  return Number(process.hrtime.bigint() / 1000n) / 1000
}

/**
 * Real time, monotonic from the start of the process: changing the system clock during a crawl neither shortens a delay
 * nor makes a request wait for an hour. With the origin of another thread's clock, it agrees with that clock.
 */
export function systemClock(like?: TimeOrigin): Clock {
  const origin = like === undefined ? performance.timeOrigin : like + counterMs() - performance.now()
  let lastLoop = performance.eventLoopUtilization()
  const now = () => origin + performance.now()
  return {
    now,
    wakeAt(at, callback) {
      let handle: NodeJS.Timeout
      const onTimeout = () => {
        const left = at - now()
        // Node may fire up to a millisecond early, so wait again.
        if (left <= 0) return callback()
        handle = setTimeout(onTimeout, Math.min(Math.ceil(left), MAX_TIMEOUT_MS))
      }
      handle = setTimeout(onTimeout, Math.min(Math.max(Math.ceil(at - now()), 0), MAX_TIMEOUT_MS))
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
    wall: Date.now,
  }
}

/** The next turn of the event loop: promises that were settled by then have had their callbacks. */
export function nextTurn(): Promise<undefined> {
  return new Promise((resolve) => void setImmediate(resolve, undefined))
}

let boot: string | undefined | null = null

/** The monotonic clock starts with the machine, so the boot ID names its scale. Available on Linux only. */
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
 * A small generator with good distribution (sfc32) for tests and simulations: the same seed gives the same numbers on
 * every machine.
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
  // Neighbouring seeds start with similar numbers; a few rounds separate them.
  for (let i = 0; i < 12; i++) next()
  return { next }
}

/** Calls back once a second until cancelled. */
export function everySecond(clock: Clock, callback: () => void): Timer {
  return every(clock, 1000, callback)
}

/** Calls back every `ms` until cancelled. */
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

/** Whether a value is a promise. User code returns promises of any library and of any realm. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as { then?: unknown } | null | undefined)?.then === 'function'
}

/** The result of `within` when the time is up. */
export const LATE = Symbol('late')

/** The promise's value, or `LATE` if it has not settled after `ms`; how it settles later is ignored. */
export function within<T>(
  clock: Clock,
  ms: number,
  promise: PromiseLike<T>,
  timers?: Set<Timer>,
): Promise<T | typeof LATE> {
  if (ms === Number.POSITIVE_INFINITY) return Promise.resolve(promise)
  return new Promise((resolve, reject) => {
    const clear = () => {
      timer.cancel()
      timers?.delete(timer)
    }
    const timer = clock.wakeAt(clock.now() + ms, () => {
      clear()
      resolve(LATE)
    })
    timers?.add(timer)
    promise.then(
      (value) => {
        clear()
        resolve(value)
      },
      (error) => {
        clear()
        reject(error)
      },
    )
  })
}

/** Timeouts of equal length. `close` clears their timers: user code that never returns must not keep the process alive. */
export class Waits {
  readonly #clock: Clock
  readonly ms: number
  readonly #timers = new Set<Timer>()

  constructor(clock: Clock, ms: number) {
    this.#clock = clock
    this.ms = ms
  }

  /** The promise's value, or `LATE`. After `close` there is no timeout any more. */
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

/** Milliseconds, or undefined if the value is not a duration. */
export function parseDuration(value: unknown): number | undefined {
  if (typeof value === 'number') return Number.isFinite(value) && value >= 0 ? value : undefined
  if (typeof value !== 'string') return undefined
  const match = /^(\d+(?:\.\d+)?)\s*(ms|s|m|min|h|d)$/.exec(value.trim())
  return match ? Number(match[1]) * UNIT_MS[match[2] as keyof typeof UNIT_MS] : undefined
}

/** Digits only: a Retry-After has neither a sign nor a fraction. */
const SECONDS = /^\d{1,10}$/

/**
 * How long a Retry-After header asks to wait, in ms from `now`: a number of seconds or a date (RFC 9110, 10.2.3).
 * Undefined for anything else; 0 for a date in the past.
 */
export function retryAfterMs(value: string | null | undefined, now: number): number | undefined {
  const text = value?.trim()
  if (!text) return undefined
  if (SECONDS.test(text)) return Number(text) * 1000
  const at = parseHttpDate(text) ?? parseW3cDate(text)
  return at === undefined ? undefined : Math.max(0, at - now)
}

/** No date is longer. The bound keeps the patterns below away from hostile input. */
const LONGEST_DATE = 64

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
const DAY = /(?:[a-z]{2,9},? )?(\d\d?)[ -]([a-z]{3})[a-z]{0,6}[ -](\d{4}|\d\d)/
const TIME = /(\d\d?):(\d\d)(?::(\d\d))? ?([a-z]{1,3}|[+-]\d\d:?\d\d)/
/** `Sun, 06 Nov 1994 08:49:37 GMT`, the obsolete `Sunday, 06-Nov-94 08:49:37 GMT`, and the time zones of RFC 822. */
const DAY_FIRST = new RegExp(`^${DAY.source} ${TIME.source}$`, 'i')
/** `Sun Nov  6 08:49:37 1994`: the format of C's `asctime()`, in UTC. */
const MONTH_FIRST = /^[a-z]{3} ([a-z]{3}) (\d\d?) (\d\d):(\d\d):(\d\d) (\d{4})$/i

const W3C_TIME = /(\d\d?):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?\s?(z|[+-]\d\d(?::?\d\d)?)?/
const W3C = new RegExp(`^(\\d{4})(?:-(\\d\\d?)(?:-(\\d\\d?)(?:[t ]${W3C_TIME.source})?)?)?$`, 'i')

/**
 * The instant, in ms since the epoch, of a date in one of the formats of HTTP (RFC 9110, 5.6.7) or of mail and RSS
 * (RFC 822), with common mistakes that cannot be misread. Undefined for anything else.
 */
export function parseHttpDate(written: string): number | undefined {
  if (written.length > LONGEST_DATE) return undefined
  const text = written.trim().replace(/\s+/g, ' ')
  const dayFirst = DAY_FIRST.exec(text)
  if (dayFirst !== null) {
    const [, day, month, year, hour, minute, second, zone] = dayFirst
    return instant(fullYear(year!), monthNumber(month!), day!, hour, minute, second, zone!)
  }
  const monthFirst = MONTH_FIRST.exec(text)
  if (monthFirst === null) return undefined
  const [, month, day, hour, minute, second, year] = monthFirst
  return instant(Number(year), monthNumber(month!), day!, hour, minute, second, 'z')
}

/**
 * The same for the W3C profile of ISO 8601, which sitemaps use: `2024`, `2024-05`, `2024-05-06T07:08:09.5+02:00`. Without
 * a time zone it is UTC.
 */
export function parseW3cDate(written: string): number | undefined {
  if (written.length > LONGEST_DATE) return undefined
  const match = W3C.exec(written)
  if (match === null) return undefined
  const [, year, month = '1', day = '1', hour, minute, second, fraction = '0', zone = 'z'] = match
  const ms = instant(Number(year), Number(month), day, hour, minute, second, zone)
  return ms === undefined ? undefined : ms + Math.floor(Number(`0.${fraction}`) * 1000)
}

function instant(
  year: number,
  month: number,
  day: string,
  hour = '0',
  minute = '0',
  second = '0',
  zone: string,
): number | undefined {
  const offset = zoneOffsetMs(zone)
  // `Date.UTC` takes years below 100 for those of the last century.
  if (offset === undefined || year < 100 || month < 1 || month > 12) return undefined
  if (Number(day) < 1 || Number(day) > new Date(Date.UTC(year, month, 0)).getUTCDate()) return undefined
  // `Date.UTC` counts a leap second as the first second of the next minute.
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 60) return undefined
  return Date.UTC(year, month - 1, Number(day), Number(hour), Number(minute), Number(second)) - offset
}

/** 1 to 12; 0 for an unknown name. */
function monthNumber(name: string): number {
  return MONTHS.indexOf(name.toLowerCase()) + 1
}

/** RFC 2822: two digits below 50 are a year of this century. */
function fullYear(digits: string): number {
  if (digits.length === 4) return Number(digits)
  return Number(digits) + (Number(digits) < 50 ? 2000 : 1900)
}

/** Hours from UTC of the zone names in RFC 822. */
const ZONES: Readonly<Record<string, number>> = {
  ...{ z: 0, ut: 0, utc: 0, gmt: 0 },
  ...{ edt: -4, est: -5, cdt: -5, cst: -6, mdt: -6, mst: -7, pdt: -7, pst: -8 },
}

/** How far a time zone is ahead of UTC; undefined for an unknown name. */
function zoneOffsetMs(zone: string): number | undefined {
  const sign = zone[0] === '-' ? -1 : zone[0] === '+' ? 1 : undefined
  if (sign === undefined) {
    const hours = Object.hasOwn(ZONES, zone.toLowerCase()) ? ZONES[zone.toLowerCase()]! : undefined
    return hours === undefined ? undefined : hours * UNIT_MS.h
  }
  return sign * (Number(zone.slice(1, 3)) * UNIT_MS.h + Number(zone.slice(3).replace(':', '')) * UNIT_MS.m)
}
