/**
 * What it costs to index a page, learned while indexing: a straight line over the size of its body, for each stage and
 * language. Japanese takes longer than English for the same bytes, and manuals longer than pages with much markup.
 */

import { CostLine } from '../../hooks/cost-line.js'

/**
 * `segment`: from the body to words, section by section. `index`: from words to a segment on disk. `merge`: from many
 * segments to one.
 */
export type IndexStage = 'segment' | 'index' | 'merge'

const INDEX_STAGES: readonly IndexStage[] = ['segment', 'index', 'merge']

/** Pages of a language before its own line is trusted. */
const ENOUGH = 8
/** Before anything is learned. */
const FIRST_MS_PER_KB = { segment: 0.2, index: 0.05, merge: 0.02 } as const

export class IndexingCosts {
  readonly #lines = new Map<string, CostLine>()

  /** A page of this language and size took so long. */
  observe(stage: IndexStage, language: string, kilobytes: number, ms: number): void {
    for (const key of [stage, `${stage} ${language}`]) {
      let line = this.#lines.get(key)
      if (line === undefined) this.#lines.set(key, (line = new CostLine()))
      line.add(kilobytes, ms)
    }
  }

  /** What a page will take in all stages, in ms. An unknown language counts as the average of all. */
  of(language: string | undefined, kilobytes: number): number {
    return INDEX_STAGES.reduce((sum, stage) => sum + this.stage(stage, language, kilobytes), 0)
  }

  stage(stage: IndexStage, language: string | undefined, kilobytes: number): number {
    const own = this.#lines.get(`${stage} ${language}`)
    const line = own !== undefined && own.count >= ENOUGH ? own : this.#lines.get(stage)
    return line === undefined ? kilobytes * FIRST_MS_PER_KB[stage] : line.at(kilobytes)
  }
}
