import { pluralize } from '../errors.js'
import { knownAs } from '../url/known-as.js'
import type { InterruptedVisit } from './in-flight-log.js'

/** A URL with this much suspicion is not tried again. */
const FATAL = 2
/** For each of several pages that the user's code was processing. */
const AMONG_OTHERS = 0.5
/** For a page that was merely in flight. */
const IN_FLIGHT = 0.2
/** Beyond this the oldest entries are dropped. */
const REMEMBERED = 10_000

/**
 * Tracks which pages crash workers. The culprit is the page that the user's code was executing on or, if that code was
 * waiting for a promise, one that it had not finished. If several qualify, each is suspected a little. One crash may be
 * a coincidence; two are not.
 */
export class CrashedUrls {
  readonly #known = new Map<string, { suspicion: number; deaths: number; reason: string }>()

  note(visits: readonly InterruptedVisit[], reason: string): void {
    const current = visits.filter(({ state }) => state === 'current')
    const handled = current.length > 0 ? current : visits.filter(({ state }) => state === 'handled')
    for (const { request } of handled)
      this.#suspect(knownAs(request), handled.length === 1 ? 1 : AMONG_OTHERS, reason)
    if (handled.length > 0) return
    for (const { request } of visits) this.#suspect(knownAs(request), IN_FLIGHT, reason)
  }

  /** Requests, as the seen-set knows them, that must not be tried again, and why. */
  get fatal(): [name: string, reason: string][] {
    const found: [string, string][] = []
    for (const [name, { suspicion, deaths, reason }] of this.#known) {
      if (suspicion < FATAL) continue
      found.push([
        name,
        `worker threads died ${pluralize(deaths, 'time')} while processing this page; last cause: ${reason}`,
      ])
    }
    return found
  }

  #suspect(name: string, by: number, reason: string): void {
    const { suspicion, deaths } = this.#known.get(name) ?? { suspicion: 0, deaths: 0 }
    this.#known.set(name, { suspicion: suspicion + by, deaths: deaths + 1, reason })
    if (this.#known.size > REMEMBERED) this.#known.delete(this.#known.keys().next().value as string)
  }
}
