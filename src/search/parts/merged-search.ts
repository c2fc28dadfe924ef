/** One search over several indexes, which ranks as if they were one. */

import type { Clock } from '../../time.js'
import type { FacetCount, SearchHit, SearchOptions, SearchResult } from '../contract.js'
import { distinct } from '../hits/distinct.js'
import { reordered } from '../hits/rerank.js'
import { type Attempt, type Attempted, attempts, clausesOf, findsNothing } from '../query/attempts.js'
import { compareCandidates } from '../query/candidates.js'
import { MOST_VALUES, sortedCounts } from '../query/collect.js'
import { RankingModel } from '../query/model.js'
import type { Clause } from '../query/parse.js'
import { type Plan, planOf } from '../query/plan.js'
import { conditionsFor, matchedBy, mostCandidates } from '../query/search.js'
import { type CheckedOptions, checkSearchOptions } from '../query/search-options.js'
import { weighed, withOneMore, withoutItself } from '../query/similar.js'
import type { Schema } from '../segment/layout.js'
import type { Analyzers } from '../words/analyzer.js'
import { askAll } from './ask-all.js'
import type { Answer, IndexPart, PartCandidate, PartCollected, PartDescription, Place } from './contract.js'
import { PartsFinder } from './parts-finder.js'
import { plannedSearch } from './planned.js'

/** The indexes of a search, each in one version, and what they have in common. */
export interface MergedState {
  readonly parts: readonly { readonly part: IndexPart; readonly description: PartDescription }[]
  readonly schema: Schema
  readonly analyzers: Analyzers
  readonly synonyms: ReadonlyMap<string, readonly string[]>
  readonly clock: Clock
}

interface MergedCandidate extends PartCandidate {
  /** The number of its part. */
  readonly part: number
}

interface Found extends Attempted {
  readonly candidates: readonly MergedCandidate[]
  readonly facets: SearchResult['facets']
}

type Merged = Omit<SearchResult, 'tookMs' | 'missing'>

/** @throws Interrupted */
export class MergedSearch {
  readonly #state: MergedState
  readonly #given: SearchOptions
  readonly #options: CheckedOptions
  readonly #finder = new PartsFinder()
  /** The same for all parts: it decides how much being recent counts. */
  readonly #now: number

  constructor(state: MergedState, given: SearchOptions) {
    this.#state = state
    this.#given = given
    this.#options = checkSearchOptions(given, state.schema)
    this.#now = state.clock.now()
  }

  async run(query: string): Promise<Merged> {
    const { clauses, conditions } = conditionsFor(query, this.#options, this.#state.schema)
    const trying = attempts<Found>(clauses, this.#options.fuzzy, this.#state.analyzers)
    let step = trying.next()
    while (step.done !== true)
      step = trying.next(await this.#collect(step.value, query, conditions.length, true))
    const { total, facets, candidates, plan, matched } = step.value
    return { hits: await this.#hits(candidates, plan), total, facets, matched, corrections: plan.corrections }
  }

  async similar(id: string): Promise<Merged> {
    const counted = await this.#ask((part, version) => part.words({ version, id }))
    const { records, lengthSums } = this.#lengths()
    const words = counted.find((each) => each !== null) ?? []
    const lookups = words.map(({ term }) => ({ kind: 'exact', term }) as const)
    this.#finder.learn(lookups, await this.#ask((part, version) => part.terms({ version, lookups })))
    const telling = weighed(words, this.#finder, new RankingModel(records, lengthSums, []))
    return this.#runLoosely(clausesOf(telling))
  }

  async suggest(term: string, most: number) {
    const lookups = [{ kind: 'prefix', term }] as const
    this.#finder.learn(lookups, await this.#ask((part, version) => part.terms({ version, lookups })))
    return this.#finder.beginningWith(term, 1, most)
  }

  async #runLoosely(clauses: readonly Clause[]): Promise<Merged> {
    const attempt: Attempt = { clauses, correction: 'none', isStrict: false }
    const conditions = Object.keys(this.#options.filters).length
    const { total, facets, candidates, plan } = await this.#collect(attempt, '', conditions, false)
    return { hits: await this.#hits(candidates, plan), total, facets, matched: 'partial', corrections: {} }
  }

  async #plan({ clauses, correction }: Attempt): Promise<Plan> {
    const { analyzers, schema, synonyms } = this.#state
    const isPrefix = this.#options.prefix
    for (;;) {
      const plan = planOf(clauses, correction, {
        analyzers,
        finder: this.#finder,
        fields: schema.text,
        synonyms,
        isPrefix,
      })
      const lookups = this.#finder.takeMissing()
      if (lookups.length === 0) return plan
      this.#finder.learn(lookups, await this.#ask((part, version) => part.terms({ version, lookups })))
    }
  }

  async #collect(attempt: Attempt, query: string, conditions: number, mayRank: boolean): Promise<Found> {
    const plan = await this.#plan(attempt)
    const matched = matchedBy(plan)
    const isRanked = mayRank && this.#options.sort === undefined && plan.required.length > 0
    const most = mostCandidates(this.#options)
    const asked = {
      query,
      options: sendable(this.#given),
      plan: plannedSearch(plan),
      ...this.#lengths(),
      isStrict: attempt.isStrict,
      isRanked,
      most,
      now: this.#now,
    }
    const found = findsNothing(plan, attempt.clauses, conditions)
      ? []
      : await this.#ask((part, version) => part.collect({ version, ...asked }))
    const candidates = mergedCandidates(found, most)
    return {
      plan,
      matched,
      total: totalOf(found),
      facets: mergedFacets(this.#options.facets, found),
      candidates: isRanked ? reordered(candidates, ({ factor }) => factor) : candidates,
    }
  }

  async #hits(candidates: readonly MergedCandidate[], plan: Plan): Promise<SearchHit[]> {
    const { limit, offset, highlight } = this.#options
    const kept = distinct(
      candidates,
      offset + limit,
      this.#options,
      ({ sketch }) => Buffer.from(sketch, 'base64'),
      ({ host }) => host,
    ).slice(offset)
    const placesIn = (all: readonly MergedCandidate[], number: number): Place[] =>
      all.filter(({ part }) => part === number).map(({ place }) => place)
    const shown = kept.map(({ candidate }) => candidate)
    const copies = kept.flatMap(({ duplicates }) => duplicates)
    const answers = await this.#ask(async (part, version, number) => {
      const places = placesIn(shown, number)
      const own = placesIn(copies, number)
      if (places.length + own.length === 0) return { value: { hits: [], urls: [] } }
      return part.hits({ version, plan: plannedSearch(plan), highlight, places, copies: own })
    })
    const hits = answers.map((each) => each.hits[Symbol.iterator]())
    const urls = answers.map((each) => each.urls[Symbol.iterator]())
    const stored = shown.map(({ part, score, sections }) => ({ ...next(hits[part]!), score, sections }))
    const copied = new Map(copies.map((copy) => [copy, next(urls[copy.part]!)]))
    return kept.map(({ duplicates }, at) => ({
      ...stored[at]!,
      duplicates: duplicates.map((each) => copied.get(each)!),
    }))
  }

  #lengths(): { readonly records: number; readonly lengthSums: number[] } {
    const described = this.#state.parts.map(({ description }) => description)
    return {
      records: described.reduce((sum, { records }) => sum + records, 0),
      lengthSums: this.#state.schema.text.map((_, field) =>
        described.reduce((sum, { lengthSums }) => sum + (lengthSums[field] ?? 0), 0),
      ),
    }
  }

  #ask<Value>(
    question: (part: IndexPart, version: string, number: number) => Promise<Answer<Value>>,
  ): Promise<Value[]> {
    return askVersions(this.#state.parts, question)
  }
}

/** Documents that are like another one. @throws Interrupted */
export async function mergedSimilar(state: MergedState, id: string, options: SearchOptions): Promise<Merged> {
  const found = await new MergedSearch(state, withOneMore(options)).similar(id)
  return withoutItself({ ...found, missing: [], tookMs: 0 }, id, options)
}

/** Asks all parts about the versions that the search works on. @throws Interrupted */
export function askVersions<Value>(
  parts: MergedState['parts'],
  question: (part: IndexPart, version: string, number: number) => Promise<Answer<Value>>,
): Promise<Value[]> {
  return askAll(parts, ({ part, description }, number) => question(part, description.version, number))
}

function next<Value>(values: Iterator<Value>): Value {
  return values.next().value as Value
}

/** The best of all parts. A document that two of them have is found once, and a value of a group too. */
function mergedCandidates(found: readonly PartCollected[], most: number): MergedCandidate[] {
  const all = found.flatMap(({ candidates }, part) => candidates.map((each) => ({ ...each, part })))
  const owners = new Map<string, number>()
  const values = new Set<string>()
  const kept = all.sort(compareCandidates).filter(({ high, low, part, value }) => {
    const id = `${high} ${low}`
    const owner = owners.get(id) ?? part
    owners.set(id, owner)
    if (owner !== part || (value !== undefined && values.has(value))) return false
    if (value !== undefined) values.add(value)
    return true
  })
  return kept.slice(0, most)
}

function totalOf(found: readonly PartCollected[]): number {
  const isGrouped = found.some(({ groups }) => groups !== undefined)
  if (isGrouped) return new Set(found.flatMap(({ groups = [] }) => groups)).size
  return found.reduce((sum, { total }) => sum + total, 0)
}

function mergedFacets(names: readonly string[], found: readonly PartCollected[]): SearchResult['facets'] {
  return Object.fromEntries(
    names.map((name) => {
      const counts = new Map<string, number>()
      const all: FacetCount[] = found.flatMap(({ facets }) => facets[name] ?? [])
      for (const { value, count } of all) counts.set(value, (counts.get(value) ?? 0) + count)
      return [name, sortedCounts(counts, MOST_VALUES)]
    }),
  )
}

/** Options as JSON can carry them: dates as numbers. */
function sendable(options: SearchOptions): SearchOptions {
  const { filters = {}, ...rest } = options
  const plain = (value: unknown): unknown => {
    if (value instanceof Date) return value.getTime()
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, plain(each)]))
  }
  return { ...rest, filters: plain(filters) as NonNullable<SearchOptions['filters']> }
}
