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
  /**
   * Hands requests over for delivery; may hold them back a moment to make larger batches. `isPassedOn`: another shard had
   * sent them to this one, to which they do not belong (any more).
   */
  send(shard: number, requests: readonly CrawlRequest[], isPassedOn?: boolean): void
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
  /**
   * While this is so, the shard has something in its hands that was delivered to it, and that its store does not have:
   * it must not count as safe there. Absent: nothing would survive a crash anyway.
   */
  hold?(isHolding: boolean): void
  /** Whom to call when `rest` would say true. */
  watch(rouse: () => void): void
  /** Nothing is delivered after this. Calling it twice does nothing. */
  close(): MaybePromise<void>
}
