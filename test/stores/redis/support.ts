/** One server for the tests of a file, and crawls on it. */

import { Redis } from 'ioredis'
import type { Crawler, CrawlRun } from 'kumo'
import { afterAll, beforeAll, onTestFinished } from 'vitest'
import { RedisServer } from './server.js'

/** Starts a server before the tests of a file and ends it after them. */
export function useServer(args: readonly string[] = []): { readonly url: string; readonly redis: Redis } {
  let server: RedisServer | undefined
  let redis: Redis | undefined
  beforeAll(async () => {
    server = await RedisServer.start({ args })
    redis = new Redis(server.port)
  })
  afterAll(async () => {
    redis?.disconnect()
    await server?.stop()
  })
  return {
    get url() {
      return server!.url
    },
    get redis() {
      return redis!
    },
  }
}

/** Starts a crawl that ends with its test at the latest. */
export function startInTest(crawler: Crawler): CrawlRun {
  const run = crawler.start()
  run.done.catch(() => {})
  onTestFinished(async () => {
    run.stop()
    await run.done.catch(() => {})
  })
  return run
}

let names = 0

/** The name of a crawl that no other test has. */
export function newCrawl(): string {
  return `test-${process.pid}-${++names}`
}

/**
 * Copies a crawl as it is right now, without its nodes: as if they had died, and their leases were over. Nobody is
 * cautious after that, because a suite measures pauses to the millisecond.
 */
export async function copyCrawl(redis: Redis, from: string, to: string): Promise<void> {
  const copy = `
    for _, key in ipairs(redis.call('KEYS', '{kumo:' .. ARGV[1] .. '}*')) do
      local name = string.sub(key, #ARGV[1] + 8)
      if not (string.match(name, '^:node') or name == ':own' or string.match(name, '^:mail')) then
        redis.call('COPY', key, '{kumo:' .. ARGV[2] .. '}' .. name)
      end
    end
    redis.call('HDEL', '{kumo:' .. ARGV[2] .. '}:n', 'resting')`
  await redis.eval(copy, 0, from, to)
}
