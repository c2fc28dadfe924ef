/** Looks at a stored crawl, wherever it is. The reader for Redis is loaded when it is needed. */

import { type Inspection, type InspectOptions, inspectFolder } from './level/inspect/inspect.js'

/**
 * Reads the state of a crawl from its folder or from Redis, without disturbing a running crawl. Of a folder it opens a copy
 * that shares the large files with the original and is removed afterwards.
 *
 * @example
 * const { state, pages, pending } = await inspectCrawl('./crawl')
 * const { pages } = await inspectCrawl('redis://localhost:6379?crawl=news')
 */
export async function inspectCrawl(where: string, options: InspectOptions = {}): Promise<Inspection> {
  if (!/^rediss?:/i.test(where)) return inspectFolder(where, options)
  const { inspectRedis } = await import('./redis/inspect.js')
  return inspectRedis(where, options)
}
