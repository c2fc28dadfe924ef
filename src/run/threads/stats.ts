import { mergeStats, type ShardStats } from '../../engine/stats/merge.js'
import type { EndReason, Stats, Summary, WorkerStats } from '../../engine/stats/stats.js'
import { addCounts, Tally } from '../../engine/stats/tally.js'

/** The statistics of a crawl whose workers never reported any. */
const NOTHING: Stats = mergeStats([])

/** Merges what the workers have reported into the statistics of one crawl. */
export class WorkerRunStats {
  readonly #slots: readonly number[]
  readonly #partitionsOf: (shard: number) => number
  /** Whether known pages wait in the frontier. */
  readonly #isContinuous: boolean
  readonly #last: (Stats | undefined)[]
  /** Workers of which nothing that is pending is due soon. */
  readonly #isForLater: boolean[]
  readonly #replaced: number[]
  /**
   * Partitions that have left a worker are not counted anywhere until they arrive, so what the worker reports in between
   * is held back: one report with them and one without them would not add up.
   */
  #held: { readonly shard: number; stats: Stats; isForLater: boolean } | undefined = undefined
  /** Counts of workers that died and whose replacements start from zero. */
  readonly #deadWorkers = new Tally()
  #lost = 0
  /** What happened on this thread. */
  readonly own = new Tally()

  constructor(slots: readonly number[], partitionsOf: (shard: number) => number, isContinuous = false) {
    this.#isContinuous = isContinuous
    this.#slots = slots
    this.#partitionsOf = partitionsOf
    this.#last = slots.map(() => undefined)
    this.#isForLater = slots.map(() => false)
    this.#replaced = slots.map(() => 0)
  }

  reported(shard: number, stats: Stats, isForLater = false): void {
    if (this.#held?.shard === shard) {
      this.#held.stats = stats
      this.#held.isForLater = isForLater
      return
    }
    this.#last[shard] = stats
    this.#isForLater[shard] = isForLater
  }

  moved(kind: 'released' | 'adopted', shard: number, stats: Stats): void {
    if (kind === 'released') {
      this.#held = { shard, stats, isForLater: this.#isForLater[shard]! }
      return
    }
    this.#release()
    this.#last[shard] = stats
  }

  #release(): void {
    const held = this.#held
    this.#held = undefined
    if (held !== undefined) this.reported(held.shard, held.stats, held.isForLater)
  }

  /** A worker died, and `lost` URLs with it. Without a durable store its replacement starts counting from zero. */
  died(shard: number, isDurable: boolean, lost: number, pages: number): void {
    if (this.#held?.shard === shard) this.#release()
    this.#replaced[shard]!++
    this.#lost += lost
    const last = this.#last[shard]
    this.#last[shard] = undefined
    if (isDurable) return
    if (last !== undefined) {
      const sum = addCounts(this.#deadWorkers.record(), last)
      this.#deadWorkers.restore(sum)
      Object.assign(this.#deadWorkers.changes, sum.changes)
    }
    // Pages that were not settled are visited again; those settled since its last report count too.
    this.#deadWorkers.pages += pages - (last?.pages ?? 0)
  }

  /** Undefined until a worker has reported. */
  now(): Stats | undefined {
    const reports = this.#last.flatMap((stats, shard): ShardStats[] =>
      stats === undefined ? [] : [{ stats, slots: this.#slots[shard]! }],
    )
    if (reports.length === 0) return undefined
    const all = mergeStats(reports)
    return {
      ...all,
      ...addCounts(addCounts(all, this.own.record()), this.#deadWorkers.record()),
      lost: this.#lost,
      workers: this.#last.map((stats, shard) => this.#worker(stats, shard)),
    }
  }

  /** Waiting requests, according to the latest reports. */
  get pending(): number {
    return this.#last.reduce((sum, stats) => sum + (stats?.pending ?? 0), 0)
  }

  /** The same without known pages that are not due yet, and without workers that have nothing to do for long. */
  get due(): number {
    const pages = this.#isContinuous ? (stats: Stats) => stats.feasibility?.pages ?? 0 : () => 0
    const known = (stats: Stats) => pages(stats) + (stats.feeds?.feeds ?? 0)
    return this.#last.reduce((sum, stats, shard) => {
      if (stats === undefined || this.#isForLater[shard]) return sum
      return sum + Math.max(0, stats.pending - known(stats))
    }, 0)
  }

  /** Visits in flight, and a number that grows whenever one ends. Idle: most slots are free. */
  get progress(): { readonly inFlight: number; readonly ended: number; readonly isIdle: boolean } {
    const slots = this.#slots.reduce((sum, each) => sum + each)
    let inFlight = 0
    let ended = 0
    for (const stats of this.#last) {
      if (stats === undefined) continue
      inFlight += stats.inFlight
      ended += stats.requests - stats.inFlight
    }
    return { inFlight, ended, isIdle: inFlight < slots / 2 }
  }

  /** The recent speed of the fastest worker, in pages per second. */
  get fastest(): number {
    return Math.max(0, ...this.#last.map((stats) => stats?.recentPagesPerSecond ?? 0))
  }

  /** The mean duration of a visit. */
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

  summary(reason: EndReason, unusedRules: readonly string[]): Summary {
    this.#release()
    return { ...(this.now() ?? NOTHING), reason, unusedRules }
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

/** Why the crawl ended, derived from the reasons of its workers; undefined: a worker cannot say. */
export function reasonOf(reasons: readonly (EndReason | undefined)[]): EndReason {
  const known = reasons.filter((reason) => reason !== undefined)
  const early = known.find((reason) => reason !== 'already-done' && reason !== 'done')
  const isAll = known.length > 0 || reasons.length === 0
  return early ?? (known.includes('done') || !isAll ? 'done' : 'already-done')
}
