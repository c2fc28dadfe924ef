/** One search from start to end, on one state of the index. Nothing in it waits, so nothing changes under it. */

import type { Clock } from '../../time.js'
import type { SearchHit, SearchOptions, SearchResult } from '../contract.js'
import type { LiveSegment } from '../index/state.js'
import type { Schema } from '../segment/layout.js'
import { areAlike } from '../segment/sketch.js'
import type { Analyzers } from '../words/analyzer.js'
import type { Candidate } from './candidates.js'
import { type Collected, collect } from './collect.js'
import { conditionsOf, filtersOf, type PageCondition } from './conditions.js'
import { RankingModel } from './model.js'
import { type Clause, parseQuery } from './parse.js'
import { type Correction, looseClauses, type Plan, type PlanOptions, planOf } from './plan.js'
import { rerank, WINDOW } from './rerank.js'
import { type CheckedOptions, checkSearchOptions, queryNames } from './search-options.js'
import { Highlighter } from './snippet.js'
import { TermFinder } from './terms.js'

/** What a search works on. */
export interface SearchState {
  readonly segments: readonly LiveSegment[]
  readonly schema: Schema
  readonly analyzers: Analyzers
  readonly synonyms: ReadonlyMap<string, readonly string[]>
  readonly clock: Clock
}

/** Candidates for each hit that may be left out: duplicates, hosts with too many. */
const SPARE = 3

export function search(state: SearchState, query: string, given: SearchOptions): SearchResult {
  const start = state.clock.now()
  const options = checkSearchOptions(given, state.schema)
  const { clauses, conditions } = parseQuery(String(query), queryNames(state.schema))
  const pageConditions = [
    ...conditionsOf(conditions, state.schema),
    ...filtersOf(options.filters, state.schema),
  ]
  const found = new Search(state, options, pageConditions).run(clauses)
  return { ...found, tookMs: state.clock.now() - start }
}

/** A search for documents that have some of the words. */
export function searchSome(state: SearchState, words: readonly string[], given: SearchOptions): SearchResult {
  const start = state.clock.now()
  const options = checkSearchOptions(given, state.schema)
  const clauses = words.map(
    (text): Clause => ({ text, isPhrase: false, isExcluded: false, isPrefix: false, field: undefined }),
  )
  const conditions = filtersOf(options.filters, state.schema)
  const found = new Search(state, options, conditions).runLoosely(clauses)
  return { ...found, tookMs: state.clock.now() - start }
}

interface Found extends Collected {
  readonly plan: Plan
  readonly matched: SearchResult['matched']
}

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

  run(clauses: readonly Clause[]): Omit<SearchResult, 'tookMs'> {
    const { total, facets, candidates, plan, matched } = this.#find(clauses)
    const isRanked = this.#options.sort === undefined && plan.required.length > 0
    const ranked = isRanked ? rerank(candidates, plan.required, this.#state.segments) : candidates
    return { hits: this.#hits(ranked, plan), total, facets, matched, corrections: plan.corrections }
  }

  runLoosely(clauses: readonly Clause[]): Omit<SearchResult, 'tookMs'> {
    const { total, facets, candidates, plan } = this.#collect(clauses, 'none', false)
    return { hits: this.#hits(candidates, plan), total, facets, matched: 'partial', corrections: {} }
  }

  /** Exactly what was asked for; failing that, with corrected spelling; failing that, with fewer words. */
  #find(clauses: readonly Clause[]): Found {
    const { fuzzy } = this.#options
    const first: Correction = fuzzy === true ? 'all' : fuzzy === false ? 'none' : 'unknown'
    const strict = this.#collect(clauses, first, true)
    if (strict.total > 0 || !clauses.some(({ isExcluded }) => !isExcluded)) return strict
    if (fuzzy === 'auto') {
      const corrected = this.#collect(clauses, 'all', true)
      if (corrected.total > 0) return { ...corrected, matched: 'corrected' }
    }
    const loose = looseClauses(clauses, this.#state.analyzers)
    const partial = this.#collect(loose, first, false)
    return partial.total > 0 && partial.plan.required.length > 1
      ? { ...partial, matched: 'partial' }
      : partial
  }

  #collect(clauses: readonly Clause[], correction: Correction, isStrict: boolean): Found {
    const { segments, schema, clock } = this.#state
    const plan = planOf(clauses, correction, this.#planOptions)
    const matched = Object.keys(plan.corrections).length > 0 ? 'corrected' : 'exact'
    // A query of punctuation finds nothing; one of conditions finds all that fulfil them.
    const isEmpty =
      plan.required.length === 0 &&
      (clauses.some((each) => !each.isExcluded) || this.#conditions.length === 0)
    const { limit, offset } = this.#options
    const found = collect({
      segments: isEmpty ? [] : segments,
      schema,
      model: modelOf(segments, schema, this.#options.weights),
      plan,
      conditions: this.#conditions,
      options: this.#options,
      isStrict,
      most: Math.max(WINDOW, (offset + limit) * SPARE),
      now: clock.now(),
    })
    return { ...found, plan, matched }
  }

  #hits(candidates: readonly Candidate[], plan: Plan): SearchHit[] {
    const { limit, offset, highlight } = this.#options
    const highlighter = highlight ? new Highlighter(plan.required) : undefined
    return this.#distinct(candidates, offset + limit)
      .slice(offset, offset + limit)
      .map(({ candidate, duplicates }) => this.#hit(candidate, duplicates, highlighter))
  }

  /** Without copies of better hits, and without more hits of a host than wanted. */
  #distinct(
    candidates: readonly Candidate[],
    most: number,
  ): { readonly candidate: Candidate; readonly duplicates: Candidate[] }[] {
    const { groupBy, perHost } = this.#options
    const kept: { candidate: Candidate; duplicates: Candidate[]; sketch: Uint8Array }[] = []
    const hosts = new Map<string, number>()
    for (const candidate of candidates) {
      const { segment } = this.#state.segments[candidate.segment]!
      const sketch = segment.sketch(candidate.page)
      const original = groupBy === 'none' ? undefined : kept.find((each) => areAlike(each.sketch, sketch))
      if (original !== undefined) {
        original.duplicates.push(candidate)
        continue
      }
      if (perHost < Number.MAX_SAFE_INTEGER) {
        const host = segment.keywords('host')?.words(candidate.page)[0] ?? ''
        const count = hosts.get(host) ?? 0
        if (count >= perHost) continue
        hosts.set(host, count + 1)
      }
      if (kept.length === most) break
      kept.push({ candidate, duplicates: [], sketch })
    }
    return kept
  }

  #hit(
    candidate: Candidate,
    duplicates: readonly Candidate[],
    highlighter: Highlighter | undefined,
  ): SearchHit {
    const { segment } = this.#state.segments[candidate.segment]!
    const {
      id,
      url,
      title,
      language,
      date,
      fields = {},
    } = segment.stored.page(segment.pageItem(candidate.page))
    const { anchor, heading, path, text } = segment.stored.record(segment.recordItem(candidate.record))
    return {
      id,
      url,
      anchor: anchor === '' ? undefined : anchor,
      title,
      headings: heading === '' ? path : [...path, heading],
      language,
      date,
      score: candidate.score,
      snippet: highlighter?.snippet(text, this.#state.analyzers.of(language)),
      sections: candidate.sections,
      duplicates: duplicates.map((each) => this.#urlOf(each)),
      fields,
    }
  }

  #urlOf({ segment: number, page }: Candidate): string {
    const { segment } = this.#state.segments[number]!
    return segment.stored.page(segment.pageItem(page)).url
  }
}

/** Statistics of all segments together, so that ranking does not depend on how documents are spread over them. */
export function modelOf(
  segments: readonly LiveSegment[],
  { text }: Schema,
  weights: readonly (number | undefined)[],
): RankingModel {
  let records = 0
  const sums = text.map(() => 0)
  for (const { segment } of segments) {
    records += segment.records
    for (const [field, sum] of segment.description.lengthSums.entries()) sums[field]! += sum
  }
  return new RankingModel(records, sums, weights)
}
