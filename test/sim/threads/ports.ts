/** Ways between simulated threads. What is sent arrives in order, after a while, and as a copy. */

import type { Clock, Random } from '../../../src/time.js'
import type { SimThread } from './sim-thread.js'

/** Share of messages that are late: whoever should hear them was busy. */
const LATE_SHARE = 0.01
const USUAL_MS = 5

/** How long messages take. */
export class Delays {
  readonly #random: Random
  readonly #lateMs: number

  /** `lateMs`: the most that one takes which is late. */
  constructor(random: Random, lateMs: number) {
    this.#random = random
    this.#lateMs = lateMs
  }

  next(): number {
    const { next } = this.#random
    return next() < LATE_SHARE ? next() * this.#lateMs : next() * USUAL_MS
  }
}

/** One direction: each comes after those before it. */
export class Wire {
  readonly #clock: Clock
  readonly #delays: Delays
  #lastAt = 0

  constructor(clock: Clock, delays: Delays) {
    this.#clock = clock
    this.#delays = delays
  }

  send(arrive: () => void): void {
    this.#lastAt = Math.max(this.#lastAt, this.#clock.now() + this.#delays.next())
    this.#clock.wakeAt(this.#lastAt, arrive)
  }
}

/** As much of a MessagePort as a `Channel` uses, and no more. */
export class SimPort {
  /** Whose it is, from when it has come there. */
  owner: SimThread | undefined = undefined
  readonly #wire: Wire
  #other: SimPort | undefined = undefined
  #listener: ((message: unknown) => void) | undefined = undefined
  /** What was sent to here and not heard yet. */
  readonly #coming: unknown[] = []
  /** Those of them that have arrived before anybody listened. */
  #waiting = 0

  private constructor(wire: Wire) {
    this.#wire = wire
  }

  static pair(clock: Clock, delays: Delays): readonly [SimPort, SimPort] {
    const pair = [new SimPort(new Wire(clock, delays)), new SimPort(new Wire(clock, delays))] as const
    pair[0].#other = pair[1]
    pair[1].#other = pair[0]
    return pair
  }

  on(event: string, listener: (message: unknown) => void): void {
    if (event !== 'message') return
    this.#listener = listener
    for (; this.#waiting > 0; this.#waiting--) this.#wire.send(() => this.#arrive())
  }

  postMessage(message: unknown, transfer: readonly unknown[] = []): void {
    const copy = carried(message, transfer)
    const other = this.#other
    if (other === undefined || this.owner?.acts() !== true) return
    other.#coming.push(copy)
    this.#wire.send(() => other.#arrive())
  }

  /** As `receiveMessageOnPort`: it knows all that was sent to here, whether or not it would have been heard by now. */
  receive(): { readonly message: unknown } | undefined {
    return this.#coming.length === 0 ? undefined : { message: this.#coming.shift() }
  }

  removeAllListeners(): void {
    this.#listener = undefined
  }

  /** Neither end can send any more; what has been sent still arrives. */
  close(): void {
    if (this.#other !== undefined) this.#other.#other = undefined
    this.#other = undefined
  }

  #arrive(): void {
    if (this.owner === undefined || this.#listener === undefined) this.#waiting++
    else this.owner.run(() => this.#hear())
  }

  #hear(): void {
    if (this.#coming.length > 0) this.#listener?.(this.#coming.shift())
  }
}

/** What arrives of a message: a copy, in which ports are themselves. */
export function carried<T>(message: T, transfer: readonly unknown[] = []): T {
  const ports = transfer.filter((each) => each instanceof SimPort)
  if (ports.length === 0) return structuredClone(message, { transfer: transfer as never })
  const entries = Object.entries(message as object)
  const isPort = ([, value]: [string, unknown]) => ports.includes(value as SimPort)
  const rest = structuredClone(Object.fromEntries(entries.filter((entry) => !isPort(entry))))
  return { ...rest, ...Object.fromEntries(entries.filter(isPort)) } as T
}
