import type { StateSpace, StateStore } from '../../stores/contract.js'
import type { CrawlRequest, FailureCode, MaybePromise, RequestExtras } from '../../types.js'
import { hostOf } from '../../url/canonicalize.js'
import { knownAs, urlIn } from '../../url/known-as.js'
import type { EngineParts } from '../parts.js'
import { newRequest } from './requests.js'

/** URLs that are queued at once. */
const BATCH = 500

/** What a store remembers about a URL that was given up. */
interface FailedUrl {
  readonly code: FailureCode
  readonly depth: number
  readonly parent?: string | undefined
  readonly priority?: number | undefined
  readonly extras?: RequestExtras | undefined
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

  put(request: CrawlRequest, code: FailureCode, run: number): void {
    const { host, depth, parent, priority, extras } = request
    const failed: FailedUrl = {
      ...{ code, depth, parent, run },
      ...(priority !== 0 && { priority }),
      ...(extras && { extras }),
    }
    this.#space.put(knownAs(request), failed, host)
  }

  /** Queues the URLs that earlier runs gave up. */
  async retry(run: number, sink: RetrySink): Promise<void> {
    let batch: [name: string, failed: FailedUrl][] = []
    for await (const [name, value] of this.#space.entries()) {
      const failed = value as FailedUrl
      if (failed.run >= run) continue
      batch.push([name, failed])
      if (batch.length < BATCH) continue
      await this.#queue(batch, sink)
      batch = []
    }
    await this.#queue(batch, sink)
  }

  /** Those of partitions that have come from another process. */
  retryIn(partitions: readonly number[], run: number, sink: RetrySink): MaybePromise<void> {
    const records = [...(this.#space.ofPartitions?.(partitions) ?? [])] as [string, FailedUrl][]
    const batch = records.filter(([, failed]) => failed.run < run)
    return this.#queue(batch, sink)
  }

  /** In one turn, and therefore in one commit. */
  #queue(batch: readonly [name: string, failed: FailedUrl][], sink: RetrySink): MaybePromise<void> {
    const requests: CrawlRequest[] = []
    for (const [name, { code, depth, parent, priority = 0, extras }] of batch) {
      const url = urlIn(name)
      const host = hostOf(url)
      // A shard also reads the URLs of others.
      if (!sink.isMine(host)) continue
      this.#space.delete(name, host)
      sink.uncount(code, host)
      requests.push({ ...newRequest(url, host, depth, priority, parent), ...(extras && { extras }) })
    }
    if (requests.length > 0) return sink.add(requests)
  }
}

/** Where the URLs of this shard go that are retried. */
export function retrySink({
  frontier,
  ownership,
  partitioner,
}: Pick<EngineParts, 'frontier' | 'ownership' | 'partitioner'>): Omit<RetrySink, 'uncount'> {
  return {
    isMine: (host) => ownership.ownerOf(partitioner.partition(host)) === ownership.self,
    add: (requests) => frontier.add(requests),
  }
}
