import { performance } from 'node:perf_hooks'
import { KumoError } from '../errors.js'
import type { Clock, Timer } from '../time.js'
import { AlarmQueue } from './alarm-queue.js'

/** Midnight, 1 January 2025: times are as large, and rounded the same, as in a real crawl. */
const DEFAULT_START = 1_735_689_600_000

const DAY_MS = 86_400_000
/** A simulated crawl that is not over after this much virtual time most likely never will be. */
const DEFAULT_BOUND_MS = 30 * DAY_MS
/** Real time for work that virtual time cannot see, such as the first `import()` of a module. */
const DEFAULT_PATIENCE_MS = 2000
/** Maximum number of timers at one instant. 100,000 hosts need a few each; timers that set each other never stop. */
const MAX_TIMERS_PER_INSTANT = 5_000_000
/**
 * Maximum number of clock readings in one turn of the event loop. Starting 100,000 visits at once takes two million. A
 * promise loop that waits for nothing never ends its turn, and would hang the process silently.
 */
const MAX_READINGS_PER_TURN = 10_000_000

/** When to give up. */
export interface DriveBounds {
  /** Maximum virtual time, in ms. Default: 30 days. */
  readonly withinMs?: number
  /** Real time to wait, in ms, while the promise is pending and no timer is set. Default: 2 s. */
  readonly patienceMs?: number
}

/** A clock that only moves when it is driven, so that waiting takes no real time. */
export interface VirtualClock extends Clock {
  /**
   * Drives the clock until the promise settles, and returns its value: everything that can happen now happens, then
   * time jumps to the next timer, and so on. Rejects if the promise rejects, if a timer's callback throws, if the
   * promise is pending and no timer is left, or if a bound is exceeded.
   *
   * Time does not wait for real work (files, sockets, a first `import()`) unless no timer is set at all.
   */
  run<T>(until: PromiseLike<T>, bounds?: DriveBounds): Promise<T>
  /** Advances time by `ms` and runs the timers that become due. */
  advance(ms: number): Promise<void>
  /** For simulated work: resolves after `ms` of virtual time. */
  sleep(ms: number): Promise<void>
  /** Number of timers that are set. */
  readonly timers: number
}

/**
 * Creates a clock for simulations. Pass it to a crawler and drive it.
 *
 * @example
 * const clock = virtualClock()
 * const web = simulatedWeb({ seed: 1, hosts: 10, clock })
 * const summary = await clock.run(new Crawler().seeds(web.seeds).clock(clock).fetcher(web).run())
 */
export function virtualClock(start: number = DEFAULT_START): VirtualClock {
  return new DrivenClock(start)
}

class DrivenClock implements VirtualClock {
  readonly #alarms = new AlarmQueue()
  #now: number
  #driven = false
  #atThisInstant = 0
  #readings = 0

  constructor(start: number) {
    this.#now = start
  }

  now(): number {
    if (++this.#readings > MAX_READINGS_PER_TURN) {
      this.#readings = 0
      throw stuck(
        `promise loop: the clock was read ${MAX_READINGS_PER_TURN} times in one turn of the event loop`,
      )
    }
    return this.#now
  }

  /** A time in the past counts as now, so overdue timers keep the order in which they were set. */
  wakeAt(at: number, callback: () => void): Timer {
    return this.#alarms.add(Math.max(at, this.#now), callback)
  }

  get timers(): number {
    return this.#alarms.size
  }

  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => void this.wakeAt(this.#now + ms, resolve))
  }

  async run<T>(until: PromiseLike<T>, bounds: DriveBounds = {}): Promise<T> {
    const { withinMs = DEFAULT_BOUND_MS, patienceMs = DEFAULT_PATIENCE_MS } = bounds
    let settled = false
    const settle = () => {
      settled = true
    }
    until.then(settle, settle)
    await this.#drive(async () => {
      const startedAt = this.#now
      while (!settled) {
        if (this.#alarms.size === 0) {
          const more = await realWork(patienceMs, () => settled || this.#alarms.size > 0)
          if (!more)
            throw stuck(`deadlock: the promise is pending and no timer is left${this.#since(startedAt)}`)
        } else if (this.#alarms.first!.at > startedAt + withinMs) {
          throw stuck(`the promise is still pending${this.#since(startedAt)}; the bound is ${withinMs} ms`)
        } else {
          await this.#ringFirst()
        }
      }
    })
    return until
  }

  async advance(ms: number): Promise<void> {
    await this.#drive(async () => {
      const until = this.#now + ms
      while (this.#alarms.size > 0 && this.#alarms.first!.at <= until) await this.#ringFirst()
      this.#now = until
    })
  }

  /** Two drivers would each skip what the other waits for. */
  async #drive(how: () => Promise<void>): Promise<void> {
    if (this.#driven)
      throw stuck('it is already being driven: to drive several crawls, use one run(Promise.all([…]))')
    this.#driven = true
    try {
      await turn()
      await how()
    } finally {
      this.#driven = false
    }
  }

  /** One timer at a time, as in Node: everything that follows from one has happened before the next one runs. */
  async #ringFirst(): Promise<void> {
    const alarm = this.#alarms.first!
    if (alarm.at > this.#now) {
      this.#now = alarm.at
      this.#atThisInstant = 0
    } else if (++this.#atThisInstant > MAX_TIMERS_PER_INSTANT) {
      throw stuck(`timer loop: ${MAX_TIMERS_PER_INSTANT} timers fired at one instant, each setting the next`)
    }
    alarm.cancel()
    alarm.callback()
    await turn()
    this.#readings = 0
  }

  #since(startedAt: number): string {
    return `, ${this.#now - startedAt} virtual ms after the drive began (now ${new Date(this.#now).toISOString()})`
  }
}

/** Lets everything happen that only waits for promises: they settle before the next turn of the event loop. */
function turn(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve))
}

/** Waits in real time; false if the condition does not become true in time. */
async function realWork(patienceMs: number, condition: () => boolean): Promise<boolean> {
  const deadline = performance.now() + patienceMs
  while (!condition()) {
    if (performance.now() > deadline) return false
    await new Promise((resolve) => void setTimeout(resolve, 1))
  }
  return true
}

function stuck(message: string): KumoError {
  return new KumoError('KUMO_CONTRACT_BROKEN', `virtual clock: ${message}`)
}
