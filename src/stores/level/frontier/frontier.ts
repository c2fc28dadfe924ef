import { KumoError, messageOf } from '../../../errors.js'
import type { Again, Frontier, Politeness, SelectionPolicy, Settlement } from '../../../frontier/contract.js'
import { mostConnections } from '../../../frontier/politeness.js'
import { Workbench } from '../../../frontier/workbench.js'
import type { CrawlRequest } from '../../../types.js'
import type { Database } from '../db/database.js'
import type { Journal } from '../db/journal.js'
import type { Counts } from '../format/counts.js'
import { partitionText, rangesOf } from '../format/keys.js'
import { readHost, writeHost } from '../format/records.js'
import type { TimeScale } from '../format/time-scale.js'
import { LevelMoves, type MovedFrontier } from '../threads/moves.js'
import { HostRecords, isActive } from './host-records.js'
import { HostsOnDisk } from './hosts-on-disk.js'
import { LevelHost, RequestOnDisk, StoredRequest } from './level-host.js'
import { RequestBuffers } from './request-buffers.js'
import { HostWindow } from './window.js'

export interface LevelFrontierParts {
  readonly database: Database
  readonly journal: Journal
  readonly scale: TimeScale
  readonly politeness: Politeness
  readonly policy: SelectionPolicy
  readonly partitions: number
  partitionOf(host: string): number
  readonly hostsInMemory: number
  readonly requestsInMemory: number
  /** What its partitions hold; the frontier updates the number of pending requests. */
  readonly counts: Counts
  /** Number of the next request. */
  readonly seq: number
  /** No host may be visited for one delay after opening, because it is unknown which were visited last. */
  readonly isCautious: boolean
  /** A request was added: from the commit that stores it, its URL counts as seen. */
  added(request: CrawlRequest, partition: number): void
}

/** A host that was never visited, all of whose requests are for later. */
const ONLY_LATER = writeHost({ ...readHost(''), hasLater: true })

const NO_HOST = { name: '', partition: 0, text: '' }

/**
 * The memory frontier on top of a disk. All decisions are made in memory, synchronously; their effects go into the
 * journal. Memory holds the hosts of the working window, and the first requests of each.
 *
 * A request is on disk from the commit after `add` until the commit after it was settled for good. A lease is not
 * recorded there: after a crash, leased requests are pending.
 */
export class LevelFrontier implements Frontier {
  readonly #parts: LevelFrontierParts
  readonly #workbench: Workbench<LevelHost>
  readonly #onDisk: HostsOnDisk
  readonly #buffers: RequestBuffers
  readonly #window: HostWindow
  readonly #records: HostRecords
  readonly moves: LevelMoves
  #wake: () => void = () => {}
  #leased = 0
  /** Calls of `adopt` in progress. */
  #adopting = 0
  #seq: number
  #now = 0
  /** Turns given to hosts so far. */
  #turns = 0
  /**
   * The host on disk that the last request was added to, within one call: links to the same host tend to be adjacent.
   */
  #lastOnDisk = NO_HOST
  /** Nothing is leased before this. */
  #restUntil = 0
  #failure: { readonly error: unknown } | undefined = undefined
  #closed = false

  constructor(parts: LevelFrontierParts) {
    this.#parts = parts
    this.#seq = parts.seq
    const { database, journal, scale, politeness, policy, partitions } = parts
    const workbench = new Workbench<LevelHost>(politeness, policy, (host, bench, delayMs) => {
      return new LevelHost(host, bench, delayMs, parts.partitionOf(host), scale)
    })
    workbench.onForget = (host) => this.#records.remove(host)
    const failed = (error: unknown) => this.#fail(error)
    const connections = mostConnections(politeness)
    const { growAt } = politeness
    this.#workbench = workbench
    this.#onDisk = new HostsOnDisk(partitions, journal)
    this.#buffers = new RequestBuffers({
      database,
      journal,
      workbench,
      requestsInMemory: parts.requestsInMemory,
      countUpTo: connections === 1 ? 0 : connections * growAt,
      nextSeq: () => this.#seq,
      changed: (host) => this.#refilled(host),
      failed,
    })
    const { counts, hostsInMemory, partitionOf } = parts
    const [onDisk, buffers, mayGrow] = [this.#onDisk, this.#buffers, connections > 1]
    const window = new HostWindow({
      ...{
        database,
        journal,
        workbench,
        onDisk,
        buffers,
        scale,
        hostsInMemory,
        mayGrow,
        partitionOf,
      },
      leased: () => this.#leased,
      isLeaving: (partition) => this.moves.isLeaving(partition),
      entered: (host, since) => this.#refilled(host, since),
      loaded: () => this.#wake(),
      failed,
    })
    this.#window = window
    this.moves = new LevelMoves({
      workbench,
      onDisk,
      window,
      counts,
      mayGrow,
      partitionOf,
      now: () => this.#now,
    })
    this.#records = new HostRecords(journal, scale, (partition) => this.moves.touched(partition))
    journal.onFlushed = () => this.#wake()
  }

  get pending(): number {
    return this.#parts.counts.pending - this.#leased
  }

  readonly canHold = true

  get leased(): number {
    return this.#leased
  }

  get hosts(): number {
    return this.#workbench.activeHosts + this.#onDisk.size
  }

  /** Whether the disk is being read, or is behind with writing: more requests may be due when that is done. */
  get isWaitingForDisk(): boolean {
    const { journal } = this.#parts
    return this.#buffers.isReading || this.#window.isLoading || this.#adopting > 0 || journal.isBehind
  }

  /** Number of the next request. */
  get seq(): number {
    return this.#seq
  }

  /** Loads what is on disk. */
  async open(now: number): Promise<void> {
    const { journal, isCautious, politeness, counts } = this.#parts
    const { partitions } = counts
    if (isCautious) {
      this.#restUntil = now + politeness.delayMs
      this.moves.openedAfterCrash = now
      for (const partition of partitions) this.#window.cautiousSince.set(partition, now)
    }
    await this.#load(partitions, now)
    if (this.#onDisk.size > 0) await this.#window.load(now)
    if (this.#failure !== undefined) throw this.#failure.error
    await journal.flush()
  }

  async #load(partitions: readonly number[], now: number): Promise<void> {
    const { database, partitionOf } = this.#parts
    await this.#onDisk.load(database, partitions, partitionOf)
    for (const range of rangesOf('i', partitions)) {
      for await (const entries of database.scan(range)) {
        for (const [key, record] of entries) this.#window.remember(key, record, now)
      }
    }
  }

  /** Loads the hosts of partitions, ascending, that another thread had. */
  async adopt(partitions: readonly number[], { seq, restUntil, ...baggage }: MovedFrontier): Promise<void> {
    this.#seq = Math.max(this.#seq, seq)
    this.#restUntil = Math.max(this.#restUntil, restUntil)
    this.moves.restore(partitions, baggage)
    this.#adopting++
    await this.#load(partitions, this.#now)
    this.#adopting--
    this.#wake()
  }

  /** Forgets the hosts of departing partitions. */
  release(): MovedFrontier {
    return { ...this.moves.drop(), seq: this.#seq, restUntil: this.#restUntil }
  }

  watch(rouse: () => void): void {
    this.#wake = rouse
  }

  add(requests: readonly CrawlRequest[]): Promise<void> | undefined {
    this.#lastOnDisk = NO_HOST
    for (const request of requests) this.#add(request)
    return this.moves.backPressure() ?? this.#parts.journal.whenCaughtUp()
  }

  lease(max: number, now: number): CrawlRequest[] {
    this.#throwIfFailed()
    if (now > this.#now) this.#now = now
    const leases: CrawlRequest[] = []
    if (this.#parts.journal.isBehind || now < this.#restUntil) return leases
    this.#window.loadIfLow(now, max)
    while (leases.length < max) {
      const host = this.#workbench.acquire(now, this.#window.isHeldBack)
      if (host === undefined) break
      if (this.moves.isLeaving(host.partitionNumber)) {
        // From now on it is in no queue.
        this.#workbench.release(host, undefined)
        continue
      }
      const request = host.queue.take(now) as StoredRequest
      request.leased = true
      host.leased.push(request)
      if (request.at === undefined) host.dueHeld--
      this.#leased++
      if (!this.#window.shouldYield(now)) this.#buffers.refill(host)
      this.#workbench.place(host, now)
      leases.push(request)
    }
    this.#window.handedOut(leases.length)
    if (leases.length < max) this.#window.loadIfLow(now, max - leases.length)
    if (leases.length === 0) this.#assertFound()
    return leases
  }

  /** Requests that are counted but do not exist would be waited for forever. */
  #assertFound(): void {
    if (this.pending === 0 || this.#leased > 0 || this.hosts > 0 || this.isWaitingForDisk) return
    throw this.#parts.database.damaged(`${this.pending} pending URLs are counted but cannot be found`)
  }

  settle(settlements: readonly Settlement[]): Promise<void> | undefined {
    this.#lastOnDisk = NO_HOST
    for (const settlement of settlements) {
      const { request } = settlement
      if (!(request instanceof StoredRequest) || !request.leased) continue
      const host = request.owner
      // Leased by another frontier.
      if (host.workbench !== this.#workbench) continue
      if (request.leased === true) this.#endVisit(host, settlement)
      if (settlement.held === true) {
        this.#hold(host, request)
        if (settlement.found !== undefined) for (const found of settlement.found) this.#add(found)
        continue
      }
      if (request.leased === 'held') host.held--
      request.leased = false
      this.#leased--
      host.leased.splice(host.leased.indexOf(request), 1)
      this.#parts.journal.withdraw(request)
      this.#buffers.gone(host, request)
      if (request.at !== undefined) host.laterHeld--
      if (settlement.again !== undefined) this.#addAgain(request, settlement.again)
      else this.#parts.counts.removed(host.partitionNumber)
      this.#workbench.deactivate(host)
      this.#released(host)
      if (settlement.found !== undefined) for (const found of settlement.found) this.#add(found)
    }
    return this.moves.backPressure()
  }

  nextDue(): number {
    // The journal wakes the engine.
    if (this.#parts.journal.isBehind) return Number.POSITIVE_INFINITY
    return Math.max(this.#restUntil, this.#window.nextDue)
  }

  close(): void {
    this.#closed = true
    this.moves.abandon()
  }

  #add(request: CrawlRequest): void {
    const { journal, partitionOf, counts } = this.#parts
    const name = request.host
    const later = this.#laterOf(request.notBefore)
    if (name === this.#lastOnDisk.name && later === undefined) {
      this.#addOnDisk(request)
      return
    }
    let host = this.#workbench.find(name)
    if (host === undefined) {
      const partition = partitionOf(name)
      if (!counts.owns(partition)) throw notOwned(request, partition)
      const isCold = this.#onDisk.has(name, partition)
      if (isCold || this.#window.isFull || this.moves.isLeaving(partition)) {
        if (later === undefined) this.#addToHostOnDisk(request, partition, isCold)
        else this.#addLaterOnDisk(request, partition, isCold, later)
        return
      }
      host = this.#workbench.host(name)
    }
    this.#added(request, host.partitionNumber)
    if (host.turn === 0) host.turn = ++this.#turns
    this.#workbench.activate(host)
    const stored = new StoredRequest(request, host, request.attempt, this.#seq++, false, later)
    journal.putOnce(stored)
    this.#buffers.keep(host, stored)
    // The record of a host says whether it has requests for later.
    if (!isActive(host) || later !== undefined) this.#records.writeActive(host, this.#now)
    this.#workbench.place(host, this.#now)
  }

  /** Undefined: the request may be handed out at once. */
  #laterOf(notBefore: number | undefined): number | undefined {
    return notBefore !== undefined && notBefore > this.#now ? notBefore : undefined
  }

  #addToHostOnDisk(request: CrawlRequest, partition: number, isKnown: boolean): void {
    const { host } = request
    const now = this.#parts.scale.toStore(this.#now)
    const turn = ++this.#turns
    if (isKnown) this.#onDisk.wake(host, partition, now, turn)
    else this.#onDisk.add({ host, partition, due: now, turn, record: '', sleeps: false })
    this.#lastOnDisk = { name: host, partition, text: partitionText(partition) }
    this.#addOnDisk(request)
  }

  /** A host that is known is woken: when the first of its requests for later is due, only its requests can tell. */
  #addLaterOnDisk(request: CrawlRequest, partition: number, isKnown: boolean, later: number): void {
    const { host } = request
    const { scale, journal } = this.#parts
    const at = scale.toStore(later)
    const turn = ++this.#turns
    if (isKnown) {
      this.#onDisk.noteLater(host, partition)
      this.#onDisk.wake(host, partition, scale.toStore(this.#now), turn)
    } else this.#onDisk.add({ host, partition, due: at, turn, record: ONLY_LATER, sleeps: true })
    this.#added(request, partition)
    journal.putOnce(new RequestOnDisk(request, partitionText(partition), this.#seq++, at))
  }

  #addOnDisk(request: CrawlRequest): void {
    const { partition, text } = this.#lastOnDisk
    this.#added(request, partition)
    this.#parts.journal.putOnce(new RequestOnDisk(request, text, this.#seq++))
  }

  #added(request: CrawlRequest, partition: number): void {
    this.#parts.counts.added(partition)
    this.#parts.added(request, partition)
    this.moves.touched(partition)
  }

  #addAgain(request: StoredRequest, { at, attempt, revisit }: Again): void {
    const host = request.owner
    const own = at <= this.#now ? undefined : at
    const stored = new StoredRequest(request, host, attempt, this.#seq++, true, own, revisit)
    this.#parts.journal.putOnce(stored)
    this.#buffers.keep(host, stored)
  }

  #endVisit(host: LevelHost, { visitedAt, hostDelayMs, hostNotBefore, hostTrouble }: Settlement): void {
    if (visitedAt !== undefined && visitedAt > this.#now) this.#now = visitedAt
    if (hostDelayMs !== undefined) host.delayMs = hostDelayMs
    if (hostNotBefore !== undefined) host.notBefore = Math.max(host.notBefore, hostNotBefore)
    if (hostTrouble !== undefined) host.trouble = hostTrouble.incidents > 0 ? hostTrouble : undefined
    this.#workbench.release(host, visitedAt)
  }

  /** The request stays leased, and on disk, so that a crash makes it pending. */
  #hold(host: LevelHost, request: StoredRequest): void {
    if (request.leased === true) host.held++
    request.leased = 'held'
    this.#released(host)
  }

  /** A connection to the host was released: its new state is written, and it is queued again. */
  #released(host: LevelHost): void {
    const now = this.#now
    host.turn = ++this.#turns
    if (host.pending === 0 && !host.isLeased) this.#records.writeIdle(host)
    else this.#records.writeActive(host, now)
    if (this.moves.evict(host)) return
    if (host.isDry && !this.moves.isLeaving(host.partitionNumber)) {
      if (this.#window.mayLeave(host) && this.#window.shouldYield(now)) {
        this.#window.leave(host, Math.max(now, this.#workbench.connectionFreeAt(host)))
        return
      }
      this.#buffers.refill(host)
    }
    this.#workbench.place(host, now)
  }

  /** The host may have more requests ready than before. One that comes from disk has been ready since `since`. */
  #refilled(host: LevelHost, since = this.#now): void {
    if (this.#closed) return
    if (host.pending === 0 && !host.isLeased) {
      this.#workbench.deactivate(host)
      this.#records.writeIdle(host)
    }
    if (!this.moves.evict(host)) this.#workbench.place(host, this.#now, since)
    this.#wake()
  }

  #throwIfFailed(): void {
    const fatal = this.#parts.journal.fatal ?? this.#failure?.error
    if (fatal !== undefined) throw fatal
  }

  #fail(error: unknown): void {
    if (this.#closed) return
    const { database } = this.#parts
    // A record that cannot be decoded was not written that way.
    const known = error instanceof KumoError ? error : database.damaged(messageOf(error), error)
    this.#failure ??= { error: known }
    this.#wake()
  }
}

/** Another thread visits that host; two threads would visit it at the same time. */
function notOwned({ url }: CrawlRequest, partition: number): KumoError {
  const message = `${url} was added to the frontier of a shard that does not own its partition, ${partition}`
  return new KumoError('KUMO_CONTRACT_BROKEN', message)
}
