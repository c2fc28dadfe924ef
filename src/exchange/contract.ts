import type { CrawlRequest, MaybePromise } from '../types.js'

/**
 * Carries discovered URLs, in batches, to the shard that owns their host. Only discovered URLs cross between
 * shards (system A); nobody asks another shard anything.
 *
 * What must stay true:
 * - Each request that is sent arrives exactly once, at the shard it was sent to, in the order it was sent.
 * - A request counts in `inTransit` of the sender from `send` until the receiver's handler has returned (and, if
 *   it returned a promise, until that has settled). So "all shards idle and all `inTransit` zero" means that
 *   nothing can arrive any more.
 */
export interface Exchange {
  /** Hands requests over for delivery; may hold them back a moment to make larger batches. */
  send(shard: number, requests: readonly CrawlRequest[]): void
  /** Whom to call when a batch arrives. One handler; setting it delivers what arrived before. */
  receive(handler: (requests: readonly CrawlRequest[]) => MaybePromise<void>): void
  /** Delivers now what is held back. */
  flush(): void
  /** Sent by this shard and not yet taken in by its receiver. */
  readonly inTransit: number
  /**
   * Told by a shard that has nothing to do and has sent what it had to send. True: no other shard has anything to do
   * either, and nothing is on its way, so that nothing will ever arrive. False: something may; whoever asked is roused
   * (see `watch`) when the answer has become true, and asks again after whatever arrives.
   */
  rest(): boolean
  /** Whom to call when `rest` would say true. */
  watch(rouse: () => void): void
  /** Nothing is delivered after this. Calling it twice does nothing. */
  close(): MaybePromise<void>
}
