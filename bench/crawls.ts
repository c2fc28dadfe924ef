/** What the crawls of crawls-child.mjs are told and answer. */

import { once } from 'node:events'
import { forkPlain } from './child.js'

export interface CrawlOrder {
  readonly seeds: readonly string[]
  /** 0: everything in the thread of the program. */
  readonly workers: number
  readonly balance?: boolean
  readonly concurrency: number
  readonly delayMs: number
  readonly robots?: boolean
  readonly perHost?: { readonly connections: number; readonly growAt: number }
  /** Whether a module touches each page's document. */
  readonly dom?: boolean
}

export interface Whole {
  readonly pages: number
  readonly seconds: number
  /** Of the whole crawl, the start of threads included. */
  readonly pagesPerSecond: number
  /** While it was settled: see crawls-child.mjs. */
  readonly settledPerSecond: number
  /** The same, of all threads together. */
  readonly cpuMsPerPage: number
  /** Standard deviation of pending URLs over workers, averaged over the crawl. */
  readonly deviation: number
  readonly workers: readonly { readonly pages: number; readonly partitions: number }[]
}

/** A crawl to its end, that counts as settled after so many pages. It must have exactly the pages that there are. */
export async function crawlWhole(
  order: CrawlOrder & { readonly settledAt?: number; readonly settledUntil?: number },
  totalPages: number,
): Promise<Whole> {
  const answer = await ask<Whole & Losses>('whole', order)
  assertNothingLost(answer)
  if (answer.pages !== totalPages) {
    throw new Error(`${order.workers} workers crawled ${answer.pages} pages instead of ${totalPages}`)
  }
  return answer
}

/** Pages a second over a stretch of a crawl that has not run out of pages by its end. */
export async function crawlWindow(
  order: CrawlOrder & { readonly settleMs: number; readonly windowMs: number },
): Promise<number> {
  const answer = await ask<{ readonly pagesPerSecond: number } & Losses>('window', order)
  assertNothingLost(answer)
  return answer.pagesPerSecond
}

/** What a process takes up while its crawl waits. */
export async function idleMb(order: CrawlOrder & { readonly waitMs: number }): Promise<number> {
  const { pages, rssMb } = await ask<{ readonly pages: number; readonly rssMb: number }>('idle', order)
  if (pages !== 1) throw new Error(`the idle crawl of ${order.workers} workers had ${pages} pages, not one`)
  return rssMb
}

interface Losses {
  readonly failed: number
  readonly lost: number
}

function assertNothingLost({ failed, lost }: Losses): void {
  if (failed > 0 || lost > 0) throw new Error(`${failed} pages failed and ${lost} were lost`)
}

/** Answers when the process is gone: the next one is to have the machine for itself. */
async function ask<T>(step: string, order: CrawlOrder): Promise<T> {
  const child = forkPlain('crawls-child.mjs')
  const gone = once(child, 'exit').then(([code]) => {
    if (code !== 0) throw new Error(`a crawl for a bench ended with ${code}`)
    return undefined
  })
  child.send({ step, order })
  const answer = await Promise.race([once(child, 'message'), gone])
  await gone
  if (answer === undefined) throw new Error('a crawl for a bench ended without an answer')
  return answer[0]
}
