/**
 * The limit on what all connections of all threads receive together. It is a token bucket in the form of one number in
 * shared memory: the instant at which the line has carried everything that was claimed so far. Whoever claims bytes waits
 * until that instant.
 *
 * A request claims what a response is expected to have before it is sent, because a response that fits the buffers of the
 * system arrives whether it is read or not; what is missing is claimed chunk by chunk, and what is left is returned.
 */

/** Time that was not used may be used up later for so long: timers are late by some milliseconds. */
const BURST_MICROS = 20_000n
/** How much a new response counts for the expected size. */
const WEIGHT = 0.1
const FIRST_EXPECTED_BYTES = 16 * 1024
/** More arrives in chunks, which are claimed one by one. */
const MOST_EXPECTED_BYTES = 64 * 1024
/** No new visit starts while the line is claimed for longer. */
const MOST_AHEAD_MS = 1000

/** The memory that the threads of a crawl share. */
export function bandwidthMemory(): SharedArrayBuffer {
  return new SharedArrayBuffer(BigInt64Array.BYTES_PER_ELEMENT)
}

export class Bandwidth {
  readonly #bytesPerSecond: number
  /** In microseconds on the clock that the threads share. */
  readonly #freeAt: BigInt64Array
  #expected = FIRST_EXPECTED_BYTES

  constructor(bytesPerSecond: number, memory: SharedArrayBuffer = bandwidthMemory()) {
    this.#bytesPerSecond = bytesPerSecond
    this.#freeAt = new BigInt64Array(memory)
  }

  /** What a response probably has, in bytes. */
  get expectedBytes(): number {
    return this.#expected
  }

  /** Claims bytes; returns how many milliseconds to wait for them, 0 or less if none. */
  claim(bytes: number, now: number): number {
    const nowMicros = microsOf(now)
    const cost = this.#costOf(bytes)
    for (;;) {
      const free = Atomics.load(this.#freeAt, 0)
      let start = nowMicros - BURST_MICROS
      if (free > start) start = free
      const next = start + cost
      if (Atomics.compareExchange(this.#freeAt, 0, free, next) !== free) continue
      // Until the line is free, not until it has carried these bytes.
      return Number(start - nowMicros) / 1000
    }
  }

  /** A response is complete: returns what was claimed for it and did not come. */
  settle(claimed: number, received: number): void {
    this.#expected += (Math.min(received, MOST_EXPECTED_BYTES) - this.#expected) * WEIGHT
    if (received < claimed) Atomics.sub(this.#freeAt, 0, this.#costOf(claimed - received))
  }

  /** Whether so much is claimed that nothing should be added now. */
  isFull(now: number): boolean {
    return Number(Atomics.load(this.#freeAt, 0) - microsOf(now)) / 1000 > MOST_AHEAD_MS
  }

  #costOf(bytes: number): bigint {
    return BigInt(Math.round((bytes * 1e6) / this.#bytesPerSecond))
  }
}

function microsOf(ms: number): bigint {
  return BigInt(Math.round(ms * 1000))
}
