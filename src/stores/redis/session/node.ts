import { KumoError, messageOf } from '../../../errors.js'
import type { Exchange } from '../../../exchange/contract.js'
import type { Ownership } from '../../../partition/contract.js'
import { partitionedTable } from '../../../seen/partitioned.js'
import { type Clock, systemRandom } from '../../../time.js'
import type { CrawlRequest } from '../../../types.js'
import { hostOf } from '../../../url/canonicalize.js'
import { knownAs } from '../../../url/known-as.js'
import type {
  CrawlLimits,
  Membership,
  OwnershipListener,
  StoreCondition,
  StoreContext,
  StoreHealth,
} from '../../contract.js'
import type { RedisClient } from '../client/contract.js'
import { RedisFrontier } from '../parts/frontier.js'
import { RedisState } from '../parts/state.js'
import { writeLine } from '../protocol/lines.js'
import { keyOf, type Settings } from '../settings.js'
import { Balancer, everySecondOf } from './balancer.js'
import { Inbox } from './inbox.js'
import { Journal, MOST_SEEDS } from './journal.js'
import { loadPartitions } from './load.js'
import { patient } from './patient.js'
import { type PlaceOfThread, placeOf, threadsIn } from './places.js'
import type { CrawlStatus, Joined, Loss } from './reply.js'
import { SentLinks } from './sent-links.js'
import { ServerTime } from './server-time.js'
import { Session } from './session.js'
import { RedisWork } from './shared-work.js'
import { Shares } from './shares.js'

/** Stands for all other nodes. Not the number of any node, and not `MINE` of the engine. */
const ELSEWHERE = -2
const REJOIN_MS = 500

const NO_LISTENER: OwnershipListener = {
  gained() {},
  revoked() {},
  suspended() {},
  leaving: () => Promise.resolve(),
  announced: () => Promise.resolve(),
}

/** One node of a crawl: what it owns, and how that comes and goes. */
export class Node implements Membership {
  readonly frontier: RedisFrontier
  readonly seen: ReturnType<typeof partitionedTable>
  readonly state: RedisState
  readonly ownership: Ownership
  readonly exchange: Exchange
  readonly work: RedisWork
  joinedAfter: number | undefined = undefined
  readonly #client: RedisClient
  readonly #clock: Clock
  readonly #context: StoreContext
  readonly #key: string
  readonly #journal = new Journal()
  readonly #shares = new Shares()
  readonly #session: Session
  readonly #inbox: Inbox
  readonly #sentLinks = new SentLinks()
  readonly #time: ServerTime
  readonly #partitionOf: (host: string) => number
  /** Partitions that are here and not about to leave. */
  readonly #owned = new Set<number>()
  /** Partitions that are here, including those that are about to leave. */
  readonly #held = new Set<number>()
  /** Partitions that were here when the server lost commits: nobody else visits their hosts. */
  #hadAlone: ReadonlySet<number> = new Set()
  #version = 1
  #self = 0
  #earlierRuns = 0
  /** In a process with worker threads: what the others must know of this one. */
  readonly #place: PlaceOfThread | undefined
  #listener = NO_LISTENER
  #status: CrawlStatus | undefined = undefined
  /** Evens out the work of nodes; absent if the user does not want that. */
  readonly #balancer: Balancer | undefined
  /** Nodes as of the last status: when one joins, all leave it an equal part. */
  #nodes = 0
  #mustShare = false
  /** URLs that were added while the crawl runs, of which this node has heard. */
  #seeds = 0
  #learning: Promise<void> = Promise.resolve()
  /** Partitions are being claimed, loaded or given up. */
  #isMoving = false
  #isOver = false
  /** A pause was reported, and not yet that it is over. */
  #isPaused = false
  #wake: () => void = () => {}
  #failure: KumoError | undefined = undefined
  #isClosed = false

  constructor(settings: Settings, context: StoreContext, connected: RedisClient) {
    const { clock, partitions } = context
    const client = patient(connected, clock)
    this.#client = client
    this.#clock = clock
    this.#context = context
    this.#place = placeOf(context.shard)
    this.#key = keyOf(settings.crawl)
    this.#partitionOf = (host) => context.partitionOf?.(host) ?? 0
    this.#time = new ServerTime(clock)
    const partitionOf = this.#partitionOf
    const [journal, key, time] = [this.#journal, this.#key, this.#time]
    const random = systemRandom()
    this.#session = new Session(
      {
        ...{ client, key, clock, journal, time, partitions },
        ttlMs: settings.ttlMs,
        commitMs: settings.commitMs,
        shares: this.#shares,
        identity: JSON.stringify(context.identity ?? {}),
        newToken: () => [random.next(), random.next()].map((part) => part.toString(36).slice(2)).join(''),
      },
      {
        status: (status) => this.#heard(status),
        suspended: (message) => this.#suspended(message),
        stalled: (message) => this.#reportPause(message),
        resumed: () => this.#resumed(),
        lost: (loss) => this.#lost(loss),
        failed: (error) => this.#fail(error),
      },
    )
    this.frontier = new RedisFrontier({
      politeness: context.politeness,
      policy: context.policy,
      ...{ journal, time, partitionOf },
      mayVisit: () => this.#session.mayVisit,
    })
    this.seen = partitionedTable(partitionOf)
    this.state = new RedisState({ client, key, journal, partitionOf, flush: () => this.flush() })
    this.#inbox = new Inbox({
      ...{ client, key, journal, time },
      owns: (partition) => this.#owned.has(partition),
      hasRead: (seq) => this.#session.dependOn(seq),
      failed: (error) => this.#fail(error),
      idle: () => this.#wake(),
    })
    this.work = new RedisWork({
      ...{ client, key, journal },
      take: (most) => this.#session.work(most),
      hasRead: (seq) => this.#session.dependOn(seq),
    })
    this.#balancer = settings.balance === false ? undefined : this.#makeBalancer()
    this.ownership = this.#makeOwnership()
    this.exchange = this.#makeExchange()
  }

  async open(): Promise<void> {
    const { partitions, shard } = this.#context
    const dead = this.#place?.read()
    const joined = await this.#session.join(dead)
    const { others, runs, id } = joined
    this.#earlierRuns = dead?.earlierRuns ?? runs - 1
    if (others > 0 || dead !== undefined) {
      this.joinedAfter = this.#earlierRuns
      this.#self = dead?.self ?? Number(id)
    }
    this.#takePlace(joined)
    this.#isMoving = true
    // The other threads of this process are about to join.
    await this.#gain(Math.ceil(partitions / Math.max(others + 1, threadsIn(shard))))
    this.#isMoving = false
    this.#balancer?.start()
  }

  flush(): Promise<void> {
    return this.#session.flush()
  }

  onCommit(write: () => void): void {
    this.#journal.onCommit(write)
  }

  condition(): StoreCondition {
    const message = this.#session.problem
    if (this.#failure !== undefined) return { state: 'paused', message, failure: this.#failure }
    return message === undefined ? OK : { state: 'paused', message }
  }

  announce(urls: readonly string[]): void {
    this.#journal.seeds(urls)
  }

  limit(limits: CrawlLimits): ReturnType<Membership['limit']> {
    this.#shares.limit(limits)
    if (this.#status !== undefined) this.#shares.learn(this.#status, false)
    return { pages: this.#shares.pages, requests: this.#shares.requests }
  }

  onOwnership(listener: OwnershipListener): void {
    this.#listener = listener
  }

  isLeased(request: CrawlRequest): boolean {
    return this.frontier.isLeased(request)
  }

  mayVisit(): boolean {
    return this.#session.isLeaseValid
  }

  health(): StoreHealth {
    const { mayVisit, leaseLeftMs, lastCommitAt, problem } = this.#session
    return {
      isReachable: mayVisit,
      leaseLeftMs,
      lastCommitMs: this.#clock.now() - lastCommitAt,
      partitions: this.#owned.size,
      partitionsOfCrawl: this.#context.partitions,
      nodes: this.#status?.nodes ?? 1,
      left: this.#status?.left ?? 0,
      ...(problem !== undefined && { message: problem }),
    }
  }

  /** Commits, and leaves the partitions to others. */
  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#balancer?.close()
    try {
      await this.#session.leave()
      this.#place?.clear()
    } finally {
      this.#session.abandon()
      this.frontier.close()
      this.seen.close()
    }
  }

  /** Ends without a word, as a crash would. */
  abandon(): void {
    this.#isClosed = true
    this.#balancer?.close()
    this.#session.abandon()
  }

  #makeBalancer(): Balancer {
    const { politeness } = this.#context
    return new Balancer({
      ...{ client: this.#client, key: this.#key, clock: this.#clock, journal: this.#journal },
      frontier: this.frontier,
      delayMs: politeness.delayMs,
      node: () => this.#session.id,
      owns: (partition) => this.#owned.has(partition),
      mayMove: () => this.#mayMove && (this.#status?.nodes ?? 1) > 1,
      give: (partitions, to) => this.#move(() => this.#giveUp(partitions, to)),
    })
  }

  get #mayMove(): boolean {
    return !this.#isMoving && !this.#isClosed && !this.#isOver && this.#listener !== NO_LISTENER
  }

  #makeOwnership(): Ownership {
    const version = () => this.#version
    const self = () => this.#self
    return {
      get version() {
        return version()
      },
      get self() {
        return self()
      },
      ownerOf: (partition) => (this.#owned.has(partition) ? this.#self : ELSEWHERE),
    }
  }

  #makeExchange(): Exchange {
    return {
      send: (_, requests, isForwarded = false) => {
        for (const request of requests) this.#send(request, isForwarded)
      },
      receive: (handler) =>
        this.#inbox.receive(async (requests) => {
          await this.#learning
          await handler(requests)
        }),
      flush() {},
      rest: () => {
        const isIdle = !this.#inbox.isBusy && !this.#isMoving
        this.#session.rest(isIdle)
        return this.#isOver && isIdle
      },
      watch: (wake) => {
        this.#wake = wake
      },
      close() {},
    }
  }

  /** A letter that is forwarded is taken from one inbox in the commit that puts it into another: it must not be dropped. */
  #send(request: CrawlRequest, isForwarded: boolean): void {
    const { attempt, purpose, via, notBefore } = request
    const isPlain = attempt === 0 && purpose === undefined && via === undefined
    if (isPlain && !isForwarded && this.#sentLinks.has(knownAs(request))) return
    const at = notBefore === undefined ? undefined : this.#time.toServer(notBefore)
    // Rules that were fetched for another host belong to that host.
    const host = purpose?.kind === 'rules' ? hostOf(`${purpose.origin}/`) : request.host
    const [partition, line] = [this.#partitionOf(host), writeLine(request, at)]
    this.#journal.mail(partition, line)
    if (request.parent === undefined && purpose === undefined) this.#journal.root(partition, line)
  }

  #heard(status: CrawlStatus): void {
    this.#status = status
    if (status.seeds > this.#seeds && this.#listener !== NO_LISTENER) this.#learnSeeds(status.seeds)
    this.#inbox.notice(status.mail)
    this.work.heard(status)
    if (status.isOver !== this.#isOver) {
      this.#isOver = status.isOver
      if (this.#isOver) this.#wake()
    }
    this.#balance(status)
  }

  /** What others have added belongs to the scope before the first of it arrives. */
  #learnSeeds(count: number): void {
    const missed = count - this.#seeds
    this.#seeds = count
    const learn = async () => {
      const urls: string[] = []
      if (missed <= MOST_SEEDS) {
        const [added] = await this.#client.read([['LRANGE', `${this.#key}:seeds`, 0, -1]])
        // More may have been added meanwhile: a few are then learned twice.
        urls.push(...(added as readonly Buffer[]).slice(-MOST_SEEDS).map(String))
      } else for await (const [, url] of this.state.space('seeds').entries()) urls.push(String(url))
      await this.#listener.announced(urls)
    }
    const untilLearnt = (): Promise<void> =>
      learn().catch(async () => {
        if (this.#isClosed) return
        await this.#pause(REJOIN_MS)
        await untilLearnt()
      })
    this.#learning = this.#learning.then(untilLearnt)
  }

  /**
   * Takes free partitions: those that another node has given to this one, and up to an equal part of the others. When a
   * node joins, every node leaves it what is more than an equal part; after that, the work decides (`Balancer`).
   */
  #balance({ nodes, free }: CrawlStatus): void {
    if (nodes > this.#nodes) this.#mustShare = true
    this.#nodes = nodes
    // Whoever reads what the store has must hear of all that comes later.
    if (!this.#mayMove) return
    const part = Math.ceil(this.#context.partitions / Math.max(1, nodes))
    const more = part - this.#owned.size
    if (free > 0 && (more > 0 || this.#balancer !== undefined))
      this.#move(() => this.#gain(Math.max(0, Math.min(more, free))))
    else if (more < 0 && this.#mustShare) {
      this.#mustShare = false
      const mine = this.frontier.load().filter(({ partition }) => this.#owned.has(partition))
      this.#move(() => this.#giveUp(everySecondOf(mine, -more)))
    } else if (more >= 0) this.#mustShare = false
  }

  #move(moving: () => Promise<void>): void {
    this.#isMoving = true
    moving()
      .catch((error) => this.#fail(error))
      .finally(() => {
        this.#isMoving = false
        this.#wake()
      })
  }

  async #gain(most: number): Promise<void> {
    const { partitions: claimed, waitMs } = await this.#session.claim(most)
    if (claimed.size === 0) return
    const { id } = this.#session
    const claimedAt = this.#clock.now()
    const gained: number[] = []
    for await (const loaded of loadPartitions(this.#client, this.#key, [...claimed.keys()])) {
      // Lost while it was read, perhaps from another server: nothing of it is here.
      if (!(await this.#session.isStillMember()) || this.#session.id !== id) return
      for (const { stored, prints, records } of loaded) {
        const { partition } = stored
        // In one turn: none of its hosts is visited before everybody knows what the records say.
        this.seen.adopt(partition, prints)
        this.state.adopt(partition, records)
        this.#owned.add(partition)
        this.#held.add(partition)
        this.#version++
        this.frontier.adopt(stored, {
          isDirty: claimed.get(partition) === true,
          waitMs: this.#hadAlone.has(partition) ? 0 : Math.max(0, waitMs - (this.#clock.now() - claimedAt)),
        })
        this.#listener.gained([partition])
        gained.push(partition)
      }
    }
    this.#inbox.notice(gained)
    this.frontier.wake()
    this.#wake()
  }

  /** Stops visiting the hosts of some partitions, waits for the visits that have begun, and leaves them to others. */
  async #giveUp(partitions: readonly number[], to?: string): Promise<void> {
    const { id } = this.#session
    for (const partition of partitions) this.#owned.delete(partition)
    this.#version++
    await this.#listener.leaving(partitions)
    if (this.#session.id !== id) return
    await this.frontier.hold(partitions)
    await this.flush()
    if (this.#session.id !== id) return
    this.#listener.revoked(partitions)
    for (const partition of partitions) {
      this.#journal.give(partition, to)
      this.#held.delete(partition)
      this.seen.release(partition)
      this.state.release(partition)
    }
    this.frontier.release()
    this.#inbox.forget(partitions)
    await this.flush()
  }

  #suspended(message: string): void {
    this.#listener.suspended()
    this.#reportPause(message)
  }

  #reportPause(message: string): void {
    this.#isPaused = true
    this.#context.report?.({ kind: 'paused', message: `redis: ${message}` })
  }

  #resumed(): void {
    this.frontier.wake()
    if (!this.#isPaused) return
    this.#isPaused = false
    this.#context.report?.({ kind: 'resumed', message: 'redis: the server answers again' })
  }

  #takePlace({ id, token }: Joined): void {
    this.#place?.write({ id, token, self: this.#self, earlierRuns: this.#earlierRuns })
  }

  /** Others have the partitions, or the server has lost what this node knows: it starts over. */
  #lost({ reason, wasAlone, base }: Loss): void {
    const partitions = [...this.#held]
    this.#hadAlone = new Set(wasAlone ? partitions : [])
    this.#nodes = 0
    this.#held.clear()
    this.#owned.clear()
    this.#version++
    this.#listener.revoked(partitions)
    this.frontier.dropAll()
    for (const partition of partitions) this.seen.release(partition)
    this.state.dropAll()
    this.#inbox.forget()
    this.#sentLinks.clear()
    this.work.reset()
    this.#journal.discard(base)
    this.#reportPause(reason)
    void this.#rejoin()
  }

  async #rejoin(): Promise<void> {
    while (!this.#isClosed) {
      try {
        this.#takePlace(await this.#session.join())
        this.#wake()
        return
      } catch (error) {
        if (this.#isClosed) return
        if (error instanceof KumoError) {
          this.#fail(error)
          return
        }
        await this.#pause(REJOIN_MS)
      }
    }
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => void this.#clock.wakeAt(this.#clock.now() + ms, resolve))
  }

  #fail(error: unknown): void {
    if (this.#isClosed) return
    this.#failure ??=
      error instanceof KumoError
        ? error
        : new KumoError('KUMO_STORE_FAILED', `redis: ${messageOf(error)}`, { cause: error })
    this.#journal.fail(this.#failure)
    this.#wake()
  }
}

const OK: StoreCondition = Object.freeze({ state: 'ok' })
