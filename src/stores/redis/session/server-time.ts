import type { Clock } from '../../../time.js'
import type { RedisClient } from '../client/contract.js'

/** Readings of the server's clock; the one with the shortest way counts. */
const READINGS = 5

/**
 * Instants in Redis are on the server's clock, because the clocks of machines differ. A node reads that clock when it joins
 * and goes on by its own.
 */
export class ServerTime {
  readonly #clock: Clock
  /** How far the server's clock is ahead. */
  #offset = 0
  /** How wrong that may be: half of the way there and back. */
  #error = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  now(): number {
    return this.#clock.now()
  }

  /** By how much the server's clock is ahead, as far as that is certain: 0 if the difference may be that of the way. */
  get aheadMs(): number {
    return Math.sign(this.#offset) * Math.max(0, Math.abs(this.#offset) - this.#error)
  }

  /** Asks for the server's clock. */
  async read(client: RedisClient): Promise<void> {
    let shortest = Number.POSITIVE_INFINITY
    for (let i = 0; i < READINGS; i++) {
      const sentAt = this.#clock.now()
      const [reply] = await client.read([['TIME']])
      const answeredAt = this.#clock.now()
      if (answeredAt - sentAt >= shortest) continue
      shortest = answeredAt - sentAt
      const [seconds, micros] = (reply as readonly unknown[]).map(Number)
      this.learn(seconds! * 1000 + micros! / 1000, sentAt, answeredAt)
    }
  }

  /** The server's clock showed `server` between the two instants. */
  learn(server: number, sentAt: number, answeredAt: number): void {
    this.#offset = server - (sentAt + answeredAt) / 2
    this.#error = (answeredAt - sentAt) / 2
  }

  /**
   * In tenths of a millisecond, rounded up, and later rather than earlier: neither rounding nor the way to the server may
   * shorten a pause that another node keeps. 0 stands for "never" on both scales.
   */
  toServer(instant: number): number {
    return instant === 0 ? 0 : Math.ceil((instant + this.#offset + this.#error) * 10) / 10
  }

  fromServer(instant: number): number {
    return instant === 0 ? 0 : instant - this.#offset + this.#error
  }
}
