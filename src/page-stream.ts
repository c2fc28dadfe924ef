import type { Page } from './extract/contract.js'

interface Waiting {
  readonly page: Page
  readonly taken: () => void
}

/**
 * Between the crawl and a `for await`: a page keeps its slot until the reader has taken it. So a slow reader slows
 * the crawl, and at most as many pages wait here as there are slots.
 */
export class PageStream {
  readonly #waiting: Waiting[] = []
  #wanted: ((page: Page | undefined) => void) | undefined = undefined
  #ended = false

  /** For the crawl: resolves when the reader has taken the page. */
  put = (page: Page): Promise<void> => {
    if (this.#ended) return Promise.resolve()
    if (this.#wanted !== undefined) {
      this.#wanted(page)
      this.#wanted = undefined
      return Promise.resolve()
    }
    return new Promise((taken) => this.#waiting.push({ page, taken }))
  }

  /** For the reader: the next page, or undefined when there will be none. */
  take(): Promise<Page | undefined> {
    const next = this.#waiting.shift()
    if (next !== undefined) {
      next.taken()
      return Promise.resolve(next.page)
    }
    if (this.#ended) return Promise.resolve(undefined)
    return new Promise((wanted) => {
      this.#wanted = wanted
    })
  }

  /** No more pages. What still waits is dropped if the reader has left, and read to the end if not. */
  end(readerLeft: boolean): void {
    this.#ended = true
    this.#wanted?.(undefined)
    this.#wanted = undefined
    if (readerLeft) for (const { taken } of this.#waiting.splice(0)) taken()
  }
}
