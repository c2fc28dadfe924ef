import type { FetchContext, Fetcher, Outcome } from '../../../src/fetch/contract.js'
import type { FetchRecord, SimulatedWeb } from '../../../src/sim/web.js'
import type { CrawlRequest } from '../../../src/types.js'
import type { SimThread } from './sim-thread.js'

/** A visit, and who made it. */
export interface ThreadVisit {
  readonly thread: SimThread
  readonly fetch: FetchRecord
}

/** A simulated web as a thread sees it: when the thread dies, its connections are gone. */
export function webIn(thread: SimThread, web: SimulatedWeb, visits: ThreadVisit[]): Fetcher {
  return {
    fetch(request: CrawlRequest, context: FetchContext): Promise<Outcome> {
      if (!thread.acts()) return new Promise(() => {})
      const heard: FetchContext = {
        wants: (mediaType) => context.wants(mediaType),
        onAbort: undefined,
        get signal() {
          return context.signal
        },
        get aborted() {
          return context.aborted
        },
      }
      context.onAbort = () => heard.onAbort?.()
      const stay = thread.atDeath(() => heard.onAbort?.())
      const answer = web.fetch(request, heard)
      visits.push({ thread, fetch: web.log.at(-1)! })
      return thread.told(answer).finally(stay)
    },
  }
}
