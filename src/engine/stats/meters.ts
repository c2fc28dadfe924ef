import type { Clock } from '../../time.js'
import type { Bottleneck, IdleReason, QueueStats, StageName, StageStats } from './stats.js'

/**
 * Measures each stage in two ways: *slot time*, how long pages stay in it, and *busy time*, how long it occupies the
 * thread. Slot time shows the bottleneck of a crawl that waits, busy time that of a crawl whose thread is saturated.
 */
export class Meters {
  readonly #clock: Clock
  readonly #slots: number
  readonly #startedAt: number
  readonly #stages: Record<StageName, Stage> = {
    frontier: new Stage(),
    fetch: new Stage(),
    extract: new Stage(),
    hooks: new Stage(),
    admit: new Stage(),
  }
  readonly #idle = { politeness: 0, schedule: 0, discovery: 0, queue: 0, paused: 0, store: 0 }
  #idleReason: IdleReason = 'discovery'
  #idleSlots = 0
  #idleSince: number
  #threadBusyMs = 0
  #threadSince: number

  constructor(clock: Clock, slots: number) {
    this.#clock = clock
    this.#slots = slots
    this.#startedAt = clock.now()
    this.#idleSince = this.#startedAt
    this.#threadSince = this.#startedAt
    clock.busyShare?.()
  }

  /** A page enters a stage. */
  enter(name: StageName, now: number): void {
    this.#stages[name].change(1, now)
  }

  /** A page leaves a stage. */
  leave(name: StageName, now: number): void {
    const stage = this.#stages[name]
    stage.change(-1, now)
    stage.done++
  }

  /** The stage occupied the thread for this long, for this many items. */
  addBusy(name: StageName, ms: number, items = 0): void {
    const stage = this.#stages[name]
    stage.busyMs += ms
    stage.done += items
  }

  /** From now on this many slots are idle, for this reason. */
  setIdle(reason: IdleReason, slots: number, now: number): void {
    this.#settleIdle(now)
    this.#idleReason = reason
    this.#idleSlots = slots
  }

  get elapsedMs(): number {
    return this.#clock.now() - this.#startedAt
  }

  /** Shares of slot time that were idle so far. */
  get idle(): Record<IdleReason, number> {
    this.#settleIdle(this.#clock.now())
    const slotMs = this.#slotMs()
    return {
      politeness: this.#idle.politeness / slotMs,
      schedule: this.#idle.schedule / slotMs,
      discovery: this.#idle.discovery / slotMs,
      queue: this.#idle.queue / slotMs,
      paused: this.#idle.paused / slotMs,
      store: this.#idle.store / slotMs,
    }
  }

  get threadBusy(): number | undefined {
    const now = this.#clock.now()
    const share = this.#clock.busyShare?.()
    if (share === undefined) return undefined
    this.#threadBusyMs += share * (now - this.#threadSince)
    this.#threadSince = now
    return Math.min(1, this.#threadBusyMs / Math.max(this.elapsedMs, 1))
  }

  /** `queuesBusy`: the share of the thread's time that the queues of hooks used. */
  stages(threadBusy: number | undefined, queuesBusy: number): Record<StageName, StageStats> {
    const now = this.#clock.now()
    const elapsedMs = Math.max(now - this.#startedAt, 1)
    const read = (stage: Stage): StageStats => {
      stage.change(0, now)
      return {
        done: stage.done,
        perSecond: (stage.done * 1000) / elapsedMs,
        queue: stage.count,
        slotShare: stage.slotMs / this.#slotMs(),
        busyShare: stage.busyMs / elapsedMs,
      }
    }
    const { frontier, extract, hooks, admit, fetch } = this.#stages
    const read4 = { frontier: read(frontier), extract: read(extract), hooks: read(hooks), admit: read(admit) }
    const accounted = Object.values(read4).reduce((sum, stage) => sum + stage.busyShare, queuesBusy)
    return { ...read4, fetch: { ...read(fetch), busyShare: Math.max(0, (threadBusy ?? 0) - accounted) } }
  }

  #slotMs(): number {
    return Math.max(this.elapsedMs, 1) * this.#slots
  }

  #settleIdle(now: number): void {
    this.#idle[this.#idleReason] += this.#idleSlots * (now - this.#idleSince)
    this.#idleSince = now
  }
}

/** How many are in a stage, for how long, and how much of the thread's time they took. */
export class Stage {
  done = 0
  count = 0
  slotMs = 0
  busyMs = 0
  #since = 0

  change(by: number, now: number): void {
    this.slotMs += this.count * (now - this.#since)
    this.#since = now
    this.count += by
  }
}

/** From this share on, the thread is the bottleneck, whatever pages seem to wait for. */
const FULL_THREAD = 0.9
/** From this share of the allowed bandwidth on, the line is. */
const FULL_LINE = 0.9

/** The share of the allowed bandwidth that was used lately. */
export function lineShareOf(bytesPerSecond: number, bandwidth: number | undefined): number {
  return bandwidth === undefined ? 0 : bytesPerSecond / bandwidth
}

/**
 * The largest share: of the thread's time if the thread is saturated, otherwise of slot time, idle time included. Slots
 * that wait for a queue count for its hook; those that are idle until the queues are empty, for the hook that has most to do.
 */
export function bottleneckOf(
  stages: Readonly<Record<StageName, StageStats>>,
  idle: Readonly<Record<IdleReason, number>>,
  threadBusy: number | undefined,
  queues: Readonly<Record<string, QueueStats>> = {},
  lineShare = 0,
): Bottleneck {
  const full = threadBusy !== undefined && threadBusy >= FULL_THREAD
  if (lineShare >= FULL_LINE && !full) return 'bandwidth'
  const shares: [Bottleneck, number][] = Object.entries(stages).map(([name, stage]) => [
    name as StageName,
    full ? stage.busyShare : stage.slotShare,
  ])
  const [busiest] = Object.entries(queues).sort(([, a], [, b]) => b.usedShare - a.usedShare)
  for (const [name, queue] of Object.entries(queues)) {
    const drained = busiest?.[0] === name ? idle.queue : 0
    shares.push([hookName(name, queue), full ? queue.busyShare : queue.slotShare + drained])
  }
  const { queue: _, ...others } = idle
  if (!full) shares.push(...(Object.entries(others) as [Bottleneck, number][]))
  return shares.reduce((most, share) => (share[1] > most[1] ? share : most))[0]
}

/** With the stage that takes most of its time. */
function hookName(name: string, { stages }: QueueStats): Bottleneck {
  const [slowest] = Object.entries(stages).sort(([, a], [, b]) => b.busyShare - a.busyShare)
  return slowest === undefined ? `hook ${name}` : `hook ${name}: ${slowest[0]}`
}
