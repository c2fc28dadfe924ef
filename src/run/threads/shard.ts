/**
 * One shard of several: an engine, the same as in a single thread, over parts of its own. Its exchange goes over ports to
 * the other shards; the user's closures, the seeds and the statistics are the main thread's. Here is what it does when
 * the main thread tells it something.
 */

import { EventEmitter } from 'eventemitter3'
import { Engine } from '../../engine/engine.js'
import { type CrawlEvents, EVENT_NAMES } from '../../engine/events.js'
import { KumoError, messageOf } from '../../errors.js'
import { addedLinks } from '../../extract/page.js'
import { loadModules } from '../../modules/load.js'
import { fromPortable, type PortableOptions } from '../../modules/portable.js'
import type { CrawlOptions } from '../../options/options.js'
import { OwnershipTable } from '../../partition/ownership.js'
import { type Clock, every, type Timer } from '../../time.js'
import { ClosureProxy } from '../../workers/closures/proxy.js'
import { readBatch } from '../../workers/exchange/codec.js'
import { PortExchange } from '../../workers/exchange/port-exchange.js'
import type { IdleReport } from '../../workers/exchange/termination-detector.js'
import { SharedInFlightLog } from '../../workers/in-flight-log.js'
import type { ToMain, ToWorker, WantedOutput, WorkerData } from '../../workers/messages.js'
import { SharedBudget } from '../../workers/shared-budget.js'
import { type Outputs, type Plan, plan } from '../plan.js'

/** How often the main thread is told how this shard stands. */
const STATS_MS = 50
/** What partitions hold is counted through, so that is told more rarely: in turns of the above. */
const LOADS_EVERY = 20

/** The way to the main thread. */
export interface MainPort {
  post(message: ToMain, transfer?: readonly ArrayBuffer[]): void
  close(): void
}

export class WorkerShard {
  readonly #data: WorkerData
  readonly #main: MainPort
  readonly #clock: Clock
  readonly #table: OwnershipTable
  readonly #closureProxy: ClosureProxy
  readonly #budget: SharedBudget
  readonly #requestBudget: SharedBudget
  readonly #events = new EventEmitter<CrawlEvents>()
  #sendsPages = false
  #exchange: PortExchange | undefined = undefined
  #plan: Plan | undefined = undefined
  #engine: Engine | undefined = undefined
  #telling: Timer | undefined = undefined
  #told = 0

  constructor(data: WorkerData, main: MainPort, clock: Clock) {
    this.#data = data
    this.#main = main
    this.#clock = clock
    this.#table = new OwnershipTable(data.shard.index, data.owners, data.version)
    this.#closureProxy = new ClosureProxy((message, transfer) => main.post(message, transfer), addedLinks)
    const rouse = () => main.post({ kind: 'rouse' })
    this.#budget = new SharedBudget(data.budget, data.shard.index, rouse, data.isDurable)
    this.#requestBudget = new SharedBudget(data.requestBudget, data.shard.index, rouse)
    this.#send(data.output)
  }

  /** `adapt` may change the options before anything is opened: for simulations. */
  async open(adapt: (options: CrawlOptions) => CrawlOptions = (options) => options): Promise<void> {
    const data = this.#data
    this.#plan = await plan(adapt(await this.#options()), this.#outputs(), {
      shard: data.shard,
      clock: this.#clock,
      ownership: this.#table,
      budget: this.#budget,
      requestBudget: this.#requestBudget,
      earlierRuns: data.earlierRuns,
      reportCounts: data.isDurable ? undefined : (counts) => this.#main.post({ kind: 'counted', counts }),
      inFlight: new SharedInFlightLog(data.inFlight, new Map(data.fatal)),
      pageOver: (page) => this.#closureProxy.pageOver(page),
      report: (event) => this.#main.post({ kind: 'store', event: { ...event, cause: undefined } }),
      warn: (message) => this.#main.post({ kind: 'warn', message }),
      advise: (message) => this.#main.post({ kind: 'advice', message }),
      exchange: (outbox) => {
        this.#budget.whenKept = outbox?.whenKept.bind(outbox)
        this.#exchange = new PortExchange({
          self: data.shard.index,
          shards: data.shards,
          clock: this.#clock,
          outbox: outbox,
          report: (report) => this.#rests(report),
          onError: (error) => this.fail(error),
        })
        return this.#exchange
      },
    })
    const { parts, rules } = this.#plan
    // A page is committed together with the links that it led to, also those that wait to be sent.
    parts.memory.onCommit(() => this.#exchange!.flush())
    this.#engine = new Engine(parts, rules)
    this.#main.post({ kind: 'ready' })
  }

  fail(error: unknown): void {
    const code = error instanceof KumoError ? error.code : undefined
    const stack = error instanceof Error ? error.stack : undefined
    this.#main.post({ kind: 'failed', error: { message: messageOf(error), code, stack } })
  }

  #outputs(): Outputs {
    const reader = this.#closureProxy.reader()
    return {
      events: this.#events,
      reader: {
        put: (page) => (this.#sendsPages ? reader.put(page) : undefined),
        withdraw: () => this.#sendsPages && reader.withdraw(),
      },
    }
  }

  /** Sends what the main thread wants, and nothing else: each page and event that crosses costs time there. */
  #send({ events, pages }: WantedOutput): void {
    this.#sendsPages = pages
    for (const event of EVENT_NAMES) {
      const isSent = this.#events.listenerCount(event) > 0
      if (!events.includes(event)) this.#events.removeAllListeners(event)
      else if (!isSent) this.#events.on(event, this.#closureProxy.listener(event))
    }
  }

  async #options(): Promise<CrawlOptions> {
    const data = this.#data
    const portable = data.options as PortableOptions
    const given = fromPortable(portable, this.#closureProxy)
    return loadModules({ ...given, concurrency: data.concurrency })
  }

  receive(message: ToWorker): void {
    const engine = this.#engine!
    switch (message.kind) {
      case 'go':
        void this.#run()
        break
      case 'ping':
        this.#main.post({ kind: 'alive' })
        break
      case 'stop':
        engine.stop()
        break
      case 'abort':
        engine.abort()
        break
      case 'pause':
        engine.pause()
        break
      case 'resume':
        engine.resume()
        break
      case 'want':
        this.#send(message.output)
        break
      case 'rouse':
        this.#budget.changed()
        this.#requestBudget.changed()
        break
      case 'over':
        this.#exchange!.end()
        break
      case 'answer':
        this.#closureProxy.answer(message.id, message.value, message.error)
        break
      default:
        void this.#obey(message).catch((error) => {
          // Orders may come when this shard has ended by itself: nobody waits for them any more.
          if (!this.#exchange!.isClosed) this.fail(error)
        })
    }
  }

  /** Orders, which may give this shard work: each is confirmed, so that the main thread sees the end of the crawl. */
  async #obey(order: Exclude<ToWorker, { kind: NoOrder }>): Promise<void> {
    const engine = this.#engine!
    const exchange = this.#exchange!
    switch (order.kind) {
      case 'peer':
        exchange.connect(order.shard, order.port)
        break
      case 'peerGone':
        // What a shard without a durable store had taken in is gone with it, and is not missed here.
        exchange.disconnect(order.shard, true)
        this.#table.bumpVersion()
        break
      case 'seeds':
        await engine.addSeeds(order.urls, order.mine)
        this.#kept(order.id)
        break
      case 'requests':
        await engine.addRequests(order.requests)
        this.#kept(order.id)
        break
      case 'leftover':
        await engine.addRequests(readBatch(order.text))
        this.#kept(order.id)
        break
      case 'expect':
        this.#table.expect(order.partitions, order.isComing)
        if (!order.isComing) await engine.addRequests([])
        break
      case 'give':
        await this.#give(order)
        break
      case 'take':
        await this.#takeIn(order)
        break
      case 'round':
        engine.knownPages?.nextRound()
        break
      case 'moved':
        this.#table.move(order.partitions, order.to, order.version)
        break
    }
    exchange.orderDone()
  }

  async #give({ partitions, to, version }: Extract<ToWorker, { kind: 'give' }>): Promise<void> {
    const snapshot = await this.#engine!.release(partitions, () => this.#table.move(partitions, to, version))
    this.#main.post({ kind: 'gave', snapshot })
  }

  async #takeIn({ snapshot, version, visitedUntil }: Extract<ToWorker, { kind: 'take' }>): Promise<void> {
    const { partitions } = snapshot
    if (visitedUntil !== undefined)
      await this.#until(visitedUntil + (this.#data.options as PortableOptions).delayMs)
    await this.#engine!.adopt(snapshot, () => {
      this.#table.expect(partitions, false)
      this.#table.move(partitions, this.#table.self, version)
    })
    this.#main.post({ kind: 'took', version })
  }

  #until(at: number): Promise<void> {
    return new Promise((resolve) => void this.#clock.wakeAt(at, resolve))
  }

  /** Confirms an order once what came of it would survive a crash. */
  #kept(id: number): void {
    this.#exchange!.whenKept(() => this.#main.post({ kind: 'seeded', id }))
  }

  async #run(): Promise<void> {
    this.#telling = every(this.#clock, STATS_MS, () => this.#tell())
    try {
      const summary = await this.#engine!.run()
      this.#telling.cancel()
      this.#main.post({ kind: 'ended', summary })
    } catch (error) {
      this.#telling.cancel()
      this.fail(error)
    }
    this.#main.close()
  }

  /** Should it die after this, what it has told is what it had. */
  #rests(report: IdleReport): void {
    this.#tell()
    this.#main.post({ kind: 'resting', ...report })
  }

  #tell(): void {
    const loads = this.#told++ % LOADS_EVERY === 0 ? this.#engine!.load() : undefined
    this.#main.post({ kind: 'stats', stats: this.#engine!.stats(), loads })
  }
}

type NoOrder = 'go' | 'ping' | 'want' | 'stop' | 'abort' | 'pause' | 'resume' | 'rouse' | 'over' | 'answer'
