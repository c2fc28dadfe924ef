import { counted } from '../errors.js'
import type { LeftBehind } from './in-flight-log.js'

/** A URL with this much suspicion is not tried again. */
const FATAL = 2
/** For each of several pages that the user's code was processing. */
const AMONG_OTHERS = 0.5
/** For a page that was merely in flight. */
const UNDER_WAY = 0.2
/** Beyond this the oldest entries are dropped. */
const REMEMBERED = 10_000

/**
 * Tracks which pages crash workers. The culprit is the page that the user's code was executing on or, if that code was
 * waiting for a promise, one that it had not finished. If several qualify, each is suspected a little. One crash may be
 * a coincidence; two are not.
 */
export class CrashedUrls {
  readonly #known = new Map<string, { suspicion: number; deaths: number; why: string }>()

  note(under: readonly LeftBehind[], why: string): void {
    const current = under.filter(({ state }) => state === 'current')
    const handled = current.length > 0 ? current : under.filter(({ state }) => state === 'handled')
    for (const { request } of handled)
      this.#suspect(request.url, handled.length === 1 ? 1 : AMONG_OTHERS, why)
    if (handled.length > 0) return
    for (const { request } of under) this.#suspect(request.url, UNDER_WAY, why)
  }

  /** URLs that must not be tried again, and why. */
  get fatal(): [url: string, why: string][] {
    const found: [string, string][] = []
    for (const [url, { suspicion, deaths, why }] of this.#known) {
      if (suspicion < FATAL) continue
      found.push([
        url,
        `worker threads died ${counted(deaths, 'time')} while they had this page; last of: ${why}`,
      ])
    }
    return found
  }

  #suspect(url: string, by: number, why: string): void {
    const { suspicion, deaths } = this.#known.get(url) ?? { suspicion: 0, deaths: 0 }
    this.#known.set(url, { suspicion: suspicion + by, deaths: deaths + 1, why })
    if (this.#known.size > REMEMBERED) this.#known.delete(this.#known.keys().next().value as string)
  }
}
