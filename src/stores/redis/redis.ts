import { withRecipe } from '../../modules/recipe.js'
import type { OpenStore, Store, StoreContext } from '../contract.js'
import { connect } from './client/connect.js'
import { Node } from './session/node.js'
import { check, type RedisConnection, type RedisOptions, type Settings } from './settings.js'
import { share } from './share.js'

export type { RedisConnection, RedisOptions } from './settings.js'

/**
 * A store in Redis or Valkey. Programs with the same crawl share its work, on one machine or on many: start one more and it
 * takes over a part of the hosts; stop or kill one and the others go on with its part. Needs the package `ioredis`.
 *
 * @example
 * await new Crawler()
 *   .seeds('https://example.com/')
 *   .store(redis('redis://localhost:6379', { crawl: 'news' }))
 *   .run()
 */
export function redis(where: string | RedisConnection, options: RedisOptions = {}): Store {
  const settings = check(where, options)
  const store: Store = {
    name: 'redis',
    open: (context) => open(settings, context),
    share: (context, shards) => share(settings, context, shards),
  }
  return withRecipe(store, 'redis', where, options)
}

async function open(settings: Settings, context: StoreContext): Promise<OpenStore> {
  const node = new Node(settings, context, await connect(settings.connection))
  try {
    await node.open()
  } catch (error) {
    node.abandon()
    throw error
  }
  return {
    frontier: node.frontier,
    seen: node.seen,
    state: node.state,
    flush: () => node.flush(),
    onCommit: (write) => node.onCommit(write),
    condition: () => node.condition(),
    membership: node,
    close: () => node.close(),
  }
}
