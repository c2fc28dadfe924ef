/** `kumo/redis`: one crawl on many machines. See docs/cluster.md. */

export { type RedisConnection, type RedisOptions, redis } from './redis.js'
