/** Scores the records of one segment for the groups of a query, group after group. */

import { POSITION_BITS, PostingCursor } from '../segment/postings.js'
import type { Segment } from '../segment/segment.js'
import { countOf, type Group, isPaired, type Reading } from './group.js'
import type { RankingModel } from './model.js'
import { placesOf } from './occurrences.js'
import type { FoundTerm } from './terms.js'

/** How much a phrase counts more than its rarest word, for each further word. */
const PHRASE_SHARE = 0.3

/** Used by one segment after another: memory of this size would otherwise be allocated for each search. */
let scratch = { scores: new Float64Array(0), counts: new Uint8Array(0), best: new Float64Array(0) }

/** Scores of the records of a segment. Valid until the next ones are made. */
export class Scores {
  readonly scores: Float64Array
  /** Groups that each record matches. */
  readonly counts: Uint8Array
  readonly #best: Float64Array
  readonly #touched: number[] = []
  readonly #segment: Segment
  readonly #number: number
  readonly #model: RankingModel

  constructor(segment: Segment, number: number, model: RankingModel) {
    this.#segment = segment
    this.#number = number
    this.#model = model
    const { records } = segment
    if (scratch.counts.length < records) {
      const room = Math.ceil(records * 1.2)
      scratch = { scores: new Float64Array(room), counts: new Uint8Array(room), best: new Float64Array(room) }
    }
    this.scores = scratch.scores.subarray(0, records).fill(0)
    this.counts = scratch.counts.subarray(0, records).fill(0)
    this.#best = scratch.best.subarray(0, records).fill(0)
  }

  /** Adds the scores of a group. With `required`, only to records that match that many groups already. */
  add(group: Group, required?: number): void {
    const { scores, counts } = this
    const [reading, another] = group.readings
    if (reading === undefined) return
    if (another === undefined && reading.slots.length === 1 && reading.slots[0]!.length === 1) {
      // The common case: one term, so that no other can match the same record.
      this.#eachOfTerm(reading.slots[0]![0]!, reading, group.field, (record, score) => {
        if (required !== undefined && counts[record] !== required) return
        scores[record]! += score
        counts[record]!++
      })
      return
    }
    this.#bestOf(group)
    for (const record of this.#touched) {
      const score = this.#best[record]!
      this.#best[record] = 0
      if (required !== undefined && counts[record] !== required) continue
      scores[record]! += score
      counts[record]!++
    }
    this.#touched.length = 0
  }

  /** Marks the records of a group, which is excluded. */
  exclude(group: Group, excluded: Uint8Array): void {
    this.#bestOf(group)
    for (const record of this.#touched) {
      this.#best[record] = 0
      excluded[record] = 1
    }
    this.#touched.length = 0
  }

  #bestOf({ readings, field }: Group): void {
    const best = this.#best
    const note = (record: number, score: number) => {
      if (best[record] === 0) this.#touched.push(record)
      if (score > best[record]!) best[record] = score
    }
    for (const reading of readings) {
      if (reading.slots.length > 1) this.#eachOfPhrase(reading, field, note)
      else for (const term of reading.slots[0]!) this.#eachOfTerm(term, reading, field, note)
    }
  }

  #eachOfTerm(
    { entries, weight }: FoundTerm,
    reading: Reading,
    field: number,
    take: (record: number, score: number) => void,
  ): void {
    const entry = entries[this.#number]
    if (entry === undefined) return
    const model = this.#model
    const { factors } = model
    const { lengths } = this.#segment
    const rarity = model.rarity(countOf(reading.slots[0]!)) * weight * reading.weight
    const cursor = new PostingCursor(this.#segment.postings(entry))
    const wanted = field < 0 ? -1 : 1 << field
    while (cursor.next()) {
      const { record, times } = cursor
      let occurrences = 0
      for (let mask = cursor.mask & wanted, at = 0; mask !== 0; mask >>>= 1, at++) {
        if ((mask & 1) === 1) occurrences += times[at]! * factors[at]![lengths[at]![record]!]!
      }
      if (occurrences > 0) take(record, rarity * model.saturate(occurrences))
    }
  }

  #eachOfPhrase(reading: Reading, field: number, take: (record: number, score: number) => void): void {
    const model = this.#model
    const { factors } = model
    const { lengths } = this.#segment
    const rarity = phraseRarity(reading, model) * reading.weight
    const { records, starts } = placesOf(reading, this.#segment, this.#number, field)
    for (const [index, record] of records.entries()) {
      let occurrences = 0
      for (const start of starts[index]!) {
        const at = start >>> POSITION_BITS
        occurrences += factors[at]![lengths[at]![record]!]!
      }
      take(record, rarity * model.saturate(occurrences))
    }
  }
}

function phraseRarity(reading: Reading, model: RankingModel): number {
  const each = reading.slots.map((terms) => model.rarity(countOf(terms)))
  const rarest = Math.max(...each)
  // Pairs overlap: each further one tells less than a word.
  const share = isPaired(reading) ? PHRASE_SHARE / 2 : PHRASE_SHARE
  return rarest + share * (each.reduce((sum, one) => sum + one, 0) - rarest)
}
