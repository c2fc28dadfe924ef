import type { Budget } from '../engine/contract.js'

/** Layout of the shared memory, in 64-bit numbers. */
const LEFT = 0
const PAGES_LEFT = 1
const BYTES_LEFT = 2
/** Number of shards that found nothing left to claim. */
const WAITING = 3
/** From here on, a few numbers per shard. */
const SHARDS = 4
const NUMBERS_PER_SHARD = 3

/** Per shard: shares that it has claimed and that have not become pages. */
const CLAIMED = 0
/** Per shard: 1 if it is waiting for shares. */
const IS_WAITING = 1
/** Per shard: pages that the budget has counted, including earlier runs. */
const COUNTED = 2
/** Outside the range of counts. Counts may be negative, where one shard returns what another counted. */
const NOT_OPENED = -(2n ** 62n)

/** Stands for no limit: more than any crawl will use. */
const UNLIMITED = 2n ** 62n

/** Allocates the memory of a budget. */
export function budgetMemory(pages: number, bytes: number, shards: number): SharedArrayBuffer {
  const count = SHARDS + shards * NUMBERS_PER_SHARD
  const memory = new SharedArrayBuffer(count * BigInt64Array.BYTES_PER_ELEMENT)
  const numbers = new BigInt64Array(memory)
  numbers[LEFT] = limitOf(pages)
  numbers[PAGES_LEFT] = limitOf(pages)
  numbers[BYTES_LEFT] = limitOf(bytes)
  for (let shard = 0; shard < shards; shard++) numbers[offsetOf(shard) + COUNTED] = NOT_OPENED
  return memory
}

function limitOf(limit: number): bigint {
  return limit >= Number.MAX_SAFE_INTEGER ? UNLIMITED : BigInt(Math.max(0, Math.ceil(limit)))
}

/** Whether all pages were delivered, or all bytes read. */
export function isUsedUp(memory: SharedArrayBuffer): boolean {
  return isUsedUpOf(new BigInt64Array(memory))
}

function isUsedUpOf(numbers: BigInt64Array): boolean {
  return Atomics.load(numbers, PAGES_LEFT) <= 0n || Atomics.load(numbers, BYTES_LEFT) <= 0n
}

function offsetOf(shard: number): number {
  return SHARDS + shard * NUMBERS_PER_SHARD
}

/**
 * A shard died: it no longer waits, and its claims are returned. If its store is durable, only its replacement knows
 * which of its pages were stored, and returns the rest itself (`watch`). `used`: how much the shard has used in total,
 * if that is known to be more than it has counted; a request that was sent is used, even if its visit was not settled.
 */
export function returnClaims(memory: SharedArrayBuffer, shard: number, isDurable: boolean, used = 0): void {
  const numbers = new BigInt64Array(memory)
  const own = offsetOf(shard)
  if (!isDurable) {
    const counted = Atomics.load(numbers, own + COUNTED)
    const lost = counted === NOT_OPENED || BigInt(used) < counted ? 0n : BigInt(used) - counted
    Atomics.add(numbers, own + COUNTED, lost)
    Atomics.sub(numbers, PAGES_LEFT, lost)
    Atomics.add(numbers, LEFT, Atomics.exchange(numbers, own + CLAIMED, 0n) - lost)
  }
  Atomics.sub(numbers, WAITING, Atomics.exchange(numbers, own + IS_WAITING, 0n))
}

/**
 * The budget of a crawl, in memory that all its threads share. Shards that wait for shares are notified by message.
 *
 * With a durable store a page counts once its commit is on disk: a page whose worker dies before that is delivered
 * again.
 */
export class SharedBudget implements Budget {
  readonly #numbers: BigInt64Array
  readonly #isUnlimited: boolean
  readonly #own: number
  readonly #notifyOthers: () => void
  readonly #isDurable: boolean
  #wake: () => void = () => {}
  #isWaiting = false
  /** Pages whose commit is not on disk yet. */
  #uncommitted = 0
  /** Calls back once everything changed so far is on disk. Absent: a page counts immediately. */
  whenDurable: ((then: () => void) => void) | undefined = undefined

  /**
   * `notifyOthers` is called when shards that wait for shares should try again. `isDurable`: pages on disk outlive the
   * shard, and its replacement knows them when it opens.
   */
  constructor(memory: SharedArrayBuffer, shard: number, tellOthers: () => void, isDurable = false) {
    this.#isDurable = isDurable
    this.#own = offsetOf(shard)
    this.#numbers = new BigInt64Array(memory)
    this.#isUnlimited = this.#numbers[PAGES_LEFT]! >= UNLIMITED / 2n
    this.#notifyOthers = tellOthers
  }

  claim(visits: number): number {
    if (this.#isUnlimited) return visits
    for (;;) {
      const left = Atomics.load(this.#numbers, LEFT)
      const claimed = left < BigInt(visits) ? left : BigInt(visits)
      if (claimed <= 0n) {
        this.#wait()
        // Something may have been returned before the others could see that this shard waits.
        if (Atomics.load(this.#numbers, LEFT) <= 0n) return 0
        continue
      }
      // In this order: if the worker dies in between, too few shares are left rather than too many, and no shard waits
      // forever.
      Atomics.add(this.#numbers, this.#own + CLAIMED, claimed)
      if (Atomics.compareExchange(this.#numbers, LEFT, left, left - claimed) !== left) {
        Atomics.sub(this.#numbers, this.#own + CLAIMED, claimed)
        continue
      }
      this.#stopWaiting()
      return Number(claimed)
    }
  }

  release(visits: number): void {
    if (this.#isUnlimited) return
    Atomics.add(this.#numbers, LEFT, BigInt(visits))
    Atomics.sub(this.#numbers, this.#own + CLAIMED, BigInt(visits))
    if (Atomics.load(this.#numbers, WAITING) > 0n) this.#notifyOthers()
  }

  spend(pages: number, bytes: number): void {
    if (bytes > 0) {
      const left = Atomics.sub(this.#numbers, BYTES_LEFT, BigInt(bytes))
      if (left > 0n && left <= BigInt(bytes)) this.#notifyOthers()
    }
    if (pages === 0 || this.#isUnlimited) return
    if (this.whenDurable === undefined) {
      this.#count(pages)
      return
    }
    this.#uncommitted += pages
    this.whenDurable(() => {
      this.#uncommitted -= pages
      this.#count(pages)
      if (this.#uncommitted === 0) this.#wake()
    })
  }

  #count(pages: number): void {
    Atomics.add(this.#numbers, this.#own + COUNTED, BigInt(pages))
    Atomics.sub(this.#numbers, this.#own + CLAIMED, BigInt(pages))
    const left = Atomics.sub(this.#numbers, PAGES_LEFT, BigInt(pages))
    if (left <= BigInt(pages)) this.#notifyOthers()
  }

  get isSettling(): boolean {
    return this.#uncommitted > 0
  }

  get isUsedUp(): boolean {
    return isUsedUpOf(this.#numbers)
  }

  watch(rouse: () => void, pages: number): void {
    this.#wake = rouse
    if (this.#isUnlimited) return
    const counted = Atomics.exchange(this.#numbers, this.#own + COUNTED, BigInt(pages))
    if (counted === NOT_OPENED || !this.#isDurable) return
    // Pages of commits that the predecessor did not live to count; negative if it counted a commit that was lost.
    const unheard = BigInt(pages) - counted
    Atomics.sub(this.#numbers, PAGES_LEFT, unheard)
    const taken = Atomics.exchange(this.#numbers, this.#own + CLAIMED, 0n)
    Atomics.add(this.#numbers, LEFT, taken - unheard)
    this.#notifyOthers()
  }

  /** Another shard has returned shares, or used up the budget. */
  changed(): void {
    // It claims again if it still has work. A shard without work must not be notified of every returned share.
    this.#stopWaiting()
    this.#wake()
  }

  #wait(): void {
    if (this.#isWaiting) return
    this.#isWaiting = true
    Atomics.store(this.#numbers, this.#own + IS_WAITING, 1n)
    Atomics.add(this.#numbers, WAITING, 1n)
  }

  #stopWaiting(): void {
    if (!this.#isWaiting) return
    this.#isWaiting = false
    Atomics.store(this.#numbers, this.#own + IS_WAITING, 0n)
    Atomics.sub(this.#numbers, WAITING, 1n)
  }
}
