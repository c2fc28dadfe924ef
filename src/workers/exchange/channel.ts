/** The connection from one shard to another: what was sent, what has arrived, and what the other side has confirmed. */

import { type MessagePort, receiveMessageOnPort, type TransferListItem } from 'node:worker_threads'
import { BatchWriter } from './codec.js'

/**
 * How many of the batches and messages sent to it the other shard has processed, and how many it has stored durably.
 */
export type Receipt = readonly [taken: number, kept: number]

/** A message between the owners of two exchanges. */
export interface Enclosed {
  readonly message: unknown
}

/** What counts as in transit: a batch, or a message. */
export type Body = string | Enclosed

/** Everything that travels over a port. */
type Carried = Body | Receipt

/** A batch or message in transit. */
export interface Outgoing {
  /** Absent: a message that was sent and cannot be sent again. */
  body: Body | undefined
  readonly transfer?: readonly TransferListItem[]
  /** Requests in it. */
  readonly requests: number
  /** Its number in the outbox; absent for a message. */
  readonly batch?: number
}

/** What a channel reports to its exchange. */
export interface ChannelEvents {
  arrived(channel: Channel, body: Body): void
  /** It arrived but could not be deserialized. */
  unreadable(channel: Channel, error: unknown): void
  /** The other shard has processed this many requests. */
  taken(requests: number): void
  /** The other shard has stored this durably. */
  kept(outgoing: Outgoing): void
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
  #unkept: Outgoing[] = []
  #sent = 0
  #takenThere = 0
  #keptThere = 0
  /**
   * Of what came from the other shard: how much was processed here, for how much a callback on durability was
   * requested, and how much is durable.
   */
  taken = 0
  asked = 0
  kept = 0
  #told: Receipt = [0, 0]

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
    this.#carry(outgoing)
    this.#sent++
    this.#unkept.push(outgoing)
  }

  connect(port: MessagePort): void {
    this.#port = port
    port.on('message', (carried: Carried) => this.#read(carried))
    port.on('messageerror', (error) => this.#events.unreadable(this, error))
    for (const outgoing of this.#unkept) this.#carry(outgoing)
  }

  /** Sends a receipt if there is progress since the last one. */
  acknowledge(): void {
    const [taken, kept] = this.#told
    if (this.taken === taken && this.kept === kept) return
    this.#told = [this.taken, this.kept]
    this.#port?.postMessage(this.#told)
  }

  /** Stops sending and receiving. What has already arrived is still processed. */
  disconnect(): void {
    const port = this.#port
    if (port === undefined) return
    port.removeAllListeners()
    for (let next = receivedOn(port); next !== undefined; next = receivedOn(port)) this.#read(next.message)
    this.close()
  }

  close(): void {
    this.#port?.removeAllListeners()
    this.#port?.close()
    this.#port = undefined
  }

  /** What the other shard has not processed, as far as this side knows. */
  get untaken(): readonly Outgoing[] {
    return this.#unkept.slice(this.#takenThere - this.#keptThere)
  }

  /** What it has not stored durably. */
  get unkept(): readonly Outgoing[] {
    return this.#unkept
  }

  #carry(outgoing: Outgoing): void {
    if (this.#port === undefined) return
    this.#port.postMessage(outgoing.body, outgoing.transfer)
    if (typeof outgoing.body !== 'string') outgoing.body = undefined
  }

  #read(carried: Carried): void {
    if (isReceipt(carried)) this.#settle(carried)
    else this.#events.arrived(this, carried)
  }

  #settle([taken, kept]: Receipt): void {
    let requests = 0
    for (; this.#takenThere < taken; this.#takenThere++) {
      requests += this.#unkept[this.#takenThere - this.#keptThere]!.requests
    }
    if (requests > 0) this.#events.taken(requests)
    for (const outgoing of this.#unkept.splice(0, kept - this.#keptThere)) this.#events.kept(outgoing)
    this.#keptThere = kept
  }
}

/** A message that has arrived and was not delivered yet. Simulated ports provide it themselves. */
function receivedOn(port: MessagePort & SimulatedPort): { readonly message: Carried } | undefined {
  return port.receive === undefined ? receiveMessageOnPort(port) : port.receive()
}

interface SimulatedPort {
  receive?(): { readonly message: Carried } | undefined
}

function isReceipt(carried: Carried): carried is Receipt {
  return Array.isArray(carried)
}

/** The total number of requests in these. */
export function requestsIn(outgoing: readonly Outgoing[]): number {
  return outgoing.reduce((total, { requests }) => total + requests, 0)
}
