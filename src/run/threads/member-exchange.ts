import type { Exchange } from '../../exchange/contract.js'
import type { CrawlRequest, MaybePromise } from '../../types.js'
import type { PortExchange } from '../../workers/exchange/port-exchange.js'

/**
 * The exchange of a worker that is a member of a crawl which processes share. Links travel through the store, to whichever
 * thread or process owns their host. Between the workers of this process only hooks send messages, and while one is on its
 * way, no worker ends.
 */
export class MemberExchange implements Exchange {
  readonly #crawl: Exchange
  readonly #siblings: PortExchange
  /** All workers of this process have had nothing left to do. */
  #isFinishing = false

  constructor(crawl: Exchange, siblings: PortExchange) {
    this.#crawl = crawl
    this.#siblings = siblings
  }

  send(shard: number, requests: readonly CrawlRequest[], isForwarded?: boolean): void {
    this.#crawl.send(shard, requests, isForwarded)
  }

  receive(handler: (requests: readonly CrawlRequest[]) => MaybePromise<void>): void {
    this.#siblings.receive(() => {})
    this.#crawl.receive(handler)
  }

  flush(): void {
    this.#crawl.flush()
    this.#siblings.flush()
  }

  /** First the whole crawl, then this process: its workers report that they are idle when the crawl is over. */
  rest(): boolean {
    return this.#crawl.rest() && this.leave()
  }

  leave(): boolean {
    // Asked in any case: it reports.
    return this.#siblings.rest() || this.#isFinishing
  }

  finish(): void {
    this.#isFinishing = true
    this.#siblings.finish()
  }

  watch(wake: () => void): void {
    this.#crawl.watch(wake)
    this.#siblings.watch(wake)
  }

  async close(): Promise<void> {
    this.#siblings.close()
    await this.#crawl.close()
  }
}
