/** Finds each entry of a poll among those that are remembered. */

import { type Identified, similarTitles } from './identity.js'
import { type EntryRecord, type FeedState, NAMED_BY, type NamedBy } from './memory.js'

/** Entries whose names were all unknown, and those that were found by something else, from which this is the rule. */
const RULE_SHARE = 0.8
const RULE_LEAST = 3

/** What was found. */
export interface Matches {
  /** For each entry, the index of its record, or -1 if it is new. */
  readonly found: readonly number[]
  /** What entries should be named by from now on. */
  readonly namedBy: NamedBy
}

/** The record of each entry: by its name, else by its link, else by its title and date. */
export function matchEntries(entries: readonly Identified[], state: FeedState): Matches {
  const matcher = new Matcher(entries, state)
  return matcher.run()
}

class Matcher {
  readonly #found: number[]
  readonly #taken = new Set<number>()
  #byOther: Record<'link' | 'title', number> = { link: 0, title: 0 }

  constructor(
    readonly entries: readonly Identified[],
    readonly state: FeedState,
  ) {
    this.#found = entries.map(() => -1)
  }

  run(): Matches {
    const { entries, state } = this
    const byKey = new Map(state.records.map(({ key }, index) => [key, index]))
    for (const [at, { key }] of entries.entries()) this.#match(at, byKey.get(key))
    const named = this.#taken.size
    if (named < entries.length) {
      this.#by(
        'link',
        ({ link }) => link,
        (entry, record) => this.#sameLink(entry, record),
      )
      this.#by('title', ({ title, published }) =>
        title === 0 || published === 0 ? 0 : `${title} ${published}`,
      )
      this.#byTitleAlone()
    }
    return { found: this.#found, namedBy: this.#namedBy(named) }
  }

  #match(at: number, index: number | undefined): boolean {
    if (index === undefined || this.#taken.has(index)) return false
    this.#found[at] = index
    this.#taken.add(index)
    return true
  }

  /** Where a feed's ids mean nothing, the link is the name and the title may change. */
  #sameLink(entry: Identified, record: EntryRecord): boolean {
    return !entry.hasId || this.state.namedBy !== NAMED_BY.id || similarTitles(entry, record)
  }

  /** Matches entries that are still unknown by a value that only one entry and only one remaining record have. */
  #by(
    kind: 'link' | 'title',
    traitOf: (record: EntryRecord) => number | string,
    accepts: (entry: Identified, record: EntryRecord) => boolean = () => true,
  ): void {
    const { entries, state } = this
    const counts = new Map<number | string, number>()
    for (const entry of entries) counts.set(traitOf(entry), (counts.get(traitOf(entry)) ?? 0) + 1)
    const records = new Map<number | string, number>()
    for (const [index, record] of state.records.entries()) {
      const value = traitOf(record)
      if (value === 0 || !counts.has(value)) continue
      // Newer records come first. Two of the window with one value: it names neither.
      if (!records.has(value)) records.set(value, this.#taken.has(index) ? -1 : index)
      else if (index < state.window) records.set(value, -1)
    }
    for (const [at, entry] of entries.entries()) {
      if (this.#found[at] !== -1) continue
      const value = traitOf(entry)
      const index = value === 0 || counts.get(value) !== 1 ? -1 : (records.get(value) ?? -1)
      if (index !== -1 && accepts(entry, state.records[index]!) && this.#match(at, index))
        this.#byOther[kind]++
    }
  }

  /** A server that writes everything else afresh keeps the titles, of nearly all entries at once. */
  #byTitleAlone(): void {
    const { entries, state } = this
    const unknown = this.#found.filter((index) => index === -1).length
    if (unknown < RULE_LEAST || unknown < RULE_SHARE * entries.length) return
    const records = new Map<number, number>()
    for (const [index, { title }] of state.records.slice(0, state.window).entries()) {
      if (title !== 0) records.set(title, records.has(title) || this.#taken.has(index) ? -1 : index)
    }
    const counts = new Map<number, number>()
    for (const { title } of entries) counts.set(title, (counts.get(title) ?? 0) + 1)
    const pairs = entries.flatMap(({ title }, at) => {
      const index = records.get(title) ?? -1
      return this.#found[at] === -1 && index !== -1 && counts.get(title) === 1 ? [[at, index] as const] : []
    })
    if (pairs.length < RULE_SHARE * unknown) return
    for (const [at, index] of pairs) if (this.#match(at, index)) this.#byOther.title++
  }

  #namedBy(named: number): NamedBy {
    const { link, title } = this.#byOther
    const current = this.state.namedBy
    const others = link + title
    if (others < RULE_LEAST || others < RULE_SHARE * (named + others)) return current
    const next = link >= title ? NAMED_BY.link : NAMED_BY.title
    return Math.max(next, current) as NamedBy
  }
}
