/**
 * Random operations on shards whose partitions move meanwhile, each checked against the model. A seed replays a walk.
 */

import assert from 'node:assert/strict'
import type { Politeness, Settlement } from '../../frontier/contract.js'
import { assignInTurn } from '../../partition/ownership.js'
import type { StoreSnapshot } from '../../stores/contract.js'
import { type Random, seededRandom } from '../../time.js'
import type { CrawlRequest } from '../../types.js'
import { knownAs, urlIn } from '../../url/known-as.js'
import { SLACK_MS } from '../durable/fixtures.js'
import { randomMore } from '../frontier/fixtures.js'
import { eventually, pause } from '../suite.js'
import { arrive, given, hostIn, PARTITIONS, partitionOf, type Shard, type Shards } from './fixtures.js'
import { ShardsModel } from './model.js'

export interface MovingWalk {
  readonly shards: Shards
  readonly politeness: Politeness
  readonly seed: number
  readonly operations: number
}

/** Number of partitions with hosts: few enough for them to become empty, and to be released together. */
const PEOPLED = 6
const HOSTS_EACH = 2
const PRIORITIES = [0, 0, 0, 1, -1]
/** The model inspects everything after each operation, and more requests would not reveal more. */
const ENOUGH_PENDING = 150
/** Number of operations after which a walk switches between adding and not adding. */
const SEASON = 200
/** Longer than any pause, backoff or retry of a walk, in ms. */
const LONG_MS = 10_000
/** Times are so far apart that a store may round them. Leases are requested this much later. */
const GRAIN_MS = 4 * SLACK_MS

/** Walks, then visits everything that is left. */
export async function movingWalk(walk: MovingWalk): Promise<void> {
  const walker = new Walker(walk)
  for (let operation = 0; operation < walk.operations; operation++) {
    await walker.step(Math.floor(operation / SEASON) % 2 === 0)
  }
  await walker.finish()
}

/** Partitions on their way. */
interface Journey {
  readonly partitions: readonly number[]
  readonly from: number
  readonly giving: Promise<StoreSnapshot>
  /** Once it has been released. */
  what: StoreSnapshot | undefined
}

class Walker {
  readonly #shards: readonly Shard[]
  readonly #model: ShardsModel
  readonly #random: Random
  /** Names that were passed to the seen-set. */
  readonly #known: string[] = []
  /** One fact per host. */
  readonly #facts = new Map<string, number>()
  readonly #past: CrawlRequest[] = []
  #journey: Journey | undefined = undefined
  #now: number
  #added = 0

  constructor({ shards, politeness, seed }: MovingWalk) {
    this.#shards = shards.all
    this.#model = new ShardsModel(politeness, assignInTurn(PARTITIONS, shards.all.length), partitionOf)
    this.#random = seededRandom(seed)
    this.#now = onGrain(shards.start)
  }

  async step(plenty: boolean): Promise<void> {
    const dice = this.#random.next()
    if (plenty && dice < 0.2) await this.#add()
    else if (dice < 0.4) await this.#lease(this.#upTo(this.#shards.length), 1 + this.#upTo(8))
    else if (dice < 0.6) await this.#settleSome(plenty)
    else if (dice < 0.72) await this.#travel()
    else if (dice < 0.76) await this.#askAgain()
    else if (dice < 0.8) await this.#recall()
    else this.#passTime()
    await this.#look()
  }

  async finish(): Promise<void> {
    for (;;) {
      for (const index of this.#shards.keys()) await this.#settle(index, this.#model.leasedBy(index), false)
      if (this.#journey !== undefined) await this.#travel()
      await this.#look()
      if (this.#journey === undefined && this.#model.pending === 0) break
      const due = Math.min(...[...this.#shards.keys()].map((index) => this.#model.nextDue(index)))
      if (due < Number.POSITIVE_INFINITY) this.#now = Math.max(this.#now, due)
      for (const index of this.#shards.keys()) await this.#lease(index, 30)
    }
    let size = 0
    for (const { frontier, seen } of this.#shards) {
      assert.deepEqual([frontier.pending, frontier.leased, frontier.hosts], [0, 0, 0])
      size += seen.size
    }
    assert.equal(size, this.#known.length, 'number of names known to all shards together')
  }

  async #add(): Promise<void> {
    if (this.#model.pending > ENOUGH_PENDING) return
    const requests = this.#fresh()
    const owner = requests.length === 0 ? undefined : this.#model.ownerOf(requests[0]!.host)
    if (owner === undefined) return
    const { frontier } = this.#shards[owner]!
    await this.#ask(owner, requests)
    await frontier.add(requests)
    this.#model.added(requests)
  }

  /** Requests of a host whose partition is not on its way. */
  #fresh(): CrawlRequest[] {
    const host = hostIn(this.#upTo(PEOPLED), this.#upTo(HOSTS_EACH))
    if (this.#model.ownerOf(host) === undefined) return []
    return Array.from({ length: 1 + this.#upTo(this.#chance(0.1) ? 30 : 3) }, () => {
      const priority = PRIORITIES[this.#upTo(PRIORITIES.length)]!
      const url = `https://${host}/${this.#added++}`
      const parent = this.#chance(0.5) ? `https://${host}/${this.#upTo(5)}` : undefined
      const page = { url, host, depth: 1, priority, attempt: 0, redirects: 0, parent }
      const more = randomMore(this.#random, this.#now)
      const { notBefore } = more
      return {
        ...page,
        ...more,
        ...(notBefore !== undefined && { notBefore: onGrain(notBefore + GRAIN_MS) }),
      }
    })
  }

  async #ask(owner: number, requests: readonly CrawlRequest[]): Promise<void> {
    const names = requests.map(knownAs)
    const fresh = await this.#shards[owner]!.seen.addAll(names)
    assert.ok(fresh.every(Boolean), 'a new name was taken for known')
    this.#known.push(...names)
  }

  /** A name is known wherever its partition is now. */
  async #askAgain(): Promise<void> {
    const name = this.#known[this.#upTo(this.#known.length)]
    const owner = name === undefined ? undefined : this.#model.ownerOf(new URL(urlIn(name)).host)
    if (owner === undefined) return
    assert.deepEqual(await this.#shards[owner]!.seen.addAll([name!]), [false], `whether ${name} is new`)
  }

  /** So is a fact. */
  async #recall(): Promise<void> {
    const host = hostIn(this.#upTo(PEOPLED), this.#upTo(HOSTS_EACH))
    const owner = this.#model.ownerOf(host)
    const space = owner === undefined ? undefined : this.#shards[owner]!.state?.space('walk')
    if (space === undefined) return
    assert.equal(await space.get('fact', host), this.#facts.get(host), `the fact of ${host}`)
    this.#facts.set(host, this.#upTo(1e6))
    space.put('fact', this.#facts.get(host), host)
  }

  /** A store may have to read first, and hands out less than is due meanwhile. */
  async #lease(index: number, max: number): Promise<void> {
    const { frontier, patienceMs } = this.#shards[index]!
    let left = max
    for (let waited = 0; left > 0; waited++) {
      const leases = await frontier.lease(left, this.#now + SLACK_MS)
      assert.ok(leases.length <= left, `${leases.length} requests, but at most ${left} were asked for`)
      this.#model.handedOut(index, leases, this.#now + SLACK_MS)
      left -= leases.length
      if (left === 0 || this.#model.nextDue(index) > this.#now) return
      assert.ok(waited < patienceMs, 'a request that is due is held back')
      if (leases.length === 0) await pause(1)
    }
  }

  async #settleSome(plenty: boolean): Promise<void> {
    const index = this.#upTo(this.#shards.length)
    const some = this.#model.leasedBy(index).filter(() => this.#chance(0.5))
    // Already settled once, here or elsewhere.
    if (this.#past.length > 0 && this.#chance(0.2)) {
      const request = this.#past[this.#upTo(this.#past.length)]!
      await this.#shards[index]!.frontier.settle([{ ...this.#settlementOf(request), found: [] }])
    }
    await this.#settle(index, some, plenty)
  }

  async #settle(index: number, leases: readonly CrawlRequest[], plenty: boolean): Promise<void> {
    const settlements: Settlement[] = []
    for (const lease of leases) {
      // Requests of other shards' partitions reach them in other ways.
      const mayFind = plenty && this.#model.pending < ENOUGH_PENDING && this.#chance(0.3)
      const found = mayFind ? this.#fresh().filter(({ host }) => this.#model.ownerOf(host) === index) : []
      if (found.length > 0) await this.#ask(index, found)
      const ended = { request: lease, visitedAt: this.#now }
      settlements.push({ ...(plenty ? this.#settlementOf(lease) : ended), found })
    }
    await this.#shards[index]!.frontier.settle(settlements)
    this.#model.settled(settlements)
    this.#past.push(...leases)
  }

  #settlementOf(request: CrawlRequest): Settlement {
    const now = this.#now
    const at = now + this.#ms(this.#chance(0.5) ? 20 : 3000)
    return {
      request,
      visitedAt: this.#chance(0.8) ? now - this.#ms(20) : undefined,
      ...(this.#chance(0.2) && { again: { at, attempt: request.attempt + 1 } }),
      ...(this.#chance(0.05) && { hostNotBefore: now + this.#ms(5000) }),
      // Always the same delay for a host: whether a host may shorten its delay again is not specified.
      ...(this.#chance(0.1) && { hostDelayMs: request.host === hostIn(3, 0) ? 2500 : 100 }),
    }
  }

  /** Partitions leave, or those on their way arrive. */
  async #travel(): Promise<void> {
    const journey = this.#journey
    if (journey?.what !== undefined) {
      const to = this.#upTo(this.#shards.length)
      await arrive(journey.what, journey.partitions, this.#shards[to]!)
      this.#model.arrived(journey.partitions, to)
      this.#journey = undefined
    } else if (journey === undefined) {
      const from = this.#upTo(this.#shards.length)
      const partitions = this.#model.ownedBy(from).filter(() => this.#chance(0.4))
      const giving = this.#shards[from]!.handover.release(partitions)
      // The walk notices a failure when it awaits this; a failure at its end does not matter.
      giving.catch(() => {})
      this.#journey = { partitions, from, giving, what: undefined }
      this.#model.leaves(partitions)
    }
  }

  #passTime(): void {
    const due = Math.min(...this.#shards.map(({ frontier }) => frontier.nextDue()))
    if (this.#chance(0.5) && due > this.#now && due < this.#now + LONG_MS) this.#now = onGrain(due)
    else this.#now += this.#ms(this.#chance(0.1) ? 2000 : 30)
  }

  /** Compares all shards with the model. */
  async #look(): Promise<void> {
    const journey = this.#journey
    if (journey !== undefined && journey.what === undefined && this.#model.isQuiet) {
      journey.what = await given(this.#shards[journey.from]!, journey.giving)
      this.#model.left()
    }
    for (const [index, { frontier, patienceMs }] of this.#shards.entries()) {
      this.#model.agreesWith(index, frontier)
      const due = Math.max(this.#now, this.#model.nextDue(index)) + SLACK_MS
      if (due < Number.POSITIVE_INFINITY && frontier.nextDue() > due) {
        await eventually(
          `nextDue() of shard ${index} knows what is due`,
          () => frontier.nextDue() <= due,
          patienceMs,
        )
      }
    }
  }

  #upTo(limit: number): number {
    return Math.floor(this.#random.next() * limit)
  }

  #ms(limit: number): number {
    return GRAIN_MS * this.#upTo(limit / GRAIN_MS)
  }

  #chance(share: number): boolean {
    return this.#random.next() < share
  }
}

function onGrain(instant: number): number {
  return GRAIN_MS * Math.round(instant / GRAIN_MS)
}
