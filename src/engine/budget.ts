/**
 * How much a crawl may still fetch. A page limit is exact: each visit takes a share before it starts, and gives it back
 * if no page came of it. With several shards they all take from the same.
 */
export interface Budget {
  /** Takes shares for up to so many visits; answers with how many it got. */
  claim(visits: number): number
  /** So many shares were not used. */
  giveBack(visits: number): void
  /** So many shares became pages, and so many bytes were read: of this shard, since the last time. */
  spend(pages: number, bytes: number): void
  /** Whether all pages were delivered, or all bytes read. */
  readonly isUsedUp: boolean
  /** Whether pages were spent of which a crash would still undo the delivery: they may use it up, or come back. */
  readonly isSettling: boolean
  /**
   * To be called first. `rouse` is called when shares may have come back, or the budget was used up, by another shard;
   * `pages` are those that this shard has delivered before, in earlier runs or before it died.
   */
  watch(rouse: () => void, pages: number): void
}

/** The budget of a shard that is alone. */
export class LocalBudget implements Budget {
  #left: number
  #pagesLeft: number
  #bytesLeft: number
  readonly isSettling = false

  constructor(pages: number, bytes: number) {
    this.#left = pages
    this.#pagesLeft = pages
    this.#bytesLeft = bytes
  }

  claim(visits: number): number {
    const claimed = Math.max(0, Math.min(visits, this.#left))
    this.#left -= claimed
    return claimed
  }

  giveBack(visits: number): void {
    this.#left += visits
  }

  spend(pages: number, bytes: number): void {
    this.#pagesLeft -= pages
    this.#bytesLeft -= bytes
  }

  get isUsedUp(): boolean {
    return this.#pagesLeft <= 0 || this.#bytesLeft <= 0
  }

  /** Nobody else is there to give anything back. */
  watch(): void {}
}
