/** As many as a page has links. */
const CREDIT_PER_VISIT = 100
const MOST_CREDIT = 10_000

/**
 * Requests that may be admitted although enough are pending: some for each visit that ends. So what is pending grows with
 * the visits, as it does with links, and not with the size of a source.
 */
export class VisitCredit {
  #left = CREDIT_PER_VISIT
  /** Visits that have given their credit. */
  #counted = 0

  /** @param ended Visits that have ended so far. */
  earn(ended: number): void {
    const earned = Math.max(0, ended - this.#counted) * CREDIT_PER_VISIT
    this.#counted = ended
    this.#left = Math.min(MOST_CREDIT, this.#left + earned)
  }

  get isUsedUp(): boolean {
    return this.#left <= 0
  }

  /** May end in debt, because requests come in batches. */
  spend(requests: number): void {
    this.#left -= requests
  }
}
