/** A mesh of shards in one thread: the simplest exchange that keeps the contract, as a base for broken ones. */

import type { Exchange } from '../../src/exchange/contract.js'
import type { CrawlRequest } from '../../src/types.js'

type Handler = Parameters<Exchange['receive']>[0]

interface Batch {
  readonly from: LocalExchange
  readonly requests: readonly CrawlRequest[]
}

/** The exchanges of shards 0 … shards − 1. */
export function localMesh(shards: number): LocalExchange[] {
  const mesh: LocalExchange[] = []
  while (mesh.length < shards) mesh.push(new LocalExchange(mesh))
  return mesh
}

export class LocalExchange implements Exchange {
  readonly #mesh: readonly LocalExchange[]
  /** Filled by the senders, emptied by `#deliver`. */
  #inbox: Batch[] = []
  #handler: Handler | undefined
  #isDelivering = false
  #isClosed = false
  #isResting = false
  #wake: () => void = () => {}
  /** Requests that this shard has sent and whose handler has not finished. */
  inTransit = 0

  constructor(mesh: readonly LocalExchange[]) {
    this.#mesh = mesh
  }

  send(shard: number, requests: readonly CrawlRequest[]): void {
    const receiver = this.#mesh[shard]!
    if (requests.length === 0 || receiver.#isClosed) return
    this.inTransit += requests.length
    receiver.#inbox.push({ from: this, requests: [...requests] })
    receiver.#deliverSoon()
  }

  receive(handler: Handler): void {
    this.#handler = handler
    this.#deliverSoon()
  }

  flush(): void {}

  rest(): boolean {
    this.#isResting = true
    if (!this.#isOver()) return false
    for (const other of this.#mesh) if (other !== this) other.#wake()
    return true
  }

  watch(wake: () => void): void {
    this.#wake = wake
  }

  close(): void {
    this.#isClosed = true
    this.#isResting = true
    for (const { from, requests } of this.#inbox.splice(0)) from.inTransit -= requests.length
  }

  #isOver(): boolean {
    return this.#mesh.every((each) => each.#isResting && each.inTransit === 0)
  }

  #deliverSoon(): void {
    if (this.#isDelivering || this.#handler === undefined || this.#inbox.length === 0) return
    this.#isDelivering = true
    queueMicrotask(() => void this.#deliver())
  }

  async #deliver(): Promise<void> {
    for (let batch = this.#inbox.shift(); batch !== undefined; batch = this.#inbox.shift()) {
      this.#isResting = false
      await this.#handler!(batch.requests)
      batch.from.inTransit -= batch.requests.length
    }
    this.#isDelivering = false
    if (this.#isOver()) for (const each of this.#mesh) each.#wake()
  }
}
