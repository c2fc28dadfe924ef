import type { Page } from '../extract/contract.js'
import type { OfferedPage, PageStream } from './page-stream.js'

/** Pages, as the crawl finds them. Leaving the loop aborts the crawl, even while a call of `next` waits for a page. */
export interface PageIterator<P extends Page = Page> extends AsyncIterableIterator<P> {
  return(): Promise<IteratorResult<P>>
  throw(error: unknown): Promise<IteratorResult<P>>
}

/** A run that is being iterated. */
export interface IteratedRun {
  readonly stream: PageStream
  /** Settles when the run is over. */
  readonly finished: Promise<unknown>
  abort(): void
}

const DONE = { value: undefined, done: true } as const

/**
 * The pages of a run: of one that is running, or of one that starts with the first `next`. Not a generator, because the
 * `return` of a generator waits for a pending `next`, and that may wait for a page forever.
 */
export function iterate(source: IteratedRun | (() => IteratedRun)): PageIterator {
  let run = typeof source === 'function' ? undefined : source
  let hasLeft = false
  let hasThrown = false
  /** More than one only if `next` is called again before it has resolved. */
  let inLoop: OfferedPage[] = []

  /** The loop is done with the pages that it has. */
  const settle = () => {
    for (const page of inLoop) run?.stream.done(page)
    inLoop = []
  }
  const leave = async () => {
    hasLeft = true
    if (run === undefined) return
    settle()
    run.abort()
    run.stream.withdraw()
    run.stream.end()
    await run.finished.catch(() => {})
  }
  return {
    async next() {
      if (hasLeft) return DONE
      run ??= (source as () => IteratedRun)()
      settle()
      const offered = await run.stream.read()
      if (offered !== undefined) {
        // Left meanwhile: nobody calls `next` again.
        if (hasLeft) run.stream.done(offered)
        else inLoop.push(offered)
        return { value: offered.page, done: false }
      }
      try {
        await run.finished
      } catch (error) {
        if (!hasLeft && !hasThrown) {
          hasThrown = true
          throw error
        }
      }
      return DONE
    },
    async return() {
      await leave()
      return DONE
    },
    async throw(error) {
      await leave()
      throw error
    },
    [Symbol.asyncIterator]() {
      return this
    },
  }
}
