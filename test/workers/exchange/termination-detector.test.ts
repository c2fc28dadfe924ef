import { describe, expect, it } from 'vitest'
import { type Random, seededRandom } from '../../../src/time.js'
import { type IdleReport, TerminationDetector } from '../../../src/workers/exchange/termination-detector.js'

const report = (sent: number[], taken: number[], orders = 0): IdleReport => ({
  sent,
  processed: taken,
  commands: orders,
})

describe('all is quiet', () => {
  it('when every shard has reported, and the counts of every channel match', () => {
    const quiet = new TerminationDetector(2)
    expect(quiet.isTerminated).toBe(false)
    quiet.report(0, report([0, 3], [0, 1]))
    expect(quiet.isTerminated).toBe(false)
    quiet.report(1, report([1, 0], [2, 0]))
    expect(quiet.isTerminated).toBe(false)
    quiet.report(1, report([1, 0], [3, 0]))
    expect(quiet.isTerminated).toBe(true)
    quiet.report(1, report([2, 0], [3, 0]))
    expect(quiet.isTerminated).toBe(false)
  })

  it('if there is only one shard, when it rests', () => {
    const quiet = new TerminationDetector(1)
    expect(quiet.isTerminated).toBe(false)
    quiet.report(0, report([0], [0]))
    expect(quiet.isTerminated).toBe(true)
  })

  it('not while an order is being carried out', () => {
    const quiet = new TerminationDetector(1)
    quiet.report(0, report([0], [0]))
    quiet.commandSent(0)
    expect(quiet.isTerminated).toBe(false)
    quiet.report(0, report([0], [0], 1))
    expect(quiet.isTerminated).toBe(true)
  })

  it('not before the successor of a shard that died has reported', () => {
    const quiet = new TerminationDetector(2)
    quiet.commandSent(1)
    for (const shard of [0, 1]) quiet.report(shard, report([0, 0], [0, 0], shard))
    expect(quiet.isTerminated).toBe(true)
    quiet.reset(1)
    expect(quiet.isTerminated).toBe(false)
    quiet.report(1, report([0, 0], [0, 0]))
    expect(quiet.isTerminated).toBe(true)
  })
})

describe('a world of shards where everything is late', () => {
  it.for(Array.from({ length: 500 }, (_, seed) => seed))('ends, and never too early, seed %i', (seed) => {
    expect(new World(seededRandom(seed)).run()).toBe('quiet')
  })
})

/** A batch or a connection; shards send and main orders. */
type Order = { readonly connect: number; readonly life: number } | 'work'

interface Shard {
  work: number
  resting: boolean
  sent: number[]
  taken: number[]
  orders: number
  /** Which connection to each other shard it knows. */
  lives: number[]
}

/** Batches, orders, reports, work, deaths: whatever can happen next may, in any order that keeps queues queues. */
class World {
  readonly #random: Random
  readonly #count: number
  readonly #quiet: TerminationDetector
  readonly #shards: Shard[]
  /** The present connection of two shards, by both numbers. */
  readonly #lives: number[][]
  /** On the wire, by sender and receiver: the connection that each batch was sent on. */
  readonly #wire: number[][][]
  readonly #orders: Order[][]
  readonly #reports: IdleReport[][]
  #batches = 60
  #newWork = 5
  #deaths = 2

  constructor(random: Random) {
    this.#random = random
    this.#count = 2 + this.#below(3)
    this.#quiet = new TerminationDetector(this.#count)
    this.#lives = this.#table(() => this.#table(() => 0))
    this.#wire = this.#table(() => this.#table(() => [] as number[]))
    this.#orders = this.#table(() => [])
    this.#reports = this.#table(() => [])
    this.#shards = this.#table((shard) => this.#born(shard))
    this.#shards[0]!.work = 3
  }

  run(): string {
    for (let step = 0; step < 20_000; step++) {
      if (this.#quiet.isTerminated) return this.#isTrulyQuiet() ? 'quiet' : 'a false end'
      const shard = this.#below(this.#count)
      const other = this.#below(this.#count)
      const happenings = [
        () => this.#work(shard, other),
        () => this.#deliver(shard, other),
        () => this.#rest(shard),
        () => this.#hear(shard),
        () => this.#obey(shard),
        () => this.#random.next() < 0.02 && this.#newWork-- > 0 && this.#order(shard, 'work'),
        () => this.#random.next() < 0.02 && this.#deaths-- > 0 && this.#die(shard),
      ]
      happenings[this.#below(happenings.length)]!()
    }
    return 'no end'
  }

  #isTrulyQuiet(): boolean {
    const isIdle = this.#shards.every(({ work }) => work === 0)
    const isEmpty = this.#wire.every((from, a) =>
      from.every((batches, b) => batches.every((life) => life !== this.#lives[a]![b])),
    )
    return isIdle && isEmpty && this.#orders.every((orders) => orders.length === 0)
  }

  #work(from: number, to: number): void {
    const shard = this.#shards[from]!
    if (shard.work === 0) return
    shard.work--
    for (let sent = 0; sent < 2 && this.#batches > 0 && to !== from; sent++) {
      this.#batches--
      shard.sent[to]!++
      this.#wire[from]![to]!.push(shard.lives[to]!)
    }
  }

  #deliver(from: number, to: number): void {
    const shard = this.#shards[to]!
    const batches = this.#wire[from]![to]!
    // What was sent on a connection that is no more never arrives; what is ahead of its time waits in the new port.
    while (batches.length > 0 && batches[0]! < this.#lives[from]![to]!) batches.shift()
    if (batches.length === 0 || batches[0] !== shard.lives[from]) return
    batches.shift()
    shard.taken[from]!++
    shard.resting = false
    if (this.#random.next() < 0.7) shard.work++
  }

  #rest(number: number): void {
    const shard = this.#shards[number]!
    if (shard.work > 0 || shard.resting) return
    shard.resting = true
    this.#reports[number]!.push({
      sent: [...shard.sent],
      processed: [...shard.taken],
      commands: shard.orders,
    })
  }

  #hear(number: number): void {
    const told = this.#reports[number]!.shift()
    if (told !== undefined) this.#quiet.report(number, told)
  }

  #order(number: number, order: Order): void {
    this.#quiet.commandSent(number)
    this.#orders[number]!.push(order)
  }

  #obey(number: number): void {
    const shard = this.#shards[number]!
    const order = this.#orders[number]!.shift()
    if (order === undefined) return
    shard.orders++
    shard.resting = false
    if (order === 'work') {
      shard.work++
      return
    }
    shard.sent[order.connect] = 0
    shard.taken[order.connect] = 0
    shard.lives[order.connect] = order.life
  }

  #die(dead: number): void {
    this.#quiet.reset(dead)
    this.#reports[dead] = []
    this.#orders[dead] = []
    for (let other = 0; other < this.#count; other++) {
      if (other === dead) continue
      const life = this.#lives[dead]![other]! + 1
      this.#lives[dead]![other] = life
      this.#lives[other]![dead] = life
      this.#order(other, { connect: dead, life })
    }
    this.#shards[dead] = this.#born(dead)
  }

  #born(number: number): Shard {
    const zeros = () => this.#table(() => 0)
    return {
      work: 0,
      resting: false,
      sent: zeros(),
      taken: zeros(),
      orders: 0,
      lives: [...this.#lives[number]!],
    }
  }

  #table<T>(make: (index: number) => T): T[] {
    return Array.from({ length: this.#count }, (_, index) => make(index))
  }

  #below(limit: number): number {
    return Math.floor(this.#random.next() * limit)
  }
}
