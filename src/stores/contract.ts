import type { Exchange } from '../exchange/contract.js'
import type { Frontier, Politeness, SelectionPolicy, SharedDocument } from '../frontier/contract.js'
import type { Ownership } from '../partition/contract.js'
import type { SeenStore } from '../seen/contract.js'
import type { Clock } from '../time.js'
import type { CrawlRequest, MaybePromise } from '../types.js'

/**
 * A bundle of adapters that share one database: `.store(memory())`.
 *
 * A `Store` is a description and holds no resources; `open` creates the parts for one run. Invariant: after `close` of
 * the opened store no handle remains, whether or not its parts were closed one by one.
 *
 * A *durable* store outlives the process. It must also guarantee:
 * - After a crash it holds the state of some recent moment, and that state is consistent: a settlement, the links it
 *   found and its host's clock are stored together or not at all.
 * - After a crash or a close, a URL counts as seen only if the frontier has, or once had, its request (`knownAs`
 *   returns the name under which a request is seen). A URL that is seen but was never pending would be lost.
 * - A request that was leased at the time of the crash is pending again.
 */
export interface Store {
  /** Used in messages: `memory`, `level`. */
  readonly name: string
  open(context: StoreContext): MaybePromise<OpenStore>
  /** Options that do not work with this store: why, and what to do instead. */
  readonly unsupported?: { readonly workers?: string; readonly refresh?: string } | undefined
  /**
   * Called once, before the shards open the store, each in its own thread. Absent: shards share nothing, and each opens
   * a store of its own.
   */
  share?(context: StoreContext, shards: number): MaybePromise<SharedStore>
}

export interface OpenStore {
  readonly frontier: Frontier
  readonly seen: SeenStore
  /** Small records of hooks and of the crawl itself. Absent: they are kept in memory for the duration of the run. */
  readonly state?: StateStore
  /** Resolves once everything done so far would survive a crash. Absent: the store is not durable. */
  flush?(): MaybePromise<void>
  /** Registers a function to call before each commit. What it puts into `state` becomes part of that commit. */
  onCommit?(write: () => void): void
  /**
   * Registers the function that each commit waits for before it is written. It is called when the content of the commit
   * is fixed; what changes while it runs belongs to the next one. If it throws, that commit is not written, nor any later
   * one, and the store has failed with that error. Absent in a durable store: the engine waits before each settlement
   * instead, which is slower.
   */
  beforeCommit?(prepare: () => MaybePromise<void>): void
  /** Store health. Absent: always `ok`. */
  condition?(): StoreCondition
  /** Present in a store that can release partitions to another shard and adopt them. */
  readonly handover?: Handover
  /** Where batches in transit to other shards survive a crash. Absent: the store is not durable. */
  readonly outbox?: Outbox
  /** As in `SharedStore`, for a crawl that used to have shards and now has none. */
  leftovers?(): AsyncIterable<Leftover>
  dropLeftover?(id: string): void
  /** Present in a store that several processes share, each with its own part of the crawl. */
  readonly membership?: Membership | undefined
  close(): MaybePromise<void>
}

/**
 * One process among several that share a crawl, or one worker thread of it. The store gains and loses partitions by itself.
 *
 * Invariants:
 * - At any time, at most one process leases requests of a partition, or has visits to its hosts in flight.
 * - A request whose partition belongs to another process is added to the store all the same, by `Frontier.add`, as
 *   `found` or through `exchange`: the store passes it on. None is lost if a process dies.
 * - `exchange.rest()` returns true only if nothing is left to do in any process.
 */
export interface Membership {
  /** Which partitions this process has. Its version changes when one comes or goes. */
  readonly ownership: Ownership
  /** Leads to the other processes, whatever shard is named. */
  readonly exchange: Exchange
  /** Runs of the crawl before this one, if others were at work when this process joined. Undefined: it was the first. */
  readonly joinedAfter: number | undefined
  /** URLs that the program has added here. All processes hear of them, because they define the scope of the crawl. */
  announce(urls: readonly string[]): void
  /** Sets the limits of the whole crawl. Called once, before the first visit. */
  limit(limits: CrawlLimits): { readonly pages: SharedLimit; readonly requests: SharedLimit }
  /** Sets the listener. There is one. */
  onOwnership(listener: OwnershipListener): void
  /** Whether the request is leased. False after its partition was revoked: its settlement would have no effect. */
  isLeased(request: CrawlRequest): boolean
  /**
   * Whether hosts of this process may be visited at this moment. By the clock, not by what the store has reported: a
   * process that was stopped goes on before any timer fires.
   */
  mayVisit(): boolean
  health(): StoreHealth
  /** Documents for hooks, which busy processes leave to idle ones. Absent: the store cannot share them. */
  readonly work?: SharedWork | undefined
}

/**
 * Documents for hooks of all processes.
 *
 * Invariants:
 * - A document is added by the settlement of its page (`Settlement.documents`) and counts as something left until it is
 *   done: the crawl is not over before.
 * - It is taken by one process at a time. If that one dies or leaves before the document is done, another one takes it.
 */
export interface SharedWork {
  /** Bytes that this process may add now, without what it has reserved; 0 if there is no other process. */
  readonly room: number
  /** Documents that nobody has taken yet. */
  readonly waiting: number
  /** Whether there is a document, taken or not, that is not done. */
  readonly isLeft: boolean
  /** Reserves room for a document until its settlement. */
  reserve(bytes: number): void
  /** The document will not be settled. */
  release(bytes: number): void
  /** Takes documents that wait, at most so many. */
  take(most: number): Promise<readonly TakenDocument[]>
  /** What hooks made of it is durable. */
  done(document: TakenDocument): void
  /** Sets the callback for when one of these properties may have changed. */
  watch(onChange: () => void): void
}

export interface TakenDocument extends SharedDocument {
  readonly id: string
}

/** What the engine does when partitions come and go. */
export interface OwnershipListener {
  /** They are here, with their requests and records. */
  gained(partitions: readonly number[]): void
  /**
   * They may belong to another process already. Visits to their hosts in flight must be aborted at once, and nothing of
   * them is settled. Records of their hosts can be read for the last time.
   */
  revoked(partitions: readonly number[]): void
  /** URLs that a process has announced. Requests that it sends arrive only after this has resolved. */
  announced(urls: readonly string[]): Promise<void>
  /** No host may be visited for now. Visits in flight must be aborted at once, and are settled as usual. */
  suspended(): void
  /**
   * They are about to move to another process; nothing of them is leased any more. Resolves when every request that was
   * being added to them is in the store.
   */
  leaving(partitions: readonly number[]): Promise<void>
}

/** Limits of the whole crawl; Infinity for none. */
export interface CrawlLimits {
  /** Pages delivered. */
  readonly pages: number
  /** Requests sent. */
  readonly requests: number
  /** Bytes received. */
  readonly bytes: number
}

/** One limit, shared by all processes: each visit claims a share before it starts. See `Budget`. */
export interface SharedLimit {
  claim(visits: number): number
  release(visits: number): void
  spend(count: number, bytes: number): void
  readonly isUsedUp: boolean
  readonly isSettling: boolean
  watch(onChange: () => void, earlier: number): void
}

/** How a process that shares a crawl is doing. */
export interface StoreHealth {
  /** Whether hosts may be visited: the server answers, and the lease is valid. */
  readonly isReachable: boolean
  /** Milliseconds until the lease ends, unless it is renewed before. */
  readonly leaseLeftMs: number
  /** Milliseconds since the last commit. */
  readonly lastCommitMs: number
  /** Partitions that this process has, and those of the crawl. */
  readonly partitions: number
  readonly partitionsOfCrawl: number
  /** Processes that share the crawl. Each worker thread counts as one. */
  readonly nodes: number
  /** Requests left in the whole crawl, as of the last commit. */
  readonly left: number
  /** What is wrong, and what to do about it. */
  readonly message?: string | undefined
}

/**
 * Moves partitions from one shard to another. Invariant: a partition takes along its hosts with their clocks, their
 * requests, their seen URLs and their records; nothing is duplicated and nothing is lost.
 */
export interface Handover {
  /**
   * Stops leasing from these partitions, waits until everything leased is settled, and resolves with all their data in
   * a form that can be posted to another thread. After that this store no longer knows the partitions. Requests added
   * to them before that moment are included. `left` is called at that moment, synchronously, so that the caller stops
   * adding. Calls do not overlap.
   */
  release(partitions: readonly number[], left?: () => void): Promise<StoreSnapshot>
  /** Takes over partitions from a snapshot that `release` of a store of the same kind returned. */
  adopt(snapshot: StoreSnapshot): MaybePromise<void>
  /** The current work of each partition, used for balancing. */
  load(): readonly PartitionLoad[]
}

/** Plain data. Instants refer to the crawl's clock, which all threads share. */
export interface StoreSnapshot {
  readonly partitions: readonly number[]
}

/** The work of a partition. Requests scheduled for later (`again.at`) do not count until they are due. */
export interface PartitionLoad {
  readonly partition: number
  /** Requests that are waiting and due. */
  readonly pending: number
  /** Hosts with such requests. */
  readonly hosts: number
  /**
   * The largest number of due requests of a single host. Politeness limits how fast one host's queue can be worked off.
   */
  readonly longest: number
  /** Visits per second that the refresh schedule requires. A store does not know this and leaves it out. */
  readonly scheduled?: number | undefined
}

/**
 * Batches that were sent to other shards and that their receivers have not committed yet. A batch is stored in the same
 * commit as every change made before it was put, so that a page is never settled without the links found on it.
 */
export interface Outbox {
  /** Greater than the number of any batch in the outbox. */
  readonly firstBatch: number
  put(batch: number, text: string): void
  /** The receiver has stored it durably. */
  remove(batch: number): void
  /** Calls back once every change made so far would survive a crash. */
  whenDurable(then: () => void): void
}

/** `busy`: it writes more slowly than the crawl produces, so the crawl waits. `paused`: it cannot write at all. */
export interface StoreCondition {
  readonly state: 'ok' | 'busy' | 'paused'
  /** What is wrong, and what to do about it. */
  readonly message?: string | undefined
  /** Present: the store cannot recover, and the crawl ends with this error. */
  readonly failure?: Error | undefined
}

/**
 * Reported when the health of a store changes. `paused`: it cannot write (disk full, device error); no new visits start
 * while it retries. `resumed`: it can write again. `repaired`: the stored crawl was damaged and could be repaired; the
 * message says what was lost.
 */
export interface StoreEvent {
  readonly kind: 'paused' | 'resumed' | 'repaired'
  readonly message: string
  readonly cause?: unknown
}

/** Records by namespace. */
export interface StateStore {
  space(name: string): StateSpace
}

/**
 * Small named records that a hook keeps across runs. Values are anything JSON can represent. A record that belongs to a
 * host is stored with that host and follows it when its partition moves.
 */
export interface StateSpace {
  get(key: string, host?: string): MaybePromise<unknown>
  /**
   * Visible to `get` immediately; survives a crash from the next commit on, together with everything done before it.
   */
  put(key: string, value: unknown, host?: string): void
  delete(key: string, host?: string): void
  /** All records of this namespace, in no particular order. */
  entries(): AsyncIterable<readonly [key: string, value: unknown]>
  /**
   * The records that hosts of these partitions have now. Present in a store whose partitions come and go by themselves; it
   * answers at once, also within `gained` and `revoked`.
   */
  ofPartitions?(partitions: readonly number[]): Iterable<readonly [key: string, value: unknown]>
}

/** What a store needs to know about the crawl that opens it. */
export interface StoreContext {
  readonly politeness: Politeness
  readonly policy: SelectionPolicy
  readonly clock: Clock
  /** Number of partitions of the crawl, for stores that keep them separate. */
  readonly partitions: number
  /** The partition of a host. Absent: there is only one. */
  partitionOf?(host: string): number
  /**
   * Options that give the stored data its meaning, by name. A durable store refuses to open data created with different
   * values.
   */
  readonly identity?: Readonly<Record<string, string>> | undefined
  /** True: the crawl keeps secrets such as cookies, so that nobody but the owner may read what is stored. */
  readonly isPrivate?: boolean | undefined
  /** Receives changes of the store's health. */
  report?(event: StoreEvent): void
  /** Present: the crawl is split among several shards, and this store belongs to one of them. */
  readonly shard?: ShardContext | undefined
}

/** What a shard's store needs to know about its shard. */
export interface ShardContext {
  readonly index: number
  /** The partitions that it owns from the start. */
  readonly partitions: readonly number[]
  /** True: it replaces a shard that crashed. Which hosts that one visited last, and when, is unknown. */
  readonly replaces: boolean
  /** What `Store.share` returned for the shards. */
  readonly shared?: unknown
}

/** A store shared by shards, as seen by the thread that starts and stops them. It opens first and closes last. */
export interface SharedStore {
  /** Passed on as `ShardContext.shared`; can be posted to another thread. */
  readonly shared?: unknown
  /** Records of hooks that run on this thread, and those that the shards of the last run left. */
  readonly state?: StateStore
  /**
   * True: each shard joins the crawl as a process of its own would (`OpenStore.membership`). The store moves partitions
   * and requests between shards as it does between processes.
   */
  readonly hasMembers?: boolean | undefined
  /** Resolves once everything put into `state` so far would survive a crash. */
  flush?(): MaybePromise<void>
  /**
   * Batches that were sent by an earlier run (or, with `shard`, by a shard that crashed) and that no receiver stored;
   * in order.
   */
  leftovers?(shard?: number): AsyncIterable<Leftover>
  /** Their requests have reached their owners and are stored there. */
  dropLeftover?(id: string): void
  /** A shard's thread is about to be terminated. Resolves once that is safe for the store. */
  terminating?(shard: number): MaybePromise<void>
  /** A shard's thread has exited, for whatever reason. The store no longer waits for it. */
  exited?(shard: number): void
  /** Called after the threads of all shards have exited. */
  close(): MaybePromise<void>
}

/** A batch that outlived its sender. */
export interface Leftover {
  readonly id: string
  readonly text: string
}
