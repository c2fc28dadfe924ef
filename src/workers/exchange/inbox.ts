import type { CrawlRequest, MaybePromise } from '../../types.js'
import type { Channel, Payload } from './channel.js'
import { readBatch } from './codec.js'

type Handler = (requests: readonly CrawlRequest[]) => MaybePromise<void>

/** What the inbox reports to its exchange. */
export interface InboxEvents {
  message(from: number, message: unknown): MaybePromise<void>
  /** Something from this channel has been processed. */
  processed(channel: Channel): void
  /** The handler of requests, or of messages, threw or rejected; `processed` follows. */
  failed(error: unknown, requests: readonly CrawlRequest[]): void
  /** Everything is processed, and `isIdle` returned false in the meantime. */
  idle(): void
}

/** A batch or message that has arrived. */
interface ReceivedBatch {
  readonly channel: Channel
  /** Throws if it could not be deserialized. */
  open(): Payload
}

/**
 * What has arrived from other shards and was not processed yet: filled by the channels in order of arrival, emptied by
 * handing over one after the other. It hands over nothing before there is a handler, and never within `put` or
 * `receive`.
 */
export class Inbox {
  readonly #events: InboxEvents
  readonly #batches: ReceivedBatch[] = []
  #handler: Handler | undefined = undefined
  #delivering = false
  #mustReportIdle = false

  constructor(events: InboxEvents) {
    this.#events = events
  }

  receive(handler: Handler): void {
    this.#handler = handler
    this.#deliverSoon()
  }

  put(channel: Channel, open: () => Payload): void {
    this.#batches.push({ channel, open })
    this.#deliverSoon()
  }

  /** Whether everything that arrived has been processed. If not, `idle` is called later. */
  isIdle(): boolean {
    const isIdle = !this.#delivering && this.#batches.length === 0
    if (!isIdle) this.#mustReportIdle = true
    return isIdle
  }

  close(): void {
    this.#handler = undefined
    this.#batches.length = 0
  }

  #deliverSoon(): void {
    if (this.#delivering || this.#handler === undefined || this.#batches.length === 0) return
    this.#delivering = true
    queueMicrotask(() => void this.#deliver())
  }

  async #deliver(): Promise<void> {
    for (let batch = this.#batches.shift(); batch !== undefined; batch = this.#batches.shift()) {
      await this.#handOver(batch)
    }
    this.#delivering = false
    if (!this.#mustReportIdle) return
    this.#mustReportIdle = false
    this.#events.idle()
  }

  async #handOver({ channel, open }: ReceivedBatch): Promise<void> {
    let requests: readonly CrawlRequest[] = []
    try {
      const body = open()
      if (typeof body === 'string') {
        requests = readBatch(body)
        await this.#handler!(requests)
      } else {
        // It may have given the shard work, or not: in both cases the engine has to check.
        this.#mustReportIdle = true
        await this.#events.message(channel.shard, body.message)
      }
    } catch (error) {
      this.#events.failed(error, requests)
    }
    this.#events.processed(channel)
  }
}
