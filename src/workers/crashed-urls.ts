import { counted } from '../errors.js'
import type { LeftBehind } from './in-flight-log.js'

/** So much suspicion is enough. */
const FATAL = 2
/** A page that the user's code had, when it had others too. */
const AMONG_OTHERS = 0.5
/** A page that was merely under way. */
const UNDER_WAY = 0.2
/** Beyond that those suspected longest are forgotten. */
const REMEMBERED = 10_000

/**
 * Which pages threads have died of. The page that the user's code was at work on is the one, or if it had asked for time,
 * the one that it had not finished with; of several each may be. Once may be chance, twice is not.
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

  /** Those that are not to be tried any more, and why. */
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
