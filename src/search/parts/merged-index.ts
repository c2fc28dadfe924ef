/** Several indexes, on this machine and on others, searched as one. */

import { invalidOption, KumoError } from '../../errors.js'
import { systemClock } from '../../time.js'
import type {
  IndexStats,
  SearchIndex,
  SearchOptions,
  SearchResult,
  Segmenter,
  StoredDocument,
  Suggestion,
  SuggestOptions,
} from '../contract.js'
import { analyzersOf, compareSettings, schemaOf } from '../index/settings.js'
import { suggestLimit, typedWord } from '../query/suggest.js'
import { askAll, Interrupted } from './ask-all.js'
import type { IndexPart, PartDescription } from './contract.js'
import { askVersions, MergedSearch, type MergedState, mergedSimilar } from './merged-search.js'

/** Searches begin again when an index changes under them. One that is committed faster than it can be searched is given up. */
const MOST_CHANGES = 20

export interface MergedOptions {
  readonly segmenters: Readonly<Record<string, Segmenter>>
  readonly synonyms: ReadonlyMap<string, readonly string[]>
  /** Whether what does not answer is left out. */
  readonly partial: boolean
}

/** A part, and the folder of this machine that it is. */
export interface OpenPart {
  readonly part: IndexPart
  readonly folder: SearchIndex | undefined
}

export class MergedIndex implements SearchIndex {
  readonly #parts: readonly OpenPart[]
  readonly #options: MergedOptions
  readonly #clock = systemClock()
  /** What each part said about itself. It is true while its version is. */
  readonly #described = new Map<IndexPart, PartDescription>()
  #isClosed = false

  constructor(parts: readonly OpenPart[], options: MergedOptions) {
    this.#parts = parts
    this.#options = options
  }

  async search(query: string, options: SearchOptions = {}): Promise<SearchResult> {
    return this.#timed(options, (state) => new MergedSearch(state, options).run(String(query)))
  }

  async similar(url: string, options: SearchOptions = {}): Promise<SearchResult> {
    return this.#timed(options, (state) => mergedSimilar(state, String(url), options))
  }

  async suggest(typed: string, options: SuggestOptions = {}): Promise<readonly Suggestion[]> {
    const limit = suggestLimit(options)
    const { value } = await this.#onAll(async (state) => {
      const word = typedWord(String(typed), state.analyzers)
      if (word === undefined || limit === 0) return []
      return word.complete(await new MergedSearch(state, {}).suggest(word.term, limit))
    })
    return value
  }

  async get(id: string): Promise<StoredDocument | undefined> {
    const { value } = await this.#onAll(({ parts }) =>
      askVersions(parts, (part, version) => part.document({ version, id: String(id) })),
    )
    return value.find((document) => document !== null) ?? undefined
  }

  async stats(): Promise<IndexStats> {
    this.#described.clear()
    const { value } = await this.#onAll(async ({ parts }) =>
      parts.map(({ description }) => description.stats),
    )
    return summed(value)
  }

  async verify(): Promise<IndexStats> {
    const folders = this.#parts.map(({ part, folder }) => {
      if (folder !== undefined) return folder
      const message = `${part.name}: verify() reads files; call it on the machine that has them`
      throw new KumoError('KUMO_INDEX_FAILED', message)
    })
    const stats: IndexStats[] = []
    for (const folder of folders) stats.push(await folder.verify())
    return summed(stats)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await Promise.all(this.#parts.map(({ folder }) => folder?.close()))
  }

  /** Asks every part what it is. @throws KumoError if they do not go together, or one cannot be read. */
  async open(): Promise<void> {
    await this.#onAll(async () => {})
  }

  async #timed(
    options: SearchOptions,
    search: (state: MergedState) => Promise<Omit<SearchResult, 'tookMs' | 'missing'>>,
  ): Promise<SearchResult> {
    if (typeof options === 'object' && options?.score !== undefined)
      throw invalidOption('search().score', options.score, 'nothing in a search over several indexes')
    const start = this.#clock.now()
    const { value, missing } = await this.#onAll(search)
    return { ...value, missing, tookMs: this.#clock.now() - start }
  }

  /** Works on one version of every part, or, with `partial`, of those that answer. */
  async #onAll<Value>(
    work: (state: MergedState) => Promise<Value>,
  ): Promise<{ readonly value: Value; readonly missing: string[] }> {
    if (this.#isClosed) throw new KumoError('KUMO_INDEX_FAILED', 'the index was closed')
    const missing = new Map<IndexPart, KumoError>()
    for (let changes = 0; ; ) {
      const parts = this.#parts.filter(({ part }) => !missing.has(part))
      if (parts.length === 0) throw [...missing.values()][0]!
      try {
        const value = await work(await this.#state(parts))
        return { value, missing: [...missing.keys()].map(({ name }) => name) }
      } catch (error) {
        if (!(error instanceof Interrupted)) throw error
        const [lost] = error.failed.values()
        if (lost !== undefined && !this.#options.partial) throw lost
        for (const [part, reason] of error.failed) missing.set(part, reason)
        for (const part of [...error.failed.keys(), ...error.changed]) this.#described.delete(part)
        const [changed] = error.changed
        if (changed !== undefined && ++changes >= MOST_CHANGES)
          throw new KumoError('KUMO_INDEX_FAILED', `${changed.name} changes faster than it can be searched`)
      }
    }
  }

  async #state(parts: readonly OpenPart[]): Promise<MergedState> {
    const descriptions = await askAll(parts, async ({ part }) => ({ value: await this.#describe(part) }))
    const { segmenters, synonyms } = this.#options
    const { settings } = descriptions[0]!
    for (const [number, { settings: own }] of descriptions.entries()) {
      const { name } = parts[number]!.part
      compareSettings(name, {}, { ...own, segmenters: Object.keys(segmenters).sort() }, own)
      if (JSON.stringify(own) !== JSON.stringify(settings)) throw differ(parts[0]!.part.name, name)
    }
    const languages = [...new Set(descriptions.flatMap((each) => each.languages))]
    return {
      parts: parts.map(({ part }, number) => ({ part, description: descriptions[number]! })),
      schema: schemaOf(settings),
      analyzers: analyzersOf(settings, segmenters, languages),
      synonyms,
      clock: this.#clock,
    }
  }

  async #describe(part: IndexPart): Promise<PartDescription> {
    const known = this.#described.get(part) ?? (await part.describe())
    this.#described.set(part, known)
    return known
  }
}

function differ(one: string, other: string): KumoError {
  const message = `${one} and ${other} were created with different settings, so that one search cannot read both`
  return new KumoError('KUMO_INDEX_MISMATCH', message)
}

function summed(all: readonly IndexStats[]): IndexStats {
  const sum = (of: (stats: IndexStats) => number) => all.reduce((total, each) => total + of(each), 0)
  return {
    documents: sum(({ documents }) => documents),
    sections: sum(({ sections }) => sections),
    segments: sum(({ segments }) => segments),
    bytes: sum(({ bytes }) => bytes),
    deleted: sum(({ deleted }) => deleted),
  }
}
