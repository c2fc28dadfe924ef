/**
 * A frontier on disk answers at once and reads beside that. Driven in told time, nothing would ever be read: this one
 * asks again until the disk has nothing more to say.
 */

import type { OpenStore } from 'kumo/adapters'
import type { Frontier } from '../../../src/frontier/contract.js'
import type { LevelFrontier } from '../../../src/stores/level/frontier/frontier.js'
import type { CrawlRequest } from '../../../src/types.js'

export function patient(opened: OpenStore): Frontier {
  const inner = opened.frontier as LevelFrontier
  return {
    add: (requests) => inner.add(requests),
    async lease(max, now) {
      const leases: CrawlRequest[] = []
      for (;;) {
        while (inner.isWaitingForDisk) await new Promise((resolve) => setImmediate(resolve))
        const more = inner.lease(max - leases.length, now)
        leases.push(...more)
        if (leases.length === max || (more.length === 0 && !inner.isWaitingForDisk)) return leases
      }
    },
    settle: (settlements) => inner.settle(settlements),
    nextDue: () => (inner.isWaitingForDisk ? 0 : inner.nextDue()),
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
