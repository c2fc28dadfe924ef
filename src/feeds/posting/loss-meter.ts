/**
 * How far the forecast of losses is off: feeds change in ways that no estimate foresees, and windows are overrun more often
 * than expected. What was estimated to be lost, divided by what was expected, corrects the forecast for all feeds.
 */

/** Polls after which an observation weighs a third. */
const MEMORY_POLLS = 100_000
/** Articles that must be lost before the forecast is doubted. */
const TRUST = 10
const MOST_WRONG = 10

export class LossMeter {
  #expected = TRUST
  #lost = TRUST

  /** Expected and estimated loss of one poll. */
  observed(expected: number, lost: number): void {
    const kept = 1 - 1 / MEMORY_POLLS
    this.#expected = (this.#expected - TRUST) * kept + TRUST + expected
    this.#lost = Math.max(TRUST, (this.#lost - TRUST) * kept + TRUST + lost)
  }

  get correction(): number {
    return Math.min(MOST_WRONG, Math.max(1 / MOST_WRONG, this.#lost / this.#expected))
  }
}
