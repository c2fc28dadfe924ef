import type { Frontier, Politeness, SelectionPolicy, Settlement } from '../../../frontier/contract.js'
import { PendingRequest } from '../../../frontier/host-queue.js'
import { longestDelayMs } from '../../../frontier/politeness.js'
import { Host, Workbench } from '../../../frontier/workbench.js'
import type { CrawlRequest } from '../../../types.js'
import { fingerprint } from '../../../url/fingerprint.js'
import { knownAs } from '../../../url/known-as.js'
import type { PartitionLoad } from '../../contract.js'
import { readHost, writeHost } from '../../level/format/records.js'
import { BLOCK, Blocks } from '../protocol/blocks.js'
import { readLine, writeLine } from '../protocol/lines.js'
import type { Journal } from '../session/journal.js'
import type { ServerTime } from '../session/server-time.js'

export interface RedisFrontierParts {
  readonly politeness: Politeness
  readonly policy: SelectionPolicy
  readonly journal: Journal
  readonly time: ServerTime
  partitionOf(host: string): number
  /** Whether hosts may be visited now. */
  mayVisit(): boolean
}

/** The content of a partition, as it was read. */
export interface StoredPartition {
  readonly partition: number
  /** First and last block, as recorded. */
  readonly range: string
  readonly blocks: readonly (readonly [block: number, lines: readonly string[]])[]
  readonly hosts: readonly (readonly [host: string, record: string])[]
}

/** What is unknown about the visits to a partition that was claimed. */
export interface UnknownVisits {
  /** Somebody may have visited its hosts since the records were written. */
  readonly isDirty: boolean
  /** Somebody may visit them for so long. */
  readonly waitMs: number
}

/** A request and its number within its partition. */
class NumberedRequest extends PendingRequest {
  readonly number: number

  constructor(
    request: CrawlRequest,
    owner: NodeHost,
    attempt: number,
    number: number,
    revisit = request.revisit,
  ) {
    super(request, owner, attempt, revisit)
    this.number = number
  }
}

class NodeHost extends Host {
  readonly partition: number
  /** Its partition is about to leave, so that nothing of it is handed out. */
  isHeld: boolean
  /** Redis has a record of it. */
  isRecorded = false

  constructor(host: string, workbench: object, delayMs: number, partition: number, isHeld: boolean) {
    super(host, workbench, delayMs)
    this.partition = partition
    this.isHeld = isHeld
  }

  override get dueAt(): number {
    return this.isHeld ? Number.POSITIVE_INFINITY : this.queue.dueAt
  }
}

/** Partitions that are about to leave. */
interface Leaving {
  readonly partitions: ReadonlySet<number>
  readonly busy: readonly NodeHost[]
  idle(): void
}

/**
 * The frontier of a node: that of memory, for the partitions that the node owns. All decisions are made in memory; their
 * effects go into the journal. A lease is not recorded: after a crash, leased requests are pending.
 */
export class RedisFrontier implements Frontier {
  readonly canHold = true
  readonly #parts: RedisFrontierParts
  readonly #print = new Uint32Array(2)
  readonly #partitions = new Map<number, Blocks>()
  /** By partition: hosts rest at least until then, because it is unknown when they were visited. */
  readonly #restUntil = new Map<number, number>()
  #workbench: Workbench<NodeHost>
  /** Hosts whose records are to be written. */
  #changed = new Set<NodeHost>()
  /** Records to be deleted. */
  #forgotten = new Map<string, number>()
  /** Partitions whose range of blocks may have changed. */
  #ranges = new Set<Blocks>()
  #leaving: Leaving | undefined = undefined
  #waiting = 0
  #leased = 0
  #held = 0
  #settled = 0
  #now = 0
  #wake: () => void = () => {}

  constructor(parts: RedisFrontierParts) {
    this.#parts = parts
    this.#workbench = this.#newWorkbench()
    parts.journal.connect({ hosts: () => this.#takeHosts(), ranges: (isAll) => this.#takeRanges(isAll) })
  }

  get pending(): number {
    return this.#waiting
  }

  /** Visits that have ended so far. */
  get settled(): number {
    return this.#settled
  }

  get leased(): number {
    return this.#leased
  }

  /** Visits that have not ended. */
  get visiting(): number {
    return this.#leased - this.#held
  }

  get hosts(): number {
    return this.#workbench.activeHosts
  }

  owns(partition: number): boolean {
    return this.#partitions.has(partition)
  }

  add(requests: readonly CrawlRequest[]): Promise<void> | undefined {
    for (const request of requests) this.#add(request)
    return this.#parts.journal.whenCaughtUp()
  }

  lease(max: number, now: number): CrawlRequest[] {
    const leases: CrawlRequest[] = []
    if (now > this.#now) this.#now = now
    if (!this.#parts.mayVisit()) return leases
    while (leases.length < max) {
      const host = this.#workbench.acquire(now)
      if (host === undefined) break
      const request = host.queue.take(now)!
      request.leased = true
      this.#waiting--
      this.#leased++
      this.#workbench.place(host, now)
      leases.push(request)
    }
    return leases
  }

  settle(settlements: readonly Settlement[]): Promise<void> | undefined {
    for (const settlement of settlements) {
      const { request, visitedAt, again } = settlement
      if (!this.isLeased(request)) continue
      const host = request.owner as NodeHost
      if (settlement.found !== undefined) for (const found of settlement.found) this.#add(found)
      if (request.leased === true) {
        if (visitedAt !== undefined && visitedAt > this.#now) this.#now = visitedAt
        this.#changeHost(host, settlement)
        this.#workbench.release(host, visitedAt)
      }
      if (settlement.held === true) {
        if (request.leased === true) this.#changeHeld(host, 1)
        request.leased = 'held'
      } else {
        if (request.leased === 'held') this.#changeHeld(host, -1)
        request.leased = false
        this.#leased--
        this.#settled++
        // Before the request is removed, so that a crash repeats the page rather than losing it.
        for (const { hook, page } of settlement.documents ?? []) this.#parts.journal.work(hook, page)
        this.#remove(request, host.partition)
      }
      if (again !== undefined) {
        const { at, attempt, revisit } = again
        const waiting = this.#number(request, host, attempt, at, revisit || request.revisit, false)
        this.#waiting++
        if (at <= this.#now) host.queue.pushAgain(waiting)
        else host.queue.pushLater(waiting, at)
      }
      this.#workbench.deactivate(host)
      this.#workbench.place(host, this.#now)
    }
    if (this.#leaving !== undefined) checkIdle(this.#leaving)
    return this.#parts.journal.whenCaughtUp()
  }

  /** Whether this frontier handed the request out and waits for its settlement. */
  isLeased(request: CrawlRequest): request is NumberedRequest {
    if (!(request instanceof NumberedRequest) || !request.leased) return false
    return (request.owner as NodeHost).workbench === this.#workbench
  }

  nextDue(): number {
    return this.#parts.mayVisit() ? this.#workbench.nextDue() : Number.POSITIVE_INFINITY
  }

  watch(wake: () => void): void {
    this.#wake = wake
  }

  /** Something may be due: the node may visit hosts again, or has gained a partition. */
  wake(): void {
    this.#wake()
  }

  /** Continues with a partition. Hosts rest one pause from when somebody else may have visited them last. */
  adopt(
    { partition, range, blocks, hosts }: StoredPartition,
    { isDirty, waitMs }: UnknownVisits = { isDirty: false, waitMs: 0 },
  ): void {
    const { time, politeness } = this.#parts
    const own = new Blocks(partition, range)
    this.#partitions.set(partition, own)
    const freeAt = time.now() + waitMs
    const pauseMs = longestDelayMs(politeness)
    const rests = isDirty || waitMs > 0
    if (rests) this.#restUntil.set(partition, freeAt + pauseMs)
    for (const [name, record] of hosts) {
      const host = this.#workbench.host(name)
      const known = readHost(record)
      host.isRecorded = true
      host.resting = known.resting.map((until) => time.fromServer(until))
      host.delayMs = known.delayMs
      host.notBefore = Math.max(host.notBefore, time.fromServer(known.notBefore))
      if (rests) host.notBefore = Math.max(host.notBefore, freeAt + Math.max(pauseMs, known.delayMs))
      host.trouble = known.trouble && { ...known.trouble, since: time.fromServer(known.trouble.since) }
    }
    for (const [block, lines] of blocks) {
      let left = 0
      for (const [i, line] of lines.entries()) {
        if (line === '') continue
        left++
        this.#restore(line, block * BLOCK + i)
      }
      own.restore(block, lines.length, left)
    }
    for (const [name] of hosts) {
      const host = this.#workbench.find(name)
      if (host !== undefined) this.#workbench.place(host, this.#now)
    }
  }

  /** Hands nothing of these partitions out any more. Resolves when all of their leases are settled. */
  hold(partitions: readonly number[]): Promise<void> {
    const leaving = new Set(partitions)
    const busy: NodeHost[] = []
    for (const host of this.#workbench.all()) {
      if (!leaving.has(host.partition)) continue
      host.isHeld = true
      if (host.isLeased) busy.push(host)
      this.#workbench.place(host, this.#now)
    }
    return new Promise((idle) => {
      this.#leaving = { partitions: leaving, busy, idle }
      checkIdle(this.#leaving)
    })
  }

  /** Forgets the held partitions: their content is in Redis. */
  release(): void {
    const partitions = this.#leaving?.partitions ?? new Set<number>()
    this.#leaving = undefined
    const isGone = (host: string) => partitions.has(this.#parts.partitionOf(host))
    const left = this.#workbench.removeWhere(({ partition }) => partitions.has(partition))
    for (const host of left) {
      this.#waiting -= host.pending
      this.#changed.delete(host)
    }
    this.#workbench.requestedDelays.removeWhere(isGone)
    for (const partition of partitions) {
      this.#partitions.delete(partition)
      this.#restUntil.delete(partition)
    }
  }

  /** Forgets everything, with what is leased: another node may have it. */
  dropAll(): void {
    this.#workbench = this.#newWorkbench()
    this.#partitions.clear()
    this.#restUntil.clear()
    this.#changed.clear()
    this.#forgotten.clear()
    this.#ranges.clear()
    this.#leaving?.idle()
    this.#leaving = undefined
    this.#waiting = 0
    this.#leased = 0
    this.#held = 0
  }

  /** The partitions that it has, with the requests that are due in each. */
  load(): PartitionLoad[] {
    const loads = new Map<number, { partition: number; pending: number; hosts: number; longest: number }>()
    for (const partition of this.#partitions.keys())
      loads.set(partition, { partition, pending: 0, hosts: 0, longest: 0 })
    for (const host of this.#workbench.all()) {
      const load = loads.get(host.partition)
      const pending = host.dueBy(this.#now).count
      if (load === undefined || pending === 0) continue
      load.pending += pending
      load.hosts++
      if (pending > load.longest) load.longest = pending
    }
    return [...loads.values()]
  }

  /** What is not committed yet stays in the journal. */
  close(): void {
    this.#workbench = this.#newWorkbench()
    this.#waiting = 0
    this.#leased = 0
    this.#held = 0
  }

  #newWorkbench(): Workbench<NodeHost> {
    const { politeness, policy, partitionOf } = this.#parts
    const workbench = new Workbench<NodeHost>(politeness, policy, (name, bench, delayMs) => {
      const partition = partitionOf(name)
      const isHeld = this.#leaving?.partitions.has(partition) === true
      const host = new NodeHost(name, bench, delayMs, partition, isHeld)
      host.notBefore = this.#restUntil.get(partition) ?? 0
      return host
    })
    workbench.onForget = (host) => {
      this.#changed.delete(host)
      if (!host.isRecorded || host.delayMs > politeness.delayMs || host.trouble !== undefined) return
      host.isRecorded = false
      this.#forgotten.set(host.host, host.partition)
      this.#parts.journal.touch()
    }
    return workbench
  }

  #add(request: CrawlRequest): void {
    const { journal, time, partitionOf } = this.#parts
    const { notBefore } = request
    const partition = partitionOf(request.host)
    const isRoot = request.parent === undefined && request.purpose === undefined
    const isMine = this.#partitions.has(partition)
    if (isRoot || !isMine) {
      const line = writeLine(request, notBefore && time.toServer(notBefore))
      if (isRoot) journal.root(partition, line)
      if (!isMine) {
        journal.mail(partition, line)
        return
      }
    }
    const host = this.#workbench.host(request.host)
    this.#workbench.activate(host)
    const pending = this.#number(request, host, request.attempt, notBefore, request.revisit, true)
    fingerprint(knownAs(request), this.#print)
    journal.print(partition, this.#print[0]!, this.#print[1]!)
    if (notBefore !== undefined && notBefore > this.#now) host.queue.pushLater(pending, notBefore)
    else host.queue.push(pending)
    this.#waiting++
    this.#workbench.place(host, this.#now)
  }

  /** Gives a request the next number of its partition and writes it. */
  #number(
    request: CrawlRequest,
    host: NodeHost,
    attempt: number,
    at: number | undefined,
    revisit: boolean | undefined,
    isNew: boolean,
  ): NumberedRequest {
    const { journal, time } = this.#parts
    const blocks = this.#partitions.get(host.partition)!
    const number = blocks.append()
    const pending = new NumberedRequest(request, host, attempt, number, revisit)
    const line = writeLine(pending, at === undefined ? undefined : time.toServer(at))
    journal.add(host.partition, number, line, isNew)
    this.#ranges.add(blocks)
    journal.touch()
    return pending
  }

  #changeHeld(host: NodeHost, by: number): void {
    host.held += by
    this.#held += by
  }

  #remove({ number }: NumberedRequest, partition: number): void {
    const blocks = this.#partitions.get(partition)!
    this.#parts.journal.remove(partition, number, blocks.remove(number))
    this.#ranges.add(blocks)
  }

  #restore(line: string, number: number): void {
    const { request, at } = readLine(line)
    const host = this.#workbench.host(request.host)
    this.#workbench.activate(host)
    const pending = new NumberedRequest(request, host, request.attempt, number)
    if (at === undefined) host.queue.push(pending)
    else host.queue.pushLater(pending, this.#parts.time.fromServer(at))
    this.#waiting++
    this.#workbench.place(host, this.#now)
  }

  #changeHost(host: NodeHost, { hostDelayMs, hostNotBefore, hostTrouble }: Settlement): void {
    if (hostDelayMs !== undefined) host.delayMs = hostDelayMs
    if (hostNotBefore !== undefined) host.notBefore = Math.max(host.notBefore, hostNotBefore)
    if (hostTrouble !== undefined) host.trouble = hostTrouble.incidents > 0 ? hostTrouble : undefined
    this.#changed.add(host)
    this.#parts.journal.touch()
  }

  *#takeHosts(): Generator<readonly [partition: number, host: string, record: string]> {
    const forgotten = this.#forgotten
    const changed = this.#changed
    this.#forgotten = new Map()
    this.#changed = new Set()
    for (const host of changed) {
      forgotten.delete(host.host)
      host.isRecorded = true
      yield [host.partition, host.host, this.#recordOf(host)]
    }
    for (const [host, partition] of forgotten) {
      // It may have been met again.
      if (this.#workbench.find(host)?.isRecorded !== true) yield [partition, host, '']
    }
  }

  #recordOf({ resting, notBefore, delayMs, trouble }: NodeHost): string {
    const { time } = this.#parts
    return writeHost({
      resting: resting.filter((until) => until > 0).map((until) => time.toServer(until)),
      notBefore: time.toServer(notBefore),
      delayMs,
      trouble: trouble && { ...trouble, since: time.toServer(trouble.since) },
      hasLater: false,
    })
  }

  *#takeRanges(isAll: boolean): Generator<readonly [partition: number, range: string]> {
    const ranges = this.#ranges
    // What has been removed since is still to come.
    if (isAll) this.#ranges = new Set()
    for (const blocks of ranges) {
      const range = blocks.change(isAll)
      if (range !== undefined) yield [blocks.partition, range]
    }
  }
}

function checkIdle({ busy, idle }: Leaving): void {
  if (busy.every(({ isLeased }) => !isLeased)) idle()
}
