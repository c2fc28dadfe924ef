/** The connection from one shard to another: what was sent, what has arrived, and what the other side has confirmed. */

import { type MessagePort, receiveMessageOnPort, type TransferListItem } from 'node:worker_threads'
import { BatchWriter } from './codec.js'

/**
 * How many of the batches and messages sent to it the other shard has processed, and how many it has stored durably.
 */
export type Receipt = readonly [processed: number, stored: number]

/** A message between the owners of two exchanges. */
export interface OwnerMessage {
  readonly message: unknown
}

/** What counts as in transit: a batch, or a message. */
export type Payload = string | OwnerMessage

/** Everything that travels over a port. */
type PortMessage = Payload | Receipt

/** A batch or message in transit. */
export interface Outgoing {
  /** Absent: a message that was sent and cannot be sent again. */
  body: Payload | undefined
  readonly transfer?: readonly TransferListItem[]
  /** Requests in it. */
  readonly requests: number
  /** Its number in the outbox; absent for a message. */
  readonly batch?: number
}

/** What a channel reports to its exchange. */
export interface ChannelEvents {
  arrived(channel: Channel, body: Payload): void
  /** It arrived but could not be deserialized. */
  unreadable(channel: Channel, error: unknown): void
  /** The other shard has stored this durably. */
  stored(outgoing: Outgoing): void
}

/**
 * Counts on both sides start at zero with the channel. A port delivers in order, so a receipt is just a number:
 * everything up to there.
 *
 * What is in transit is remembered until the other shard has stored it durably. If that shard dies first, its
 * replacement is sent the same. Without a port, whatever is put here waits until there is one.
 */
export class Channel {
  readonly shard: number
  readonly #events: ChannelEvents
  #port: MessagePort | undefined = undefined
  /** Requests held back to form larger batches. */
  readonly writer: BatchWriter
  /** Sent, and not yet stored by the other shard: filled by `put`, emptied by receipts. */
  #unstored: Outgoing[] = []
  #sent = 0
  #processedThere = 0
  #storedThere = 0
  /**
   * Of what came from the other shard: how much was processed here, for how much a callback on durability was
   * requested, and how much is durable.
   */
  processed = 0
  requested = 0
  stored = 0
  #lastReceipt: Receipt = [0, 0]

  constructor(shard: number, events: ChannelEvents, writer = new BatchWriter()) {
    this.shard = shard
    this.#events = events
    this.writer = writer
  }

  get sent(): number {
    return this.#sent
  }

  get isConnected(): boolean {
    return this.#port !== undefined
  }

  put(outgoing: Outgoing): void {
    // First, because it throws if the message cannot be cloned.
    this.#post(outgoing)
    this.#sent++
    this.#unstored.push(outgoing)
  }

  connect(port: MessagePort): void {
    this.#port = port
    port.on('message', (message: PortMessage) => this.#receive(message))
    port.on('messageerror', (error) => this.#events.unreadable(this, error))
    for (const outgoing of this.#unstored) this.#post(outgoing)
  }

  /** Sends a receipt if there is progress since the last one. */
  acknowledge(): void {
    const [processed, stored] = this.#lastReceipt
    if (this.processed === processed && this.stored === stored) return
    this.#lastReceipt = [this.processed, this.stored]
    this.#port?.postMessage(this.#lastReceipt)
  }

  /** Stops sending and receiving. What has already arrived is still processed. */
  disconnect(): void {
    const port = this.#port
    if (port === undefined) return
    port.removeAllListeners()
    for (let next = receivedOn(port); next !== undefined; next = receivedOn(port)) this.#receive(next.message)
    this.close()
  }

  close(): void {
    this.#port?.removeAllListeners()
    this.#port?.close()
    this.#port = undefined
  }

  /** What the other shard has not processed, as far as this side knows. */
  get unprocessed(): readonly Outgoing[] {
    return this.#unstored.slice(this.#processedThere - this.#storedThere)
  }

  /** What it has not stored durably. */
  get unstored(): readonly Outgoing[] {
    return this.#unstored
  }

  #post(outgoing: Outgoing): void {
    if (this.#port === undefined) return
    this.#port.postMessage(outgoing.body, outgoing.transfer)
    if (typeof outgoing.body !== 'string') outgoing.body = undefined
  }

  #receive(message: PortMessage): void {
    if (isReceipt(message)) this.#confirm(message)
    else this.#events.arrived(this, message)
  }

  #confirm([processed, stored]: Receipt): void {
    this.#processedThere = processed
    for (const outgoing of this.#unstored.splice(0, stored - this.#storedThere)) this.#events.stored(outgoing)
    this.#storedThere = stored
  }
}

/** A message that has arrived and was not delivered yet. Simulated ports provide it themselves. */
function receivedOn(port: MessagePort & SimulatedPort): { readonly message: PortMessage } | undefined {
  return port.receive === undefined ? receiveMessageOnPort(port) : port.receive()
}

interface SimulatedPort {
  receive?(): { readonly message: PortMessage } | undefined
}

function isReceipt(message: PortMessage): message is Receipt {
  return Array.isArray(message)
}

/** The total number of requests in these. */
export function requestsIn(outgoing: readonly Outgoing[]): number {
  return outgoing.reduce((total, { requests }) => total + requests, 0)
}
