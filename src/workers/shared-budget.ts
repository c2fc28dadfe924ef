import type { Budget } from '../engine/contract.js'

/** Where things stand in the shared memory, as 64-bit numbers. */
const LEFT = 0
const PAGES_LEFT = 1
const BYTES_LEFT = 2
/** Shards that found nothing left. */
const WAITING = 3
/** From here on there are some numbers for each shard. */
const SHARDS = 4
const NUMBERS_PER_SHARD = 3

/** Numbers of a shard. Shares that it has taken and that have not become pages. */
const TAKEN = 0
/** Whether it is one of those that wait. */
const WAITS = 1
/** Its pages that the budget knows of, those of earlier runs included. */
const COUNTED = 2
/** No count comes near it; counts may be below zero, where one shard takes back what another counted. */
const NOT_OPENED = -(2n ** 62n)

/** Stands for no limit: more than any crawl will use. */
const ENDLESS = 2n ** 62n

/** The memory of a budget. */
export function budgetMemory(pages: number, bytes: number, shards: number): SharedArrayBuffer {
  const count = SHARDS + shards * NUMBERS_PER_SHARD
  const memory = new SharedArrayBuffer(count * BigInt64Array.BYTES_PER_ELEMENT)
  const numbers = new BigInt64Array(memory)
  numbers[LEFT] = limitOf(pages)
  numbers[PAGES_LEFT] = limitOf(pages)
  numbers[BYTES_LEFT] = limitOf(bytes)
  for (let shard = 0; shard < shards; shard++) numbers[placeOf(shard) + COUNTED] = NOT_OPENED
  return memory
}

function limitOf(limit: number): bigint {
  return limit >= Number.MAX_SAFE_INTEGER ? ENDLESS : BigInt(Math.max(0, Math.ceil(limit)))
}

/** Whether all pages were delivered, or all bytes read. */
export function isUsedUp(memory: SharedArrayBuffer): boolean {
  return isUsedUpOf(new BigInt64Array(memory))
}

function isUsedUpOf(numbers: BigInt64Array): boolean {
  return Atomics.load(numbers, PAGES_LEFT) <= 0n || Atomics.load(numbers, BYTES_LEFT) <= 0n
}

function placeOf(shard: number): number {
  return SHARDS + shard * NUMBERS_PER_SHARD
}

/**
 * A shard died: it waits no more, and gives back what it had taken. Of a store that outlives it only its successor knows
 * which of its pages were kept, and so gives back the rest (`watch`).
 */
export function giveBackOf(memory: SharedArrayBuffer, shard: number, isDurable: boolean): void {
  const numbers = new BigInt64Array(memory)
  const own = placeOf(shard)
  if (!isDurable) Atomics.add(numbers, LEFT, Atomics.exchange(numbers, own + TAKEN, 0n))
  Atomics.sub(numbers, WAITING, Atomics.exchange(numbers, own + WAITS, 0n))
}

/**
 * The budget of a crawl in memory that all its threads share. Who is done with nothing to claim is told by message.
 *
 * With a durable store a page counts once its commit is on disk: a thread that dies before that has delivered a page that
 * will be delivered again.
 */
export class SharedBudget implements Budget {
  readonly #numbers: BigInt64Array
  readonly #isEndless: boolean
  readonly #own: number
  readonly #tellOthers: () => void
  readonly #isDurable: boolean
  #rouse: () => void = () => {}
  #isWaiting = false
  /** Pages whose commit is not on disk yet. */
  #notKept = 0
  /** Calls back once what was changed so far is on disk. Absent: nobody knows, and a page counts at once. */
  whenKept: ((then: () => void) => void) | undefined = undefined

  /**
   * `tellOthers` is called when shards that wait for shares should look again; `isDurable`: pages that are on disk outlive
   * the shard, and it knows of them when it opens.
   */
  constructor(memory: SharedArrayBuffer, shard: number, tellOthers: () => void, isDurable = false) {
    this.#isDurable = isDurable
    this.#own = placeOf(shard)
    this.#numbers = new BigInt64Array(memory)
    this.#isEndless = this.#numbers[PAGES_LEFT]! >= ENDLESS / 2n
    this.#tellOthers = tellOthers
  }

  claim(visits: number): number {
    if (this.#isEndless) return visits
    for (;;) {
      const left = Atomics.load(this.#numbers, LEFT)
      const claimed = left < BigInt(visits) ? left : BigInt(visits)
      if (claimed <= 0n) {
        this.#wait()
        // Something may have come back before anybody knew that we wait.
        if (Atomics.load(this.#numbers, LEFT) <= 0n) return 0
        continue
      }
      // In this order: whoever dies in between has taken too little rather than too much, and nobody waits for ever.
      Atomics.add(this.#numbers, this.#own + TAKEN, claimed)
      if (Atomics.compareExchange(this.#numbers, LEFT, left, left - claimed) !== left) {
        Atomics.sub(this.#numbers, this.#own + TAKEN, claimed)
        continue
      }
      this.#stopWaiting()
      return Number(claimed)
    }
  }

  release(visits: number): void {
    if (this.#isEndless) return
    Atomics.add(this.#numbers, LEFT, BigInt(visits))
    Atomics.sub(this.#numbers, this.#own + TAKEN, BigInt(visits))
    if (Atomics.load(this.#numbers, WAITING) > 0n) this.#tellOthers()
  }

  spend(pages: number, bytes: number): void {
    if (bytes > 0) {
      const left = Atomics.sub(this.#numbers, BYTES_LEFT, BigInt(bytes))
      if (left > 0n && left <= BigInt(bytes)) this.#tellOthers()
    }
    if (pages === 0 || this.#isEndless) return
    if (this.whenKept === undefined) {
      this.#count(pages)
      return
    }
    this.#notKept += pages
    this.whenKept(() => {
      this.#notKept -= pages
      this.#count(pages)
      if (this.#notKept === 0) this.#rouse()
    })
  }

  #count(pages: number): void {
    Atomics.add(this.#numbers, this.#own + COUNTED, BigInt(pages))
    Atomics.sub(this.#numbers, this.#own + TAKEN, BigInt(pages))
    const left = Atomics.sub(this.#numbers, PAGES_LEFT, BigInt(pages))
    if (left <= BigInt(pages)) this.#tellOthers()
  }

  get isSettling(): boolean {
    return this.#notKept > 0
  }

  get isUsedUp(): boolean {
    return isUsedUpOf(this.#numbers)
  }

  watch(rouse: () => void, pages: number): void {
    this.#rouse = rouse
    if (this.#isEndless) return
    const counted = Atomics.exchange(this.#numbers, this.#own + COUNTED, BigInt(pages))
    if (counted === NOT_OPENED || !this.#isDurable) return
    // Pages of commits that the one before did not live to hear of; fewer than none if it died before a commit.
    const unheard = BigInt(pages) - counted
    Atomics.sub(this.#numbers, PAGES_LEFT, unheard)
    const taken = Atomics.exchange(this.#numbers, this.#own + TAKEN, 0n)
    Atomics.add(this.#numbers, LEFT, taken - unheard)
    this.#tellOthers()
  }

  /** Another shard has given back, or used up the last. */
  changed(): void {
    // It claims again if it still has work; who has none must not be told of each share that comes back.
    this.#stopWaiting()
    this.#rouse()
  }

  #wait(): void {
    if (this.#isWaiting) return
    this.#isWaiting = true
    Atomics.store(this.#numbers, this.#own + WAITS, 1n)
    Atomics.add(this.#numbers, WAITING, 1n)
  }

  #stopWaiting(): void {
    if (!this.#isWaiting) return
    this.#isWaiting = false
    Atomics.store(this.#numbers, this.#own + WAITS, 0n)
    Atomics.sub(this.#numbers, WAITING, 1n)
  }
}
