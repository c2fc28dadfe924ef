import { describe, expect, it } from 'vitest'
import { handoverSuite } from '../../src/conformance/handover/handover.js'
import type { Frontier } from '../../src/frontier/contract.js'
import type { MovedPartitions } from '../../src/frontier/shard.js'
import type { Handover, OpenStore, Store, StoreContext, StoreSnapshot } from '../../src/stores/contract.js'
import { memory } from '../../src/stores/memory.js'
import type { MovedRecords } from '../../src/stores/memory-state.js'
import type { CrawlRequest } from '../../src/types.js'
import { failuresOf, isNoticed } from './collect.js'

type Opened = OpenStore & { handover: Handover; state: NonNullable<OpenStore['state']> }
type Changes = { frontier?: Partial<Frontier>; handover?: Partial<Handover>; seen?: OpenStore['seen'] }

/** What the memory store hands over. */
interface Moved extends StoreSnapshot {
  frontier: MovedPartitions
  seen: Uint32Array[]
  records: MovedRecords
}

/** Changes a sound store; what is not changed goes on to it. */
function mutant(change: (opened: Opened, context: StoreContext) => Changes): () => Store {
  return () => ({
    name: 'mutant',
    async open(context) {
      const opened = (await memory().open(context)) as Opened
      const { frontier, handover, seen } = change(opened, context)
      return {
        ...opened,
        ...(seen && { seen }),
        frontier: frontier === undefined ? opened.frontier : changed(opened.frontier, frontier),
        handover: { ...opened.handover, ...handover },
      }
    },
  })
}

function changed(inner: Frontier, changes: Partial<Frontier>): Frontier {
  return new Proxy(inner, {
    get(target, name) {
      const value = Reflect.get(name in changes ? changes : target, name)
      return typeof value === 'function' ? value.bind(name in changes ? changes : target) : value
    },
  })
}

/** What is handed over is changed on its way. */
function garbled(change: (moved: Moved) => Partial<Moved>): () => Store {
  return mutant(({ handover }) => ({
    handover: {
      async release(partitions, left) {
        const moved = (await handover.release(partitions, left)) as Moved
        return { ...moved, ...change(moved) }
      },
    },
  }))
}

const garbledFrontier = (change: (moved: MovedPartitions) => Partial<MovedPartitions>) =>
  garbled(({ frontier }) => ({ frontier: { ...frontier, ...change(frontier) } }))

/** Changes one number of each host's clock, as src/frontier/moved-hosts.ts orders them. */
function garbledClock(
  change: (clock: { notBefore: number; delayMs: number; incidents: number; resting: number[] }) => void,
) {
  return garbledFrontier(({ names, clocks }) => {
    const out: number[] = []
    let at = 0
    for (const _ of names) {
      const [notBefore, delayMs, incidents, since, requests, pauses] = [...clocks.subarray(at, at + 6)] as [
        number,
        number,
        number,
        number,
        number,
        number,
      ]
      const clock = { notBefore, delayMs, incidents, resting: [...clocks.subarray(at + 6, at + 6 + pauses)] }
      at += 6 + pauses
      change(clock)
      const { resting } = clock
      out.push(clock.notBefore, clock.delayMs, clock.incidents, since, requests, resting.length, ...resting)
    }
    return { clocks: new Float64Array(out) }
  })
}

/** Changes one column of the requests' numbers. */
const garbledNumber = (column: number, change: (value: number) => number) =>
  garbledFrontier(({ numbers }) => ({
    numbers: numbers.map((value, i) => (i % 6 === column ? change(value) : value)),
  }))

interface Leaving {
  readonly isGiving: boolean
  isLeaving(host: string): boolean
}

/** Something is different while partitions are about to leave. */
function whileGiving(change: (inner: Frontier, leaving: Leaving) => Partial<Frontier>): () => Store {
  return mutant(({ frontier, handover }, { partitionOf }) => {
    let leaving: readonly number[] | undefined
    const look: Leaving = {
      get isGiving() {
        return leaving !== undefined
      },
      isLeaving: (host) => leaving?.includes(partitionOf!(host)) === true,
    }
    return {
      frontier: change(frontier, look),
      handover: {
        async release(partitions, left) {
          leaving = partitions
          const moved = await handover.release(partitions, left)
          leaving = undefined
          return moved
        },
      },
    }
  })
}

/** Calls the store's own `give` with something done before or after. */
const giving = (
  change: (handover: Handover, ...given: Parameters<Handover['release']>) => Promise<StoreSnapshot>,
) =>
  mutant(({ handover }) => ({
    handover: { release: (partitions, left) => change(handover, partitions, left) },
  }))

/** A part of what was given stays here as well. */
const keeping = (part: (moved: Moved) => Moved) =>
  giving(async (handover, partitions, left) => {
    const moved = (await handover.release(partitions, left)) as Moved
    await handover.adopt(structuredClone(part(moved)))
    return moved
  })

const noHosts = ({ frontier }: Moved) => ({ ...frontier, names: [], asked: [], resting: [] })
const noNames = ({ seen }: Moved) => seen.map(() => new Uint32Array())
const later = () => new Promise<void>((resolve) => setImmediate(resolve))

const MUTANTS: Record<string, () => Store> = {
  'has no handover': () => ({ name: 'mutant', open: ({ shard: _, ...context }) => memory().open(context) }),
  'loses the hosts': garbledFrontier(() => ({ names: [] })),
  'loses the last host': garbledFrontier(({ names }) => ({ names: names.slice(0, -1) })),
  'gives all partitions, whatever it is asked for': giving(async (handover, partitions, left) => {
    const others = Array.from({ length: 12 }, (_, i) => i).filter((each) => !partitions.includes(each))
    const moved = (await handover.release([...partitions, ...others], left)) as Moved
    return { ...moved, partitions }
  }),
  'gives only the first of several partitions': giving(async (handover, partitions, left) => {
    const moved = (await handover.release(partitions.slice(0, 1), left)) as Moved
    const seen = partitions.map((_, i) => moved.seen[i] ?? new Uint32Array())
    return { ...moved, partitions, seen } as Moved
  }),
  'names other partitions than it gives': garbled(({ partitions }) => ({ partitions: partitions.slice(1) })),
  'keeps what it gives': keeping((moved) => moved),
  'keeps the hosts that it gives': keeping((moved) => ({ ...moved, seen: noNames(moved), records: [] })),
  'takes twice what it is given': mutant(({ handover }) => ({
    handover: {
      adopt(what) {
        handover.adopt(what)
        handover.adopt(what)
      },
    },
  })),
  'takes it in a moment later': mutant(({ handover }) => ({
    handover: {
      adopt(what) {
        void later()
          .then(() => handover.adopt(what))
          // The store may be closed by then.
          .catch(() => {})
      },
    },
  })),
  'takes a partition in only once': mutant(({ handover }) => {
    const gone = new Set<number>()
    return {
      handover: {
        release(partitions, left) {
          for (const partition of partitions) gone.add(partition)
          return handover.release(partitions, left)
        },
        adopt: (what) => (what.partitions.some((each) => gone.has(each)) ? undefined : handover.adopt(what)),
      },
    }
  }),
  'hands over what cannot be posted': garbled((moved) => ({ ...moved, close: () => {} })),
  'turns requests round': garbledFrontier(({ urls, numbers, parents, rare }) => ({
    urls: urls.toReversed(),
    numbers,
    parents,
    rare,
  })),
  'forgets depths': garbledNumber(0, () => 0),
  'forgets priorities': garbledNumber(1, () => 0),
  'forgets attempts': garbledNumber(2, () => 0),
  'forgets redirects': garbledNumber(3, () => 0),
  'forgets parents': garbledNumber(4, () => -1),
  'takes each page for the child of the first': garbledNumber(4, (parent) => Math.min(parent, 0)),
  'forgets when requests are due': garbledNumber(5, (again) => Math.min(again, 0)),
  'forgets what few requests have': garbledFrontier(() => ({ rare: [] })),
  'forgets what programs asked for': garbledFrontier(({ rare }) => ({
    rare: rare.map(([at, { extras: _, ...fields }]) => [at, fields] as const),
  })),
  'confuses what few requests have': garbledFrontier(({ rare }) => ({
    rare: rare.map(([at], i) => [at, rare[(i + 1) % rare.length]![1]] as const),
  })),
  'forgets pauses': garbledClock((clock) => {
    clock.resting = []
  }),
  'forgets all pauses of a host but the last': garbledClock((clock) => {
    clock.resting = clock.resting.slice(-1)
  }),
  'pauses anew': garbledClock((clock) => {
    clock.resting = clock.resting.map((until) => until + 1000)
  }),
  'cuts pauses short': garbledClock((clock) => {
    clock.resting = clock.resting.map((until) => until - 10)
  }),
  'forgets backoff': garbledClock((clock) => {
    clock.notBefore = 0
  }),
  'forgets the pause that a host has asked for': garbledClock((clock) => {
    clock.delayMs = 0
  }),
  'forgets what forgotten hosts had asked for': garbledFrontier(() => ({ requestedDelays: [] })),
  'forgets the trouble of a host': garbledClock((clock) => {
    clock.incidents = 0
  }),
  'forgets hosts without requests': mutant(({ handover }) => ({
    handover: {
      async adopt(what) {
        const moved = what as Moved
        const { names, clocks } = moved.frontier
        let at = 0
        const kept: number[] = []
        const left = names.filter(() => {
          const end = at + 6 + clocks[at + 5]!
          const hasRequests = clocks[at + 4]! > 0
          if (hasRequests) kept.push(...clocks.subarray(at, end))
          at = end
          return hasRequests
        })
        const frontier = { ...moved.frontier, names: left, clocks: new Float64Array(kept) }
        await handover.adopt({ ...moved, frontier } as Moved)
      },
    },
  })),
  'forgets what is known': garbled(({ seen }) => ({ seen: seen.map(() => new Uint32Array()) })),
  'forgets the last that is known': garbled(({ seen }) => ({
    seen: seen.map((prints) => prints.slice(0, -2)),
  })),
  'goes on knowing what has left': keeping((moved) => ({ ...moved, frontier: noHosts(moved), records: [] })),
  'forgets facts': garbled(() => ({ records: [] })),
  'goes on knowing facts': keeping((moved) => ({ ...moved, frontier: noHosts(moved), seen: noNames(moved) })),
  'takes facts of one space for those of another': garbled(({ records }) => ({
    records: records.map(([, host, key, record]) => ['one', host, key, record] as const),
  })),
  'does not wait for leases': giving((handover, partitions, left) => {
    const whole = handover.release(partitions, left)
    const nothing = {
      urls: [],
      names: [],
      numbers: [],
      parents: [],
      rare: [],
      clocks: [],
      asked: [],
      resting: [],
    }
    const empty = { partitions, frontier: nothing, seen: partitions.map(() => []), records: [] }
    return Promise.race([whole, later().then(() => empty)])
  }),
  'waits for leases of others': mutant(({ handover, frontier }) => ({
    handover: {
      async release(partitions, left) {
        for (let looks = 0; frontier.leased > 0; looks++) {
          if (looks > 1000) throw new Error('it would wait for ever')
          await later()
        }
        return handover.release(partitions, left)
      },
    },
  })),
  'leases on while it waits': mutant(({ handover, frontier }, { partitionOf }) => {
    const out = new Set<CrawlRequest>()
    let settled: (() => void) | undefined
    return {
      frontier: {
        async lease(max, now) {
          const leases = await frontier.lease(max, now)
          for (const lease of leases) out.add(lease)
          return leases
        },
        settle(settlements) {
          for (const { request } of settlements) out.delete(request)
          settled?.()
          return frontier.settle(settlements)
        },
      },
      handover: {
        async release(partitions, left) {
          // The suite ends before it has settled all, so whoever asks in every turn would ask forever.
          while ([...out].some(({ host }) => partitions.includes(partitionOf!(host))))
            await new Promise<void>((resolve) => {
              settled = resolve
            })
          return handover.release(partitions, left)
        },
      },
    }
  }),
  'leases nothing at all while it waits': whileGiving((frontier, leaving) => ({
    lease: (max, now) => (leaving.isGiving ? [] : frontier.lease(max, now)),
  })),
  'wants to be asked while it waits': whileGiving((frontier, leaving) => ({
    nextDue: () => (leaving.isGiving ? 0 : frontier.nextDue()),
  })),
  'drops what is added while it waits': whileGiving((frontier, { isLeaving }) => ({
    add: (requests) => frontier.add(requests.filter(({ host }) => !isLeaving(host))),
  })),
  'keeps what is added while it waits': whileGiving((frontier, leaving) => {
    const held: CrawlRequest[] = []
    return {
      add(requests) {
        held.push(...requests.filter(({ host }) => leaving.isLeaving(host)))
        return frontier.add(requests.filter(({ host }) => !leaving.isLeaving(host)))
      },
      lease(max, now) {
        if (!leaving.isGiving) void frontier.add(held.splice(0))
        return frontier.lease(max, now)
      },
    }
  }),
  'drops what is found while it waits': whileGiving((frontier, { isLeaving }) => ({
    settle: (settlements) =>
      frontier.settle(
        settlements.map((each) => ({ ...each, found: each.found?.filter(({ host }) => !isLeaving(host)) })),
      ),
  })),
  'forgets what is to be tried again while it waits': whileGiving((frontier, { isLeaving }) => ({
    settle: (settlements) =>
      frontier.settle(
        settlements.map((each) => (isLeaving(each.request.host) ? { ...each, again: undefined } : each)),
      ),
  })),
  'does not pause after a visit that ends while it waits': whileGiving((frontier, { isLeaving }) => ({
    settle: (settlements) =>
      frontier.settle(
        settlements.map((each) => (isLeaving(each.request.host) ? { ...each, visitedAt: undefined } : each)),
      ),
  })),
  'lets go while the last lease is being settled': mutant(({ frontier, handover }, { partitionOf }) => {
    let gone: readonly number[] = []
    return {
      frontier: {
        settle(settlements) {
          const settling = frontier.settle(settlements)
          if (gone.length > 0) frontier.add = () => {}
          return settling
        },
      },
      handover: {
        async release(partitions, left) {
          gone = partitions.filter((each) => each === partitionOf!('p0-a.example'))
          return handover.release(partitions, left)
        },
      },
    }
  }),
  'never says that partitions have left': giving((handover, partitions) => handover.release(partitions)),
  'says too early that partitions have left': giving((handover, partitions, left) => {
    left?.()
    return handover.release(partitions)
  }),
  'says twice that partitions have left': giving((handover, partitions, left) =>
    handover.release(partitions, () => {
      left?.()
      left?.()
    }),
  ),
  'does not rouse who waits': mutant(() => ({ frontier: { watch() {} } })),
  'cannot rouse who waits': mutant(() => ({ frontier: { watch: undefined as never } })),
  'counts no hosts that arrived': mutant(({ frontier }) => ({
    frontier: {
      get hosts() {
        return frontier.leased === 0 ? 0 : frontier.hosts
      },
    },
  })),
  'knows of no load': mutant(() => ({ handover: { load: () => [] } })),
  'takes its load for that of one partition': mutant(({ handover }) => ({
    handover: { load: () => handover.load().map((load) => ({ ...load, partition: 0 })) },
  })),
  'counts requests of all hosts as those of the longest': mutant(({ handover }) => ({
    handover: { load: () => handover.load().map((load) => ({ ...load, longest: load.pending })) },
  })),
  'knows its load as it was': mutant(({ handover }) => {
    let load: ReturnType<Handover['load']> | undefined
    return {
      handover: {
        load() {
          load ??= handover.load()
          return load
        },
      },
    }
  }),
  'does not let the hosts of a dead shard rest': () => ({
    name: 'mutant',
    open: (context) => memory().open({ ...context, shard: { ...context.shard!, replaces: false } }),
  }),
  'lets all hosts rest whenever it opens': () => ({
    name: 'mutant',
    open: (context) => memory().open({ ...context, shard: { ...context.shard!, replaces: true } }),
  }),
  'forgets that unknown hosts rest': garbledFrontier(() => ({ resting: [] })),
}

/** Less than the suite's defaults: sixty mutants take their time. */
const BRIEFLY = { operations: 500, patienceMs: 100 }

describe('the suite of handovers', () => {
  it('passes a store that answers with promises', async () => {
    const create = mutant(({ frontier, handover }) => ({
      frontier: {
        async add(requests) {
          void frontier.add(requests)
          await later()
        },
        async lease(max, now) {
          await later()
          return frontier.lease(max, now)
        },
      },
      handover: {
        async release(partitions, left) {
          const moved = await handover.release(partitions, left)
          await later()
          return moved
        },
        async adopt(what) {
          await later()
          await handover.adopt(what)
        },
      },
    }))
    expect(await failuresOf((it) => handoverSuite({ it, create, operations: 300 }))).toEqual([])
  })

  it('passes a store that has to read before it hands out', async () => {
    const create = mutant(({ frontier }) => {
      let asked = 0
      return { frontier: { lease: (max, now) => (asked++ % 3 === 0 ? [] : frontier.lease(max, now)) } }
    })
    expect(await failuresOf((it) => handoverSuite({ it, create, operations: 300 }))).toEqual([])
  })

  it.for(Object.entries(MUTANTS))('notices a store that %s', async ([, create]) => {
    expect(await isNoticed((it) => handoverSuite({ it, create, ...BRIEFLY }))).toBe(true)
  })
})
