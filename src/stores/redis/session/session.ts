import { KumoError, messageOf } from '../../../errors.js'
import { type Clock, LATE, type Timer, within } from '../../../time.js'
import type { Argument, ConfirmedReply, RedisClient } from '../client/contract.js'
import { packOperations } from '../protocol/operations.js'
import { CLAIM, COMMIT, JOIN, LEAVE, LOOK, RENEW, type Script, VERSION, WORK } from '../protocol/scripts.js'
import type { Journal } from './journal.js'
import { type Instant, Lease } from './lease.js'
import type { Member } from './member.js'
import type { Place } from './places.js'
import {
  type Claimed,
  type CrawlStatus,
  type Joined,
  type Loss,
  type Refusal,
  refusalIn,
  statusIn,
} from './reply.js'
import type { ServerTime } from './server-time.js'
import type { Shares } from './shares.js'
import {
  assertInStep,
  baseIn,
  failedToJoin,
  isPassing,
  NOT_CONFIRMED,
  refusedToJoin,
  SILENT,
  STALLED,
} from './troubles.js'

/** A lease is renewed this often in its time. */
const RENEWALS = 4
/** No visit starts when less than this part of a lease is left: it would be aborted when the lease ends. */
const ENOUGH = 0.3
/** No visit starts while a commit waits longer than this for its answer. */
const STALLED_MS = 500
/** How long a node that leaves waits for its last commit. */
const LEAVE_MS = 10_000
/** Between attempts at a server that refuses because it is full, or still loading. */
const RETRY_MS = 250
/** After so many commits, a crawl that is gone does not begin again by itself. */
const YOUNG = 1000
/** Replicas have this part of the lease to confirm it. Meanwhile no commit is sent. */
const CONFIRM = 0.1

export interface SessionParts {
  readonly client: RedisClient
  /** Prefix of the crawl's keys. */
  readonly key: string
  readonly clock: Clock
  readonly ttlMs: number
  readonly commitMs: number
  readonly journal: Journal
  readonly time: ServerTime
  readonly shares: Shares
  /** The options that give the crawl its meaning, as JSON. */
  readonly identity: string
  readonly partitions: number
  /** A text that no other node has. */
  newToken(): string
}

/** What a session reports. */
export interface SessionListener {
  status(status: CrawlStatus): void
  /** Hosts must not be visited until `resumed`: the lease may be over, and others may take over. */
  suspended(message: string): void
  resumed(): void
  /** The server does not answer commits at the moment, so no visit starts. Visits in flight go on. */
  stalled(message: string): void
  /** The session is over. */
  lost(loss: Loss): void
  failed(error: KumoError): void
}

/**
 * A node's lease, and its commits. The server counts commits and refuses one that is out of turn or that comes from a node
 * that was evicted; so a commit is applied once, however often it is sent.
 */
export class Session {
  readonly #parts: SessionParts
  readonly #listener: SessionListener
  #member: Member | undefined = undefined
  /** Which member it was, after its membership was lost. */
  #former: Pick<Member, 'id' | 'token'> | undefined = undefined
  /** The highest commit, of any node, that this one has heard of. */
  #seq = 0
  /** The commit with which this node joined. */
  #joinedAt = 0
  readonly #lease: Lease
  #isSuspended = true
  /** Whether a fail-over would keep the last renewal. */
  #isConfirmed = true
  #isStalled = false
  #problem: string | undefined = undefined
  #renewTimer: Timer | undefined = undefined
  #deadline: Timer | undefined = undefined
  #commitTimer: Timer | undefined = undefined
  #stallTimer: Timer | undefined = undefined
  #retryTimers = new Set<Timer>()
  /** Commits follow each other; this is the last of them. */
  #tail: Promise<void> = Promise.resolve()
  #isCommitting = false
  #renewalSentAt: number | undefined = undefined
  #isResting = false
  #sentResting = false
  #lastCommitAt = 0
  #isClosed = false

  constructor(parts: SessionParts, listener: SessionListener) {
    this.#parts = parts
    this.#listener = listener
    this.#lease = new Lease(parts.clock, parts.ttlMs)
  }

  /** The number of the node. */
  get id(): string {
    return this.#member?.id ?? ''
  }

  /** Whether visits may start now. */
  get mayVisit(): boolean {
    return !this.#isStalled && this.isLeaseValid && this.#lasts
  }

  /** Whether the lease lasts for visits. It always does, unless the server was away or slow. */
  get #lasts(): boolean {
    return this.#lease.leftMs >= this.#parts.ttlMs * ENOUGH
  }

  /** Whether visits that have started may go on: nobody else visits these hosts. */
  get isLeaseValid(): boolean {
    return !this.#isSuspended && this.#lease.isValid
  }

  /** What keeps the node from going on; undefined if nothing does. */
  get problem(): string | undefined {
    if (this.#problem !== undefined) return this.#problem
    return this.#isStalled ? STALLED : undefined
  }

  /** The node has read something of this commit, so that it depends on it. */
  dependOn(seq: number): void {
    this.#seq = Math.max(this.#seq, seq)
  }

  /** Milliseconds of the lease that are left; 0 if it is over. */
  get leaseLeftMs(): number {
    return this.#lease.leftMs
  }

  get lastCommitAt(): number {
    return this.#lastCommitAt
  }

  /** Nothing is left to do here. It is part of the next commit. */
  rest(isResting: boolean): void {
    this.#isResting = isResting
  }

  /** Joins the crawl. `dead`: in the place of this member. */
  async join(dead?: Place): Promise<Joined> {
    const { client, key, clock, ttlMs, identity, partitions, time } = this.#parts
    await time.read(client)
    // Only at the start: a node that has something to lose goes on.
    if (this.#lastCommitAt === 0) assertInStep(time.aheadMs)
    const token = this.#parts.newToken()
    const former = this.#former ?? dead
    const sentAt = this.#lease.instant()
    const args = [token, ttlMs, VERSION, identity, partitions, former?.id ?? '', former?.token ?? '']
    const joining = client.runConfirmed(JOIN, key, args, ttlMs * CONFIRM)
    const { reply, isConfirmed } = await joining.catch((error) => Promise.reject(failedToJoin(error)))
    const isYoung = dead === undefined && this.#joinedAt < YOUNG
    if (reply[0] === 'gone' && isYoung && this.#parts.journal.hasAllRoots) {
      // The server has lost even the beginning of the crawl, which is not long ago.
      this.#former = undefined
      return this.join()
    }
    if (reply[0] !== 'ok') throw refusedToJoin(reply, identity)
    const [, id, seq, , run, others, runs] = reply
    this.#member = { id: id!, token, run: run!, commits: 0 }
    this.#former = undefined
    this.#seq = Number(seq)
    this.#joinedAt = this.#seq
    this.#sentResting = false
    this.#isResting = false
    this.#lastCommitAt = clock.now()
    this.#schedule()
    if (isConfirmed) this.#extend(sentAt)
    else this.#suspend(NOT_CONFIRMED)
    return { id: id!, token, others: Number(others), runs: Number(runs) }
  }

  /** Takes free partitions, and waits until a fail-over would keep that. */
  async claim(most: number): Promise<Claimed> {
    const none: Claimed = { partitions: new Map(), waitMs: 0 }
    const member = this.#member
    const answer = await this.#call(CLAIM, most)
    if (answer === undefined) return none
    const { reply } = answer
    this.dependOn(Number(reply[1]))
    const partitions = new Map<number, boolean>()
    for (let i = 3; i < reply.length; i += 2) partitions.set(Number(reply[i]), reply[i + 1] === '1')
    // What confirms a later write confirms this one too.
    for (let { isConfirmed } = answer; !isConfirmed && partitions.size > 0; ) {
      await this.#pause(RETRY_MS)
      const renewed = await this.#call(RENEW)
      if (renewed === undefined || member !== this.#member) return none
      isConfirmed = renewed.isConfirmed
    }
    return { partitions, waitMs: Number(reply[2]) }
  }

  /** Takes documents that other nodes have left: their ids. */
  async work(most: number): Promise<readonly string[]> {
    return (await this.#call(WORK, most))?.reply.slice(2) ?? []
  }

  /** Prolongs the lease, and hears how the crawl is doing. */
  async renew(): Promise<CrawlStatus | undefined> {
    const sentAt = this.#lease.instant()
    this.#renewalSentAt = sentAt.now
    const member = this.#member
    const answer = await this.#call(RENEW)
    this.#renewalSentAt = undefined
    if (answer === undefined || member !== this.#member) return undefined
    this.#isConfirmed = answer.isConfirmed
    if (answer.isConfirmed) this.#extend(sentAt)
    const status = this.#heard(statusIn(answer.reply), false)
    // The call waited for a server that was away: what it prolonged counts from when it was made, and is nearly over.
    if (answer.isConfirmed && !this.#lasts && !this.#isClosed) return (await this.renew()) ?? status
    return status
  }

  /** Whether this is the same membership still, as far as the server knows. */
  async isStillMember(): Promise<boolean> {
    const member = this.#member
    return (await this.#call(LOOK)) !== undefined && member !== undefined && member === this.#member
  }

  /** Commits what is in the journal. Resolves when it is stored, or void because the session is lost. */
  flush(): Promise<void> {
    const flushed = this.#tail.then(() => this.#commitAll())
    this.#tail = flushed.catch(() => {})
    return flushed
  }

  /** Commits, gives the lease back and ends. */
  async leave(): Promise<void> {
    if (this.#isClosed) return
    const { client, key, clock, journal } = this.#parts
    this.#stop()
    const leaving = async () => {
      // How the run ended is written even if nothing else is.
      journal.prepare()
      await this.flush()
      this.#isClosed = true
      const member = this.#member
      if (member !== undefined) await client.run(LEAVE, key, [member.id, member.token])
    }
    const left = await within(clock, LEAVE_MS, leaving())
    this.#close()
    if (left === LATE) {
      const message =
        'redis: the server did not answer the last commit; what it held is done again by the next run'
      throw new KumoError('KUMO_CLOSE_FAILED', message)
    }
  }

  /** Ends without a word, as a crash would. */
  abandon(): void {
    this.#stop()
    this.#close()
  }

  #close(): void {
    this.#isClosed = true
    this.#stop()
    for (const timer of this.#retryTimers) timer.cancel()
    this.#parts.client.close()
  }

  #schedule(): void {
    const { clock, ttlMs, commitMs } = this.#parts
    this.#stop()
    const renewal = () => {
      this.#renewTimer = clock.wakeAt(clock.now() + ttlMs / RENEWALS, renewal)
      if (this.#renewalSentAt === undefined) void this.renew().catch((error) => this.#fail(error))
      // A connection that is cut off without a word would keep everything waiting.
      else if (clock.now() - this.#renewalSentAt > ttlMs / 2) this.#parts.client.reconnect()
    }
    this.#renewTimer = clock.wakeAt(clock.now() + ttlMs / RENEWALS, renewal)
    const commit = () => {
      this.#commitTimer = clock.wakeAt(clock.now() + commitMs, commit)
      // The monotonic clock stands still while a machine sleeps.
      if (!this.#lease.isValid) this.#suspend(this.#whyNotRenewed)
      if (!this.#isCommitting) void this.#commitOrLook()
    }
    this.#commitTimer = clock.wakeAt(clock.now() + commitMs, commit)
  }

  #stop(): void {
    for (const timer of [this.#renewTimer, this.#commitTimer, this.#deadline, this.#stallTimer])
      timer?.cancel()
  }

  #extend(from: Instant): void {
    const couldVisit = this.mayVisit
    this.#lease.extend(from)
    this.#deadline?.cancel()
    this.#deadline = this.#parts.clock.wakeAt(this.#lease.until, () => this.#suspend(this.#whyNotRenewed))
    if (!this.#lease.isValid) return
    if (this.#isSuspended) {
      this.#isSuspended = false
      this.#problem = undefined
    }
    if (!couldVisit && this.mayVisit) this.#listener.resumed()
  }

  get #whyNotRenewed(): string {
    return this.#isConfirmed ? SILENT : NOT_CONFIRMED
  }

  #suspend(why: string): void {
    if (this.#isSuspended && this.#problem !== undefined) return
    this.#isSuspended = true
    this.#problem = why
    this.#listener.suspended(why)
  }

  async #commitOrLook(): Promise<void> {
    try {
      if (this.#hasToCommit) await this.flush()
      else if (this.#member !== undefined) {
        this.#isCommitting = true
        const answer = await this.#call(LOOK)
        this.#isCommitting = false
        if (answer !== undefined) this.#heard(statusIn(answer.reply), false)
      }
    } catch (error) {
      this.#isCommitting = false
      this.#fail(error)
    }
  }

  get #hasToCommit(): boolean {
    const { journal, shares } = this.#parts
    return !journal.isEmpty || this.#isResting !== this.#sentResting || shares.hasDemand
  }

  async #commitAll(): Promise<void> {
    const { journal } = this.#parts
    if (!this.#hasToCommit || this.#member === undefined) return
    this.#isCommitting = true
    try {
      journal.prepare()
      for (let isAll = false; !isAll; ) {
        const member = this.#member
        if (member === undefined) return
        const piece = journal.takePiece()
        isAll = piece.isAll
        const isResting = this.#isResting && isAll
        member.commits++
        const spent = this.#parts.shares.take()
        const packed = packOperations(piece.operations)
        const head = [member.commits, isResting ? '1' : '0', piece.left, ...spent]
        this.#watchStall()
        const answer = await this.#call(COMMIT, ...head, packed)
        this.#unwatchStall()
        if (answer === undefined) return
        const { reply } = answer
        journal.stored(Number(reply[1]))
        this.#lastCommitAt = this.#parts.clock.now()
        this.#sentResting = isResting
        this.#heard(statusIn(reply), true)
      }
    } finally {
      this.#isCommitting = false
    }
  }

  #watchStall(): void {
    const { clock } = this.#parts
    this.#stallTimer?.cancel()
    const stall = () => {
      if (this.#isStalled) return
      this.#isStalled = true
      this.#listener.stalled(this.problem ?? STALLED)
    }
    // If this process was busy, the answer may have been waiting for it: then it is read before the second timer.
    this.#stallTimer = clock.wakeAt(clock.now() + STALLED_MS, () => {
      this.#stallTimer = clock.wakeAt(clock.now() + 1, stall)
    })
  }

  #unwatchStall(): void {
    this.#stallTimer?.cancel()
    if (!this.#isStalled) return
    this.#isStalled = false
    if (!this.#isSuspended) this.#listener.resumed()
  }

  #heard(status: CrawlStatus, isCommit: boolean): CrawlStatus {
    this.#seq = Math.max(this.#seq, status.seq)
    this.#parts.shares.learn(status, isCommit)
    this.#listener.status(status)
    return status
  }

  /**
   * Calls a script as this node, again and again while the server cannot answer. Undefined if the node is not a member any
   * more.
   */
  async #call(script: Script, ...args: readonly Argument[]): Promise<ConfirmedReply | undefined> {
    const { client, key, ttlMs } = this.#parts
    const isLease = script === RENEW || script === CLAIM
    const member = this.#member
    for (;;) {
      if (member === undefined || member !== this.#member || this.#isClosed) return undefined
      const { id, token, run } = member
      const given = [id, token, run, ttlMs, ...args]
      let answer: ConfirmedReply
      try {
        answer = isLease
          ? await client.runConfirmed(script, key, given, ttlMs * CONFIRM)
          : { reply: await client.run(script, key, given), isConfirmed: true }
      } catch (error) {
        if (this.#isClosed) return undefined
        if (!isPassing(error)) throw error
        this.#problem = `Redis refuses: ${messageOf(error)}`
        await this.#pause(RETRY_MS)
        continue
      }
      const refusal = refusalIn(answer.reply)
      if (refusal === undefined) {
        if (!this.#isSuspended) this.#problem = undefined
        return answer
      }
      if (member !== this.#member) return undefined
      // Another call has heard of the new history meanwhile, and the node has gone on in it.
      if (refusal.refused === 'reborn' && run !== member.run) continue
      if (this.#canGoOn(member, refusal)) continue
      this.#lose(refusal)
      return undefined
    }
  }

  /** After a restart of the server that has lost nothing this node knows of, the node keeps its memory. */
  #canGoOn(member: Member, refusal: Refusal): boolean {
    if (refusal.refused !== 'reborn' || refusal.base < this.#seq) return false
    member.run = refusal.run
    // It may be another machine, with another clock.
    void this.#parts.time.read(this.#parts.client).catch(() => {})
    return true
  }

  #lose(refusal: Refusal): void {
    const { refused } = refusal
    const wasAlone = refused !== 'fenced' && this.#lease.isValid
    this.#stop()
    this.#former = this.#member
    this.#member = undefined
    this.#isSuspended = true
    this.#isStalled = false
    this.#problem =
      refused === 'fenced'
        ? 'this node was silent for longer than its lease, so others have taken over; it joins again'
        : 'Redis has lost commits of this node, which reads the crawl again'
    this.#parts.shares.reset()
    this.#listener.lost({ reason: this.#problem, wasAlone, base: baseIn(refusal) })
  }

  #fail(error: unknown): void {
    if (this.#isClosed) return
    const failure =
      error instanceof KumoError
        ? error
        : new KumoError('KUMO_STORE_FAILED', `redis: ${messageOf(error)}`, { cause: error })
    this.#listener.failed(failure)
  }

  #pause(ms: number): Promise<void> {
    const { clock } = this.#parts
    return new Promise((resolve) => {
      const timer = clock.wakeAt(clock.now() + ms, () => {
        this.#retryTimers.delete(timer)
        resolve()
      })
      this.#retryTimers.add(timer)
    })
  }
}
