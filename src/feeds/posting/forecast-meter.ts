/**
 * How far a forecast for all feeds is off: feeds change in ways that no estimate foresees, and one burst term for all of them
 * does not describe each. What came of polls, divided by what was expected of them, corrects what is expected of the next.
 * There is one meter for lost articles, which are estimated, and one for futile polls, which are counted.
 */

/** What is expected weighs a third after this much of it: enough for chance to be a few percent of it. */
const MEMORY = 1000
/** A single poll must not make all others forgotten. */
const MOST_FADED = 0.1
/** This much must be expected before a forecast is doubted. */
const TRUST = 10
const MOST_WRONG = 20
/** What remains of the experience with expectations that were made in another way. */
const KEPT_OF_OTHERS = 0.2

export class ForecastMeter {
  #expected = 0
  #actual = 0

  /** What one poll was expected to bring, and what it brought. */
  observed(expected: number, actual: number): void {
    const kept = 1 - Math.min(MOST_FADED, Math.max(expected, actual) / MEMORY)
    this.#expected = this.#expected * kept + expected
    this.#actual = this.#actual * kept + actual
  }

  /** From now on, expectations follow from another burst term. */
  otherwise(): void {
    this.#expected *= KEPT_OF_OTHERS
    this.#actual *= KEPT_OF_OTHERS
  }

  get correction(): number {
    const actual = Math.max(0, this.#actual) + TRUST
    return Math.min(MOST_WRONG, Math.max(1 / MOST_WRONG, actual / (this.#expected + TRUST)))
  }
}
