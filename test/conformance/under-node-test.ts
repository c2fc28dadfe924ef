/**
 * The suite of seen-sets under node:test; test/conformance/node-test.test.ts runs it in a process of its own.
 * With BROKEN=1 it examines a store that forgets, and must fail.
 */

import { describe, it } from 'node:test'
import { seenStoreSuite } from '../../src/conformance/seen.js'
import { fingerprintTable } from '../../src/seen/table.js'

describe('fingerprintTable', () => {
  seenStoreSuite({
    it,
    urls: 20_000,
    create: () => {
      const sound = fingerprintTable()
      if (process.env.BROKEN !== '1') return sound
      return { size: 0, addAll: (urls) => urls.map(() => true), close() {} }
    },
  })
})
