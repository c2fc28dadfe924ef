/** What the engine does when other processes share the crawl: partitions come and go while it runs. */

import type { Membership } from '../stores/contract.js'
import type { CrawlRequest } from '../types.js'
import type { PartitionMoves } from './partition-moves.js'
import type { EngineParts } from './parts.js'
import type { VisitResult } from './visit/visit-result.js'
import type { Visits } from './visit/visits.js'

/** What happens besides aborting visits and forgetting hosts. */
interface OwnershipSink {
  /** The counts of hosts in new partitions are in the store. */
  restoreCounts(): void
  changed(): void
}

/** Follows the store when it gains partitions from other processes, or loses them. */
export function followOwnership(
  { membership, partitioner }: Pick<EngineParts, 'membership' | 'partitioner'>,
  visits: Visits,
  moves: PartitionMoves,
  sink: OwnershipSink,
): void {
  membership?.onOwnership({
    gained: () => sink.restoreCounts(),
    revoked(partitions) {
      const gone = new Set(partitions)
      visits.abortHosts((host) => gone.has(partitioner.partition(host)))
      moves.revoke(partitions)
      sink.changed()
    },
    suspended: () => visits.abortHosts(() => true),
    leaving: () => moves.drained(),
  })
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
