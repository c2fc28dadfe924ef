/** What a feed says about polling it, while it is being read. */

import type { FeedHints } from '../contract.js'
import type { HintName } from './vocabulary.js'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const PERIODS_MS: Readonly<Record<string, number>> = {
  hourly: HOUR_MS,
  daily: 24 * HOUR_MS,
  weekly: 7 * 24 * HOUR_MS,
  monthly: 30 * 24 * HOUR_MS,
  yearly: 365 * 24 * HOUR_MS,
}
const DAYS = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday']
/** A year: longer intervals are mistakes. */
const LONGEST_TTL = 365 * 24 * 60

type Relation = 'hub' | 'self' | 'next' | 'previous' | 'prevArchive'

/** Relations of links that are hints, in lower case. */
const RELATIONS: Readonly<Record<string, Relation>> = {
  hub: 'hub',
  self: 'self',
  next: 'next',
  previous: 'previous',
  prev: 'previous',
  'prev-archive': 'prevArchive',
}

/** Collects hints. Of repeated ones the first counts. */
export class HintDraft {
  readonly #links: Partial<Record<Relation, string>> = {}
  readonly #hours = new Set<number>()
  readonly #days = new Set<string>()
  #ttl: number | undefined
  #period: string | undefined
  #frequency: number | undefined
  #complete = false
  #archive = false
  expired = false

  /** Whether a link with this relation is a hint. */
  setLink(relation: string, url: string | undefined): boolean {
    if (!Object.hasOwn(RELATIONS, relation)) return false
    if (url !== undefined) this.#links[RELATIONS[relation]!] ??= url
    return true
  }

  set(name: HintName, written: string): void {
    const value = written.trim()
    switch (name) {
      case 'ttl':
        this.#ttl ??= positive(value, LONGEST_TTL)
        break
      case 'hour':
        // Some count from 1 to 24.
        if (/^\d{1,2}$/.test(value) && Number(value) <= 24) this.#hours.add(Number(value) % 24)
        break
      case 'day': {
        const day = DAYS.find((each) => each.toLowerCase().slice(0, 3) === value.toLowerCase().slice(0, 3))
        if (day !== undefined) this.#days.add(day)
        break
      }
      case 'updatePeriod': {
        const period = value.toLowerCase()
        if (Object.hasOwn(PERIODS_MS, period)) this.#period ??= period
        break
      }
      case 'updateFrequency':
        this.#frequency ??= positive(value, 1e6)
        break
      case 'complete':
        this.#complete = true
        break
      case 'archive':
        this.#archive = true
        break
      case 'itunesComplete':
        if (value.toLowerCase() === 'yes') this.expired = true
    }
  }

  hints(): FeedHints {
    return {
      ttl: this.#ttl,
      skipHours: [...this.#hours].sort((a, b) => a - b),
      skipDays: DAYS.filter((day) => this.#days.has(day)),
      updatePeriod: this.#period,
      updateFrequency: this.#frequency,
      intervalMs: this.#intervalMs(),
      hub: this.#links.hub,
      self: this.#links.self,
      next: this.#links.next,
      previous: this.#links.previous,
      prevArchive: this.#links.prevArchive,
      complete: this.#complete,
      archive: this.#archive,
      expired: this.expired,
    }
  }

  #intervalMs(): number | undefined {
    const period = this.#period === undefined ? 0 : PERIODS_MS[this.#period]! / (this.#frequency ?? 1)
    return Math.max((this.#ttl ?? 0) * MINUTE_MS, period) || undefined
  }
}

function positive(value: string, most: number): number | undefined {
  const number = /^\d{1,9}(?:\.\d{1,9})?$/.test(value) ? Number(value) : Number.NaN
  return number > 0 && number <= most ? number : undefined
}
