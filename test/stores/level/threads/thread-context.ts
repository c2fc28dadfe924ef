/** The crawl of the tests with threads, the same in each of them. */

import { EVERYTHING } from '../../../../src/conformance/durable/lives.js'
import { firstCome } from '../../../../src/frontier/selection.js'
import { byHost } from '../../../../src/partition/by-host.js'
import type { StoreContext } from '../../../../src/stores/contract.js'
import type { Clock } from '../../../../src/time.js'

export const PARTITIONS = 16

const partitioner = byHost(PARTITIONS)

export function contextFor(clock: Clock): StoreContext {
  const partitionOf = (host: string) => partitioner.partition(host)
  return { politeness: EVERYTHING, policy: firstCome, clock, partitions: PARTITIONS, partitionOf }
}
