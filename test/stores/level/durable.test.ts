/** What the store on disk holds after a crash is what it held at some moment before. */

import { level } from 'kumo'
import { durableStoreSuite } from 'kumo/conformance'
import { describe, it } from 'vitest'
import { copyOf } from '../../../src/stores/level/db/copy.js'
import type { LevelOptions } from '../../../src/stores/level/level.js'
import { folder, removeLater } from './folders.js'

const SIZES: Record<string, LevelOptions> = {
  'with the usual memory': {},
  'with next to no memory': { hostsInMemory: 2, requestsInMemory: 1, seenInMemory: 10 },
  'with commits all the time': { commitEvery: 1 },
}

for (const [size, options] of Object.entries(SIZES)) {
  describe(size, () => {
    durableStoreSuite({
      it,
      rounds: 10,
      async create() {
        let path = await folder()
        return {
          store: level(path, options),
          // The operating system keeps what a process has written, however it ends.
          async crash() {
            path = removeLater((await copyOf(path)).path)
            return level(path, options)
          },
        }
      },
    })
  })
}
