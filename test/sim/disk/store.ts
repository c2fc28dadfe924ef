/** The store of a simulated shard that outlives its thread: the memory store, whose changes go to a `SimDisk`. */

import type { Frontier, Settlement } from '../../../src/frontier/contract.js'
import type {
  Handover,
  OpenStore,
  SharedStore,
  StateStore,
  StoreContext,
  StoreSnapshot,
} from '../../../src/stores/contract.js'
import { memoryShard } from '../../../src/stores/memory-shard.js'
import type { Random } from '../../../src/time.js'
import type { CrawlRequest } from '../../../src/types.js'
import type { SimThread } from '../threads/sim-thread.js'
import type { Change, SimDisk } from './disk.js'
import { DiskLog } from './log.js'

export interface DiskPace {
  readonly random: Random
  /** What is changed is written after so long. */
  readonly commitMs: number
  /** The most that a write, or an answer, takes. 0: answers come at once. */
  readonly slowMs: number
}

/** What goes along with partitions and is not on disk. */
interface Moved extends StoreSnapshot {
  readonly frontier: { readonly asked: unknown; readonly resting: unknown }
}

export function diskStore(
  disk: SimDisk,
  thread: SimThread,
  context: StoreContext,
  { random, commitMs, slowMs }: DiskPace,
): OpenStore {
  const shard = context.shard!
  const { delayMs } = context.politeness
  const inner = memoryShard(context, { ...shard, replaces: shard.replaces || disk.wasCut })
  const { handover } = inner as Required<OpenStore>
  const log = new DiskLog(disk, thread, commitMs, () => random.next() * slowMs)
  const lag = <T>(value: T): T | Promise<T> =>
    slowMs === 0 || random.next() < 0.5 ? value : thread.sleep(random.next() * slowMs).then(() => value)
  disk.open()
  handover.adopt(disk.read(shard.partitions, delayMs))
  for (const space of disk.spaces) {
    for (const [key, fact] of disk.facts(space)) inner.state!.space(space).put(key, JSON.parse(fact))
  }
  return {
    frontier: recordingFrontier(inner.frontier, log, lag),
    seen: {
      addAll: (names) => lag(inner.seen.addAll(names) as boolean[]),
      get size() {
        return inner.seen.size
      },
      close: () => inner.seen.close(),
    },
    state: recordingState(inner.state!, log),
    onCommit: (write) => log.beforeCommit(write),
    flush: () => log.flush(),
    outbox: {
      firstBatch: disk.writer(thread.shard).nextBatch,
      put: (batch, text) => log.record({ kind: 'outbox', batch, text }),
      remove: (batch) => log.record({ kind: 'outbox', batch, text: undefined }),
      whenDurable: (then) => log.whenDurable(then),
    },
    handover: diskHandover(handover, disk, delayMs, log, async () => {
      if (slowMs > 0) await thread.sleep(random.next() * slowMs)
    }),
    async close() {
      await log.close()
      if (thread.isAlive) disk.close()
      await inner.close()
    },
  }
}

function recordingFrontier(inner: Frontier, log: DiskLog, lag: <T>(value: T) => T | Promise<T>): Frontier {
  return {
    add(requests) {
      inner.add(requests)
      log.record(...requests.map((request) => ({ kind: 'add' as const, request: plain(request) })))
      return lag(undefined)
    },
    lease: (max, now) => lag(inner.lease(max, now) as readonly CrawlRequest[]),
    settle(settlements) {
      inner.settle(settlements)
      log.record(
        ...settlements.map((settlement) => ({ kind: 'settle' as const, settlement: plainly(settlement) })),
      )
      return lag(undefined)
    },
    nextDue: () => inner.nextDue(),
    watch: (rouse) => inner.watch!(rouse),
    get pending() {
      return inner.pending
    },
    get leased() {
      return inner.leased
    },
    get hosts() {
      return inner.hosts
    },
    close: () => inner.close(),
  }
}

/** Who gives has everything written and forgets; who takes reads it. */
function diskHandover(
  inner: Handover,
  disk: SimDisk,
  delayMs: number,
  log: DiskLog,
  pause: () => Promise<void>,
): Handover {
  return {
    async release(partitions, left) {
      const moved = (await inner.release(partitions, () => {
        log.commitNow()
        left?.()
      })) as Moved
      const { asked, resting } = moved.frontier
      return { partitions, frontier: { asked, resting } } as Moved
    },
    async adopt(what) {
      await pause()
      const stored = disk.read(what.partitions, delayMs)
      const { frontier } = what as Moved
      await inner.adopt({ ...stored, frontier: { ...stored.frontier, ...frontier } } as StoreSnapshot)
    },
    load: () => inner.load(),
  }
}

function recordingState(inner: StateStore, log: DiskLog): StateStore {
  return {
    space(space) {
      const facts = inner.space(space)
      return {
        get: (key, host) => facts.get(key, host),
        entries: () => facts.entries(),
        put(key, value, host) {
          facts.put(key, value, host)
          log.record({ kind: 'fact', space, key, host, value: JSON.stringify(value ?? null) })
        },
        delete(key, host) {
          facts.delete(key, host)
          log.record({ kind: 'fact', space, key, host, value: undefined })
        },
      }
    },
  }
}

/** The same as the thread sees it that starts the others. */
export function sharedDisk(disk: SimDisk): SharedStore {
  disk.begin()
  const write = (change: Change) => disk.commit(MAIN, [change])
  return {
    state: {
      space: (space) => ({
        get(key) {
          const fact = disk.facts(space).get(key)
          return fact === undefined ? undefined : JSON.parse(fact)
        },
        put: (key, value, host) =>
          write({ kind: 'fact', space, key, host, value: JSON.stringify(value ?? null) }),
        delete: (key, host) => write({ kind: 'fact', space, key, host, value: undefined }),
        async *entries() {
          for (const [key, fact] of [...disk.facts(space)]) yield [key, JSON.parse(fact)] as const
        },
      }),
    },
    leftovers(writer) {
      const writers = writer === undefined ? disk.writers : [writer]
      const left = writers.flatMap((each) =>
        [...disk.writer(each).outbox.keys()].map((batch) => [each, batch] as const),
      )
      return (async function* () {
        for (const [each, batch] of left) {
          const text = disk.writer(each).outbox.get(batch)
          if (text !== undefined) yield { id: `${each} ${batch}`, text }
        }
      })()
    },
    dropLeftover(id) {
      const [writer, batch] = id.split(' ').map(Number) as [number, number]
      disk.commit(writer, [{ kind: 'outbox', batch, text: undefined }])
    },
    close: () => {},
  }
}

/** The writer of the thread that starts the others. */
const MAIN = -1

/** A leased request is an object of the frontier's own. */
function plain(request: CrawlRequest): CrawlRequest {
  const { url, host, depth, priority, attempt, redirects, parent, purpose, via, hint, revisit } = request
  return { url, host, depth, priority, attempt, redirects, parent, purpose, via, hint, revisit }
}

function plainly(settlement: Settlement): Settlement {
  return { ...settlement, request: plain(settlement.request), found: settlement.found?.map(plain) }
}
