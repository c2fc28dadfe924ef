import { memoryFrontier } from '../frontier/memory.js'
import { fingerprintTable } from '../seen/table.js'
import type { Store } from './contract.js'

/**
 * The default store: everything in memory, gone when the run is over.
 *
 * @example
 * await new Crawler().seeds('https://example.com/').store(memory()).run()
 */
export function memory(): Store {
  return {
    name: 'memory',
    open({ politeness, policy }) {
      const frontier = memoryFrontier({ politeness, policy })
      const seen = fingerprintTable()
      return {
        frontier,
        seen,
        async close() {
          await frontier.close()
          await seen.close()
        },
      }
    },
  }
}
