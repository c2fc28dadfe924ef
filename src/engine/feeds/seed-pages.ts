import type { FetchTiming } from '../../extract/contract.js'
import type { FetchedResponse } from '../../fetch/contract.js'

/** Responses kept at once; the pages of further ones are fetched again. */
const MAX_PAGES = 64

/** A response, and when it came. */
export interface SeedPage {
  readonly response: FetchedResponse
  readonly timing: FetchTiming
}

/**
 * Responses to seeds that turned out to be pages. Filled by the poll of the seed, emptied by the visit of the page, which need
 * not fetch it again. A crash loses them, and the pages are fetched.
 */
export class SeedPages {
  readonly #pages = new Map<string, SeedPage>()

  keep(url: string, response: FetchedResponse, timing: FetchTiming): void {
    // The limit of pages may reject what the limit of feeds has cut.
    if (response.truncated !== true && this.#pages.size < MAX_PAGES)
      this.#pages.set(url, { response, timing })
  }

  take(url: string): SeedPage | undefined {
    if (this.#pages.size === 0) return undefined
    const page = this.#pages.get(url)
    this.#pages.delete(url)
    return page
  }
}
