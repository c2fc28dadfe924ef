/** An index in a folder of this machine, as a part of a merged search. Each question is answered within one turn. */

import type { SearchIndex, StoredDocument } from '../contract.js'
import { factorsOf, WINDOW } from '../hits/rerank.js'
import { Highlighter } from '../hits/snippet.js'
import { storedDocument, storedHit, urlOf } from '../hits/stored-hit.js'
import { type Snapshot, statsOf } from '../index/snapshot.js'
import type { Candidate } from '../query/candidates.js'
import { collect } from '../query/collect.js'
import { RankingModel } from '../query/model.js'
import { conditionsFor, lengthsOf, type SearchState } from '../query/search.js'
import { checkSearchOptions } from '../query/search-options.js'
import { type CountedWord, countedWords, findPage } from '../query/similar.js'
import { type FoundTerm, MOST_SCANNED, TermFinder } from '../query/terms.js'
import type {
  Answer,
  CollectAsked,
  DocumentAsked,
  HitsAsked,
  IndexPart,
  Lookup,
  PartCandidate,
  PartCollected,
  PartDescription,
  PartHits,
  PartTerm,
  TermsAsked,
} from './contract.js'
import { boundPlan } from './planned.js'

/** How an index says what it is as a part. Kumo may be loaded twice, and both copies know it. */
export const PART = Symbol.for('kumo.index.part')

/** The part that an index is; undefined if it is none, because it is merged or the user's own. */
export function partOf(index: SearchIndex): IndexPart | undefined {
  return (index as { [PART]?: () => IndexPart })[PART]?.()
}

/** The latest commit. */
export interface StateOfPart {
  readonly snapshot: Snapshot
  readonly state: SearchState
}

export class LocalPart implements IndexPart {
  readonly name: string
  readonly #latest: () => StateOfPart

  constructor(path: string, latest: () => StateOfPart) {
    this.name = path
    this.#latest = latest
  }

  async describe(): Promise<PartDescription> {
    const { snapshot, state } = this.#latest()
    const { version, segments, schema } = state
    const { settings, languages } = snapshot
    return { version, settings, languages, ...lengthsOf(segments, schema), stats: statsOf(segments) }
  }

  async terms({ version, lookups }: TermsAsked): Promise<Answer<PartTerm[][]>> {
    return this.#answer(version, ({ segments }) => {
      const finder = new TermFinder(segments)
      return lookups.map((lookup) =>
        found(finder, lookup).map(({ term, weight, count }): PartTerm => [term, weight, count]),
      )
    })
  }

  async collect(asked: CollectAsked): Promise<Answer<PartCollected>> {
    return this.#answer(asked.version, (state) => collected(state, asked))
  }

  async hits({ version, plan, highlight, places, copies }: HitsAsked): Promise<Answer<PartHits>> {
    return this.#answer(version, ({ segments, analyzers }) => {
      const groups = boundPlan(plan, new TermFinder(segments)).required
      const highlighter = highlight ? new Highlighter(groups) : undefined
      return {
        hits: places.map(([number, record, page]) =>
          storedHit(segments[number]!.segment, page, record, highlighter, analyzers),
        ),
        urls: copies.map(([number, , page]) => urlOf(segments[number]!.segment, page)),
      }
    })
  }

  async words({ version, id }: DocumentAsked): Promise<Answer<CountedWord[] | null>> {
    return this.#answer(version, (state) => {
      const place = findPage(state, id)
      return place === undefined ? null : countedWords(state, place.segment, place.page)
    })
  }

  async document({ version, id }: DocumentAsked): Promise<Answer<StoredDocument | null>> {
    return this.#answer(version, (state) => {
      const place = findPage(state, id)
      return place === undefined ? null : storedDocument(place.segment, place.page)
    })
  }

  #answer<Value>(version: string, make: (state: SearchState) => Value): Answer<Value> {
    const { state } = this.#latest()
    return state.version === version ? { value: make(state) } : 'changed'
  }
}

function found(finder: TermFinder, { kind, term }: Lookup): readonly FoundTerm[] {
  if (kind === 'near') return finder.nearTo(term)
  if (kind === 'prefix') return finder.beginningWith(term, 1, MOST_SCANNED)
  const exact = finder.exact(term)
  return exact === undefined ? [] : [exact]
}

function collected(state: SearchState, asked: CollectAsked): PartCollected {
  const { segments, schema } = state
  const options = checkSearchOptions(asked.options, schema)
  const plan = { ...boundPlan(asked.plan, new TermFinder(segments)), corrections: {} }
  const { total, facets, candidates, values, groups } = collect({
    segments,
    schema,
    model: new RankingModel(asked.records, asked.lengthSums, options.weights),
    plan,
    conditions: conditionsFor(asked.query, options, schema).conditions,
    options,
    isStrict: asked.isStrict,
    most: asked.most,
    now: asked.now,
    mostValues: Number.POSITIVE_INFINITY,
  })
  const factors = asked.isRanked
    ? factorsOf(candidates.slice(0, WINDOW), plan.required, segments)
    : new Map<Candidate, number>()
  const hasSketch = options.groupBy !== 'none'
  const hasHost = options.perHost < Number.MAX_SAFE_INTEGER
  return {
    total,
    facets,
    groups: groups === undefined ? undefined : [...groups],
    candidates: candidates.map((candidate, at): PartCandidate => {
      const { segment: number, record, page, key, score, high, low, sections } = candidate
      const { segment } = segments[number]!
      return {
        place: [number, record, page],
        record,
        key,
        score,
        high,
        low,
        sections,
        factor: factors.get(candidate) ?? 1,
        sketch: hasSketch ? Buffer.from(segment.sketch(page)).toString('base64') : '',
        host: hasHost ? (segment.keywords('host')?.words(page)[0] ?? '') : '',
        value: values?.[at],
      }
    }),
  }
}
