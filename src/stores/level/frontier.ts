import { KumoError, messageOf } from '../../errors.js'
import type { Frontier, Politeness, SelectionPolicy, Settlement } from '../../frontier/contract.js'
import { Workbench } from '../../frontier/workbench.js'
import type { CrawlRequest } from '../../types.js'
import { ColdHosts } from './cold-hosts.js'
import type { Database } from './database.js'
import { Heads } from './heads.js'
import type { Journal } from './journal.js'
import { entryKey, idleKey, partitionText } from './keys.js'
import { ColdRequest, LevelHost, StoredRequest } from './level-host.js'
import { readHost } from './records.js'
import type { TimeScale } from './time-scale.js'
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
  /** Counts of the last commit. */
  readonly pending: number
  readonly seq: number
  /** All hosts are to rest when the store is opened, for nobody knows which were visited last. */
  readonly isCautious: boolean
  /** A request is pending for good: its name is known from the commit on that brings it to disk. */
  taken(request: CrawlRequest, partition: number): void
}

const NOBODY = { name: '', partition: 0, text: '' }

/**
 * The memory frontier over a disk. All decisions are made in memory and answered at once; what they change goes into the
 * journal. Memory holds the hosts of the working window, and of each host the head of its requests.
 *
 * A request lies on disk from the commit after `add` until the commit after it was settled for good. A lease leaves no
 * trace there: who crashes finds its requests pending.
 */
export class LevelFrontier implements Frontier {
  readonly #parts: LevelFrontierParts
  readonly #workbench: Workbench<LevelHost>
  readonly #cold: ColdHosts
  readonly #heads: Heads
  readonly #window: HostWindow
  #rouse: () => void = () => {}
  #pending: number
  #leased = 0
  #seq: number
  #now = 0
  /** The host on disk that was added to last, within one call: links to one host often stand together. */
  #lastCold = NOBODY
  /** Nothing is handed out before this. */
  #restUntil = 0
  #failure: { readonly error: unknown } | undefined = undefined
  #closed = false

  constructor(parts: LevelFrontierParts) {
    this.#parts = parts
    this.#pending = parts.pending
    this.#seq = parts.seq
    const { database, journal, scale, politeness, policy, partitions } = parts
    const workbench = new Workbench<LevelHost>(politeness, policy, (host, bench, delayMs) => {
      return new LevelHost(host, bench, delayMs, parts.partitionOf(host), scale)
    })
    workbench.onForget = (host) => this.#unwrite(host)
    const failed = (error: unknown) => this.#fail(error)
    const { connections, growAt } = politeness
    this.#workbench = workbench
    this.#cold = new ColdHosts(partitions, journal)
    this.#heads = new Heads({
      database,
      journal,
      workbench,
      requestsInMemory: parts.requestsInMemory,
      countUpTo: connections === 1 ? 0 : connections * growAt,
      nextSeq: () => this.#seq,
      changed: (host) => this.#refilled(host),
      failed,
    })
    const { hostsInMemory: most, partitionOf } = parts
    const { cold, heads } = { cold: this.#cold, heads: this.#heads }
    const leased = () => this.#leased
    const disk = { database, journal, cold, heads, scale }
    const mayGrow = connections > 1
    this.#window = new HostWindow({ ...disk, workbench, most, mayGrow, leased, partitionOf, failed })
    journal.onFlushed = () => this.#rouse()
  }

  get pending(): number {
    return this.#pending
  }

  get leased(): number {
    return this.#leased
  }

  get hosts(): number {
    return this.#workbench.activeHosts + this.#cold.size
  }

  /** Whether the disk is being read: more may be due when that is done. */
  get isReading(): boolean {
    return this.#heads.isReading || this.#window.isLoading
  }

  /** What must be known to go on after a crash, when what is leased now is pending. */
  get counts(): { pending: number; seq: number } {
    return { pending: this.#pending + this.#leased, seq: this.#seq }
  }

  /** Takes up what is on disk. */
  async open(now: number): Promise<void> {
    const { database, journal, hostsInMemory, isCautious, politeness } = this.#parts
    if (isCautious) {
      this.#restUntil = now + politeness.delayMs
      this.#window.openedAt = now
    }
    await this.#cold.load(database, this.#parts.partitionOf)
    for await (const entries of database.scan({ from: 'i', to: 'j' })) {
      for (const [key, record] of entries) {
        const host = this.#workbench.host(key.slice(5))
        host.restore(readHost(record))
        host.key = key
        this.#window.beCautious(host)
        this.#workbench.place(host, now)
      }
    }
    if (this.#cold.size > 0) await this.#window.load(now, hostsInMemory)
    if (this.#failure !== undefined) throw this.#failure.error
    await journal.flush()
  }

  watch(rouse: () => void): void {
    this.#rouse = rouse
  }

  add(requests: readonly CrawlRequest[]): Promise<void> | undefined {
    this.#lastCold = NOBODY
    for (const request of requests) this.#add(request)
    return this.#parts.journal.room()
  }

  lease(max: number, now: number): CrawlRequest[] {
    this.#check()
    if (now > this.#now) this.#now = now
    const leases: CrawlRequest[] = []
    if (this.#parts.journal.isBehind || now < this.#restUntil) return leases
    while (leases.length < max) {
      const host = this.#workbench.acquire(now)
      if (host === undefined) break
      const request = host.queue.take(now) as StoredRequest
      request.leased = true
      host.leased.push(request)
      if (request.at === undefined) host.dueHeld--
      this.#pending--
      this.#leased++
      if (!this.#window.isWantedByOthers(now)) this.#heads.refill(host)
      this.#workbench.place(host, now)
      leases.push(request)
    }
    this.#window.look(now)
    if (leases.length === 0) this.#assertFound()
    return leases
  }

  /** Requests that are counted and cannot be found would be waited for for ever. */
  #assertFound(): void {
    if (this.#pending === 0 || this.#leased > 0 || this.hosts > 0 || this.isReading) return
    throw this.#parts.database.damaged(`${this.#pending} pending URLs are counted and cannot be found`)
  }

  settle(settlements: readonly Settlement[]): void {
    this.#lastCold = NOBODY
    for (const settlement of settlements) {
      const { request, visitedAt } = settlement
      if (!(request instanceof StoredRequest) || !request.leased) continue
      const host = request.owner
      // Leased by another frontier.
      if (host.workbench !== this.#workbench) continue
      request.leased = false
      this.#leased--
      host.leased.splice(host.leased.indexOf(request), 1)
      this.#parts.journal.withdraw(request)
      this.#heads.gone(host, request)
      if (request.at !== undefined) host.laterHeld--
      if (visitedAt !== undefined && visitedAt > this.#now) this.#now = visitedAt
      this.#changeHost(host, settlement)
      this.#workbench.release(host, visitedAt)
      if (settlement.again !== undefined) this.#addAgain(request, settlement.again)
      this.#workbench.retire(host)
      this.#released(host)
      if (settlement.found !== undefined) for (const found of settlement.found) this.#add(found)
    }
  }

  nextDue(): number {
    // The journal rouses who waits for it.
    if (this.#parts.journal.isBehind) return Number.POSITIVE_INFINITY
    return Math.max(this.#restUntil, Math.min(this.#workbench.nextDue(), this.#window.nextDue))
  }

  close(): void {
    this.#closed = true
  }

  #add(request: CrawlRequest): void {
    const { journal, partitionOf } = this.#parts
    const name = request.host
    const seq = this.#seq++
    this.#pending++
    if (name === this.#lastCold.name) {
      this.#addCold(request, seq)
      return
    }
    let host = this.#workbench.known(name)
    if (host === undefined) {
      const isCold = this.#cold.has(name)
      if (isCold || this.#window.isFull) {
        const partition = partitionOf(name)
        const now = this.#parts.scale.toStore(this.#now)
        if (isCold) this.#cold.wake(name, partition, now)
        else this.#cold.add(name, partition, now, '', false)
        this.#lastCold = { name, partition, text: partitionText(partition) }
        this.#addCold(request, seq)
        return
      }
      host = this.#workbench.host(name)
    }
    this.#parts.taken(request, host.partitionNumber)
    this.#workbench.enliven(host)
    const stored = new StoredRequest(request, host, request.attempt, seq)
    journal.putOnce(stored)
    this.#heads.keep(host, stored)
    if (host.key?.startsWith('q') !== true) this.#writeActive(host)
    this.#workbench.place(host, this.#now)
  }

  #addCold(request: CrawlRequest, seq: number): void {
    const { partition, text } = this.#lastCold
    this.#parts.journal.putOnce(new ColdRequest(request, text, seq))
    this.#parts.taken(request, partition)
  }

  #addAgain(request: StoredRequest, { at, attempt }: { at: number; attempt: number }): void {
    const host = request.owner
    this.#pending++
    const own = at <= this.#now ? undefined : at
    const stored = new StoredRequest(request, host, attempt, this.#seq++, true, own)
    this.#parts.journal.putOnce(stored)
    this.#heads.keep(host, stored)
  }

  #changeHost(host: LevelHost, { hostDelayMs, hostNotBefore, hostTrouble }: Settlement): void {
    if (hostDelayMs !== undefined) host.delayMs = hostDelayMs
    if (hostNotBefore !== undefined) host.notBefore = Math.max(host.notBefore, hostNotBefore)
    if (hostTrouble !== undefined) host.trouble = hostTrouble.incidents > 0 ? hostTrouble : undefined
  }

  /** A connection of the host was given back: what was learned of it is written, and it takes its next place. */
  #released(host: LevelHost): void {
    const now = this.#now
    if (host.pending === 0 && host.acquired === 0) this.#writeIdle(host)
    else this.#writeActive(host)
    if (host.isDry) {
      if (this.#window.mayLeave(host) && this.#window.isWantedByOthers(now)) {
        this.#window.leave(host, Math.max(now, this.#workbench.restedAt(host)))
        return
      }
      this.#heads.refill(host)
    }
    this.#workbench.place(host, now)
  }

  #refilled(host: LevelHost): void {
    if (this.#closed) return
    if (host.pending === 0 && host.acquired === 0) {
      this.#workbench.retire(host)
      this.#writeIdle(host)
    }
    this.#workbench.place(host, this.#now)
    this.#rouse()
  }

  #writeActive(host: LevelHost): void {
    const { journal, scale } = this.#parts
    if (host.key?.startsWith('q') !== true) {
      if (host.key !== undefined) journal.remove(host.key)
      host.key = entryKey(host.partition, scale.toStore(this.#now), host.host)
    }
    journal.put(host.key, host)
  }

  /** A host without requests is kept until its pause is over: see `#unwrite`. */
  #writeIdle(host: LevelHost): void {
    this.#unwrite(host)
    host.key = idleKey(host.partition, host.host)
    this.#parts.journal.put(host.key, host)
  }

  #unwrite(host: LevelHost): void {
    if (host.key !== undefined) this.#parts.journal.remove(host.key)
    host.key = undefined
  }

  #check(): void {
    const fatal = this.#parts.journal.fatal ?? this.#failure?.error
    if (fatal !== undefined) throw fatal
  }

  #fail(error: unknown): void {
    if (this.#closed) return
    const { database } = this.#parts
    // What is read and cannot be understood was not written so.
    const known = error instanceof KumoError ? error : database.damaged(messageOf(error), error)
    this.#failure ??= { error: known }
    this.#rouse()
  }
}
