import type { PageReader } from '../engine/delivery.js'
import type { Page } from '../extract/contract.js'

interface Waiting {
  readonly page: Page
  readonly answer: (taken: boolean) => void
}

/**
 * Between the crawl and a `for await`: a page keeps its slot until the reader has taken it. So a slow reader slows
 * the crawl, and at most as many pages wait here as there are slots.
 */
export class PageStream implements PageReader {
  readonly #waiting: Waiting[] = []
  /** Readers that wait for a page; more than one only if `next` is called without waiting. */
  readonly #wanted: ((page: Page | undefined) => void)[] = []
  #withdrawn = false
  #ended = false

  put(page: Page): Promise<boolean> {
    if (this.#withdrawn) return Promise.resolve(false)
    const wanted = this.#wanted.shift()
    if (wanted === undefined) return new Promise((answer) => this.#waiting.push({ page, answer }))
    wanted(page)
    return Promise.resolve(true)
  }

  withdraw(): void {
    this.#withdrawn = true
    for (const { answer } of this.#waiting.splice(0)) answer(false)
  }

  /** The next page, or undefined when there will be none. */
  take(): Promise<Page | undefined> {
    const next = this.#waiting.shift()
    if (next !== undefined) {
      next.answer(true)
      return Promise.resolve(next.page)
    }
    if (this.#ended) return Promise.resolve(undefined)
    return new Promise((wanted) => this.#wanted.push(wanted))
  }

  /** There will be no more pages. */
  end(): void {
    this.#ended = true
    for (const wanted of this.#wanted.splice(0)) wanted(undefined)
  }
}
