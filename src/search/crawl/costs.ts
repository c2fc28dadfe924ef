/**
 * What it costs to index a page, learned while indexing: a straight line over the size of its body, for each stage and
 * language. Japanese takes longer than English for the same bytes, and manuals longer than pages with much markup.
 */

/**
 * `segment`: from the body to words, section by section. `index`: from words to a segment on disk. `merge`: from many
 * segments to one.
 */
export type IndexStage = 'segment' | 'index' | 'merge'

const INDEX_STAGES: readonly IndexStage[] = ['segment', 'index', 'merge']

/** What earlier pages count for, after one more page. */
const MEMORY = 0.98
/** Pages of a language before its own line is trusted. */
const ENOUGH = 8
/** Before anything is learned. */
const FIRST_MS_PER_KB = { segment: 0.2, index: 0.05, merge: 0.02 } as const

/** Least squares over what was observed, the latest first. */
class Line {
  #count = 0
  #x = 0
  #y = 0
  #xx = 0
  #xy = 0

  get count(): number {
    return this.#count
  }

  add(x: number, y: number): void {
    this.#count = this.#count * MEMORY + 1
    this.#x = this.#x * MEMORY + x
    this.#y = this.#y * MEMORY + y
    this.#xx = this.#xx * MEMORY + x * x
    this.#xy = this.#xy * MEMORY + x * y
  }

  /** Never negative: with pages of one size there is no slope, and then it goes through the origin. */
  at(x: number): number {
    const spread = this.#count * this.#xx - this.#x * this.#x
    const slope =
      spread > 1e-6 * this.#xx * this.#count
        ? (this.#count * this.#xy - this.#x * this.#y) / spread
        : this.#y / (this.#x || 1)
    const start = (this.#y - slope * this.#x) / this.#count
    return slope < 0 || start < 0 ? (x * this.#y) / (this.#x || 1) : start + slope * x
  }
}

export class IndexingCosts {
  readonly #lines = new Map<string, Line>()

  /** A page of this language and size took so long. */
  observe(stage: IndexStage, language: string, kilobytes: number, ms: number): void {
    for (const key of [stage, `${stage} ${language}`]) {
      let line = this.#lines.get(key)
      if (line === undefined) this.#lines.set(key, (line = new Line()))
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
