/** One search from start to end, on one state of the index. Nothing in it waits, so nothing changes under it. */

import type { Clock } from '../../time.js'
import type { SearchHit, SearchOptions, SearchResult } from '../contract.js'
import { distinct } from '../hits/distinct.js'
import { rerank, WINDOW } from '../hits/rerank.js'
import { Highlighter } from '../hits/snippet.js'
import { storedHit, urlOf } from '../hits/stored-hit.js'
import type { LiveSegment } from '../index/state.js'
import type { Schema } from '../segment/layout.js'
import type { Analyzers } from '../words/analyzer.js'
import { type Attempt, type Attempted, attempts, clausesOf, findsNothing } from './attempts.js'
import type { Candidate } from './candidates.js'
import { type Collected, collect } from './collect.js'
import { conditionsOf, filtersOf, type PageCondition } from './conditions.js'
import { RankingModel } from './model.js'
import { type Clause, parseQuery } from './parse.js'
import { type Plan, type PlanOptions, planOf } from './plan.js'
import { type CheckedOptions, checkSearchOptions, queryNames } from './search-options.js'
import { TermFinder } from './terms.js'

/** What a search works on. */
export interface SearchState {
  /** Changes with every commit. */
  readonly version: string
  readonly segments: readonly LiveSegment[]
  readonly schema: Schema
  readonly analyzers: Analyzers
  readonly synonyms: ReadonlyMap<string, readonly string[]>
  readonly clock: Clock
}

/** Candidates for each hit that may be left out: duplicates, hosts with too many. */
const SPARE = 3

/** Candidates to keep for the hits that are asked for. */
export function mostCandidates({ limit, offset }: CheckedOptions): number {
  return Math.max(WINDOW, (offset + limit) * SPARE)
}

export function search(state: SearchState, query: string, given: SearchOptions): SearchResult {
  const start = state.clock.now()
  const options = checkSearchOptions(given, state.schema)
  const { clauses, conditions } = conditionsFor(query, options, state.schema)
  const found = new Search(state, options, conditions).run(clauses)
  return { ...found, missing: [], tookMs: state.clock.now() - start }
}

/** A search for documents that have some of the words. */
export function searchSome(state: SearchState, words: readonly string[], given: SearchOptions): SearchResult {
  const start = state.clock.now()
  const options = checkSearchOptions(given, state.schema)
  const conditions = filtersOf(options.filters, state.schema)
  const found = new Search(state, options, conditions).runLoosely(clausesOf(words))
  return { ...found, missing: [], tookMs: state.clock.now() - start }
}

/** What a query and the filters ask for. */
export function conditionsFor(
  query: string,
  { filters }: CheckedOptions,
  schema: Schema,
): { readonly clauses: readonly Clause[]; readonly conditions: readonly PageCondition[] } {
  const { clauses, conditions } = parseQuery(String(query), queryNames(schema))
  return { clauses, conditions: [...conditionsOf(conditions, schema), ...filtersOf(filters, schema)] }
}

interface Found extends Collected, Attempted {}

class Search {
  readonly #state: SearchState
  readonly #options: CheckedOptions
  readonly #conditions: readonly PageCondition[]
  readonly #planOptions: PlanOptions

  constructor(state: SearchState, options: CheckedOptions, conditions: readonly PageCondition[]) {
    this.#state = state
    this.#options = options
    this.#conditions = conditions
    this.#planOptions = {
      analyzers: state.analyzers,
      finder: new TermFinder(state.segments),
      fields: state.schema.text,
      synonyms: state.synonyms,
      isPrefix: options.prefix,
    }
  }

  run(clauses: readonly Clause[]): Omit<SearchResult, 'tookMs' | 'missing'> {
    const { total, facets, candidates, plan, matched } = this.#find(clauses)
    const isRanked = this.#options.sort === undefined && plan.required.length > 0
    const ranked = isRanked ? rerank(candidates, plan.required, this.#state.segments) : candidates
    return { hits: this.#hits(ranked, plan), total, facets, matched, corrections: plan.corrections }
  }

  runLoosely(clauses: readonly Clause[]): Omit<SearchResult, 'tookMs' | 'missing'> {
    const { total, facets, candidates, plan } = this.#collect({
      clauses,
      correction: 'none',
      isStrict: false,
    })
    return { hits: this.#hits(candidates, plan), total, facets, matched: 'partial', corrections: {} }
  }

  #find(clauses: readonly Clause[]): Found {
    const trying = attempts<Found>(clauses, this.#options.fuzzy, this.#state.analyzers)
    let step = trying.next()
    while (step.done !== true) step = trying.next(this.#collect(step.value))
    return step.value
  }

  #collect({ clauses, correction, isStrict }: Attempt): Found {
    const { segments, schema, clock } = this.#state
    const plan = planOf(clauses, correction, this.#planOptions)
    const found = collect({
      segments: findsNothing(plan, clauses, this.#conditions.length) ? [] : segments,
      schema,
      model: modelOf(segments, schema, this.#options.weights),
      plan,
      conditions: this.#conditions,
      options: this.#options,
      isStrict,
      most: mostCandidates(this.#options),
      now: clock.now(),
    })
    return { ...found, plan, matched: matchedBy(plan) }
  }

  #hits(candidates: readonly Candidate[], plan: Plan): SearchHit[] {
    const { segments, analyzers } = this.#state
    const { limit, offset, highlight } = this.#options
    const highlighter = highlight ? new Highlighter(plan.required) : undefined
    const segmentOf = ({ segment }: Candidate) => segments[segment]!.segment
    const kept = distinct(
      candidates,
      offset + limit,
      this.#options,
      (candidate) => segmentOf(candidate).sketch(candidate.page),
      (candidate) => segmentOf(candidate).keywords('host')?.words(candidate.page)[0] ?? '',
    )
    return kept.slice(offset).map(({ candidate, duplicates }) => ({
      ...storedHit(segmentOf(candidate), candidate.page, candidate.record, highlighter, analyzers),
      score: candidate.score,
      sections: candidate.sections,
      duplicates: duplicates.map((each) => urlOf(segmentOf(each), each.page)),
    }))
  }
}

/** How a query was read, by its plan. */
export function matchedBy({ corrections }: Plan): SearchResult['matched'] {
  return Object.keys(corrections).length > 0 ? 'corrected' : 'exact'
}

/** Statistics of all segments together, so that ranking does not depend on how documents are spread over them. */
export function modelOf(
  segments: readonly LiveSegment[],
  schema: Schema,
  weights: readonly (number | undefined)[],
): RankingModel {
  const { records, lengthSums } = lengthsOf(segments, schema)
  return new RankingModel(records, lengthSums, weights)
}

/** Records, and the sum of their lengths by text field. */
export function lengthsOf(
  segments: readonly LiveSegment[],
  { text }: Schema,
): { readonly records: number; readonly lengthSums: number[] } {
  let records = 0
  const lengthSums = text.map(() => 0)
  for (const { segment } of segments) {
    records += segment.records
    for (const [field, sum] of segment.description.lengthSums.entries()) lengthSums[field]! += sum
  }
  return { records, lengthSums }
}
