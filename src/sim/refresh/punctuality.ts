/** How late visits were. Pages that are overdue at the end count with how late they are by then. */
export interface Lateness {
  readonly meanMs: number
  /** The mean of the server with the largest. */
  readonly worstMs: number
  /** `worstMs` by the mean over servers; 1 if nothing was late. */
  readonly worstToMean: number
  /** Servers that had a page due in the first half of the scored time, and were not visited in all of it. */
  readonly starved: number
}

/** How late visits are, by server. */
export class Punctuality {
  readonly #sumMs: number[] = []
  readonly #count: number[] = []
  readonly #visits: number[] = []
  readonly #firstDue: number[] = []

  /** Adds a server. */
  add(): void {
    this.#sumMs.push(0)
    this.#count.push(0)
    this.#visits.push(0)
    this.#firstDue.push(Number.POSITIVE_INFINITY)
  }

  /** A visit began. */
  visited(server: number): void {
    this.#visits[server]!++
  }

  /** A visit to a known page began, or would be due, this long after its time. */
  late(server: number, ms: number): void {
    this.#sumMs[server]! += ms
    this.#count[server]!++
  }

  /** The server has a page that has been waiting for its visit since then. */
  waits(server: number, since: number): void {
    this.#firstDue[server] = Math.min(this.#firstDue[server]!, since)
  }

  /** The result. Servers that have been waiting since before `patience` without a visit are starved. */
  lateness(patience: number): Lateness {
    let sum = 0
    let count = 0
    let means = 0
    let servers = 0
    let worstMs = 0
    let starved = 0
    for (let server = 0; server < this.#sumMs.length; server++) {
      if (this.#visits[server] === 0 && this.#firstDue[server]! < patience) starved++
      if (this.#count[server] === 0) continue
      const mean = this.#sumMs[server]! / this.#count[server]!
      sum += this.#sumMs[server]!
      count += this.#count[server]!
      means += mean
      servers++
      worstMs = Math.max(worstMs, mean)
    }
    return {
      meanMs: count === 0 ? 0 : sum / count,
      worstMs,
      worstToMean: means === 0 ? 1 : (worstMs * servers) / means,
      starved,
    }
  }
}
