import { mergeStats, type ShardStats } from '../../engine/stats/merge.js'
import type { EndReason, Stats, Summary, WorkerStats } from '../../engine/stats/stats.js'
import { addCounts, Tally } from '../../engine/stats/tally.js'

/** What is known of a crawl whose workers never came to say anything. */
const NOTHING: Stats = mergeStats([])

/** What the workers of a crawl have told of themselves, as the statistics of one crawl. */
export class WorkerRunStats {
  readonly #slots: readonly number[]
  readonly #partitionsOf: (shard: number) => number
  /** Whether known pages wait in the frontier. */
  readonly #isContinuous: boolean
  readonly #last: (Stats | undefined)[]
  readonly #replaced: number[]
  /** What workers had counted that died and whose successors know nothing of it. */
  readonly #gone = new Tally()
  #lost = 0
  /** What happened in this thread. */
  readonly own = new Tally()

  constructor(slots: readonly number[], partitionsOf: (shard: number) => number, isContinuous = false) {
    this.#isContinuous = isContinuous
    this.#slots = slots
    this.#partitionsOf = partitionsOf
    this.#last = slots.map(() => undefined)
    this.#replaced = slots.map(() => 0)
  }

  reported(shard: number, stats: Stats): void {
    this.#last[shard] = stats
  }

  /** A worker died, and so many URLs with it. Where it had no durable store, its successor begins to count anew. */
  died(shard: number, isDurable: boolean, lost: number, pages: number): void {
    this.#replaced[shard]!++
    this.#lost += lost
    const last = this.#last[shard]
    this.#last[shard] = undefined
    if (isDurable) return
    if (last !== undefined) {
      const sum = addCounts(this.#gone.record(), last)
      this.#gone.restore(sum)
      Object.assign(this.#gone.changes, sum.changes)
    }
    // Pages that were not settled are visited again, and those settled since it last told count too.
    this.#gone.pages += pages - (last?.pages ?? 0)
  }

  /** Undefined as long as no worker has said anything. */
  now(): Stats | undefined {
    const told = this.#last.flatMap((stats, shard): ShardStats[] =>
      stats === undefined ? [] : [{ stats, slots: this.#slots[shard]! }],
    )
    if (told.length === 0) return undefined
    const all = mergeStats(told)
    return {
      ...all,
      ...addCounts(addCounts(all, this.own.record()), this.#gone.record()),
      lost: this.#lost,
      workers: this.#last.map((stats, shard) => this.#worker(stats, shard)),
    }
  }

  /** Requests that wait, as far as has been told, without known pages that wait for their time. */
  get due(): number {
    const known = this.#isContinuous ? (stats: Stats) => stats.feasibility?.pages ?? 0 : () => 0
    return this.#last.reduce((sum, stats) => sum + (stats ? Math.max(0, stats.pending - known(stats)) : 0), 0)
  }

  /** What the fastest worker has done lately, in pages a second. */
  get fastest(): number {
    return Math.max(0, ...this.#last.map((stats) => stats?.recentPagesPerSecond ?? 0))
  }

  /** How long a visit takes on average. */
  get visitMs(): number {
    let slotMs = 0
    let visits = 0
    for (const [shard, stats] of this.#last.entries()) {
      if (stats === undefined) continue
      slotMs += stats.stages.fetch.slotShare * stats.elapsedMs * this.#slots[shard]!
      visits += stats.stages.fetch.done
    }
    return visits === 0 ? 0 : slotMs / visits
  }

  summary(reason: EndReason): Summary {
    return { ...(this.now() ?? NOTHING), reason }
  }

  #worker(stats: Stats | undefined, shard: number): WorkerStats {
    return {
      pages: stats?.pages ?? 0,
      recentPagesPerSecond: stats?.recentPagesPerSecond ?? 0,
      pending: stats?.pending ?? 0,
      inFlight: stats?.inFlight ?? 0,
      hosts: stats?.hosts ?? 0,
      partitions: this.#partitionsOf(shard),
      busy: stats?.threadBusy ?? 0,
      replaced: this.#replaced[shard]!,
    }
  }
}

/** Why the crawl ended, from what its workers say. */
export function reasonOf(reasons: readonly EndReason[]): EndReason {
  const early = reasons.find((reason) => reason !== 'already-done' && reason !== 'done')
  return early ?? (reasons.includes('done') ? 'done' : 'already-done')
}
