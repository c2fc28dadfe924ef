import type { PageReader } from '../engine/delivery.js'
import type { Page } from '../extract/contract.js'
import { PageStream } from './page-stream.js'
import type { Run } from './run.js'

/** Pages, as the crawl finds them. Leaving it early aborts the crawl, also while a `next` is waiting. */
export interface PageIterator<P extends Page = Page> extends AsyncIterableIterator<P> {
  return(): Promise<IteratorResult<P>>
  throw(error: unknown): Promise<IteratorResult<P>>
}

const DONE = { value: undefined, done: true } as const

/**
 * A run as something to loop over. It starts with the first `next` and is aborted by leaving the loop. Not a generator,
 * because a generator lets `return` wait behind a `next` that may take for ever.
 */
export function iterate(begin: (reader: PageReader) => Run): PageIterator {
  const stream = new PageStream()
  let run: Run | undefined
  let finished: Promise<void> | undefined
  let left = false
  let failure: { readonly error: unknown } | undefined

  const start = () => {
    run = begin(stream)
    finished = run.finish(undefined).then(
      () => stream.end(),
      (error) => {
        failure = { error }
        stream.end()
      },
    )
  }
  const leave = async () => {
    left = true
    run?.abort()
    stream.withdraw()
    stream.end()
    await finished
  }
  return {
    async next() {
      if (left) return DONE
      if (run === undefined) start()
      const page = await stream.take()
      if (page !== undefined) return { value: page, done: false }
      await finished
      const told = failure
      failure = undefined
      if (told !== undefined && !left) throw told.error
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
