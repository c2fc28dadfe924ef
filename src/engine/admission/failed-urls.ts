import type { StateSpace, StateStore } from '../../stores/contract.js'
import type { CrawlRequest, FailureCode, MaybePromise } from '../../types.js'
import { hostOf } from '../../url/canonicalize.js'
import { newRequest } from './requests.js'

/** URLs that are queued at once. */
const BATCH = 500

/** What a store remembers about a URL that was given up. */
interface FailedUrl {
  readonly code: FailureCode
  readonly depth: number
  readonly parent?: string | undefined
  /** The run that gave it up. */
  readonly run: number
}

/** Where URLs go that are retried. */
export interface RetrySink {
  /** Whether this shard owns the host. */
  isMine(host: string): boolean
  add(requests: readonly CrawlRequest[]): MaybePromise<void>
  /** The failure of a URL does not count any more. */
  uncount(code: FailureCode, host: string): void
}

/**
 * The URLs that a crawl gave up, for `retryFailed()` in a later run. A URL is added with the settlement of the visit that
 * failed, and removed in the commit that queues it again.
 */
export class FailedUrls {
  readonly #space: StateSpace

  constructor(state: StateStore) {
    this.#space = state.space('failed')
  }

  put({ url, host, depth, parent }: CrawlRequest, code: FailureCode, run: number): void {
    const failed: FailedUrl = { code, depth, parent, run }
    this.#space.put(url, failed, host)
  }

  /** Queues the URLs that earlier runs gave up. */
  async retry(run: number, sink: RetrySink): Promise<void> {
    let batch: [url: string, failed: FailedUrl][] = []
    for await (const [url, value] of this.#space.entries()) {
      const failed = value as FailedUrl
      if (failed.run >= run) continue
      batch.push([url, failed])
      if (batch.length < BATCH) continue
      await this.#queue(batch, sink)
      batch = []
    }
    await this.#queue(batch, sink)
  }

  /** In one turn, and therefore in one commit. */
  #queue(batch: readonly [url: string, failed: FailedUrl][], sink: RetrySink): MaybePromise<void> {
    const requests: CrawlRequest[] = []
    for (const [url, { code, depth, parent }] of batch) {
      const host = hostOf(url)
      // A shard also reads the URLs of others.
      if (!sink.isMine(host)) continue
      this.#space.delete(url, host)
      sink.uncount(code, host)
      requests.push(newRequest(url, host, depth, 0, parent))
    }
    if (requests.length > 0) return sink.add(requests)
  }
}
