/** The exchange of a shard that has a thread of its own: a mesh of ports, over which batches travel as text. */

import type { MessagePort, TransferListItem } from 'node:worker_threads'
import { KumoError } from '../../errors.js'
import type { Exchange } from '../../exchange/contract.js'
import type { Outbox } from '../../stores/contract.js'
import type { Clock, Timer } from '../../time.js'
import type { CrawlRequest, MaybePromise } from '../../types.js'
import { type Body, Channel, type ChannelEvents, requestsIn } from './channel.js'
import { Inbox } from './inbox.js'
import { mayBeKnown, SentFilter } from './sent-filter.js'
import type { IdleReport } from './termination-detector.js'

/** Large enough that what a message costs vanishes, small enough that a receiver is not held up for long. */
const DEFAULT_BATCH = 1000
const LONGEST_BATCH = 64 * 1024
/** How long a request, or a receipt, waits for others. A page takes longer than this to be fetched. */
const HOLD_MS = 5

export interface PortExchangeOptions {
  /** The number of this shard, and of all. */
  readonly self: number
  readonly shards: number
  readonly clock: Clock
  /** Where batches outlive a crash. Absent: they do not. */
  readonly outbox?: Outbox | undefined
  /** The largest number of requests in a batch. Default 1000. */
  readonly batch?: number | undefined
  /** Whether links that were sent lately are not sent again. Default true. */
  readonly filter?: boolean | undefined
  /** Told whenever this shard has come to rest. */
  report?(report: IdleReport): void
  /** Whom to hand what another shard has sent by `post`. */
  onMessage?(from: number, message: unknown): MaybePromise<void>
  /**
   * Told when the handler of requests, or of messages, throws or rejects. What it was given counts as arrived;
   * but with a outbox this shard no longer confirms then that it has anything for good, so that the outboxes of
   * the others go on holding it. By default the error is thrown where no one catches it.
   */
  onError?(error: unknown, requests: readonly CrawlRequest[]): void
}

type Handler = (requests: readonly CrawlRequest[]) => MaybePromise<void>

/**
 * One shard's end of all its channels. Each has a port of its own, so nobody routes and nobody waits for a third.
 *
 * - It keeps the contract with one exception: a plain link that was sent to the same shard lately is dropped, as its
 *   owner's seen-set would drop it (see `SentFilter`). With `filter: false` there is none.
 * - What is sent waits for more, up to a batch or a few milliseconds. `flush` ends the waiting; there is no need for it
 *   but before a commit and before a sleep. `rest` includes it.
 * - What arrives is handed over one by one, in the order of arrival, and counts as taken once the handler is done.
 *   With a outbox, its sender is also told when the receiver has it for good.
 * - Messages of the owners travel between the batches, and keep their order.
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
  /** False once a batch has failed: it is not here, so none may count as kept. */
  #keeps = true
  #closed = false
  #commands = 0
  #rouse: () => void = () => {}
  /** It said that it has nothing to do, and nothing has come or gone since; `over`: nor will anything. */
  #state: 'active' | 'resting' | 'over' = 'active'
  /** How often it has come to rest. */
  #rests = 0
  /** The shard holds something that its store does not have: until then nothing counts as kept. */
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
      kept: ({ batch }) => {
        if (batch !== undefined) this.#options.outbox?.remove(batch)
      },
    }
    this.#inbox = new Inbox({
      message: (from, message) => options.onMessage?.(from, message),
      taken: (channel) => this.#took(channel),
      failed: (error, requests) => this.#fail(error, requests),
      idle: () => this.#rouse(),
    })
    this.#channels = Array.from({ length: shards }, (_, shard) =>
      shard === self ? undefined : new Channel(shard, this.#events),
    )
  }

  get isClosed(): boolean {
    return this.#closed
  }

  /** Opens the way to a shard. If there was one already, the shard has been replaced, and its successor is meant. */
  connect(shard: number, port: MessagePort): void {
    if (this.#channelTo(shard).isConnected) this.disconnect(shard)
    this.#stir()
    this.#channelTo(shard).connect(port)
    this.#rouse()
  }

  /**
   * The shard died. Answers with the number of requests that it had been sent and had not, as far as is known, taken in.
   * They, and what it had taken in but not for good, wait for its successor; with `resend` false they are given up, except
   * that a outbox still holds them. Messages are not sent again.
   */
  disconnect(shard: number, resend = true): number {
    const old = this.#channelTo(shard)
    if (!old.isConnected) return 0
    this.#stir()
    old.disconnect()
    const lost = requestsIn(old.untaken)
    const next = new Channel(shard, this.#events, old.writer)
    this.#channels[shard] = next
    this.#filter?.forget(shard)
    if (resend) {
      for (const outgoing of old.unkept) {
        if (outgoing.batch !== undefined) next.put(outgoing)
      }
    }
    this.#rouse()
    return lost
  }

  send(shard: number, requests: readonly CrawlRequest[], isPassedOn = false): void {
    const channel = this.#channelTo(shard)
    const { writer } = channel
    for (const request of requests) {
      if (!isPassedOn && mayBeKnown(request) && this.#filter?.hasSent(shard, request.url)) continue
      writer.add(request)
      this.#stir()
      if (writer.count >= this.#batch || writer.characters >= LONGEST_BATCH) this.#dispatch(channel)
    }
    if (writer.count > 0) this.#flushSoon()
  }

  /** Sends a message to the owner of another exchange, behind all that was sent there before. */
  post(shard: number, message: unknown, transfer: readonly TransferListItem[] = []): void {
    const channel = this.#channelTo(shard)
    this.#stir()
    this.#dispatch(channel)
    channel.put({ body: { message }, transfer, requests: 0 })
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
    this.#askWhenKept()
  }

  rest(): boolean {
    if (this.#closed || this.#state === 'over') return true
    if (!this.#inbox.isIdle()) return false
    if (this.#state === 'active') {
      this.flush()
      this.#state = 'resting'
      this.#reportRest()
    }
    return this.#isOver()
  }

  /** Told by whoever has compared the reports of all shards: they rest, and nothing is on its way. */
  end(): void {
    if (this.#state !== 'resting') return
    this.#state = 'over'
    this.#rouse()
  }

  /**
   * An order of the main thread that may have given this shard work, or changed its connections, has been carried out.
   * It counts in the next report: see `TerminationDetector`.
   */
  orderDone(): void {
    this.#commands++
    this.#stir()
    this.#rouse()
  }

  /** Called also when the shard, at rest, should ask again. */
  watch(rouse: () => void): void {
    this.#rouse = rouse
  }

  hold(isHolding: boolean): void {
    this.#isHolding = isHolding
    if (isHolding || this.#closed) return
    const { outbox } = this.#options
    for (const then of this.#afterHolding.splice(0)) outbox?.whenKept(then)
    if (outbox === undefined) for (const channel of this.#channels) if (channel) channel.kept = channel.taken
    this.#flushSoon()
  }

  /** Calls back once all that this shard was given so far would survive a crash, as far as anything does. */
  whenKept(then: () => void): void {
    const { outbox } = this.#options
    if (outbox === undefined) then()
    else if (this.#isHolding) this.#afterHolding.push(then)
    else outbox.whenKept(then)
  }

  /** What is held back goes into the outbox, if there is one; without one it is gone. */
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

  /** With a outbox, once all is kept: who dies after the crawl is over must not take anything along. */
  #reportRest(): void {
    const { report, outbox } = this.#options
    const rest = ++this.#rests
    const tell = () => {
      if (this.#state !== 'resting' || this.#rests !== rest) return
      report?.({
        sent: this.#channels.map((channel) => channel?.sent ?? 0),
        taken: this.#channels.map((channel) => channel?.taken ?? 0),
        commands: this.#commands,
      })
    }
    if (outbox === undefined) tell()
    else outbox.whenKept(tell)
  }

  /** Puts what is held back on its way. */
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
    this.#timer = clock.wakeAt(clock.now() + HOLD_MS, () => {
      this.#timer = undefined
      this.flush()
    })
  }

  #arrive(channel: Channel, open: () => Body): void {
    if (this.#closed) return
    this.#stir()
    this.#inbox.put(channel, open)
  }

  /** Something comes or goes: the rest is over. */
  #stir(): void {
    this.#state = 'active'
  }

  #isOver(): boolean {
    return this.#state === 'over'
  }

  #took(channel: Channel): void {
    channel.taken++
    if (this.#options.outbox === undefined && !this.#isHolding) channel.kept = channel.taken
    this.#flushSoon()
  }

  /** Lets the other shards know, once it is so, that this one has for good what it has taken in so far. */
  #askWhenKept(): void {
    const { outbox } = this.#options
    if (outbox === undefined || !this.#keeps || this.#isHolding) return
    const asked = this.#channels.filter((channel) => channel !== undefined && channel.taken > channel.asked)
    if (asked.length === 0) return
    for (const channel of asked) channel!.asked = channel!.taken
    const marks = asked.map((channel) => [channel!, channel!.taken] as const)
    outbox.whenKept(() => {
      for (const [channel, taken] of marks) channel.kept = Math.max(channel.kept, taken)
      this.#flushSoon()
    })
  }

  #fail(error: unknown, requests: readonly CrawlRequest[]): void {
    this.#keeps = false
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
