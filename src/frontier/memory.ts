import type { CrawlRequest } from '../types.js'
import type { Frontier, Politeness, SelectionPolicy, Settlement } from './contract.js'
import { PendingRequest } from './host-queue.js'
import { firstCome } from './selection.js'
import { type Host, type MakeHost, Workbench } from './workbench.js'

export interface MemoryFrontierOptions {
  /** How often a host may be visited. */
  readonly politeness: Politeness
  /** Which of several ready hosts goes first. Default: the one that has been ready longest. */
  readonly policy?: SelectionPolicy | undefined
}

/** The default frontier: all in memory, every call synchronous. */
export function memoryFrontier(options: MemoryFrontierOptions): Frontier {
  return new MemoryFrontier(options.politeness, options.policy ?? firstCome)
}

export class MemoryFrontier<H extends Host = Host> implements Frontier {
  protected workbench: Workbench<H>
  readonly #politeness: Politeness
  readonly #policy: SelectionPolicy
  readonly #make: MakeHost<H> | undefined
  protected waiting = 0
  #leased = 0
  /** The latest time that any call has passed in. Hosts that are added count as ready since then. */
  protected now = 0

  constructor(politeness: Politeness, policy: SelectionPolicy, make?: MakeHost<H>) {
    this.#politeness = politeness
    this.#policy = policy
    this.#make = make
    this.workbench = new Workbench(politeness, policy, make)
  }

  get pending(): number {
    return this.waiting
  }

  readonly canHold = true

  get leased(): number {
    return this.#leased
  }

  get hosts(): number {
    return this.workbench.activeHosts
  }

  add(requests: readonly CrawlRequest[]): void {
    const workbench = this.workbench
    for (const request of requests) {
      const host = workbench.host(request.host)
      workbench.activate(host)
      const pending = new PendingRequest(request, host, request.attempt)
      const { notBefore } = request
      if (notBefore !== undefined && notBefore > this.now) host.queue.pushLater(pending, notBefore)
      else host.queue.push(pending)
      this.waiting++
      workbench.place(host, this.now)
    }
  }

  lease(max: number, now: number): CrawlRequest[] {
    if (now > this.now) this.now = now
    const leases: CrawlRequest[] = []
    while (leases.length < max) {
      const host = this.workbench.acquire(now)
      if (host === undefined) break
      const request = host.queue.take(now)!
      request.leased = true
      this.waiting--
      this.#leased++
      this.workbench.place(host, now)
      leases.push(request)
    }
    return leases
  }

  settle(settlements: readonly Settlement[]): void {
    for (const settlement of settlements) {
      const { request, again } = settlement
      if (!(request instanceof PendingRequest) || !request.leased) continue
      const host = request.owner as H
      // Leased before `close`, or by another frontier.
      if (host.workbench !== this.workbench) continue
      if (request.leased === true) this.#endVisit(host, settlement)
      if (settlement.held === true) {
        if (request.leased === true) host.held++
        request.leased = 'held'
      } else {
        if (request.leased === 'held') host.held--
        request.leased = false
        this.#leased--
      }
      if (again !== undefined) {
        this.waiting++
        const waiting = new PendingRequest(request, host, again.attempt, again.revisit || request.revisit)
        if (again.at <= this.now) host.queue.pushAgain(waiting)
        else host.queue.pushLater(waiting, again.at)
      }
      this.workbench.deactivate(host)
      this.workbench.place(host, this.now)
      if (settlement.found !== undefined) this.add(settlement.found)
    }
  }

  #endVisit(host: H, { visitedAt, hostDelayMs, hostNotBefore, hostTrouble }: Settlement): void {
    if (visitedAt !== undefined && visitedAt > this.now) this.now = visitedAt
    if (hostDelayMs !== undefined) host.delayMs = hostDelayMs
    if (hostNotBefore !== undefined) host.notBefore = Math.max(host.notBefore, hostNotBefore)
    if (hostTrouble !== undefined) host.trouble = hostTrouble.incidents > 0 ? hostTrouble : undefined
    this.workbench.release(host, visitedAt)
  }

  nextDue(): number {
    return this.workbench.nextDue()
  }

  close(): void {
    this.workbench = new Workbench(this.#politeness, this.#policy, this.#make)
    this.waiting = 0
    this.#leased = 0
  }
}
