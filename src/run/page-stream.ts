import type { PageReader } from '../engine/delivery.js'
import type { Page } from '../extract/contract.js'

interface OfferedPage {
  readonly page: Page
  /** Called with true once the page has been read, with false if it never will be. */
  readonly settle: (isRead: boolean) => void
}

/**
 * Between the crawl and a `for await`. A page keeps its slot until it has been read, so a slow loop slows the crawl, and
 * no more pages wait here than the crawl has slots. Until iteration starts, pages are not kept.
 */
export class PageStream implements PageReader {
  readonly #offered: OfferedPage[] = []
  /** Calls of `read` that wait for a page; more than one only if `next` is called again before it has resolved. */
  readonly #readers: ((page: Page | undefined) => void)[] = []
  #isOpen = false
  #isWithdrawn = false
  #hasEnded = false
  /** Called when iteration begins: workers send pages only then. */
  onOpen: () => void = () => {}

  get isOpen(): boolean {
    return this.#isOpen
  }

  /** From now on pages wait for a reader. */
  open(): void {
    if (this.#isOpen) return
    this.#isOpen = true
    this.onOpen()
  }

  put(page: Page): Promise<boolean> | undefined {
    if (!this.#isOpen) return undefined
    if (this.#isWithdrawn) return Promise.resolve(false)
    const reader = this.#readers.shift()
    if (reader === undefined) return new Promise((settle) => this.#offered.push({ page, settle }))
    reader(page)
    return Promise.resolve(true)
  }

  withdraw(): void {
    this.#isWithdrawn = true
    for (const { settle } of this.#offered.splice(0)) settle(false)
  }

  /** The next page, or undefined once the stream has ended. */
  read(): Promise<Page | undefined> {
    const next = this.#offered.shift()
    if (next !== undefined) {
      next.settle(true)
      return Promise.resolve(next.page)
    }
    if (this.#hasEnded) return Promise.resolve(undefined)
    return new Promise((reader) => this.#readers.push(reader))
  }

  /** There are no more pages. */
  end(): void {
    this.#hasEnded = true
    for (const reader of this.#readers.splice(0)) reader(undefined)
  }
}
