/**
 * Lets the copies of a hook in different workers talk to each other. Their messages travel between the batches of links,
 * so that the end of a crawl is not detected while one is on its way.
 */

import type { HookPeers, PeerReceiver } from '../../hooks/contract.js'
import type { PortExchange } from '../../workers/exchange/port-exchange.js'
import { type PackedContent, packedContent, unpackedPage } from './packed-page.js'

interface PeerMessage {
  /** The hook by its place among the hooks of the crawl, which is the same in every worker. */
  readonly hook: number
  readonly body: unknown
}

type Post = (exchange: PortExchange) => void

export class PeerChannels {
  readonly #count: number
  readonly #replaces: boolean
  readonly #productOf: (host: string) => string
  readonly #receivers = new Map<number, PeerReceiver>()
  #exchange: PortExchange | undefined = undefined
  /** Posted before there was an exchange. */
  #early: Post[] = []

  constructor(count: number, replaces: boolean, productOf: (host: string) => string) {
    this.#count = count
    this.#replaces = replaces
    this.#productOf = productOf
  }

  of(hook: number): HookPeers {
    return {
      count: this.#count,
      replaces: this.#replaces,
      receive: (receiver) => void this.#receivers.set(hook, receiver),
      post: (worker, body, transfer) =>
        this.#do((exchange) => {
          const message: PeerMessage = { hook, body }
          // After the end nobody is there to receive it.
          if (!exchange.isClosed) exchange.post(worker, message, transfer)
        }),
      pack: (page) => {
        const content = packedContent(page)
        return { content, transfer: [content.page.body.buffer as ArrayBuffer] }
      },
      unpack: (packed) => unpackedPage(packed as PackedContent, this.#productOf),
    }
  }

  connect(exchange: PortExchange): void {
    this.#exchange = exchange
    const early = this.#early
    this.#early = []
    for (const post of early) post(exchange)
  }

  message(from: number, message: unknown): void {
    const { hook, body } = message as PeerMessage
    this.#receivers.get(hook)?.message(from, body)
  }

  left(worker: number): void {
    for (const receiver of this.#receivers.values()) receiver.left(worker)
  }

  #do(post: Post): void {
    if (this.#exchange === undefined) this.#early.push(post)
    else post(this.#exchange)
  }
}
