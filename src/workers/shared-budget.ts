import type { Budget } from '../engine/contract.js'

/** Where things stand in the shared memory, as 64-bit numbers. */
const LEFT = 0
const PAGES_LEFT = 1
const BYTES_LEFT = 2
/** Shards that found nothing left. */
const WAITING = 3
/** From here on, for each shard the shares that it has taken, and whether it is one of those that wait. */
const SHARDS = 4
const NUMBERS_PER_SHARD = 2

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

function takenAt(shard: number): number {
  return SHARDS + shard * NUMBERS_PER_SHARD
}

/** Gives back what a shard had taken when it died, and waits no more for it. */
export function giveBackOf(memory: SharedArrayBuffer, shard: number): void {
  const numbers = new BigInt64Array(memory)
  Atomics.add(numbers, LEFT, Atomics.exchange(numbers, takenAt(shard), 0n))
  Atomics.sub(numbers, WAITING, Atomics.exchange(numbers, takenAt(shard) + 1, 0n))
}

/** The budget of a crawl in memory that all its threads share. Who is done with nothing to claim is told by message. */
export class SharedBudget implements Budget {
  readonly #numbers: BigInt64Array
  readonly #isEndless: boolean
  readonly #own: number
  readonly #tellOthers: () => void
  #rouse: () => void = () => {}
  #isWaiting = false

  /** `tellOthers` is called when shards that wait for shares should look again. */
  constructor(memory: SharedArrayBuffer, shard: number, tellOthers: () => void) {
    this.#own = takenAt(shard)
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
      Atomics.add(this.#numbers, this.#own, claimed)
      if (Atomics.compareExchange(this.#numbers, LEFT, left, left - claimed) !== left) {
        Atomics.sub(this.#numbers, this.#own, claimed)
        continue
      }
      this.#stopWaiting()
      return Number(claimed)
    }
  }

  giveBack(visits: number): void {
    if (this.#isEndless) return
    Atomics.add(this.#numbers, LEFT, BigInt(visits))
    Atomics.sub(this.#numbers, this.#own, BigInt(visits))
    if (Atomics.load(this.#numbers, WAITING) > 0n) this.#tellOthers()
  }

  spend(pages: number, bytes: number): void {
    if (bytes > 0) {
      const left = Atomics.sub(this.#numbers, BYTES_LEFT, BigInt(bytes))
      if (left > 0n && left <= BigInt(bytes)) this.#tellOthers()
    }
    if (pages === 0 || this.#isEndless) return
    Atomics.sub(this.#numbers, this.#own, BigInt(pages))
    const left = Atomics.sub(this.#numbers, PAGES_LEFT, BigInt(pages))
    if (left <= BigInt(pages)) this.#tellOthers()
  }

  get isUsedUp(): boolean {
    return isUsedUpOf(this.#numbers)
  }

  watch(rouse: () => void): void {
    this.#rouse = rouse
  }

  /** Another shard has given back, or used up the last. */
  changed(): void {
    this.#rouse()
  }

  #wait(): void {
    if (this.#isWaiting) return
    this.#isWaiting = true
    Atomics.store(this.#numbers, this.#own + 1, 1n)
    Atomics.add(this.#numbers, WAITING, 1n)
  }

  #stopWaiting(): void {
    if (!this.#isWaiting) return
    this.#isWaiting = false
    Atomics.store(this.#numbers, this.#own + 1, 0n)
    Atomics.sub(this.#numbers, WAITING, 1n)
  }
}
