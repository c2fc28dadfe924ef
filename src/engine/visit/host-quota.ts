/** With several connections to a host, how soon one looks again whether a page under way there has failed. */
const RETRY_MS = 100

/**
 * `limit({ pagesPerHost })`: how many pages each host has given, and how many are under way. Without the limit it
 * remembers nothing.
 */
export class HostQuota {
  readonly #limit: number
  readonly #hosts = new Map<string, { delivered: number; inFlight: number; settled: number }>()

  constructor(limit: number) {
    this.#limit = limit
  }

  get isLimited(): boolean {
    return this.#limit < Number.POSITIVE_INFINITY
  }

  /** A page of the host is settled; answers with how many are. Those not settled yet do not survive a crash. */
  settle(host: string): number {
    const count = this.#hosts.get(host)
    return count === undefined ? 0 : ++count.settled
  }

  /** One of the settled pages does not count any more; answers with how many do. */
  uncount(host: string): number {
    const count = this.#hosts.get(host)
    if (count === undefined || count.settled === 0) return 0
    count.delivered--
    return --count.settled
  }

  /** Goes on from the count of an earlier run. */
  restore(host: string, delivered: number): void {
    this.#hosts.set(host, { delivered, inFlight: 0, settled: delivered })
  }

  /** Takes out the counts of hosts that go elsewhere. */
  remove(goes: (host: string) => boolean): [host: string, delivered: number][] {
    const gone: [string, number][] = []
    for (const [host, { delivered }] of this.#hosts) if (goes(host)) gone.push([host, delivered])
    for (const [host] of gone) this.#hosts.delete(host)
    return gone
  }

  /** Whether the host has given all the pages it may. */
  isFull(host: string): boolean {
    if (this.#limit === Number.POSITIVE_INFINITY) return false
    return (this.#hosts.get(host)?.delivered ?? 0) >= this.#limit
  }

  /** `go`: fetch, then `release`. `full`: no more of this host. `wait`: what is under way may fill it. */
  claim(host: string): 'go' | 'full' | 'wait' {
    if (this.#limit === Number.POSITIVE_INFINITY) return 'go'
    const count = this.#hosts.get(host) ?? { delivered: 0, inFlight: 0, settled: 0 }
    if (count.delivered >= this.#limit) return 'full'
    if (count.delivered + count.inFlight >= this.#limit) return 'wait'
    count.inFlight++
    this.#hosts.set(host, count)
    return 'go'
  }

  release(host: string, delivered: boolean): void {
    const count = this.#hosts.get(host)
    if (count === undefined) return
    count.inFlight--
    if (delivered) count.delivered++
  }

  retryAt(now: number): number {
    return now + RETRY_MS
  }
}
