/** A feed or an entry while it is being read. */

import { owned } from '../../owned.js'
import type { FeedEnclosure, FeedEntry } from '../contract.js'
import type { DateField, TextField } from './vocabulary.js'

const MOST_VALUES = 1000
const NO_VALUES: readonly never[] = Object.freeze([])
const UNSET = 99

/** Fields are set in any order; for each, the value with the lowest rank counts. Texts must own their memory. */
export class Draft {
  url: string | undefined
  /** For `url`: the lower, the better. */
  urlRank = UNSET
  #texts: Partial<Record<TextField, string>> = {}
  #ranks: Partial<Record<TextField | DateField, number>> = {}
  #dates: Partial<Record<DateField, string>> = {}
  #authors: string[] | undefined
  #enclosures: FeedEnclosure[] | undefined
  #categories: string[] | undefined

  /** The base of its relative links. An `xml:base` within a feed changes it. */
  constructor(public base: string | undefined) {}

  text(field: TextField): string | undefined {
    return this.#texts[field]
  }

  /** Of values with the same rank the first counts. */
  setText(field: TextField, value: string, rank: number): void {
    if (value === '' || rank >= (this.#ranks[field] ?? UNSET)) return
    this.#texts[field] = value
    this.#ranks[field] = rank
  }

  rankOf(field: TextField): number {
    return this.#ranks[field] ?? UNSET
  }

  /** Of dates with the same rank the last counts: programs add a newer one and leave the old one. */
  setDate(field: DateField, value: string, rank: number): void {
    if (rank > (this.#ranks[field] ?? UNSET)) return
    this.#dates[field] = value
    this.#ranks[field] = rank
  }

  setUrl(url: string | undefined, rank: number): void {
    if (url === undefined || rank >= this.urlRank) return
    this.url = owned(url)
    this.urlRank = rank
  }

  addAuthor(name: string, rank: number): void {
    const known = this.#ranks.author ?? UNSET
    if (name === '' || rank > known) return
    if (rank < known || this.#authors === undefined) this.#authors = []
    this.#ranks.author = rank
    if (this.#authors.length < MOST_VALUES && !this.#authors.includes(name)) this.#authors.push(name)
  }

  addCategory(name: string): void {
    this.#categories ??= []
    if (name === '' || this.#categories.length >= MOST_VALUES || this.#categories.includes(name)) return
    this.#categories.push(owned(name))
  }

  addEnclosure(url: string | undefined, type: string | undefined, length: string | undefined): void {
    this.#enclosures ??= []
    if (url === undefined || this.#enclosures.length >= MOST_VALUES) return
    if (this.#enclosures.some((each) => each.url === url)) return
    const bytes = length === undefined || !/^\s*\d{1,15}\s*$/.test(length) ? undefined : Number(length)
    this.#enclosures.push({ url: owned(url), type: type?.trim().toLowerCase() || undefined, length: bytes })
  }

  get author(): string | undefined {
    return this.#authors === undefined ? undefined : owned(this.#authors.join(', '))
  }

  /** `dc:date` does not say what happened then, so that it is used for what is not known otherwise. */
  get published(): string | undefined {
    return this.#dates.published ?? this.#dates.date
  }

  get updated(): string | undefined {
    return this.#dates.updated ?? this.#dates.date
  }

  /** Whether there is anything to recognize the entry by. */
  get isNamed(): boolean {
    return this.text('id') !== undefined || this.url !== undefined || this.text('title') !== undefined
  }

  entry(): FeedEntry {
    return {
      id: this.#texts.id,
      url: this.url,
      title: this.#texts.title,
      published: this.published,
      updated: this.updated,
      author: this.author,
      summary: this.#texts.summary,
      content: this.#texts.content,
      enclosures: this.#enclosures ?? NO_VALUES,
      categories: this.#categories ?? NO_VALUES,
    }
  }
}
