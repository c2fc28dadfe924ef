/** What the engine does when other processes share the crawl: partitions come and go while it runs. */

import type { Membership } from '../stores/contract.js'
import type { CrawlRequest } from '../types.js'
import type { RequestSpec } from '../url/request-options.js'
import type { FollowedFeeds } from './feeds/followed-feeds.js'
import type { PartitionMoves } from './partition-moves.js'
import type { EngineParts } from './parts.js'
import type { KnownPages } from './refresh/known-pages.js'
import type { Ledger } from './stats/ledger.js'
import type { VisitResult } from './visit/visit-result.js'
import type { Visits } from './visit/visits.js'

/** What happens besides aborting visits and forgetting hosts. */
interface OwnershipSink {
  readonly ledger: Ledger
  readonly knownPages: KnownPages | undefined
  readonly followed: FollowedFeeds | undefined
  retryFailed(partitions: readonly number[]): void
  /** URLs that another process has added. */
  announced(urls: readonly string[]): Promise<void>
  changed(): void
}

/** Follows the store when it gains partitions from other processes, or loses them. */
export function followOwnership(
  { membership, partitioner, delivery }: Pick<EngineParts, 'membership' | 'partitioner' | 'delivery'>,
  visits: Visits,
  moves: PartitionMoves,
  sink: OwnershipSink,
): void {
  delivery.offload?.start(sink.changed)
  membership?.onOwnership({
    gained(partitions) {
      sink.ledger.adoptCounts(partitions)
      sink.knownPages?.adopt(partitions)
      sink.followed?.gain(partitions)
      sink.retryFailed(partitions)
    },
    revoked(partitions) {
      const gone = new Set(partitions)
      visits.abortHosts((host) => gone.has(partitioner.partition(host)))
      sink.knownPages?.revoke(partitions)
      sink.followed?.revoke(partitions)
      moves.revoke(partitions)
      sink.changed()
    },
    suspended: () => visits.abortHosts(() => true),
    leaving: () => moves.drained(),
    announced: (urls) => sink.announced(urls),
  })
}

/** Admits what the program adds, and lets all processes know: it defines the scope. */
export function announcing(
  membership: Membership | undefined,
  admit: (requests: readonly RequestSpec[]) => Promise<void>,
): (requests: readonly RequestSpec[]) => Promise<void> {
  return (requests) => {
    membership?.announce(requests.map(({ url }) => url))
    return admit(requests)
  }
}

/** Admits what the thread that started this one sends. `mustLast`: resolves once it would survive the death of this thread. */
export async function durably(
  { membership, storeState }: Pick<EngineParts, 'membership' | 'storeState'>,
  admit: () => Promise<void>,
  mustLast: boolean,
): Promise<void> {
  await admit()
  // Without other processes the exchange says when.
  if (membership !== undefined && mustLast) await storeState.flush?.()
}

/** Whether nothing is left anywhere. A process that is stopped leaves; it does not wait for the others. */
export function restOrLeave(
  { exchange, membership }: Pick<EngineParts, 'exchange' | 'membership'>,
  isEnding: boolean,
): boolean {
  if (isEnding && membership !== undefined) return exchange.leave?.() ?? true
  return exchange.rest()
}

/** The results of visits, without those whose partitions another process has taken over: these are void. */
export function stillLeased(
  settled: readonly VisitResult[],
  membership: Membership | undefined,
  onVoid: (request: CrawlRequest) => void,
): readonly VisitResult[] {
  if (membership === undefined) return settled
  return settled.filter(({ request }) => {
    if (membership.isLeased(request)) return true
    onVoid(request)
    return false
  })
}
