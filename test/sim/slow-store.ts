/** A store that takes its time, as one on a disk or across a network does: every answer is a promise. */

import type { Frontier } from '../../src/frontier/contract.js'
import { memoryFrontier } from '../../src/frontier/memory.js'
import type { SeenStore } from '../../src/seen/contract.js'
import { fingerprintTable } from '../../src/seen/table.js'
import type { StoreContext } from '../../src/stores/contract.js'

type Lag = () => Promise<void>

export function slowFrontier({ politeness, policy }: StoreContext, lag: Lag): Frontier {
  const inner = memoryFrontier({ politeness, policy })
  return {
    async add(requests) {
      await lag()
      await inner.add(requests)
    },
    async lease(max, now) {
      const leases = await inner.lease(max, now)
      await lag()
      return leases
    },
    async settle(settlements) {
      await lag()
      await inner.settle(settlements)
    },
    nextDue: () => inner.nextDue(),
    get pending() {
      return inner.pending
    },
    get leased() {
      return inner.leased
    },
    get hosts() {
      return inner.hosts
    },
    close: () => inner.close(),
  }
}

export function slowSeen(lag: Lag): SeenStore {
  const inner = fingerprintTable()
  return {
    async addAll(urls) {
      const fresh = await inner.addAll(urls)
      await lag()
      return fresh
    },
    get size() {
      return inner.size
    },
    close: () => inner.close(),
  }
}
