/** BM25F: how much a term in a record counts, by the fields that have it and their lengths. */

import { LENGTHS } from '../segment/lengths.js'
import { BODY, HEADINGS, PATH, TITLE } from '../segment/postings.js'

/** How fast further occurrences stop to count. */
const K1 = 1.2
/** How much a word counts in a field, and how much less if the field is long (0 to 1). */
const FIELDS: Readonly<Record<number, readonly [weight: number, b: number]>> = {
  [TITLE]: [2, 0.6],
  [HEADINGS]: [6, 0.6],
  [BODY]: [1, 0.75],
  [PATH]: [1, 0.5],
}
const OWN_FIELD = [1, 0.6] as const

export class RankingModel {
  /** What one occurrence counts, by field and length code. */
  readonly factors: readonly Float64Array[]
  readonly #records: number

  /** @param lengthSums By field, over all records. */
  constructor(records: number, lengthSums: readonly number[], weights: readonly (number | undefined)[]) {
    this.#records = records
    this.factors = lengthSums.map((sum, field) => {
      const [weight, b] = FIELDS[field] ?? OWN_FIELD
      const average = Math.max(1, sum / Math.max(1, records))
      const own = weights[field] ?? weight
      return LENGTHS.map((length) => own / (1 - b + (b * length) / average))
    })
  }

  /** How rare a term is that this many records have. */
  rarity(count: number): number {
    return Math.log(1 + (this.#records - Math.min(count, this.#records) + 0.5) / (count + 0.5))
  }

  /** From weighted occurrences to a score between 0 and 1, before rarity. */
  saturate(occurrences: number): number {
    return occurrences / (K1 + occurrences)
  }
}
