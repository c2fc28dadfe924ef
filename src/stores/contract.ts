import type { Frontier, Politeness, SelectionPolicy } from '../frontier/contract.js'
import type { SeenStore } from '../seen/contract.js'
import type { Clock } from '../time.js'
import type { MaybePromise } from '../types.js'

/**
 * The roof for adapters that keep several contracts in one place: `.store(memory())`.
 *
 * A `Store` is a description and holds nothing; `open` makes the parts for one run. What must stay true: after
 * `close` of the opened store, no handle remains, whether or not the parts were closed one by one.
 *
 * A *durable* store outlives the process. What must stay true of it besides:
 * - After a crash it holds what it held at some moment before, and that moment is not long ago. Nothing is half there:
 *   a settlement, what it found and its host's clock are kept together or not at all.
 * - A name counts as known to the seen-set after a crash, or a close, only if the frontier has, or had, the request of it
 *   (`knownAs` tells the name of a request): a URL that is known and not pending would be lost.
 * - A request that was leased when it crashed is pending.
 */
export interface Store {
  /** For messages: `memory`, `level`. */
  readonly name: string
  open(context: StoreContext): MaybePromise<OpenStore>
  /**
   * Called once, before shards open the store, each in a thread of its own. Absent: shards have nothing in common, and
   * each opens its own.
   */
  share?(context: StoreContext, shards: number): MaybePromise<SharedStore>
}

export interface OpenStore {
  readonly frontier: Frontier
  readonly seen: SeenStore
  /** Small facts of hooks and of the crawl itself. Absent: they live in memory, as long as the run. */
  readonly state?: StateStore
  /** Resolves once all that was done so far would survive a crash. Absent: nothing would. */
  flush?(): MaybePromise<void>
  /** Called before each commit: what is put into `state` then goes in with it. */
  onCommit?(write: () => void): void
  /** How it fares. Absent: always well. */
  condition?(): StoreCondition
  /** Present in a store that can give partitions to another shard, and take them. */
  readonly handover?: Handover
  /** Where batches on their way to other shards outlive a crash. Absent: nothing of this store does. */
  readonly outbox?: Outbox
  /** As in `SharedStore`, for a crawl that has no shards any more. */
  leftovers?(): AsyncIterable<Leftover>
  dropLeftover?(id: string): void
  close(): MaybePromise<void>
}

/**
 * How partitions move from the shard that had them to another. What must stay true: with a partition go its hosts with
 * their clocks, their requests, what is known of them and the facts that belong to them; nothing is there twice and
 * nothing is lost.
 */
export interface Handover {
  /**
   * From this call on nothing of these partitions is leased. Once what was leased is settled, it resolves with all that
   * belongs to them, as data that can be posted to another thread; from then on this store knows nothing of them.
   * Requests of theirs that are added before it lets go of them go along; at that moment it calls `left`, so that nobody
   * adds any more. Calls do not overlap.
   */
  release(partitions: readonly number[], left?: () => void): Promise<StoreSnapshot>
  /** Takes partitions in, as `give` of a store of the same kind made them. */
  adopt(what: StoreSnapshot): MaybePromise<void>
  /** What its partitions have to do now: for balancing. */
  load(): readonly PartitionLoad[]
}

/** Plain data; instants in it are of the crawl's clock, which all threads share. */
export interface StoreSnapshot {
  readonly partitions: readonly number[]
}

/** The work that a partition holds: requests that are to be handed out later (`again.at`) are none yet. */
export interface PartitionLoad {
  readonly partition: number
  /** Requests that wait and are due. */
  readonly pending: number
  /** Hosts with such requests. */
  readonly hosts: number
  /** Those of the host that has most: politeness lets only one host's worth be done at a time. */
  readonly longest: number
  /** Visits a second that the schedule of known pages asks for. Not the store's to know: it leaves this out. */
  readonly scheduled?: number | undefined
}

/**
 * Batches that were sent to other shards and whose receivers have not committed them yet. A batch is kept in one commit
 * with all that was changed before it was put, so that a page is never settled without the links it led to.
 */
export interface Outbox {
  /** Larger than the number of any batch that it holds. */
  readonly firstBatch: number
  put(batch: number, text: string): void
  /** Its receiver has it for good. */
  remove(batch: number): void
  /** Calls back once all that was changed so far would survive a crash. */
  whenKept(then: () => void): void
}

/** `busy`: it takes in more slowly than the crawl brings, which therefore waits. `paused`: it cannot write at all. */
export interface StoreCondition {
  readonly state: 'ok' | 'busy' | 'paused'
  /** What is the matter, and what to do. */
  readonly message?: string | undefined
  /** Present: it will never write again, and the crawl ends with this error. */
  readonly failure?: Error | undefined
}

/**
 * Told when a store changes its condition. `paused`: it cannot write (a full disk, an error of the device); no new
 * visits start, and it tries again. `resumed`: it can again. `repaired`: what was found at the start was damaged and
 * could be mended; the message says what was lost.
 */
export interface StoreEvent {
  readonly kind: 'paused' | 'resumed' | 'repaired'
  readonly message: string
  readonly cause?: unknown
}

/** Facts by name space. */
export interface StateStore {
  space(name: string): StateSpace
}

/**
 * Small facts under names, for a hook to remember across runs. Values are what JSON can hold. Facts that belong to a
 * host are given with it and stay with the host, wherever its partition goes.
 */
export interface StateSpace {
  get(key: string, host?: string): MaybePromise<unknown>
  /** Known to `get` at once; survives a crash from the next commit on, with all else that was done before that. */
  put(key: string, value: unknown, host?: string): void
  delete(key: string, host?: string): void
  /** All facts of this space, in no order that can be relied on. */
  entries(): AsyncIterable<readonly [key: string, value: unknown]>
}

/** What a store may need to know of the crawl that opens it. */
export interface StoreContext {
  readonly politeness: Politeness
  readonly policy: SelectionPolicy
  readonly clock: Clock
  /** Number of partitions of the crawl, for stores that keep them apart. */
  readonly partitions: number
  /** The partition of a host. Absent: there is one. */
  partitionOf?(host: string): number
  /** Options that give stored data its meaning, by name. A durable store refuses to open what was made with others. */
  readonly identity?: Readonly<Record<string, string>> | undefined
  /** Whom to tell of trouble. */
  report?(event: StoreEvent): void
  /** Present: several shards share the crawl, and this is one of them. */
  readonly shard?: ShardContext | undefined
}

/** What a shard's store must know of its place. */
export interface ShardContext {
  readonly index: number
  /** The partitions that are its own from the start. */
  readonly partitions: readonly number[]
  /** True: it takes the place of a shard that died. What it last visited, and when, nobody knows. */
  readonly replaces: boolean
  /** What `Store.share` made for the shards. */
  readonly shared?: unknown
}

/**
 * A store that shards share, as the one thread sees it that starts and ends them: it opens first and closes last.
 */
export interface SharedStore {
  /** For `ShardContext.shared`: can be posted to another thread. */
  readonly shared?: unknown
  /** Facts of hooks that run on this thread, and those that shards left behind when the last run ended. */
  readonly state?: StateStore
  /** Resolves once all that was put into `state` so far would survive a crash. */
  flush?(): MaybePromise<void>
  /** Batches that an earlier run, or with `lane` a shard that died, had sent and nobody had taken for good; in order. */
  leftovers?(lane?: number): AsyncIterable<Leftover>
  /** Their requests are where they belong, and kept there. */
  dropLeftover?(id: string): void
  /** A shard's thread is to be ended by force: resolves when it can be ended without harm to the store. */
  ending?(shard: number): MaybePromise<void>
  /** A shard's thread is dead, however it ended: the store waits for it no more. */
  ended?(shard: number): void
  /** After all shards' threads are dead. */
  close(): MaybePromise<void>
}

/** A batch that outlived its sender. */
export interface Leftover {
  readonly id: string
  readonly text: string
}
