import { choosePartitions, loadsOf, unevenLoads } from '../../../partition/balance.js'
import { type Clock, every, type Timer } from '../../../time.js'
import type { PartitionLoad } from '../../contract.js'
import type { RedisClient } from '../client/contract.js'
import type { RedisFrontier } from '../parts/frontier.js'
import type { Journal } from './journal.js'

const BALANCE_MS = 1000
/** A node that has received partitions reports their work a moment later: until then, nothing more is given away. */
const REST_TICKS = 3
const MAX_PARTITIONS_A_MOVE = 64
/** Seconds of work that are worth telling the others. */
const CHANGE_S = 0.1
/** The best rate so far fades, so that a slower web is noticed. */
const FADE = 0.98
/** Before any visit has ended. */
const FIRST_PAGES_PER_SECOND = 100

export interface BalancerParts {
  readonly client: RedisClient
  readonly key: string
  readonly clock: Clock
  readonly journal: Journal
  readonly frontier: RedisFrontier
  readonly delayMs: number
  /** This node; '' while it is none. */
  node(): string
  /** Partitions that it may give away. */
  owns(partition: number): boolean
  /** Nothing is moving, and there are other nodes. */
  mayMove(): boolean
  /** Another node has less to do: it takes these. */
  give(partitions: readonly number[], to: string): void
}

/**
 * Evens out the work of nodes. Each reports its own, in seconds; the busiest one gives some to the least busy one. Nobody
 * decides for others, so nobody has to be elected.
 */
export class Balancer {
  readonly #parts: BalancerParts
  #timer: Timer | undefined = undefined
  #settled = 0
  #at: number
  #pagesPerSecond = 0
  #visitMs = 0
  #reported = 0
  #reportedBy = ''
  #rest = 0
  #isBusy = false

  constructor(parts: BalancerParts) {
    this.#parts = parts
    this.#at = parts.clock.now()
  }

  start(): void {
    this.#timer = every(this.#parts.clock, BALANCE_MS, () => {
      if (this.#isBusy) return
      this.#isBusy = true
      // A server that is away or full is the session's business; balance can wait.
      this.#tick()
        .catch(() => {})
        .finally(() => {
          this.#isBusy = false
        })
    })
  }

  close(): void {
    this.#timer?.cancel()
  }

  async #tick(): Promise<void> {
    const { frontier, owns, mayMove, node, client, key, give } = this.#parts
    this.#measure()
    const self = node()
    if (self === '' || !mayMove()) return
    const rules = {
      visitCycleMs: this.#visitMs + this.#parts.delayMs,
      pagesPerSecond: Math.max(1, this.#pagesPerSecond || FIRST_PAGES_PER_SECOND),
    }
    const parts = frontier.load().filter(({ partition }) => owns(partition))
    const [work = 0] = loadsOf([parts], rules)
    this.#report(self, work)
    if (this.#rest > 0) {
      this.#rest--
      return
    }
    if (work < CHANGE_S) return
    const [members, reports] = await client.read([
      ['HKEYS', `${key}:nodes`],
      ['HGETALL', `${key}:load`],
    ])
    const loads = new Map((members as readonly Buffer[]).map((id) => [id.toString(), 0]))
    const pairs = reports as readonly Buffer[]
    for (let i = 0; i < pairs.length; i += 2) {
      const id = pairs[i]!.toString()
      if (loads.has(id)) loads.set(id, Number(pairs[i + 1]))
    }
    loads.set(self, work)
    const names = [...loads.keys()]
    const uneven = unevenLoads([...loads.values()])
    if (uneven === undefined || names[uneven.from] !== self || !mayMove() || node() !== self) return
    const chosen = choosePartitions(parts, rules, uneven.gap / 2, MAX_PARTITIONS_A_MOVE)
    if (chosen.length === 0) return
    this.#rest = REST_TICKS
    // Some may have gone while the others were asked.
    give(chosen.filter(owns), names[uneven.to]!)
  }

  /** How fast this node is: the more slowly it works, the longer its work takes. */
  #measure(): void {
    const { frontier, clock } = this.#parts
    const now = clock.now()
    const seconds = (now - this.#at) / 1000
    const rate = seconds > 0 ? (frontier.settled - this.#settled) / seconds : 0
    this.#at = now
    this.#settled = frontier.settled
    this.#pagesPerSecond = Math.max(rate, this.#pagesPerSecond * FADE)
    // What is in flight, and how much of it ends in a second, say how long a visit takes.
    if (rate > 0) this.#visitMs = (1000 * frontier.visiting) / rate
  }

  #report(self: string, work: number): void {
    const isChanged = Math.abs(work - this.#reported) >= Math.max(CHANGE_S, this.#reported / 10)
    if (!isChanged && (work > 0 || this.#reported === 0) && self === this.#reportedBy) return
    this.#reported = work
    this.#reportedBy = self
    this.#parts.journal.load(self, work.toFixed(2))
  }
}

/** Every second one by load, so that the work is divided as the partitions are. */
export function everySecondOf(loads: readonly PartitionLoad[], count: number): number[] {
  const byLoad = [...loads].sort((a, b) => b.pending - a.pending).map(({ partition }) => partition)
  const odd = byLoad.filter((_, i) => i % 2 === 1)
  const even = byLoad.filter((_, i) => i % 2 === 0)
  return [...odd, ...even.reverse()].slice(0, count)
}
