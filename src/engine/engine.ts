import { asKumoError, type KumoError } from '../errors.js'
import type { Settlement } from '../frontier/contract.js'
import type { PartitionLoad, StoreHealth } from '../stores/contract.js'
import type { Timer } from '../time.js'
import type { CrawlRequest } from '../types.js'
import type { RequestSpec } from '../url/request-options.js'
import { unusedRules } from '../url/scope/rule-use.js'
import { ABANDONED, AbortGrace } from './abort-grace.js'
import { AddedRequests, type AddedSource, runEnded } from './admission/added-requests.js'
import { Admission } from './admission/admission.js'
import { retrySink } from './admission/failed-urls.js'
import { SeedSource } from './admission/seed-source.js'
import { VisitBudget } from './budget.js'
import { FollowedFeeds } from './feeds/followed-feeds.js'
import { PartitionMoves, type PartitionSnapshot } from './partition-moves.js'
import type { EngineParts, EngineRules } from './parts.js'
import { KnownPages } from './refresh/known-pages.js'
import { announcing, durably, followOwnership, restOrLeave, stillLeased } from './shared-crawl.js'
import type { Diagnosis } from './stats/diagnosis.js'
import { idleReason } from './stats/idle-reason.js'
import { Ledger } from './stats/ledger.js'
import { Meters } from './stats/meters.js'
import type { NoPageReasons } from './stats/no-page.js'
import { admissionReport, Reporter, unvisited } from './stats/reporter.js'
import { snapshot } from './stats/snapshot.js'
import type { EndReason, Stats, Summary } from './stats/stats.js'
import { Tally } from './stats/tally.js'
import { endConditions, startProgressTimer, startTimers } from './timers.js'
import { HostQuota } from './visit/host-quota.js'
import { postponed, type VisitResult } from './visit/visit-result.js'
import { Visits, yieldToLoop } from './visit/visits.js'
import { WakeSignal } from './wake-signal.js'

/** If a frontier reports a due request but leases none, the loop waits this long instead of spinning. */
const EMPTY_LEASE_PAUSE_MS = 1
/** Longer than hosts are made to wait for politeness: what is due after such a wait was asked for later. */
const LONG_WAIT_MS = 120_000
/**
 * After this many turns the loop yields to timers and sockets: fetchers that answer at once (a cache, a test) would
 * otherwise keep it in microtasks forever.
 */
const TURNS_BETWEEN_YIELDS = 10_000

/**
 * One shard: the loop that leases as many requests as it has free slots, starts their visits, and sleeps until a visit
 * ends, requests arrive or the next request is due.
 *
 * It ends when all seeds are admitted, nothing is pending, nothing is in flight (a page is in flight until all hooks
 * have processed it) and nothing is in transit to another shard; or when a limit, `stop` or `abort` ends it.
 */
export class Engine {
  readonly #parts: EngineParts
  readonly #rules: EngineRules
  readonly #wake: WakeSignal
  readonly #grace: AbortGrace
  readonly #meters: Meters
  readonly #tally = new Tally()
  readonly #ledger: Ledger
  readonly #unheard: NoPageReasons
  readonly #admission: Admission
  readonly #visits: Visits
  readonly #seeds: SeedSource
  readonly #added: AddedRequests
  readonly #moves: PartitionMoves
  readonly #visitBudget: VisitBudget
  /** Revisits of known pages, with `refresh()`. */
  readonly knownPages: KnownPages | undefined
  /** Feeds, with `feeds()`. */
  readonly followed: FollowedFeeds | undefined
  #timers: readonly Timer[] = []
  /** Results of visits that have ended. Filled by visits, emptied by the loop before it leases. */
  #settled: VisitResult[] = []
  /** Visits that have ended while hooks still work on their pages. Filled by visits, emptied by the loop. */
  #released: Settlement[] = []
  /** Their requests, until they are settled. They are in flight, but occupy no slot. */
  readonly #held = new Set<CrawlRequest>()
  #inFlight = 0
  /** Arrivals being admitted: batches from other shards, seeds, partitions. */
  #arriving = 0
  /** The last lease returned nothing although something was pending. */
  #leasedNothing = false
  #paused = false
  #isKeptOpen: boolean
  /** Visits that have ended. */
  #endedVisits = 0
  /** At least one request was leased in this run. */
  #visited = false
  #ending: EndReason | undefined = undefined
  #turns = 0
  #fatal: KumoError | undefined = undefined
  #closed = false
  #summary: Summary | undefined = undefined

  constructor(parts: EngineParts, rules: EngineRules, grace = new AbortGrace(parts.clock)) {
    this.#parts = parts
    this.#grace = grace
    grace.onOver = () => this.#wake.wakeUp()
    this.#rules = rules
    this.#isKeptOpen = rules.isKeptOpen
    this.#wake = new WakeSignal(parts.clock)
    this.#meters = new Meters(parts.clock, rules.concurrency)
    const { siteOf, storeState: memory, earlierRuns: earlier, reportCounts: counts, ownership } = parts
    const quotas = {
      host: new HostQuota(rules.limit.pagesPerHost, rules.hostPages),
      site: new HostQuota(rules.limit.pagesPerSite),
    }
    this.#ledger = new Ledger(memory.state, this.#tally, quotas, siteOf, ownership.self, earlier, counts)
    const reports = new Reporter(parts.delivery, this.#tally, parts.clock, (event, request) =>
      this.#ledger.note(event, request),
    )
    this.#unheard = reports.unheard
    this.#admission = new Admission(parts, rules, admissionReport(reports, quotas, siteOf))
    const sink = { changed: this.#wake.wakeUp, failed: (error: unknown) => this.#fail(error) }
    this.knownPages = parts.refresh && new KnownPages(parts.refresh, parts, sink)
    this.followed = parts.feeds && new FollowedFeeds(parts.feeds, parts, rules.delayMs)
    const counting = { meters: this.#meters, tally: this.#tally, reports }
    const { knownPages, followed } = this
    const release = (settlement: Settlement) => this.#release(settlement)
    this.#visits = new Visits(parts, rules, this.#admission, counting, quotas, release, knownPages, followed)
    this.#visitBudget = new VisitBudget(this.#tally, rules, parts.budget, parts.requestBudget)
    this.#moves = new PartitionMoves(parts, quotas, this.#admission.inProgress, this.#tally, followed)
    const seeds = {
      admit: (requests: readonly RequestSpec[]) => this.#admission.admitSeeds(requests),
      invalid: (url: string, message: string) =>
        reports.failed(unvisited({ url, code: 'invalid-seed', message })),
      changed: this.#wake.wakeUp,
    }
    this.#seeds = new SeedSource(parts.seeds, { ...seeds, ...sink })
    this.#added = new AddedRequests(parts.clock, {
      ...seeds,
      admit: announcing(parts.membership, seeds.admit),
      flush: () => parts.storeState.flush?.(),
      progress: () => ({ inFlight: this.#inFlight, ended: this.#endedVisits }),
    })
  }

  /** Resolves when the crawl has ended and everything is closed; rejects if a store failed. */
  async run(): Promise<Summary> {
    const { exchange, clock, delivery } = this.#parts
    exchange.watch(this.#wake.wakeUp)
    const timers = startTimers(clock, endConditions(this.#parts, this.#rules), (abort) =>
      this.#end('limit', abort),
    )
    this.#timers = [...timers, startProgressTimer(delivery, clock, () => this.stats())]
    try {
      await this.#grace.wait(this.#ledger.open(clock.now()))
      await this.#grace.wait(this.knownPages?.open())
      await this.#grace.wait(this.followed?.open())
      this.#visitBudget.open(this.#wake.wakeUp)
      exchange.receive((requests) => this.#trackArrival(() => this.#admitArrivals(requests)))
      this.#parts.storeState.onCommit(() => this.#ledger.write())
      this.#parts.frontier.watch?.(this.#wake.wakeUp)
      const retry = async (some?: readonly number[]) => this.#ledger.retryFailed(retrySink(this.#parts), some)
      const retryFailed = (some?: readonly number[]) =>
        this.#rules.retryFailed ? void this.#trackArrival(() => retry(some)) : undefined
      followOwnership(this.#parts, this.#visits, this.#moves, {
        ...{ ledger: this.#ledger, knownPages: this.knownPages, followed: this.followed },
        retryFailed,
        announced: (urls) => this.addSeeds(urls, []),
        changed: this.#wake.wakeUp,
      })
      retryFailed()
      for await (const requests of this.#parts.leftovers ?? []) await this.addRequests(requests)
      await this.#loop()
    } catch (error) {
      this.#fail(error)
    }
    await this.#flushHooks()
    this.#closed = true
    this.#added.close(this.#fatal ?? runEnded())
    delivery.close()
    const reason = this.#ending ?? (this.#ledger.wasDone && !this.#visited ? 'already-done' : 'done')
    if (this.#ending === undefined) this.knownPages?.finished()
    // If nothing was fetched because all is known, the rules had nothing to match.
    const rules = reason === 'already-done' ? [] : unusedRules([this.diagnosis().rules])
    this.#summary = { ...this.#statsNow(), reason, unusedRules: rules }
    // Registered after the first, so that its record, with the reason, is the one that is stored.
    this.#parts.storeState.onCommit(() => this.#ledger.write(reason))
    await this.#close()
    if (this.#fatal !== undefined) throw this.#fatal
    await this.#grace.wait(delivery.end(this.#summary))
    delivery.close()
    return this.#summary
  }

  /** Starts no new visits; visits in flight finish. */
  stop(): void {
    this.#end('stopped', false)
  }

  /** Aborts all fetches; their URLs stay pending. */
  abort(): void {
    this.#end('aborted', true)
  }

  pause(): void {
    this.#paused = true
    this.#wake.wakeUp()
  }

  resume(): void {
    this.#paused = false
    this.#wake.wakeUp()
  }

  /** Adds requests of the program. Resolves once they are admitted, durably if the store is. */
  add(source: AddedSource): Promise<void> {
    return this.#added.add(source)
  }

  /** Ends what `keepOpen()` began: the crawl ends when it has nothing left to do. */
  finish(): void {
    this.#isKeptOpen = false
    this.#wake.wakeUp()
  }

  /** Adds seeds that the main thread has read. All `urls` count for the scope; this shard admits `mine`. */
  addSeeds(urls: readonly string[], mine: readonly RequestSpec[]): Promise<void> {
    const admit = () => this.#admission.admitSeeds(mine, urls)
    return this.#trackArrival(() => durably(this.#parts, admit, mine.length > 0))
  }

  /** Removes partitions from this shard, with all that belongs to them: see `PartitionMoves`. */
  release(partitions: readonly number[], disown: () => void): Promise<PartitionSnapshot> {
    return this.#moves.release(partitions, disown)
  }

  /** The load of each partition, for balancing; undefined if partitions cannot move. */
  load(): readonly PartitionLoad[] | undefined {
    return this.#moves.load()
  }

  /** Adds partitions that another shard has released; `onAdopted` is called when they are here. */
  adopt(snapshot: PartitionSnapshot, onAdopted: () => void): Promise<void> {
    return this.#trackArrival(async () => {
      await this.#moves.adopt(snapshot)
      onAdopted()
      await this.#admission.arrivals.releaseHeld()
    })
  }

  /** Adds requests recovered from another shard, and those held for partitions that will not arrive. */
  addRequests(requests: readonly CrawlRequest[]): Promise<void> {
    return this.#trackArrival(async () => {
      await this.#admission.arrivals.releaseHeld()
      await this.#admitArrivals(requests)
    })
  }

  /** Nothing is visited now or soon: what is pending is for later, and must not keep other requests waiting. */
  get isForLater(): boolean {
    if (this.#inFlight > 0 || this.#closed) return false
    const due = this.#parts.frontier.nextDue()
    return Number.isFinite(due) && due > this.#parts.clock.now() + LONG_WAIT_MS + this.#rules.delayMs
  }

  /** Why no page came. */
  noPage(): readonly NoPageReasons[] {
    return [this.#unheard]
  }

  /** What may explain the result of the run. */
  diagnosis(): Diagnosis {
    const { reasons, more } = this.#unheard
    return { noPage: { reasons, more }, rules: this.#parts.ruleUse?.states() ?? [] }
  }

  /** How the store is doing, if other processes share it. */
  health(): StoreHealth | undefined {
    return this.#closed ? undefined : this.#parts.membership?.health()
  }

  stats(): Stats {
    // A closed store has no counts.
    return this.#summary ?? this.#statsNow()
  }

  #statsNow(): Stats {
    const { earlierRuns } = this.#ledger
    const feasibility = this.knownPages?.feasibility()
    const standing = { inFlight: this.#occupied, earlierRuns, feasibility, feeds: this.followed?.stats() }
    return snapshot(this.#parts, this.#rules, this.#tally, this.#meters, standing)
  }

  async #loop(): Promise<void> {
    const { clock, frontier, inFlight } = this.#parts
    for (;;) {
      await this.#settle()
      this.#checkLimits()
      if (this.#ending === undefined) {
        this.#refill()
        await this.#startVisits()
      }
      if (this.#isOver()) return
      if (++this.#turns % TURNS_BETWEEN_YIELDS === 0) await yieldToLoop(clock)
      inFlight?.recordProgress(frontier.pending, this.#ledger.pages)
      const held = { isPaused: this.#paused, isHeld: this.#held.size > 0 }
      const reason = idleReason(this.#parts, this.#rules, held)
      this.#meters.setIdle(reason, this.#rules.concurrency - this.#occupied, clock.now())
      await this.#wake.sleep(this.#sleepUntil())
    }
  }

  /** Pulls seeds and known pages on demand. Known pages that wait for their next visit do not count as pending. */
  #refill(): void {
    const { concurrency } = this.#rules
    const { pending } = this.#parts.frontier
    const isIdle = this.#slots() > 0 && this.#parts.frontier.nextDue() > this.#parts.clock.now()
    const pages = this.isForLater ? 0 : (this.knownPages?.due(pending) ?? pending)
    const due = this.followed?.due(pages) ?? pages
    this.#seeds.refill(due, concurrency, this.#endedVisits, isIdle)
    this.#added.refill(due, concurrency)
    this.knownPages?.refill(concurrency)
  }

  async #settle(): Promise<void> {
    if (this.#settled.length === 0 && this.#released.length === 0) return
    const all = this.#settled
    this.#settled = []
    if (this.#parts.storeState.flushesFirst) {
      const flushed = await this.#grace.wait(this.#parts.delivery.flush())
      // They stay pending: nothing is settled before it is flushed.
      if (flushed === ABANDONED) return
    }
    const settlements = stillLeased(all, this.#parts.membership, (request) => {
      this.#ledger.forget(request)
      this.#admission.inProgress.leave(request)
      this.#visitBudget.release(1)
      this.#inFlight--
    })
    const { frontier, inFlight } = this.#parts
    const startedAt = this.#parts.clock.now()
    // First those whose hooks still work: one of them may be among the settled ones by now.
    const released = this.#released
    const ended = released.length === 0 ? settlements : [...released, ...settlements]
    this.#released = []
    const settling = frontier.settle(ended)
    this.#ledger.settled(settlements)
    this.#visitBudget.settle(settlements)
    // In the same turn: if this thread crashes, each visit is either in flight or settled, never neither or both.
    if (inFlight !== undefined) {
      for (const { request } of settlements) inFlight.end(request)
      inFlight.recordProgress(frontier.pending, this.#ledger.pages)
    }
    this.knownPages?.settled(settlements)
    this.followed?.settled(settlements)
    this.#meters.addBusy('frontier', this.#parts.clock.now() - startedAt)
    if (settling instanceof Promise) await this.#grace.wait(settling)
    for (const { request } of ended) this.#admission.inProgress.leave(request)
    if (this.#held.size > 0) for (const { request } of settlements) this.#held.delete(request)
    this.#inFlight -= settlements.length
    this.#endedVisits += settlements.length
  }

  async #startVisits(): Promise<void> {
    const { frontier, clock } = this.#parts
    const slots = this.#slots()
    this.#leasedNothing = false
    if (slots <= 0 || frontier.pending === 0) return
    const startedAt = clock.now()
    const room = this.#visitBudget.claim(slots, frontier.nextDue() <= startedAt)
    if (room === 0) return
    const leasing = frontier.lease(room, startedAt)
    this.#meters.addBusy('frontier', clock.now() - startedAt)
    const requests = leasing instanceof Promise ? await this.#grace.wait(leasing) : leasing
    if (requests === ABANDONED) return
    this.#visitBudget.release(room - requests.length)
    this.#meters.addBusy('frontier', 0, requests.length)
    this.#inFlight += requests.length
    this.#leasedNothing = requests.length === 0
    if (requests.length > 0) this.#visited = true
    if (this.#ending === undefined && !this.#paused) {
      for (const request of requests) void this.#runVisit(request)
    } else {
      // A store may answer after a stop or a pause; requests leased then are not visited and stay pending.
      for (const request of requests) this.#settled.push(postponed(request, startedAt))
      this.#wake.wakeUp()
    }
  }

  async #runVisit(request: CrawlRequest): Promise<void> {
    try {
      const settlement = await this.#visits.visit(request)
      this.#settled.push(settlement)
      this.#wake.wakeUp()
    } catch (error) {
      this.#inFlight--
      this.#fail(error)
    }
  }

  /** The visit has ended, and hooks still work on its page. Returns whether the frontier takes the settlement. */
  #release(settlement: Settlement): boolean {
    this.#held.add(settlement.request)
    const canHold = this.#parts.frontier.canHold === true
    if (canHold) this.#released.push(settlement)
    this.#wake.wakeUp()
    return canHold
  }

  #slots(): number {
    if (this.#paused) return 0
    const { capacity = Number.POSITIVE_INFINITY } = this.#parts.fetcher
    return Math.min(this.#rules.concurrency, capacity) - this.#occupied
  }

  /** Slots in use. */
  get #occupied(): number {
    return this.#inFlight - this.#held.size
  }

  /** Only once: ending wakes the loop, so ending again in every turn would spin until the last visit ends. */
  #checkLimits(): void {
    if (this.#ending === undefined && this.#visitBudget.isUsedUp) this.#end('limit', false)
  }

  #isOver(): boolean {
    if (this.#fatal !== undefined || this.#grace.isOver) return true
    const { delivery, frontier, storeState } = this.#parts
    if (!delivery.mayEnd(this.#ending) || this.#inFlight > 0 || this.#settled.length > 0) return false
    // A shard that waits for the store, or is idle, makes no call that would reject, and would wait forever.
    const { failure } = storeState.condition()
    if (failure !== undefined) throw failure
    // If the store were closed now, a URL that is in the seen-set but not yet in the frontier would be lost.
    if (this.#seeds.admitting || this.#added.isAdmitting || this.#arriving > 0) return false
    if (this.#moves.isReleasing || this.#admission.arrivals.isHolding) return false
    const isFed = !this.#seeds.done || !this.#added.isEmpty || this.#isKeptOpen
    const isWaiting = frontier.pending > 0 && !this.followed?.isDoneForNow(frontier.nextDue())
    const hasWork = isFed || isWaiting || this.#visitBudget.isSettling
    if (this.#ending === undefined && (hasWork || this.knownPages?.advance())) return false
    return restOrLeave(this.#parts, this.#ending !== undefined)
  }

  #sleepUntil(): number {
    if (this.#ending !== undefined) return Number.POSITIVE_INFINITY
    const { frontier } = this.#parts
    if (this.#slots() <= 0 || this.#visitBudget.isEmpty || frontier.pending === 0)
      return Number.POSITIVE_INFINITY
    const due = frontier.nextDue()
    return this.#leasedNothing ? Math.max(due, this.#parts.clock.now() + EMPTY_LEASE_PAUSE_MS) : due
  }

  #end(reason: EndReason, abort: boolean): void {
    this.#ending ??= reason
    this.#added.end(this.#fatal ?? runEnded())
    if (abort) {
      this.#grace.abort()
      this.#visits.abort()
    }
    this.#wake.wakeUp()
  }

  #fail(error: unknown): void {
    if (this.#closed) return
    this.#fatal ??= asKumoError(error, 'KUMO_STORE_FAILED', "the crawl's store failed")
    this.#end('aborted', true)
  }

  async #admitArrivals(requests: readonly CrawlRequest[]): Promise<void> {
    for (const { purpose } of requests) if (purpose?.kind === 'rules') this.#visits.robotsArrived(purpose)
    await this.#admission.arrivals.admit(requests)
  }

  /** Keeps the crawl from ending until the arrival is admitted. */
  async #trackArrival(admit: () => Promise<void>): Promise<void> {
    this.#arriving++
    try {
      await admit()
    } catch (error) {
      this.#fail(error)
    }
    this.#arriving--
    this.#wake.wakeUp()
  }

  /** Before hooks are closed, and before the store's last commit. */
  async #flushHooks(): Promise<void> {
    const { delivery } = this.#parts
    try {
      await this.#grace.wait(delivery.flush())
    } catch (error) {
      this.#fail(error)
    }
    delivery.giveUpFlush()
  }

  async #close(): Promise<void> {
    for (const timer of this.#timers) timer.cancel()
    this.knownPages?.close()
    this.followed?.close()
    this.#wake.close()
    this.#visits.close()
    this.#seeds.close()
    try {
      await this.#parts.close(this.#grace)
    } catch (error) {
      this.#fatal ??= asKumoError(error, 'KUMO_CLOSE_FAILED', 'closing failed')
    }
  }
}
