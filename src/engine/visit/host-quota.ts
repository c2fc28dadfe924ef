/** With several connections per host: how soon to check again whether a page in flight has failed. */
const RETRY_MS = 100

/**
 * `limit({ pagesPerHost })`, `host({ maxPages })` or `pagesPerSite`: counts the delivered pages and those in flight of each host or site.
 * Without a limit it counts nothing.
 */
export class HostQuota {
  readonly isLimited: boolean
  readonly #limit: number
  readonly #limitOf: ((host: string) => number | undefined) | undefined
  readonly #hosts = new Map<string, { delivered: number; inFlight: number; settled: number }>()

  /** @param limitOf The limit of a host that has its own. */
  constructor(limit: number, limitOf?: (host: string) => number | undefined) {
    this.#limit = limit
    this.#limitOf = limitOf
    this.isLimited = limit < Number.POSITIVE_INFINITY || limitOf !== undefined
  }

  /** Whether the pages of this host are limited. Those of other hosts are not counted. */
  limits(host: string): boolean {
    return this.#limitFor(host) < Number.POSITIVE_INFINITY
  }

  /** Counts a settled page and returns their number. Pages that are not settled do not survive a crash. */
  settle(host: string): number {
    const count = this.#hosts.get(host)
    return count === undefined ? 0 : ++count.settled
  }

  /** Subtracts a settled page and returns the number of those left. */
  uncount(host: string): number {
    const count = this.#hosts.get(host)
    if (count === undefined || count.settled === 0) return 0
    count.delivered--
    return --count.settled
  }

  /** Restores the count of an earlier run or of another shard. */
  restore(host: string, delivered: number): void {
    this.#hosts.set(host, { delivered, inFlight: 0, settled: delivered })
  }

  /** Removes and returns the counts of hosts that move to another shard. */
  remove(moves: (host: string) => boolean): [host: string, delivered: number][] {
    const removed: [string, number][] = []
    for (const [host, { delivered }] of this.#hosts) if (moves(host)) removed.push([host, delivered])
    for (const [host] of removed) this.#hosts.delete(host)
    return removed
  }

  /** Whether the host has reached its limit. */
  isFull(host: string): boolean {
    if (!this.isLimited) return false
    return (this.#hosts.get(host)?.delivered ?? 0) >= this.#limitFor(host)
  }

  /** `go`: fetch, then `release`. `full`: the limit is reached. `wait`: the pages in flight may reach it. */
  claim(host: string): 'go' | 'full' | 'wait' {
    const limit = this.#limitFor(host)
    if (limit === Number.POSITIVE_INFINITY) return 'go'
    const count = this.#hosts.get(host) ?? { delivered: 0, inFlight: 0, settled: 0 }
    if (count.delivered >= limit) return 'full'
    if (count.delivered + count.inFlight >= limit) return 'wait'
    count.inFlight++
    this.#hosts.set(host, count)
    return 'go'
  }

  release(host: string, delivered: boolean): void {
    const count = this.limits(host) ? this.#hosts.get(host) : undefined
    if (count === undefined) return
    count.inFlight--
    if (delivered) count.delivered++
  }

  #limitFor(host: string): number {
    return this.#limitOf?.(host) ?? this.#limit
  }

  retryAt(now: number): number {
    return now + RETRY_MS
  }
}
