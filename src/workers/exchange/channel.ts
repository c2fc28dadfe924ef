/** One shard's way to another, and back: what has been put on it, what has come, and what of it is settled. */

import { type MessagePort, receiveMessageOnPort, type TransferListItem } from 'node:worker_threads'
import { BatchWriter } from './codec.js'

/** The other shard has taken in, and has for good, so many of the batches and messages that it was sent. */
export type Receipt = readonly [taken: number, kept: number]

/** A message between those who own the exchanges. */
export interface Enclosed {
  readonly message: unknown
}

/** What is counted on its way: a batch, or a message. */
export type Body = string | Enclosed

/** What a port carries. */
type Carried = Body | Receipt

/** Something on its way. */
export interface Outgoing {
  /** Absent: a message that has left, and cannot be sent again. */
  body: Body | undefined
  readonly transfer?: readonly TransferListItem[]
  /** Requests in it. */
  readonly requests: number
  /** Its name in the outbox; absent for a message. */
  readonly batch?: number
}

/** What a channel tells its exchange. */
export interface ChannelEvents {
  arrived(channel: Channel, body: Body): void
  /** It arrived, but cannot be read. */
  unreadable(channel: Channel, error: unknown): void
  /** The other shard has this for good. */
  kept(outgoing: Outgoing): void
}

/**
 * Counts on both sides begin with the channel. A port carries everything in order, so a receipt is a number: so many, from
 * the first on.
 *
 * What is on its way is remembered until the other shard has it for good: if it dies before, its successor is sent the
 * same. Without a port, what is put here waits until there is one.
 */
export class Channel {
  readonly shard: number
  readonly #events: ChannelEvents
  #port: MessagePort | undefined = undefined
  /** Held back to make larger batches. */
  readonly writer: BatchWriter
  /** Put here, and not kept by the other shard: filled by `put`, emptied by receipts. */
  #unkept: Outgoing[] = []
  #sent = 0
  #takenThere = 0
  #keptThere = 0
  /** What came from the other shard: taken in here, asked to be told when it is here for good, and here for good. */
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
    // First, for it throws if a message is not of the kind that threads can exchange.
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

  /** Tells the other shard how far this one is, if it is further than it was. */
  acknowledge(): void {
    const [taken, kept] = this.#told
    if (this.taken === taken && this.kept === kept) return
    this.#told = [this.taken, this.kept]
    this.#port?.postMessage(this.#told)
  }

  /** Nothing comes or goes from now on. What has come already is still read. */
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

  /** What the other shard has not taken in, as far as is known here. */
  get untaken(): readonly Outgoing[] {
    return this.#unkept.slice(this.#takenThere - this.#keptThere)
  }

  /** What it has not for good. */
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
    this.#takenThere = taken
    for (const outgoing of this.#unkept.splice(0, kept - this.#keptThere)) this.#events.kept(outgoing)
    this.#keptThere = kept
  }
}

/** What has come over a port and nobody has heard. Ports of a simulation know it themselves. */
function receivedOn(port: MessagePort & SimulatedPort): { readonly message: Carried } | undefined {
  return port.receive === undefined ? receiveMessageOnPort(port) : port.receive()
}

interface SimulatedPort {
  receive?(): { readonly message: Carried } | undefined
}

function isReceipt(carried: Carried): carried is Receipt {
  return Array.isArray(carried)
}

/** How many requests are in these. */
export function requestsIn(outgoing: readonly Outgoing[]): number {
  return outgoing.reduce((total, { requests }) => total + requests, 0)
}
