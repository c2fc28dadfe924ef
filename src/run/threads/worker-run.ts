/**
 * A crawl over worker threads, seen from the thread that started it. Each worker runs an engine and owns partitions.
 * This side has the user's closures, the seeds and the merged statistics, and it decides when the crawl ends.
 */

import type { AbortGrace } from '../../engine/abort-grace.js'
import { AddedRequests, type AddedSource, runEnded } from '../../engine/admission/added-requests.js'
import { SeedSource } from '../../engine/admission/seed-source.js'
import { Delivery, emitWarning } from '../../engine/delivery.js'
import { EVENT_NAMES, EVENT_SOURCES, type WorkerEvent } from '../../engine/events.js'
import type { Diagnosis } from '../../engine/stats/diagnosis.js'
import { type NoPageReasons, UnheardReasons } from '../../engine/stats/no-page.js'
import type { EndReason, Stats, Summary } from '../../engine/stats/stats.js'
import { startProgressTimer, startTimers } from '../../engine/timers.js'
import { asKumoError, type KumoError } from '../../errors.js'
import { bandwidthMemory } from '../../fetch/http/bandwidth.js'
import { readSeeds } from '../../options/seeds.js'
import { type PlannedMove, plannedMove } from '../../partition/balance.js'
import { OwnershipRegistry } from '../../partition/ownership.js'
import type { StoreEvent, StoreHealth } from '../../stores/contract.js'
import { everySecond, type Timer, timeOrigin } from '../../time.js'
import { hostOf } from '../../url/canonicalize.js'
import type { RequestSpec } from '../../url/request-options.js'
import { unusedRules } from '../../url/scope/rule-use.js'
import { CrashedUrls } from '../../workers/crashed-urls.js'
import {
  type InterruptedVisit,
  inFlightMemory,
  type LastState,
  retryOf,
} from '../../workers/in-flight-log.js'
import type { ToMain, WantedOutput, WorkerData } from '../../workers/messages.js'
import { PendingCommands } from '../../workers/pending-commands.js'
import { budgetMemory, isUsedUp, returnClaims } from '../../workers/shared-budget.js'
import { StoreTroubles } from '../../workers/store-troubles.js'
import { WorkerSupervisor } from '../../workers/supervisor.js'
import { workerThreads } from '../../workers/thread.js'
import { reportInvalidSeed } from './invalid-seeds.js'
import { Members, reasonOfMember } from './members.js'
import { mayBalance, mostQueued, type WorkerRunParts } from './open.js'
import { PageCountsOfShards } from './page-counts.js'
import { type PollPrices, pollPricesOf } from './poll-prices.js'
import { threadProgram } from './program.js'
import { SeedDispatch } from './seed-dispatch.js'
import { reasonOf, WorkerRunStats } from './stats.js'

/** How long after an abort threads that have not ended are terminated. */
const ABORT_MS = 900

export class WorkerRun {
  readonly #parts: WorkerRunParts
  readonly #grace: AbortGrace
  readonly #supervisor: WorkerSupervisor
  readonly #ownership: OwnershipRegistry
  readonly #stats: WorkerRunStats
  readonly #slots: readonly number[]
  /** With `feeds()`. */
  readonly #polls: PollPrices | undefined
  readonly #budget: SharedArrayBuffer
  readonly #requestBudget: SharedArrayBuffer
  readonly #line = bandwidthMemory()
  readonly #crashedUrls = new CrashedUrls()
  readonly #delivery: Delivery
  readonly #seeds: SeedSource
  readonly #added: AddedRequests
  #isKeptOpen: boolean
  /** All threads have started. */
  #hasBegun = false
  readonly #commands: PendingCommands
  readonly #dispatch: SeedDispatch
  readonly #pageCounts: PageCountsOfShards
  /** If each worker is a member of a crawl that processes share. */
  readonly #members: Members | undefined
  readonly #ended = new Map<number, EndReason | undefined>()
  /** Completed rounds over the known pages. */
  #round = 0
  readonly #storeTroubles = new StoreTroubles()
  /** What the workers that have ended say about the result. */
  readonly #diagnoses: Diagnosis[] = []
  /** What happened in this thread and was reported to nobody. */
  readonly #unheard = new UnheardReasons()
  #warned = false
  #ending: EndReason | undefined = undefined
  #isAborted = false
  #isPaused = false
  #fatal: KumoError | undefined = undefined
  #timers: Timer[] = []
  #finish: () => void = () => {}
  readonly #finished = new Promise<void>((resolve) => {
    this.#finish = resolve
  })
  #summary: Summary | undefined = undefined

  constructor(parts: WorkerRunParts, grace: AbortGrace, threads = workerThreads(threadProgram.url)) {
    const { options, clock, closures, partitions, earlier, shards } = parts
    this.#parts = parts
    this.#grace = grace
    const { concurrency, workers, limit } = options
    this.#slots = Array.from({ length: shards }, (_, i) => Math.floor((concurrency + i) / shards))
    this.#ownership = new OwnershipRegistry(partitions, shards)
    this.#budget = budgetMemory(limit.pages - earlier.pages, limit.bytes - earlier.bytes, shards)
    this.#requestBudget = budgetMemory(limit.requests - earlier.requests, Number.POSITIVE_INFINITY, shards)
    this.#pageCounts = new PageCountsOfShards(parts.partitionOf)
    this.#members = parts.shared?.hasMembers ? new Members(shards, () => clock.now()) : undefined
    // Members hold the budget of polls together with other processes.
    this.#polls = this.#members === undefined ? pollPricesOf(options, clock) : undefined
    const isContinuous = options.refresh?.rounds === Number.POSITIVE_INFINITY
    this.#stats = new WorkerRunStats(
      this.#slots,
      (shard) => this.#members?.partitionsOf(shard) ?? this.#ownership.ownedBy(shard).length,
      isContinuous,
    )
    const { events, stream } = parts.outputs
    this.#delivery = new Delivery({
      clock,
      hooks: [],
      events: events.emitter,
      reader: undefined,
      timeoutMs: options.timeout.hookMs,
    })
    const announce = () => this.#supervisor.broadcast({ kind: 'want', output: this.#wantedOutput })
    events.onChange = announce
    stream.onOpen = announce
    this.#supervisor = new WorkerSupervisor(
      {
        shards,
        threads,
        clock,
        closures,
        ownership: this.#ownership,
        store: parts.shared,
        watchdogMs: workers.watchdogMs,
        dataFor: (shard, replaces) => this.#dataFor(shard, replaces),
      },
      {
        reported: (shard, message) => this.#receive(shard, message),
        moved: (kind, shard, stats) => this.#stats.moved(kind, shard, stats),
        failed: (error) => this.#fail(error),
        died: (shard, reason, visits, state) => this.#died(shard, reason, visits, state),
        replaced: (shard) => this.#replaced(shard),
        exited: (shard) => this.#workerEnded(shard, 'done'),
        terminated: () => this.#isTerminated,
      },
    )
    this.#commands = new PendingCommands((shard, message) => this.#supervisor.command(shard, message))
    const ownerOf = (url: string) => this.#ownership.ownerOf(parts.partitionOf(hostOf(url)))
    this.#dispatch = new SeedDispatch(this.#commands, shards, ownerOf)
    this.#isKeptOpen = options.keepOpen
    const counts = { own: this.#stats.own, unheard: this.#unheard }
    const sink = {
      admit: (requests: readonly RequestSpec[]) => this.#dispatch.admit(requests, false),
      invalid: (url: string, message: string) => reportInvalidSeed(closures, counts, url, message),
      changed: () => this.#refill(),
    }
    this.#seeds = new SeedSource(readSeeds(options.seeds), {
      ...sink,
      failed: (error) => this.#fail(asKumoError(error, 'KUMO_SEEDS_FAILED', 'seeds')),
    })
    this.#added = new AddedRequests(clock, {
      ...sink,
      admit: (requests) => this.#dispatch.admit(requests, true),
      // What workers have admitted is durable already.
      flush: () => {},
      progress: () => this.#stats.progress,
    })
  }

  async run(): Promise<Summary> {
    try {
      await Promise.race([this.#supervisor.start(), this.#finished])
      this.#begin()
    } catch (error) {
      this.#fail(error)
      this.#finish()
    }
    await this.#finished
    for (const timer of this.#timers) timer.cancel()
    this.#seeds.close()
    this.#added.close(this.#fatal ?? runEnded())
    // The handle outlives the run, and must not keep all of it in memory.
    const { events, stream } = this.#parts.outputs
    events.onChange = () => {}
    stream.onOpen = () => {}
    if (this.#ended.size === this.#slots.length) await this.#supervisor.allExited()
    else await this.#supervisor.close()
    const reason = this.#ending ?? reasonOf([...this.#ended.values()])
    const rules = reason === 'already-done' ? [] : unusedRules(this.#diagnoses.map((each) => each.rules))
    this.#summary = this.#withFeasibility(this.#stats.summary(reason, rules))
    this.#delivery.close()
    try {
      await this.#parts.close(this.#grace)
    } catch (error) {
      this.#fatal ??= asKumoError(error, 'KUMO_CLOSE_FAILED', 'closing failed')
    }
    if (this.#fatal !== undefined) throw this.#fatal
    await this.#grace.wait(this.#delivery.end(this.#summary))
    this.#delivery.close()
    return this.#summary
  }

  /** All threads have started. */
  #begin(): void {
    this.#hasBegun = true
    const { clock } = this.#parts
    this.#applyControls()
    const { limit, refresh } = this.#parts.options
    const end = (abort: boolean) => (abort ? this.abort('limit') : this.stop('limit'))
    this.#timers.push(...startTimers(clock, { ...refresh, timeMs: limit.timeMs }, end))
    this.#timers.push(startProgressTimer(this.#delivery, clock, () => this.stats()))
    if (this.#polls !== undefined) {
      this.#timers.push(this.#polls.start((price) => this.#supervisor.broadcast({ kind: 'price', price })))
    }
    if (mayBalance(this.#parts.options) && this.#slots.length > 1) {
      this.#timers.push(everySecond(clock, () => this.#balance()))
    }
    void this.#admitLeftovers()
    this.#refill()
  }

  /** See `Engine.add`. */
  add(source: AddedSource): Promise<void> {
    return this.#added.add(source)
  }

  finish(): void {
    this.#isKeptOpen = false
    this.#refill()
  }

  /** Whether requests may still come from the program. */
  get #isFed(): boolean {
    return !this.#seeds.done || !this.#added.isEmpty || this.#isKeptOpen
  }

  /** Whether the crawl is over, now that all workers are idle. */
  get #isTerminated(): boolean {
    // Members know, and are idle only then.
    if (this.#isEnding || this.#members !== undefined) return true
    return !this.#isFed && this.#commands.size === 0 && !this.#nextRound()
  }

  stop(reason: EndReason = 'stopped'): void {
    this.#ending ??= reason
    this.#added.end(this.#fatal ?? runEnded())
    this.#applyControls()
  }

  abort(reason: EndReason = 'aborted'): void {
    this.#ending ??= reason
    this.#added.end(this.#fatal ?? runEnded())
    this.#isAborted = true
    this.#applyControls()
    const { clock } = this.#parts
    this.#timers.push(clock.wakeAt(clock.now() + ABORT_MS, this.#finish))
  }

  pause(): void {
    this.#isPaused = true
    this.#applyControls()
  }

  resume(): void {
    this.#isPaused = false
    this.#supervisor.broadcast({ kind: 'resume' })
  }

  /** Requests to stop, abort or pause also apply to threads that started after them. */
  #applyControls(): void {
    this.#supervisor.broadcast({ kind: 'want', output: this.#wantedOutput })
    if (this.#isAborted) this.#supervisor.broadcast({ kind: 'abort' })
    else if (this.#ending !== undefined) this.#supervisor.broadcast({ kind: 'stop' })
    if (this.#isPaused) this.#supervisor.broadcast({ kind: 'pause' })
    this.#letMembersEnd()
  }

  #letMembersEnd(): void {
    if (this.#isFed || this.#commands.size > 0) return
    this.#members?.mayEnd(() => this.#supervisor.broadcast({ kind: 'fed' }))
  }

  /** Why no page came, for each worker. */
  noPage(): readonly NoPageReasons[] {
    return [this.#unheard, ...this.#diagnoses.map((each) => each.noPage)]
  }

  /** How this process is doing, if others share the crawl. */
  health(): StoreHealth | undefined {
    return this.#members?.health()
  }

  stats(): Stats | undefined {
    return this.#summary ?? this.#withFeasibility(this.#stats.now())
  }

  /** Only this side knows what the budget buys for all feeds. */
  #withFeasibility<T extends Stats | undefined>(stats: T): T {
    if (stats?.feeds === undefined || this.#polls === undefined) return stats
    return { ...stats, feeds: { ...stats.feeds, feasibility: this.#polls.feasibility } }
  }

  /** Moves partitions from one worker to another. */
  move({ partitions, from, to }: PlannedMove): void {
    this.#supervisor.moves.start(partitions, from, to)
  }

  /** Nothing new may start, however much is pending. */
  get #isEnding(): boolean {
    return this.#ending !== undefined || isUsedUp(this.#budget) || isUsedUp(this.#requestBudget)
  }

  /** What workers must send to this thread, because somebody here listens or iterates. */
  get #wantedOutput(): WantedOutput {
    const { events, stream } = this.#parts.outputs
    const wanted = EVENT_NAMES.filter((event) => EVENT_SOURCES[event] === 'worker' && events.has(event))
    return { events: wanted, pages: stream.isOpen }
  }

  #dataFor(shard: number, replaces: boolean): WorkerData {
    const { clock, portable, shared, earlier, nextRound } = this.#parts
    // Partitions in transit to this shard are not its own until they arrive.
    const coming = this.#supervisor?.moves.inTransitTo(shard)
    const owners = [...this.#ownership.owners]
    for (const partition of coming?.partitions ?? []) owners[partition] = coming!.from
    const partitions = [...owners.keys()].filter((partition) => owners[partition] === shard)
    return {
      shard: { index: shard, partitions, replaces, shared: shared?.shared },
      shards: this.#slots.length,
      owners,
      version: this.#ownership.version,
      concurrency: this.#slots[shard]!,
      origin: timeOrigin(clock),
      budget: this.#budget,
      requestBudget: this.#requestBudget,
      line: this.#line,
      inFlight: inFlightMemory(this.#slots[shard]! + mostQueued(this.#parts.options)),
      earlierRuns: {
        runs: earlier.runs,
        wasDone: earlier.wasDone,
        nextRound,
        counted: this.#pageCounts.of(new Set(partitions)),
      },
      isDurable: this.#isDurable,
      fatal: this.#crashedUrls.fatal,
      options: portable,
      output: this.#wantedOutput,
    }
  }

  /** Whether what workers commit outlives them. */
  get #isDurable(): boolean {
    return this.#parts.shared?.state !== undefined
  }

  #receive(
    shard: number,
    message: Extract<ToMain, { kind: 'stats' | 'counts' | 'store' | 'warn' | 'advice' | 'ended' | 'done' }>,
  ): void {
    switch (message.kind) {
      case 'stats':
        this.#stats.reported(shard, message.stats, message.isForLater)
        if (message.polls !== undefined) this.#polls?.reported(shard, message.polls)
        this.#members?.reported(shard, message.health)
        this.#refill()
        break
      case 'counts':
        this.#pageCounts.reported(message.counts)
        break
      case 'store':
        if (this.#storeTroubles.isChange(shard, message.event))
          void this.#delivery.emit('store', message.event)
        break
      case 'warn':
        if (!this.#warned) emitWarning(message.message)
        this.#warned = true
        break
      case 'advice':
        this.#delivery.advise(message.message)
        break
      case 'done':
        this.#commands.done(message.id)
        if (this.#commands.size === 0) this.#supervisor.checkTermination()
        break
      case 'ended':
        this.#stats.reported(shard, message.summary)
        this.#diagnoses.push(message.diagnosis)
        this.#members?.reported(shard, undefined)
        this.#workerEnded(shard, this.#members ? reasonOfMember(message.summary) : message.summary.reason)
        break
    }
  }

  #workerEnded(shard: number, reason: EndReason | undefined): void {
    this.#ended.set(shard, reason)
    if (this.#ended.size === this.#slots.length) this.#finish()
  }

  #refill(): void {
    if (!this.#hasBegun) return
    if (!this.#isEnding) {
      const { concurrency } = this.#parts.options
      const { ended, isIdle } = this.#stats.progress
      this.#seeds.refill(this.#stats.due, concurrency, ended, isIdle)
      this.#added.refill(this.#stats.due, concurrency)
    }
    this.#letMembersEnd()
    this.#supervisor.checkTermination()
  }

  /** Brings a replacement up to date. */
  #replaced(shard: number): void {
    this.#members?.replaced()
    this.#applyControls()
    this.#commands.replaced(shard)
    this.#dispatch.replaced(shard)
    this.#supervisor.broadcast({ kind: 'budgetChanged' })
  }

  /**
   * Batches that were in transit when a run or a worker died. Any worker can admit them: it forwards what it does not
   * own.
   */
  async #admitLeftovers(writer?: number): Promise<void> {
    const { shared } = this.#parts
    let next = 0
    try {
      for await (const { id: leftover, text } of shared?.leftovers?.(writer) ?? []) {
        const shard = next++ % this.#slots.length
        await this.#commands.send(shard, (id) => ({ kind: 'leftover', id, text }))
        shared!.dropLeftover?.(leftover)
      }
    } catch (error) {
      // When the crawl ends, the store may close during this loop. What is left is picked up by the next run.
      if (!this.#isEnding) this.#fail(error)
    }
  }

  /** Moves partitions from the busiest worker to the least busy one. */
  #balance(): void {
    const { loads, moves } = this.#supervisor
    const { options } = this.#parts
    if (this.#isEnding || moves.isBusy || loads === undefined) return
    const pagesPerSecond = Math.max(1, this.#stats.fastest)
    const visitCycleMs = this.#stats.visitMs + options.delayMs
    const move = plannedMove(loads, { visitCycleMs, pagesPerSecond })
    if (move !== undefined) this.move(move)
  }

  #died(shard: number, reason: string, visits: readonly InterruptedVisit[], state: LastState): void {
    const isDurable = this.#isDurable
    this.#crashedUrls.note(visits, reason)
    returnClaims(this.#budget, shard, isDurable)
    // Requests that were sent stay used, whatever the store keeps of them.
    returnClaims(this.#requestBudget, shard, false, state.sent)
    this.#storeTroubles.forget(shard)
    this.#polls?.left(shard)
    this.#members?.reported(shard, undefined)
    // Others may get its pages.
    this.#supervisor.broadcast({ kind: 'fatal', fatal: this.#crashedUrls.fatal })
    const retried = visits.length
    if (!isDurable && retried > 0) void this.#retry(shard, visits)
    const lost = isDurable ? 0 : state.waiting
    this.#stats.died(shard, isDurable, lost, state.pages)
    const event: WorkerEvent = { kind: 'replaced', worker: shard, message: reason, retried, lost }
    void this.#delivery.emit('worker', event)
    if (isDurable) void this.#admitLeftovers(shard)
  }

  /** Only this side knows what a worker without a durable store had in flight. */
  #retry(shard: number, visits: readonly InterruptedVisit[]): Promise<void> {
    const requests = visits.map(retryOf)
    return this.#commands.send(shard, (id) => ({ kind: 'requests', id, requests }))
  }

  /** A round starts on all workers at once, when none has anything left of the round before. */
  #nextRound(): boolean {
    const { rounds = 1 } = this.#parts.options.refresh ?? {}
    if (++this.#round >= rounds || rounds === Number.POSITIVE_INFINITY) return false
    this.#slots.forEach((_, shard) => void this.#supervisor.command(shard, { kind: 'nextRound' }))
    return true
  }

  /** Called by the store of this thread. */
  onStoreEvent(event: StoreEvent): void {
    if (this.#storeTroubles.isChange(MAIN_THREAD, event)) void this.#delivery.emit('store', event)
  }

  #fail(error: unknown): void {
    this.#fatal ??= asKumoError(error, 'KUMO_STORE_FAILED', "the crawl's store failed")
    this.abort()
  }
}

/** Identifies this thread among the workers' numbers. */
const MAIN_THREAD = -1
