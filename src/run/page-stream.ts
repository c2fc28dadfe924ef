import type { PageReader } from '../engine/delivery.js'
import type { Page } from '../extract/contract.js'

/** A page for the loop. */
export interface OfferedPage {
  readonly page: Page
  /** Called with true once the loop is done with the page, with false if it will never get it. */
  readonly settle: (isRead: boolean) => void
}

/**
 * Between the crawl and a `for await`. A page keeps its slot until the loop asks for the next one, so a slow loop slows
 * the crawl, and no more pages wait here than the crawl has slots. Until iteration starts, pages are not kept.
 */
export class PageStream implements PageReader {
  readonly #offered: OfferedPage[] = []
  /** Calls of `read` that wait for a page; more than one only if `next` is called again before it has resolved. */
  readonly #readers: ((page: OfferedPage | undefined) => void)[] = []
  /** Pages that a loop has and is not done with. */
  readonly #inLoop = new Set<OfferedPage>()
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
    return new Promise((settle) => {
      const offered = { page, settle }
      const reader = this.#readers.shift()
      if (reader === undefined) this.#offered.push(offered)
      else reader(this.#handOut(offered))
    })
  }

  /** Pages that a loop has stay with it: until it is done with them they may follow, and the crawl may not count them. */
  withdraw(): void {
    this.#isWithdrawn = true
    for (const { settle } of this.#offered.splice(0)) settle(false)
  }

  /** The next page, or undefined once the stream has ended. Call `done` with it. */
  read(): Promise<OfferedPage | undefined> {
    const next = this.#offered.shift()
    if (next !== undefined) return Promise.resolve(this.#handOut(next))
    if (this.#hasEnded) return Promise.resolve(undefined)
    return new Promise((reader) => this.#readers.push(reader))
  }

  /** The loop is done with the page. */
  done(page: OfferedPage): void {
    if (this.#inLoop.delete(page)) page.settle(true)
  }

  #handOut(page: OfferedPage): OfferedPage {
    this.#inLoop.add(page)
    return page
  }

  /** Nothing reads on: whoever has pages is done with them, and there are no more. */
  close(): void {
    this.withdraw()
    for (const page of this.#inLoop) this.done(page)
    this.end()
  }

  /** There are no more pages. */
  end(): void {
    this.#hasEnded = true
    for (const reader of this.#readers.splice(0)) reader(undefined)
  }
}
