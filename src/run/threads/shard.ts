/**
 * One shard of several: the same engine as in a single thread, with parts of its own. Its exchange connects it to the
 * other shards by ports. The user's closures, the seeds and the statistics belong to the main thread. This class
 * carries out the main thread's messages.
 */

import { EventEmitter } from 'eventemitter3'
import { Engine } from '../../engine/engine.js'
import { type CrawlEvents, EVENT_NAMES } from '../../engine/events.js'
import { pricePeriodMs } from '../../engine/feeds/followed-feeds.js'
import { KumoError, messageOf } from '../../errors.js'
import { addedLinks, type FetchedPage } from '../../extract/page.js'
import type { PollReport } from '../../feeds/schedule/contract.js'
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
import { longestDelayMs, productOf } from '../host-rules.js'
import { type EngineOutputs, type Plan, plan } from '../plan.js'
import { MemberExchange } from './member-exchange.js'
import { PeerChannels } from './peer-channels.js'

/** How often this shard reports its statistics to the main thread. */
const STATS_MS = 50
/** Loads are expensive to count, so they are reported with every n-th statistics message only. */
const LOADS_EVERY = 20

/** Sends messages to the main thread. */
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
  /** If the shard is a member of a crawl that processes share. */
  #shared: MemberExchange | undefined = undefined
  /** See `WorkerData.fatal`. */
  readonly #fatal: Map<string, string>
  #plan: Plan | undefined = undefined
  #engine: Engine | undefined = undefined
  #reporting: Timer | undefined = undefined
  #reports = 0
  #pollsReportedAt = Number.NEGATIVE_INFINITY

  constructor(data: WorkerData, main: MainPort, clock: Clock) {
    this.#data = data
    this.#fatal = new Map(data.fatal)
    this.#main = main
    this.#clock = clock
    this.#table = new OwnershipTable(data.shard.index, data.owners, data.version)
    this.#closureProxy = new ClosureProxy((message, transfer) => main.post(message, transfer), {
      linksOf: addedLinks,
      extrasOf: (page) => (page as FetchedPage).extras,
      adoptFollowed: (page, requests) => (page as FetchedPage).adoptFollowed(requests),
    })
    const notifyOthers = () => main.post({ kind: 'budgetChanged' })
    this.#budget = new SharedBudget(data.budget, data.shard.index, notifyOthers, data.isDurable)
    this.#requestBudget = new SharedBudget(data.requestBudget, data.shard.index, notifyOthers)
    this.#send(data.output)
  }

  /** `adapt` may change the options before anything is opened; used by simulations. */
  async open(adapt: (options: CrawlOptions) => CrawlOptions = (options) => options): Promise<void> {
    const data = this.#data
    const options = adapt(await this.#options())
    const peers = new PeerChannels(data.shards, data.shard.replaces, productOf(options))
    this.#plan = await plan(options, this.#outputs(), {
      shard: data.shard,
      peersOf: (hook) => peers.of(hook),
      clock: this.#clock,
      ownership: this.#table,
      budget: this.#budget,
      requestBudget: this.#requestBudget,
      earlierRuns: data.earlierRuns,
      reportCounts: data.isDurable ? undefined : (counts) => this.#main.post({ kind: 'counts', counts }),
      inFlight: new SharedInFlightLog(data.inFlight, this.#fatal, (slot, request) =>
        this.#main.post({ kind: 'inFlight', slot, request }),
      ),
      onPageDone: (page) => this.#closureProxy.pageDone(page),
      report: (event) => this.#main.post({ kind: 'store', event: { ...event, cause: undefined } }),
      warn: (message) => this.#main.post({ kind: 'warn', message }),
      advise: (message) => this.#main.post({ kind: 'advice', message }),
      exchange: (outbox, membership) => {
        this.#budget.whenDurable = outbox?.whenDurable.bind(outbox)
        this.#exchange = new PortExchange({
          self: data.shard.index,
          shards: data.shards,
          clock: this.#clock,
          outbox,
          report: (report) => this.#reportIdle(report),
          onError: (error) => this.fail(error),
          onMessage: (from, message) => peers.message(from, message),
          onDisconnect: (worker) => peers.left(worker),
        })
        peers.connect(this.#exchange)
        this.#shared = membership && new MemberExchange(membership.exchange, this.#exchange)
        return this.#shared ?? this.#exchange
      },
    })
    const { parts, rules } = this.#plan
    // A page is committed together with its links, including those that still wait to be sent.
    parts.storeState.onCommit(() => this.#exchange!.flush())
    this.#engine = new Engine(parts, rules)
    this.#main.post({ kind: 'ready' })
  }

  fail(error: unknown): void {
    const code = error instanceof KumoError ? error.code : undefined
    const stack = error instanceof Error ? error.stack : undefined
    this.#main.post({ kind: 'failed', error: { message: messageOf(error), code, stack } })
  }

  #outputs(): EngineOutputs {
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
    const given = fromPortable(portable, {
      extractor: (closure) => this.#closureProxy.extractor(closure),
      hook: (closure) => this.#closureProxy.hook(closure),
    })
    return loadModules({ ...given, concurrency: data.concurrency, line: data.line })
  }

  receive(message: ToWorker): void {
    const engine = this.#engine!
    switch (message.kind) {
      case 'start':
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
      case 'budgetChanged':
        this.#budget.changed()
        this.#requestBudget.changed()
        break
      case 'finish':
        ;(this.#shared ?? this.#exchange!).finish()
        break
      case 'fed':
        engine.finish()
        break
      case 'fatal':
        for (const [name, why] of message.fatal) this.#fatal.set(name, why)
        break
      case 'reply':
        this.#closureProxy.reply(message)
        break
      case 'price':
        engine.followed?.feeds.schedule.setPrice(message.price)
        break
      default:
        void this.#execute(message).catch((error) => {
          // Commands may arrive after this shard has ended. The main thread no longer waits for them.
          if (!this.#exchange!.isClosed) this.fail(error)
        })
    }
  }

  /** Commands may give this shard work. Each is confirmed, so that the main thread can detect the end of the crawl. */
  async #execute(command: Exclude<ToWorker, { kind: NotACommand }>): Promise<void> {
    const engine = this.#engine!
    const exchange = this.#exchange!
    switch (command.kind) {
      case 'peer':
        exchange.connect(command.shard, command.port)
        break
      case 'peerLost':
        // What a shard without a durable store had taken in is lost with it; that loss is accepted.
        exchange.disconnect(command.shard, true)
        this.#table.bumpVersion()
        break
      case 'seeds':
        if (command.isAdded) this.#plan!.parts.membership?.announce(command.mine.map(({ url }) => url))
        await engine.addSeeds(command.urls, command.mine)
        this.#confirm(command.id)
        break
      case 'requests':
        await engine.addRequests(command.requests)
        this.#confirm(command.id)
        break
      case 'leftover':
        await engine.addRequests(readBatch(command.text))
        this.#confirm(command.id)
        break
      case 'expect':
        this.#table.expect(command.partitions, command.isComing)
        if (!command.isComing) await engine.addRequests([])
        break
      case 'release':
        await this.#release(command)
        break
      case 'adopt':
        await this.#adopt(command)
        break
      case 'nextRound':
        engine.knownPages?.nextRound()
        break
      case 'moved':
        this.#table.move(command.partitions, command.to, command.version)
        break
    }
    exchange.commandDone()
  }

  async #release({ partitions, to, version }: Extract<ToWorker, { kind: 'release' }>): Promise<void> {
    const snapshot = await this.#engine!.release(partitions, () => this.#table.move(partitions, to, version))
    this.#main.post({ kind: 'released', snapshot, stats: this.#engine!.stats() })
  }

  async #adopt({ snapshot, version, visitedUntil }: Extract<ToWorker, { kind: 'adopt' }>): Promise<void> {
    const { partitions } = snapshot
    if (visitedUntil !== undefined)
      await this.#until(visitedUntil + longestDelayMs(this.#data.options as PortableOptions))
    await this.#engine!.adopt(snapshot, () => {
      this.#table.expect(partitions, false)
      this.#table.move(partitions, this.#table.self, version)
    })
    this.#main.post({ kind: 'adopted', version, stats: this.#engine!.stats() })
  }

  #until(at: number): Promise<void> {
    return new Promise((resolve) => void this.#clock.wakeAt(at, resolve))
  }

  /** Confirms a command once its effects would survive a crash. */
  #confirm(id: number): void {
    this.#exchange!.whenDurable(() => this.#main.post({ kind: 'done', id }))
  }

  async #run(): Promise<void> {
    this.#reporting = every(this.#clock, STATS_MS, () => this.#report())
    try {
      const summary = await this.#engine!.run()
      this.#reporting.cancel()
      this.#main.post({ kind: 'ended', summary, diagnosis: this.#engine!.diagnosis() })
    } catch (error) {
      this.#reporting.cancel()
      this.fail(error)
    }
    this.#main.close()
  }

  /** Statistics first: if the worker dies after this, what it has reported is complete. */
  #reportIdle(report: IdleReport): void {
    this.#report()
    this.#main.post({ kind: 'idle', ...report })
  }

  #report(): void {
    const loads = this.#reports++ % LOADS_EVERY === 0 ? this.#engine!.load() : undefined
    const engine = this.#engine!
    const polls = this.#pollReport(engine)
    const { isForLater } = engine
    const health = engine.health()
    this.#main.post({ kind: 'stats', stats: engine.stats(), isForLater, loads, polls, health })
  }

  /** Feeds change slowly, and their report takes some milliseconds if there are very many. */
  #pollReport({ followed }: Engine): PollReport | undefined {
    // Members of a shared crawl hold the budget together.
    if (followed === undefined || this.#shared !== undefined) return undefined
    const now = this.#clock.now()
    if (now < this.#pollsReportedAt + pricePeriodMs(followed.feeds.rules.polls.minMs) / 2) return undefined
    this.#pollsReportedAt = now
    return followed.report()
  }
}

type NotACommand =
  | 'start'
  | 'ping'
  | 'want'
  | 'stop'
  | 'abort'
  | 'pause'
  | 'resume'
  | 'budgetChanged'
  | 'finish'
  | 'fed'
  | 'fatal'
  | 'reply'
  | 'price'
