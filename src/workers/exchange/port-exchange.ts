/** The exchange of a shard that runs in its own thread: a mesh of ports, over which batches travel as text. */

import type { MessagePort, TransferListItem } from 'node:worker_threads'
import { KumoError } from '../../errors.js'
import type { Exchange } from '../../exchange/contract.js'
import type { Outbox } from '../../stores/contract.js'
import type { Clock, Timer } from '../../time.js'
import type { CrawlRequest, MaybePromise } from '../../types.js'
import { knownAs } from '../../url/known-as.js'
import { Channel, type ChannelEvents, type Payload, requestsIn } from './channel.js'
import { Inbox } from './inbox.js'
import { mayBeKnown, SentFilter } from './sent-filter.js'
import type { IdleReport } from './termination-detector.js'

/** Large enough that the cost per message is negligible, small enough not to block the receiver for long. */
const DEFAULT_BATCH = 1000
const LONGEST_BATCH = 64 * 1024
/** How long a request, or a receipt, waits for others. Fetching a page takes longer than this. */
const MAX_DELAY_MS = 5

export interface PortExchangeOptions {
  /** The number of this shard, and the number of shards. */
  readonly self: number
  readonly shards: number
  readonly clock: Clock
  /** Where batches survive a crash. Absent: they do not. */
  readonly outbox?: Outbox | undefined
  /** The largest number of requests in a batch. Default 1000. */
  readonly batch?: number | undefined
  /** Whether links that were sent recently are not sent again. Default true. */
  readonly filter?: boolean | undefined
  /** Called whenever this shard becomes idle. */
  report?(report: IdleReport): void
  /** Receives what another shard has sent with `post`. */
  onMessage?(from: number, message: unknown): MaybePromise<void>
  /** A shard was disconnected. What is posted to it from now on reaches its replacement. */
  onDisconnect?(shard: number): void
  /**
   * Called when the handler of requests, or of messages, throws or rejects. What it was given counts as processed.
   * With an outbox, however, this shard then stops confirming durability, so that the outboxes of the
   * others keep everything. By default the error is thrown as an uncaught exception.
   */
  onError?(error: unknown, requests: readonly CrawlRequest[]): void
}

type Handler = (requests: readonly CrawlRequest[]) => MaybePromise<void>

/**
 * One shard's end of its channels to all others. Each channel has its own port, so nothing is routed through a third
 * shard.
 *
 * - It fulfils the contract with one exception: a plain link that was sent to the same shard recently is dropped, as
 *   its owner's seen-set would drop it (see `SentFilter`). `filter: false` turns that off.
 * - What is sent is held back until a batch is full or a few milliseconds have passed. `flush` sends it at once; that
 *   is only needed before a commit and before a sleep. `rest` includes it.
 * - What arrives is handed over one by one, in order of arrival, and counts as processed once the handler is done. With
 *   an outbox, the sender also learns when the receiver has stored it durably.
 * - Messages of the owners travel between the batches and keep their order.
 * - A shard that died is replaced by another with the same number: see `disconnect`.
 */
export class PortExchange implements Exchange {
  readonly #options: PortExchangeOptions
  readonly #batch: number
  /** By shard; undefined at its own number. */
  readonly #channels: (Channel | undefined)[]
  readonly #filter: SentFilter | undefined
  readonly #events: ChannelEvents
  readonly #inbox: Inbox
  #nextBatch: number
  #timer: Timer | undefined = undefined
  /** False once a batch has failed: it is lost here, so nothing may be confirmed as durable. */
  #confirms = true
  #closed = false
  #commands = 0
  #wake: () => void = () => {}
  /**
   * `idle`: it has reported that it has nothing to do, and nothing was sent or received since. `over`: nothing ever
   * will be.
   */
  #state: 'active' | 'idle' | 'over' = 'active'
  /** How often it has become idle. */
  #idlePeriods = 0
  /** The shard holds something that its store does not have yet. Until it has, nothing counts as durable. */
  #isHolding = false
  readonly #afterHolding: (() => void)[] = []

  constructor(options: PortExchangeOptions) {
    const { self, shards, batch = DEFAULT_BATCH, filter = true, outbox } = options
    this.#options = options
    this.#batch = batch
    this.#nextBatch = outbox?.firstBatch ?? 0
    this.#filter = filter ? new SentFilter(shards) : undefined
    this.#events = {
      arrived: (channel, body) => this.#arrive(channel, () => body),
      unreadable: (channel, error) => this.#arrive(channel, () => fail(error)),
      stored: ({ batch }) => {
        if (batch !== undefined) this.#options.outbox?.remove(batch)
      },
    }
    this.#inbox = new Inbox({
      message: (from, message) => options.onMessage?.(from, message),
      processed: (channel) => this.#processed(channel),
      failed: (error, requests) => this.#fail(error, requests),
      idle: () => this.#wake(),
    })
    this.#channels = Array.from({ length: shards }, (_, shard) =>
      shard === self ? undefined : new Channel(shard, this.#events),
    )
  }

  get isClosed(): boolean {
    return this.#closed
  }

  /** Connects to a shard. If there was a connection already, that shard has been replaced. */
  connect(shard: number, port: MessagePort): void {
    if (this.#channelTo(shard).isConnected) this.disconnect(shard)
    this.#becomeActive()
    this.#channelTo(shard).connect(port)
    this.#wake()
  }

  /**
   * The shard died. Returns the number of requests that were sent to it and, as far as this side knows, not processed.
   * They are sent again to its replacement, together with what it had processed but not stored durably. With `resend`
   * false they are dropped, except those that an outbox still holds. Messages are not sent again.
   */
  disconnect(shard: number, resend = true): number {
    const old = this.#channelTo(shard)
    if (!old.isConnected) return 0
    this.#becomeActive()
    old.disconnect()
    const lost = requestsIn(old.unprocessed)
    const next = new Channel(shard, this.#events, old.writer)
    this.#channels[shard] = next
    this.#filter?.forget(shard)
    if (resend) {
      for (const outgoing of old.unstored) {
        if (outgoing.batch !== undefined) next.put(outgoing)
      }
    }
    this.#options.onDisconnect?.(shard)
    this.#wake()
    return lost
  }

  send(shard: number, requests: readonly CrawlRequest[], isPassedOn = false): void {
    const channel = this.#channelTo(shard)
    const { writer } = channel
    for (const request of requests) {
      if (!isPassedOn && mayBeKnown(request) && this.#filter?.hasSent(shard, knownAs(request))) continue
      writer.add(request)
      this.#becomeActive()
      if (writer.count >= this.#batch || writer.characters >= LONGEST_BATCH) this.#dispatch(channel)
    }
    if (writer.count > 0) this.#flushSoon()
  }

  /** Sends a message to the owner of another exchange, after everything that was sent there before. */
  post(shard: number, message: unknown, transfer: readonly TransferListItem[] = []): void {
    const channel = this.#channelTo(shard)
    const wasIdle = this.#state === 'idle'
    this.#becomeActive()
    this.#dispatch(channel)
    channel.put({ body: { message }, transfer, requests: 0 })
    // Nothing else may happen here any more, and what was reported is out of date.
    if (wasIdle) this.#wake()
  }

  receive(handler: Handler): void {
    this.#inbox.receive(handler)
  }

  flush(): void {
    if (this.#closed) return
    for (const channel of this.#channels) {
      if (channel === undefined) continue
      this.#dispatch(channel)
      channel.acknowledge()
    }
    this.#confirmWhenDurable()
  }

  rest(): boolean {
    if (this.#closed || this.#state === 'over') return true
    if (!this.#inbox.isIdle()) return false
    if (this.#state === 'active') {
      this.flush()
      this.#state = 'idle'
      this.#reportIdle()
    }
    return this.#isOver()
  }

  /** Called once the reports of all shards show that all are idle and nothing is in transit. */
  finish(): void {
    if (this.#state !== 'idle') return
    this.#state = 'over'
    this.#wake()
  }

  /**
   * A command of the main thread that may have given this shard work, or changed its connections, was carried out. It
   * is counted in the next report: see `TerminationDetector`.
   */
  commandDone(): void {
    this.#commands++
    this.#becomeActive()
    this.#wake()
  }

  /** Also called when the idle shard should check again. */
  watch(rouse: () => void): void {
    this.#wake = rouse
  }

  hold(isHolding: boolean): void {
    this.#isHolding = isHolding
    if (isHolding || this.#closed) return
    const { outbox } = this.#options
    for (const then of this.#afterHolding.splice(0)) outbox?.whenDurable(then)
    if (outbox === undefined)
      for (const channel of this.#channels) if (channel) channel.stored = channel.processed
    this.#flushSoon()
  }

  /** Calls back once everything that this shard was given so far would survive a crash, as far as its store allows. */
  whenDurable(then: () => void): void {
    const { outbox } = this.#options
    if (outbox === undefined) then()
    else if (this.#isHolding) this.#afterHolding.push(then)
    else outbox.whenDurable(then)
  }

  /** What is held back goes into the outbox if there is one; otherwise it is dropped. */
  close(): void {
    if (this.#closed) return
    if (this.#options.outbox !== undefined) this.flush()
    this.#closed = true
    this.#inbox.close()
    this.#timer?.cancel()
    for (const channel of this.#channels) channel?.close()
  }

  #channelTo(shard: number): Channel {
    const { self, shards } = this.#options
    if (this.#closed) {
      throw new KumoError('KUMO_CONTRACT_BROKEN', `shard ${self} used its exchange after it was closed`)
    }
    const channel = this.#channels[shard]
    if (channel !== undefined) return channel
    const known = `shard ${self} has channels to the others of 0 to ${shards - 1}`
    throw new KumoError('KUMO_CONTRACT_BROKEN', `there is no channel to shard ${String(shard)}: ${known}`)
  }

  /**
   * With an outbox, only once everything is durable: a worker that dies after the end of the crawl must not lose
   * anything.
   */
  #reportIdle(): void {
    const { report, outbox } = this.#options
    const period = ++this.#idlePeriods
    const send = () => {
      if (this.#state !== 'idle' || this.#idlePeriods !== period) return
      report?.({
        sent: this.#channels.map((channel) => channel?.sent ?? 0),
        processed: this.#channels.map((channel) => channel?.processed ?? 0),
        commands: this.#commands,
      })
    }
    if (outbox === undefined) send()
    else outbox.whenDurable(send)
  }

  /** Sends what is held back. */
  #dispatch(channel: Channel): void {
    const requests = channel.writer.count
    if (requests === 0) return
    const body = channel.writer.take()
    const batch = this.#nextBatch++
    this.#options.outbox?.put(batch, body)
    channel.put({ body, requests, batch })
  }

  #flushSoon(): void {
    if (this.#timer !== undefined || this.#closed) return
    const { clock } = this.#options
    this.#timer = clock.wakeAt(clock.now() + MAX_DELAY_MS, () => {
      this.#timer = undefined
      this.flush()
    })
  }

  #arrive(channel: Channel, open: () => Payload): void {
    if (this.#closed) return
    this.#becomeActive()
    this.#inbox.put(channel, open)
  }

  /** Something is sent or received: the shard is no longer idle. */
  #becomeActive(): void {
    this.#state = 'active'
  }

  #isOver(): boolean {
    return this.#state === 'over'
  }

  #processed(channel: Channel): void {
    channel.processed++
    if (this.#options.outbox === undefined && !this.#isHolding) channel.stored = channel.processed
    this.#flushSoon()
  }

  /** Confirms to the other shards, once it is true, that what was processed so far is durable here. */
  #confirmWhenDurable(): void {
    const { outbox } = this.#options
    if (outbox === undefined || !this.#confirms || this.#isHolding) return
    const unconfirmed = this.#channels.filter(
      (channel) => channel !== undefined && channel.processed > channel.requested,
    )
    if (unconfirmed.length === 0) return
    for (const channel of unconfirmed) channel!.requested = channel!.processed
    const marks = unconfirmed.map((channel) => [channel!, channel!.processed] as const)
    outbox.whenDurable(() => {
      for (const [channel, taken] of marks) channel.stored = Math.max(channel.stored, taken)
      this.#flushSoon()
    })
  }

  #fail(error: unknown, requests: readonly CrawlRequest[]): void {
    this.#confirms = false
    const { onError = throwUncaught } = this.#options
    try {
      onError(error, requests)
    } catch (worse) {
      throwUncaught(worse)
    }
  }
}

function fail(error: unknown): never {
  throw error
}

function throwUncaught(error: unknown): void {
  queueMicrotask(() => {
    throw error
  })
}
