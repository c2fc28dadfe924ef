/** Makes happen what a scenario says: moves, deaths, threads that stand still, and the end. */

import type { AbortGrace } from '../../../src/engine/abort-grace.js'
import type { WorkerRun } from '../../../src/run/threads/worker-run.js'
import type { Clock } from '../../../src/time.js'
import type { ToWorker } from '../../../src/workers/messages.js'
import type { Holdings } from './holdings.js'
import type { CrewScenario, Moment } from './scenario.js'
import type { SimThreads } from './threads.js'

/** Who is on the stage. */
export interface Cast {
  readonly workerRun: WorkerRun
  readonly threads: SimThreads
  readonly patience: AbortGrace
  readonly holdings: Holdings
  /** The partition of a host of the web, by its number. */
  partitionOf(host: number): number
}

interface Awaited {
  readonly kind: ToWorker['kind']
  readonly nth: number
  readonly afterMs: number
  act(shard: number): void
}

export class Stage {
  readonly #clock: Clock
  readonly #counts = new Map<ToWorker['kind'], number>()
  readonly #awaited: Awaited[] = []

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Messages of a kind that threads were sent. */
  count(kind: ToWorker['kind']): number {
    return this.#counts.get(kind) ?? 0
  }

  /** To be called when all threads are there. */
  play(scenario: CrewScenario, { workerRun, threads, patience, holdings, partitionOf }: Cast): void {
    const { moves, deaths, stalls, course, web } = scenario
    for (const { when, host, hosts, to } of moves) {
      const some = Array.from({ length: hosts }, (_, i) => partitionOf((host + i) % web.hosts))
      this.#at(when, () => {
        const { partitions, shard } = holdings.together([...new Set(some)])
        if (shard !== to) workerRun.move({ partitions, from: shard, to })
      })
    }
    for (const { when, shard, acts } of deaths) {
      this.#at(when, (receiver) => {
        const thread = threads.threadOf(shard ?? receiver)
        if (acts === undefined) thread?.die()
        else thread?.dieAfter(acts)
      })
    }
    for (const { when, shard, forMs } of stalls) {
      this.#at(when, () => (shard === 'main' ? threads.main : threads.threadOf(shard))?.stall(forMs))
    }
    if (course.kind === 'stop') this.#at(course, () => workerRun.stop())
    if (course.kind === 'abort') {
      this.#at(course, () => {
        patience.abort()
        workerRun.abort()
      })
    }
    if (course.kind !== 'pause') return
    this.#at(course, () => workerRun.pause())
    this.#at({ afterMs: course.afterMs + course.forMs }, () => workerRun.resume())
  }

  /** A thread was sent something. */
  posted(kind: ToWorker['kind'], shard: number): void {
    const count = this.count(kind) + 1
    this.#counts.set(kind, count)
    for (const { kind: awaited, nth, afterMs, act } of this.#awaited) {
      if (awaited === kind && nth === count) this.#after(afterMs, () => act(shard))
    }
  }

  #at(when: Moment, act: (shard: number) => void): void {
    if ('posted' in when) this.#awaited.push({ kind: when.posted, nth: when.nth, afterMs: when.afterMs, act })
    else this.#after(when.afterMs, () => act(0))
  }

  #after(ms: number, act: () => void): void {
    this.#clock.wakeAt(this.#clock.now() + ms, act)
  }
}
