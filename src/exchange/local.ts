/**
 * The exchange between shards of one thread: a mesh of queues, without a copy and without a clock. A crawl with
 * one shard has a mesh of one, in which nothing is ever sent.
 */

import { KumoError } from '../errors.js'
import type { CrawlRequest, MaybePromise } from '../types.js'
import type { Exchange } from './contract.js'

/** Large enough that a handler's fixed costs vanish, small enough that a receiver is not held up for long. */
const DEFAULT_BATCH = 1000

/** How a local mesh behaves. */
export interface LocalMeshOptions {
  /** The largest number of requests that a handler is given at once. Default 1000. */
  batch?: number
  /**
   * Told when a handler throws or rejects. Its batch counts as arrived (it is not delivered twice, and nobody
   * waits for it), so whoever listens here is the last to hold those requests. By default the error is thrown
   * where no one catches it, which ends the process: a shard that loses URLs unnoticed would be worse.
   */
  onError?: (error: unknown, requests: readonly CrawlRequest[]) => void
}

type Handler = (requests: readonly CrawlRequest[]) => MaybePromise<void>

/**
 * Makes the exchanges of shards 0 … shards − 1.
 *
 * Delivery never happens within `send` or `flush`, but in a microtask after the running code: what is sent in
 * one go travels together. A receiver is handed one batch at a time; the next waits until the handler of the
 * last has settled. Closing an exchange discards what is still on its way to it and from it, takes that out of
 * the senders' `inTransit`, and discards what is sent to it later.
 */
export function localMesh(shards: number, options: LocalMeshOptions = {}): Exchange[] {
  const { batch = DEFAULT_BATCH, onError = throwUncaught } = options
  assertWhole('shards', shards)
  assertWhole('batch', batch)
  const mesh: LocalExchange[] = []
  for (let shard = 0; shard < shards; shard++) mesh.push(new LocalExchange(shard, mesh, batch, onError))
  return mesh
}

interface LocalBatch {
  readonly from: LocalExchange
  readonly requests: CrawlRequest[]
}

class LocalExchange implements Exchange {
  readonly #shard: number
  readonly #mesh: readonly LocalExchange[]
  readonly #batch: number
  readonly #onError: NonNullable<LocalMeshOptions['onError']>
  /** Held back for each shard: filled by `send`, emptied by `flush`; never holds a whole batch. */
  #outbox = new Map<number, CrawlRequest[]>()
  /** On the way to this shard, in the order of arrival: filled by the senders, emptied by `#deliver`. */
  #inbox = new Set<LocalBatch>()
  #handler: Handler | undefined
  #flushing = false
  #delivering = false
  #closed = false
  #inTransit = 0
  /** It said that it has nothing to do, and nothing has arrived since. */
  #resting = false
  #rouse: () => void = () => {}

  constructor(
    shard: number,
    mesh: readonly LocalExchange[],
    batch: number,
    onError: NonNullable<LocalMeshOptions['onError']>,
  ) {
    this.#shard = shard
    this.#mesh = mesh
    this.#batch = batch
    this.#onError = onError
  }

  get inTransit(): number {
    return this.#inTransit
  }

  send(shard: number, requests: readonly CrawlRequest[]): void {
    if (this.#closed) {
      throw new KumoError('KUMO_CONTRACT_BROKEN', `shard ${this.#shard} sent after its exchange was closed`)
    }
    const receiver = this.#mesh[shard]
    if (!receiver) {
      const known = `the mesh has shards 0 to ${this.#mesh.length - 1}`
      throw new KumoError('KUMO_CONTRACT_BROKEN', `sent to shard ${String(shard)}, but ${known}`)
    }
    if (requests.length === 0 || receiver.#closed) return
    this.#inTransit += requests.length
    let held = this.#outbox.get(shard) ?? []
    for (const request of requests) {
      held.push(request)
      if (held.length < this.#batch) continue
      receiver.#accept({ from: this, requests: held })
      held = []
    }
    this.#outbox.set(shard, held)
    this.#flushSoon()
  }

  receive(handler: Handler): void {
    this.#handler = handler
    this.#deliverSoon()
  }

  rest(): boolean {
    this.#resting = true
    if (!this.#isAllQuiet()) return false
    for (const other of this.#mesh) if (other !== this) other.#rouse()
    return true
  }

  watch(rouse: () => void): void {
    this.#rouse = rouse
  }

  flush(): void {
    if (this.#outbox.size === 0) return
    const outbox = this.#outbox
    this.#outbox = new Map()
    for (const [shard, requests] of outbox) {
      if (requests.length > 0) this.#mesh[shard]!.#accept({ from: this, requests })
    }
  }

  close(): void {
    if (this.#closed) return
    this.#closed = true
    this.#resting = true
    this.#handler = undefined
    for (const requests of this.#outbox.values()) this.#inTransit -= requests.length
    this.#outbox.clear()
    this.#discard(() => true)
    for (const other of this.#mesh) other.#discard((batch) => batch.from === this)
  }

  #flushSoon(): void {
    if (this.#flushing) return
    this.#flushing = true
    queueMicrotask(() => {
      this.#flushing = false
      this.flush()
    })
  }

  #accept(batch: LocalBatch): void {
    if (this.#closed) {
      batch.from.#inTransit -= batch.requests.length
      return
    }
    this.#inbox.add(batch)
    this.#deliverSoon()
  }

  #discard(unwanted: (batch: LocalBatch) => boolean): void {
    for (const batch of this.#inbox) {
      if (!unwanted(batch)) continue
      this.#inbox.delete(batch)
      batch.from.#inTransit -= batch.requests.length
    }
  }

  #deliverSoon(): void {
    if (this.#delivering || !this.#handler || this.#inbox.size === 0) return
    this.#delivering = true
    queueMicrotask(() => void this.#deliver())
  }

  async #deliver(): Promise<void> {
    // A set's iteration also meets what is added on the way, and not what was discarded.
    for (const batch of this.#inbox) {
      this.#inbox.delete(batch)
      await this.#handOver(batch)
    }
    this.#delivering = false
  }

  #isAllQuiet(): boolean {
    return this.#mesh.every((each) => each.#resting && each.#inTransit === 0)
  }

  async #handOver({ from, requests }: LocalBatch): Promise<void> {
    this.#resting = false
    try {
      await this.#handler!(requests)
    } catch (error) {
      this.#report(error, requests)
    } finally {
      from.#inTransit -= requests.length
      if (this.#isAllQuiet()) for (const each of this.#mesh) each.#rouse()
    }
  }

  #report(error: unknown, requests: readonly CrawlRequest[]): void {
    try {
      this.#onError(error, requests)
    } catch (worse) {
      throwUncaught(worse)
    }
  }
}

function assertWhole(option: string, value: number): void {
  if (Number.isInteger(value) && value >= 1) return
  throw new KumoError('KUMO_INVALID_OPTION', `${option} is a whole number from 1 on, not ${String(value)}`)
}

function throwUncaught(error: unknown): void {
  queueMicrotask(() => {
    throw error
  })
}
