import type { FeedMemory } from '../../feeds/contract.js'
import type { FeedRecord } from '../../feeds/follow/contract.js'

/** What a visit means for the records of a feed. All of it is stored in the commit of the settlement. */
export interface FeedSettlement {
  readonly url: string
  readonly host: string
  /** The record until now; undefined if there was none here. */
  readonly before: FeedRecord | undefined
  /** Undefined: the feed is not followed here, or not any more. */
  readonly after: FeedRecord | undefined
  /** Present: the entries that are known have changed. As bytes, or as `memoryText` has written them. */
  readonly memory?: FeedMemory | string | undefined
}

/** The memory of a feed as text, for stores and for the way to another shard. */
export function memoryText(memory: FeedMemory | string): string {
  if (typeof memory === 'string') return memory
  return Buffer.from(memory.buffer, memory.byteOffset, memory.byteLength).toString('base64')
}
