import { memoryFrontier } from '../frontier/memory.js'
import { withRecipe } from '../modules/recipe.js'
import { fingerprintTable } from '../seen/table.js'
import type { Store } from './contract.js'
import { memoryShard } from './memory-shard.js'

/**
 * The default store: everything in memory, gone when the run is over.
 *
 * @example
 * await new Crawler().seeds('https://example.com/').store(memory()).run()
 */
export function memory(): Store {
  const store: Store = {
    name: 'memory',
    open(context) {
      if (context.shard !== undefined) return memoryShard(context, context.shard)
      const { politeness, policy } = context
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
  return withRecipe(store, 'memory')
}
