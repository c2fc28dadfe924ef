/** Goes through the records that match, segment after segment: counts them, counts facets, keeps the best. */

import type { FacetCount } from '../contract.js'
import type { LiveSegment } from '../index/state.js'
import type { Schema } from '../segment/layout.js'
import { hasBit } from '../segment/merge.js'
import type { Segment } from '../segment/segment.js'
import { BestCandidates, type Candidate, candidateOf, compareCandidates } from './candidates.js'
import type { PageCondition } from './conditions.js'
import { Scores } from './match.js'
import type { RankingModel } from './model.js'
import type { Plan } from './plan.js'
import type { CheckedOptions } from './search-options.js'

export interface Collected {
  readonly candidates: readonly Candidate[]
  /** If hits are grouped by a field: its value for each candidate. */
  readonly values?: readonly string[] | undefined
  /** All values that were found. */
  readonly groups?: Iterable<string> | undefined
  readonly total: number
  readonly facets: Readonly<Record<string, readonly FacetCount[]>>
}

export interface CollectOptions {
  readonly segments: readonly LiveSegment[]
  readonly schema: Schema
  readonly model: RankingModel
  readonly plan: Plan
  readonly conditions: readonly PageCondition[]
  readonly options: CheckedOptions
  /** Every word is required. Otherwise one is enough, and more are better. */
  readonly isStrict: boolean
  /** Candidates to keep. */
  readonly most: number
  /** Milliseconds since the epoch, for freshness. */
  readonly now: number
  /** Values of a facet that are returned, the largest counts first. Default: 100. */
  readonly mostValues?: number | undefined
}

/** Facet values that are returned, the largest counts first. */
export const MOST_VALUES = 100

export function collect(asked: CollectOptions): Collected {
  return new Collector(asked).run()
}

class Collector {
  readonly #asked: CollectOptions
  readonly #best: BestCandidates
  readonly #groups = new Map<string, Candidate>()
  readonly #facets: Map<string, Map<string, number>>
  #total = 0

  constructor(asked: CollectOptions) {
    this.#asked = asked
    this.#best = new BestCandidates(asked.most)
    this.#facets = new Map(asked.options.facets.map((name) => [name, new Map<string, number>()]))
  }

  run(): Collected {
    const { segments, options, most, mostValues = MOST_VALUES } = this.#asked
    for (const number of segments.keys()) this.#segment(number)
    const isGrouped = options.groupBy !== 'page' && options.groupBy !== 'none'
    const grouped = isGrouped
      ? [...this.#groups].sort(([, a], [, b]) => compareCandidates(a, b)).slice(0, most)
      : undefined
    return {
      candidates: grouped?.map(([, candidate]) => candidate) ?? this.#best.sorted(),
      values: grouped?.map(([value]) => value),
      groups: isGrouped ? this.#groups.keys() : undefined,
      total: isGrouped ? this.#groups.size : this.#total,
      facets: Object.fromEntries(
        [...this.#facets].map(([name, counts]) => [name, sortedCounts(counts, mostValues)]),
      ),
    }
  }

  #segment(number: number): void {
    const { segments, plan, conditions, options } = this.#asked
    const { segment, deleted } = segments[number]!
    const scores = this.#score(segment, number)
    if (scores === undefined) return
    const excluded = new Uint8Array(plan.excluded.length > 0 ? segment.records : 0)
    for (const group of plan.excluded) scores.exclude(group, excluded)
    const tests = conditions.map((condition) => condition(segment))
    const needed = this.#asked.isStrict ? plan.required.length : Math.min(1, plan.required.length)
    const { counts } = scores
    const { firstRecords, pages } = segment
    const isSections = options.groupBy === 'none'
    const add = this.#adder(segment, number)
    for (let page = 0; page < pages; page++) {
      const first = firstRecords[page]!
      const end = firstRecords[page + 1]!
      if (hasBit(deleted, first)) continue
      let best = -1
      let bestScore = -1
      let sections = 0
      for (let record = first; record < end; record++) {
        if (counts[record]! < needed || excluded[record] === 1) continue
        if (sections === 0 && tests.length > 0 && !tests.every((test) => test(page))) break
        sections++
        const score = this.#partial(scores.scores[record]!, counts[record]!)
        if (isSections) add(record, page, score, 1)
        else if (score > bestScore) {
          best = record
          bestScore = score
        }
        // Without words a page is found once.
        if (needed === 0) break
      }
      if (best >= 0) add(best, page, bestScore, sections)
      if (sections > 0) this.#countFacets(segment, page, isSections ? sections : 1)
    }
  }

  /** Undefined if nothing can match. */
  #score(segment: Segment, number: number): Scores | undefined {
    const { plan, isStrict, model } = this.#asked
    const has = plan.required.map(({ readings }) =>
      readings.some(({ slots }) =>
        slots.every((terms) => terms.some(({ entries }) => entries[number] !== undefined)),
      ),
    )
    if (plan.required.length > 0 && (isStrict ? !has.every(Boolean) : !has.some(Boolean))) return undefined
    const scores = new Scores(segment, number, model)
    for (const [index, group] of plan.required.entries()) scores.add(group, isStrict ? index : undefined)
    return scores
  }

  /** With fewer words than asked for, a record counts less. */
  #partial(score: number, count: number): number {
    const { isStrict, plan } = this.#asked
    return isStrict || plan.required.length === 0 ? score : (score * count) / plan.required.length
  }

  /** What puts a record among the candidates, with the columns of its segment at hand. */
  #adder(
    segment: Segment,
    number: number,
  ): (record: number, page: number, score: number, sections: number) => void {
    const { options, segments, schema, now } = this.#asked
    const { freshness, score: own, sort, groupBy } = options
    const dates = freshness === undefined ? undefined : segment.numbers('date')
    const sorted = sort === undefined ? undefined : segment.numbers(sort.by)
    const group = groupBy === 'page' || groupBy === 'none' ? undefined : segment.keywords(groupBy)
    const columns =
      own === undefined ? [] : schema.numbers.map((name) => [name, segment.numbers(name)] as const)
    return (record, page, base, sections) => {
      this.#total++
      let score = base
      if (dates !== undefined) score *= fresh(dates[page]!, now, freshness!)
      if (own !== undefined) score *= factorOf(own, columns, page)
      const key = sort === undefined ? score : sortKey(sorted?.[page], sort.isAscending)
      if (key < this.#best.threshold && group === undefined) return
      const candidate = candidateOf(segments, number, record, page, key, score, sections)
      if (group === undefined) this.#best.add(candidate)
      else for (const value of group.words(page)) this.#keepBest(value, candidate)
    }
  }

  #keepBest(value: string, candidate: Candidate): void {
    const before = this.#groups.get(value)
    if (before === undefined || compareCandidates(candidate, before) < 0) this.#groups.set(value, candidate)
  }

  #countFacets(segment: Segment, page: number, count: number): void {
    for (const [name, counts] of this.#facets)
      for (const value of segment.keywords(name)?.words(page) ?? [])
        counts.set(value, (counts.get(value) ?? 0) + count)
  }
}

export function sortedCounts(counts: ReadonlyMap<string, number>, most: number): FacetCount[] {
  return [...counts]
    .map(([value, count]) => ({ value, count }))
    .sort((a, b) => b.count - a.count || (a.value < b.value ? -1 : 1))
    .slice(0, most)
}

/** Pages without a value come last in either order. */
function sortKey(value: number | undefined, isAscending: boolean): number {
  if (value === undefined || Number.isNaN(value)) return -Number.MAX_VALUE
  return isAscending ? -value : value
}

function fresh(
  date: number,
  now: number,
  { halfLifeMs, weight }: NonNullable<CheckedOptions['freshness']>,
): number {
  if (Number.isNaN(date) || halfLifeMs === 0) return 1
  return 1 + weight * 2 ** (-Math.max(0, now - date) / halfLifeMs)
}

function factorOf(
  own: NonNullable<CheckedOptions['score']>,
  columns: readonly (readonly [string, Float64Array | undefined])[],
  page: number,
): number {
  const values: Record<string, number | undefined> = {}
  for (const [name, column] of columns) {
    const value = column?.[page]
    values[name] = value === undefined || Number.isNaN(value) ? undefined : value
  }
  const factor = own(values)
  return Number.isFinite(factor) && factor >= 0 ? factor : 1
}
