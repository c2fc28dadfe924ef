import type { EndReason, Summary } from '../../engine/stats/stats.js'
import type { StoreHealth } from '../../stores/contract.js'

/** Workers that are members of a crawl which processes share, as the thread sees them that started them. */
export class Members {
  readonly #reports: ({ readonly health: StoreHealth; readonly at: number } | undefined)[]
  readonly #now: () => number
  #mayEnd = false

  constructor(shards: number, now: () => number) {
    this.#reports = Array.from({ length: shards }, () => undefined)
    this.#now = now
  }

  /** `health` undefined: it is no member any more. */
  reported(shard: number, health: StoreHealth | undefined): void {
    this.#reports[shard] = health && { health, at: this.#now() }
  }

  /** The program has nothing more to add. Calls `send` unless all workers know. */
  mayEnd(send: () => void): void {
    if (!this.#mayEnd) send()
    this.#mayEnd = true
  }

  /** A worker has come that knows nothing. */
  replaced(): void {
    this.#mayEnd = false
  }

  partitionsOf(shard: number): number {
    return this.#reports[shard]?.health.partitions ?? 0
  }

  /** The health of the process: that of its least healthy worker. What a worker said gets older until it speaks again. */
  health(): StoreHealth | undefined {
    const now = this.#now()
    const all = this.#reports.flatMap((report): StoreHealth[] => {
      if (report === undefined) return []
      const { health, at } = report
      const leaseLeftMs = Math.max(0, health.leaseLeftMs - (now - at))
      const isReachable = health.isReachable && leaseLeftMs > 0
      return [{ ...health, leaseLeftMs, isReachable, lastCommitMs: health.lastCommitMs + now - at }]
    })
    const [first] = all
    if (first === undefined) return undefined
    const message = all.find((each) => each.message !== undefined)?.message
    return {
      isReachable: all.every(({ isReachable }) => isReachable),
      leaseLeftMs: Math.min(...all.map(({ leaseLeftMs }) => leaseLeftMs)),
      lastCommitMs: Math.max(...all.map(({ lastCommitMs }) => lastCommitMs)),
      partitions: all.reduce((sum, { partitions }) => sum + partitions, 0),
      partitionsOfCrawl: first.partitionsOfCrawl,
      nodes: Math.max(...all.map(({ nodes }) => nodes)),
      left: Math.max(...all.map(({ left }) => left)),
      ...(message !== undefined && { message }),
    }
  }
}

/** Why a member ended; undefined if it had nothing to do, so that others say what became of the crawl. */
export function reasonOfMember({ reason, requests }: Summary): EndReason | undefined {
  return reason === 'done' && requests === 0 ? undefined : reason
}
