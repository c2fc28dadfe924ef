/**
 * Where the requests of a partition are. They are appended to blocks of `BLOCK` requests; a settled one leaves an empty
 * element, and a block of which nothing is left is deleted. So a pending request costs its own bytes and three more, and
 * is found by its number without a key of its own.
 */

export const BLOCK = 128

/** The blocks of one partition, as its owner knows them. */
export class Blocks {
  readonly partition: number
  /** Number of the next request. */
  #next: number
  /** The first block that has requests, if any has. */
  #first: number
  /** Requests left in each block; blocks without any are absent. */
  readonly #left = new Map<number, number>()
  /** What the crawl says about first and last block; '' before it says anything. */
  #recorded: string

  constructor(partition: number, recorded = '') {
    this.partition = partition
    this.#recorded = recorded
    const { first, last } = readRange(recorded)
    this.#first = first
    this.#next = last * BLOCK
  }

  /** Requests that wait or are leased. */
  get size(): number {
    let size = 0
    for (const left of this.#left.values()) size += left
    return size
  }

  /** A block as it was read: `lines` includes the empty ones. */
  restore(block: number, lines: number, left: number): void {
    if (left > 0) this.#left.set(block, left)
    if (lines > 0) this.#next = Math.max(this.#next, block * BLOCK + lines)
  }

  /** The number of a new request. */
  append(): number {
    const number = this.#next++
    const block = blockOf(number)
    this.#left.set(block, (this.#left.get(block) ?? 0) + 1)
    return number
  }

  /** True: nothing is left in the request's block, and nothing will be added to it. */
  remove(number: number): boolean {
    const block = blockOf(number)
    const left = (this.#left.get(block) ?? 1) - 1
    if (left > 0) {
      this.#left.set(block, left)
      return false
    }
    this.#left.delete(block)
    return blockOf(this.#next) > block
  }

  /**
   * What to record about the range of blocks; undefined if that is recorded already. `isAll` false: settled requests are to be
   * removed later, so that it must begin where it did.
   */
  change(isAll: boolean): string | undefined {
    const last = blockOf(Math.max(0, this.#next - 1))
    if (isAll && !this.#left.has(this.#first)) this.#first = firstOf(this.#left.keys(), last)
    const range = `${this.#first} ${last}`
    if (range === this.#recorded) return undefined
    this.#recorded = range
    return range
  }
}

function blockOf(number: number): number {
  return Math.floor(number / BLOCK)
}

export function readRange(recorded: string): { readonly first: number; readonly last: number } {
  const [first = 0, last = 0] = recorded === '' ? [] : recorded.split(' ').map(Number)
  return { first, last }
}

function firstOf(blocks: Iterable<number>, none: number): number {
  let first = none
  for (const block of blocks) if (block < first) first = block
  return first
}
