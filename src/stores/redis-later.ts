/** The store in Redis, made again in a worker thread. Its code is loaded when it is opened: few crawls need it. */

import type { Store } from './contract.js'
import type { RedisConnection, RedisOptions } from './redis/settings.js'

export function redisLater(where: string | RedisConnection, options: RedisOptions): Store {
  return {
    name: 'redis',
    async open(context) {
      const { redis } = await import('./redis/redis.js')
      return redis(where, options).open(context)
    },
  }
}
