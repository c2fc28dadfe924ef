import type { Page } from '../../extract/contract.js'

/** What a page took in the stage `segment`. */
export interface PageCost {
  readonly language: string
  readonly kilobytes: number
  readonly ms: number
}

/** A page on its way into the index. */
export class WaitingPage {
  readonly page: Page
  /** What it is expected to take, in ms. */
  readonly expectedMs: number
  /** The worker that handed it over; undefined: it is this worker's own. */
  readonly from: number | undefined
  readonly done: (cost: PageCost | undefined) => void
  readonly failed: (error: unknown) => void
  /** The worker that handed it over is gone, and nobody waits for it. */
  isCancelled = false
  /** A worker with a higher number has begun to put one of its ids since the others were last asked. */
  isContested = false
  /** Ids for which other workers were asked. */
  readonly ids: string[] = []
  /** Resolves when it is put, or never will be. */
  readonly ended: Promise<void>
  end: () => void = () => {}

  constructor(
    page: Page,
    expectedMs: number,
    from: number | undefined,
    done: (cost: PageCost | undefined) => void,
    failed: (error: unknown) => void,
  ) {
    this.page = page
    this.expectedMs = expectedMs
    this.from = from
    this.done = done
    this.failed = failed
    this.ended = new Promise((resolve) => {
      this.end = resolve
    })
  }
}

/**
 * Pages that wait to be indexed by this thread, first in, first out, and how long that will take. Filled by the hook and
 * by other workers, emptied by indexing and by handing over.
 */
export class Backlog {
  #waiting: WaitingPage[] = []
  #current: WaitingPage | undefined = undefined
  /** Taken, and not in the index yet. */
  readonly #started = new Set<WaitingPage>()

  push(page: WaitingPage): void {
    this.#waiting.push(page)
  }

  /** The next page. It counts as load until the one after it is taken. */
  shift(): WaitingPage | undefined {
    this.#current = this.#waiting.shift()
    if (this.#current !== undefined) this.#started.add(this.#current)
    return this.#current
  }

  /** A page that was taken is in the index. */
  finished(page: WaitingPage): void {
    this.#started.delete(page)
  }

  /** The last page of this worker's own. */
  lastOwn(): WaitingPage | undefined {
    return this.#waiting.findLast(({ from }) => from === undefined)
  }

  remove(page: WaitingPage): void {
    this.#waiting = this.#waiting.filter((each) => each !== page)
  }

  /** Cancels what a worker that is gone has handed over. */
  cancelFrom(worker: number): void {
    for (const each of this.#started) if (each.from === worker) each.isCancelled = true
    this.#waiting = this.#waiting.filter(({ from }) => from !== worker)
  }

  /** Expected time, in ms, without what came from a worker. */
  loadWithout(worker: number | undefined): number {
    const current = this.#current === undefined ? [] : [this.#current]
    return [...current, ...this.#waiting].reduce(
      (sum, { from, expectedMs }) => sum + (worker !== undefined && from === worker ? 0 : expectedMs),
      0,
    )
  }
}
