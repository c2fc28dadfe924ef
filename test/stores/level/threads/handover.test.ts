/** Partitions move among the threads that share a store on disk; here they are all in one. */

import { type Frontier, level, type Store } from 'kumo'
import type { OpenStore } from 'kumo/adapters'
import { handoverSuite } from 'kumo/conformance'
import { describe, it } from 'vitest'
import type { LevelFrontier } from '../../../../src/stores/level/frontier/frontier.js'
import type { LevelOptions } from '../../../../src/stores/level/level.js'
import { sample, WALKS } from '../../../thorough.js'
import { folder } from '../folders.js'

describe('with the usual memory', () => {
  handoverSuite({ ...WALKS, it: ours, create: async () => level(await folder()) })
})

describe('with commits all the time', () => {
  handoverSuite({ ...WALKS, it: ours, create: async () => level(await folder(), { commitEvery: 1 }) })
})

/** Facts that belong to no host are one for all threads that share a store: the last who commits is right. */
const SHARED = 'facts of hosts move along, if the store keeps facts'

function ours(title: string, run: () => Promise<void>): void {
  if (title !== SHARED) it(title, run)
}

const SIZES: Record<string, LevelOptions> = {
  'with next to no memory': { hostsInMemory: 6, requestsInMemory: 3, seenInMemory: 30, commitEvery: 1 },
  'with few requests in memory': { requestsInMemory: 3, seenInMemory: 30 },
}

for (const [size, options] of sample(Object.entries(SIZES), 1)) {
  describe(size, () => {
    handoverSuite({
      // Where more requests allow more connections, a host on disk may be brought in a moment after it became due.
      it: (title, run) => {
        if (options.hostsInMemory === undefined || !title.includes('up to 4')) ours(title, run)
      },
      create: async () => patient(level(await folder(), options)),
    })
  })
}

/** A store that lets the disk answer after each call: what is counted is then what is there. */
function patient(store: Store): Store {
  return {
    ...store,
    async open(context): Promise<OpenStore> {
      const opened = await store.open(context)
      const inner = opened.frontier as LevelFrontier
      const quiet = async () => {
        while (inner.isWaitingForDisk) await new Promise((resolve) => setImmediate(resolve))
      }
      const frontier: Frontier = {
        async add(requests) {
          await inner.add(requests)
          await quiet()
        },
        async lease(max, now) {
          await quiet()
          const leases = inner.lease(max, now)
          await quiet()
          return leases
        },
        async settle(settlements) {
          await inner.settle(settlements)
          await quiet()
        },
        nextDue: () => inner.nextDue(),
        watch: (rouse) => inner.watch(rouse),
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
      return { ...opened, frontier }
    },
  }
}
