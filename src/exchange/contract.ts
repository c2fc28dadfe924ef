import type { CrawlRequest, MaybePromise } from '../types.js'

/**
 * Carries discovered URLs, in batches, to the shard that owns their host. Shards only send: no shard ever asks another
 * one a question.
 *
 * Invariants:
 * - Every request that is sent arrives exactly once, at the shard it was sent to, in the order it was sent.
 * - `rest` returns true only when every shard is idle and every request that was sent has been handled, so that nothing
 *   can arrive any more.
 */
export interface Exchange {
  /**
   * Queues requests for delivery. An exchange may hold them back for a moment to build larger batches. `isForwarded`:
   * another shard sent these requests here, but this shard does not (or no longer) own their hosts.
   */
  send(shard: number, requests: readonly CrawlRequest[], isForwarded?: boolean): void
  /**
   * Sets the handler for arriving batches. There is one handler; setting it delivers what has already arrived. A batch
   * counts as handled when the handler has returned and, if it returned a promise, when that has settled.
   */
  receive(handler: (requests: readonly CrawlRequest[]) => MaybePromise<void>): void
  /** Sends what is held back. */
  flush(): void
  /**
   * Called by a shard that is idle and has sent everything it had to send. True: all other shards are idle too and
   * nothing is on its way, so the crawl is over. False: something may still arrive. The exchange calls the `watch`
   * callback when the answer becomes true; a shard that receives something meanwhile calls `rest` again when it is
   * done with it.
   */
  rest(): boolean
  /**
   * Called in place of `rest` by a shard that ends while other processes go on with the crawl. True: no other shard of
   * this process needs it any more. Absent: none does.
   */
  leave?(): boolean
  /**
   * True while the shard holds delivered requests that are not in its store yet, so the sender must not consider them
   * safe. Not implemented by an exchange whose requests would not survive a crash anyway.
   */
  hold?(isHolding: boolean): void
  /** Sets the callback for when `rest` would return true. */
  watch(wake: () => void): void
  /** Stops delivery. Closing twice is allowed. */
  close(): MaybePromise<void>
}
