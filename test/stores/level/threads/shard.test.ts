/** A shard keeps the contracts that a store keeps which has all to itself, and either goes on with what the other left. */

import { level, type Store } from 'kumo'
import type { OpenStore, SharedStore, StoreContext } from 'kumo/adapters'
import { durableStoreSuite, storeSuite } from 'kumo/conformance'
import { describe, it } from 'vitest'
import { copyOf } from '../../../../src/stores/level/db/copy.js'
import type { LevelOptions } from '../../../../src/stores/level/level.js'
import { isThorough, WALKS } from '../../../thorough.js'
import { folder, removeLater } from '../folders.js'

/** A store that is opened as if by a crawl with one worker. */
function asShard(store: Store): Store {
  return {
    name: store.name,
    async open(context: StoreContext): Promise<OpenStore> {
      const shared = (await store.share!(context, 1)) as SharedStore
      const partitions = Array.from({ length: context.partitions }, (_, i) => i)
      const shard = { index: 0, partitions, replaces: false, shared: shared.shared }
      try {
        const opened = await store.open({ ...context, shard })
        let closing: Promise<void> | undefined
        const close = async () => {
          try {
            await opened.close()
          } finally {
            await shared.close()
          }
        }
        return {
          ...opened,
          close() {
            closing ??= close()
            return closing
          },
        }
      } catch (error) {
        await shared.close()
        throw error
      }
    },
  }
}

storeSuite({ ...WALKS, it, durable: true, create: async () => asShard(level(await folder())) })

const SIZES: Record<string, LevelOptions> = {
  'with the usual memory': {},
  'with next to no memory': { hostsInMemory: 2, requestsInMemory: 1, seenInMemory: 10, commitEvery: 1 },
}

for (const [size, options] of Object.entries(SIZES)) {
  describe(size, () => {
    durableStoreSuite({
      it,
      rounds: isThorough ? 10 : 4,
      async create() {
        let path = await folder()
        let lives = 0
        const next = () => (lives++ % 3 === 0 ? level(path, options) : asShard(level(path, options)))
        return {
          store: next(),
          async crash() {
            path = removeLater((await copyOf(path)).path)
            return next()
          },
        }
      },
    })
  })
}
