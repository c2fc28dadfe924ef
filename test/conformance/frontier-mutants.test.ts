import { describe, expect, it } from 'vitest'
import { frontierSuite } from '../../src/conformance/frontier/frontier.js'
import type { Frontier, Politeness, SelectionPolicy, Settlement } from '../../src/frontier/contract.js'
import { MemoryFrontier, memoryFrontier } from '../../src/frontier/memory.js'
import { firstCome } from '../../src/frontier/selection.js'
import { Host, type MakeHost } from '../../src/frontier/workbench.js'
import type { CrawlRequest } from '../../src/types.js'
import { failuresOf, isNoticed } from './collect.js'

/** A memory frontier whose answers come at once, as the mutants below expect. */
type Sound = Omit<Frontier, 'lease'> & { lease(max: number, now: number): readonly CrawlRequest[] }
type Create = (politeness: Politeness) => Frontier

const sound = (politeness: Politeness, policy?: SelectionPolicy) =>
  memoryFrontier({ politeness, ...(policy && { policy }) }) as Sound

/** Changes a sound frontier; what is not changed goes on to it. */
function mutant(change: (inner: Sound, politeness: Politeness) => Partial<Frontier>): Create {
  return (politeness) => changed(sound(politeness), (inner) => change(inner, politeness))
}

function changed(inner: Sound, change: (inner: Sound) => Partial<Frontier>): Frontier {
  const whole = {
    add: (requests: readonly CrawlRequest[]) => inner.add(requests),
    lease: (max: number, now: number) => inner.lease(max, now),
    settle: (settlements: readonly Settlement[]) => inner.settle(settlements),
    nextDue: () => inner.nextDue(),
    close: () => inner.close(),
    canHold: true,
  }
  const counts = Object.fromEntries(
    (['pending', 'leased', 'hosts'] as const).map((name) => [
      name,
      { get: () => inner[name], enumerable: true, configurable: true },
    ]),
  )
  const changes = Object.getOwnPropertyDescriptors(change(inner))
  return Object.defineProperties(whole, { ...counts, ...changes }) as unknown as Frontier
}

/** A sound frontier with other politeness than it was told. */
const misled = (change: (politeness: Politeness) => Partial<Politeness>): Create => {
  return (politeness) => sound({ ...politeness, ...change(politeness) })
}

const settling = (change: (settlement: Settlement, politeness: Politeness) => Settlement) =>
  mutant((inner, politeness) => ({
    settle: (settlements) => inner.settle(settlements.map((each) => change(each, politeness))),
  }))

const MUTANTS: Record<string, Create> = {
  'loses the last request of a batch': mutant((inner) => ({
    add: (requests) => inner.add(requests.length > 50 ? requests.slice(0, -1) : requests),
  })),
  'hands a request out twice': mutant((inner) => ({
    lease(max, now) {
      const leases = inner.lease(max, now)
      return leases.length > 0 && leases.length < max ? [...leases, leases[0]!] : leases
    },
  })),
  'hands out more than it was asked for': mutant((inner) => ({
    lease: (max, now) => inner.lease(max + 1, now),
  })),
  'holds one request back': mutant((inner) => ({
    lease: (max, now) => inner.lease(Math.min(max, 6), now),
  })),
  'has two visits to a host at a time': misled(() => ({ connections: 2, growAt: 0.001 })),
  'comes a millisecond early': misled(({ delayMs }) => ({ delayMs: Math.max(0, delayMs - 1) })),
  'comes a millisecond late': misled(({ delayMs }) => ({ delayMs: delayMs + 1 })),
  'counts the pause from the start of the visit': mutant((inner) => {
    const startedAt = new WeakMap<CrawlRequest, number>()
    return {
      lease(max, now) {
        const leases = inner.lease(max, now)
        for (const lease of leases) startedAt.set(lease, now)
        return leases
      },
      settle: (settlements) =>
        inner.settle(
          settlements.map((each) => ({ ...each, visitedAt: each.visitedAt && startedAt.get(each.request) })),
        ),
    }
  }),
  'pauses for hosts that were never reached': mutant((inner) => {
    let latest = 0
    return {
      lease(max, now) {
        latest = now
        return inner.lease(max, now)
      },
      settle: (settlements) =>
        inner.settle(settlements.map((each) => ({ ...each, visitedAt: each.visitedAt ?? latest }))),
    }
  }),
  'does not pause': settling((each) => ({ ...each, visitedAt: undefined })),
  'forgets a host with its last request': (politeness) => {
    let inner = sound(politeness)
    return changed(inner, () => ({
      add: (requests) => inner.add(requests),
      lease: (max, now) => inner.lease(max, now),
      settle(settlements) {
        inner.settle(settlements)
        if (inner.pending + inner.leased === 0) inner = sound(politeness)
      },
      nextDue: () => inner.nextDue(),
      get pending() {
        return inner.pending
      },
      get leased() {
        return inner.leased
      },
      get hosts() {
        return inner.hosts
      },
    }))
  },
  'ends the lease of a held request': settling(({ held: _, ...each }) => each),
  'keeps the host of a held request': mutant((inner) => ({
    settle: (settlements) => inner.settle(settlements.filter(({ held }) => held !== true)),
  })),
  'forgets what is to be tried again': settling(({ again: _, ...each }) => each),
  'tries again at once': settling((each) =>
    each.again ? { ...each, again: { ...each.again, at: 0 } } : each,
  ),
  'does not count attempts': settling((each) =>
    each.again ? { ...each, again: { ...each.again, attempt: each.request.attempt } } : each,
  ),
  'puts what is to be tried again at the end': mutant((inner) => ({
    settle(settlements) {
      inner.settle(settlements.map(({ again: _, ...each }) => each))
      for (const { request, again } of settlements) {
        const { url, host, depth, priority, redirects, parent } = request
        if (again) inner.add([{ url, host, depth, priority, redirects, parent, attempt: again.attempt }])
      }
    },
  })),
  'does not back off': settling(({ hostNotBefore: _, ...each }) => each),
  'backs off from everybody': mutant((inner) => {
    let notBefore = 0
    return {
      lease: (max, now) => (now < notBefore ? [] : inner.lease(max, now)),
      settle(settlements) {
        for (const { hostNotBefore = 0 } of settlements) notBefore = Math.max(notBefore, hostNotBefore)
        return inner.settle(settlements)
      },
    }
  }),
  'does not hear of longer pauses': settling(({ hostDelayMs: _, ...each }) => each),
  'hears of longer pauses one visit late': settling((each, { delayMs }) =>
    each.hostDelayMs && each.visitedAt
      ? { ...each, visitedAt: each.visitedAt - Math.max(0, each.hostDelayMs - delayMs) }
      : each,
  ),
  'lets a host shorten its pause': (politeness) => {
    const asked = new Map<string, number>()
    return changed(sound({ ...politeness, delayMs: 0 }), (inner) => ({
      settle(settlements) {
        for (const { request, hostDelayMs } of settlements) {
          if (hostDelayMs !== undefined) asked.set(request.host, hostDelayMs)
        }
        return inner.settle(
          settlements.map((each) => ({
            ...each,
            hostDelayMs: asked.get(each.request.host) ?? politeness.delayMs,
          })),
        )
      },
    }))
  },
  'is last in, first out': mutant((inner) => ({ add: (requests) => inner.add(requests.toReversed()) })),
  'never grows': misled(() => ({ connections: 1 })),
  'grows too soon': misled(({ growAt }) => ({ growAt: growAt / 2 })),
  'grows without end': misled(({ connections }) => ({ connections: connections === 1 ? 1 : 5 })),
  'grows by what is not due': (politeness) => {
    class Greedy extends Host {
      override dueBy() {
        return { count: this.pending, next: Number.POSITIVE_INFINITY }
      }
    }
    const make: MakeHost<Host> = (host, workbench, delayMs) => new Greedy(host, workbench, delayMs)
    return new MemoryFrontier(politeness, firstCome, make)
  },
  'prefers the largest host': (politeness) => sound(politeness, (host) => -host.pending),
  'lets hosts wait until those that it has begun with are done': (politeness) => {
    const window = 50
    const inside = new Set<string>()
    const outside: CrawlRequest[] = []
    return changed(sound(politeness), (inner) => {
      const add = (requests: readonly CrawlRequest[]) => {
        for (const each of requests) {
          if (inside.size < window) inside.add(each.host)
          if (inside.has(each.host)) inner.add([each])
          else outside.push(each)
        }
      }
      return {
        add,
        settle(settlements) {
          for (const { found = [], ...each } of settlements) {
            const { leased } = inner
            inner.settle([each])
            if (inner.leased < leased) add(found)
          }
          if (inner.pending + inner.leased > 0) return
          inside.clear()
          add(outside.splice(0))
        },
        get pending() {
          return inner.pending + outside.length
        },
        get hosts() {
          return inner.hosts + new Set(outside.map(({ host }) => host)).size
        },
      }
    })
  },
  'knows the next due time too late': mutant((inner) => ({ nextDue: () => inner.nextDue() + 1 })),
  'never knows the next due time': mutant(() => ({ nextDue: () => Number.POSITIVE_INFINITY })),
  'always wants to be asked': mutant(() => ({ nextDue: () => 0 })),
  'counts leased requests as pending': mutant((inner) => ({
    get pending() {
      return inner.pending + inner.leased
    },
  })),
  'counts hosts only while they have something pending': mutant((inner) => ({
    get hosts() {
      return inner.pending === 0 ? 0 : inner.hosts
    },
  })),
  'throws at settlements of strangers': mutant((inner) => ({
    settle(settlements) {
      if (settlements.length > inner.leased) throw new Error('unknown')
      return inner.settle(settlements)
    },
  })),
  'takes a settlement of a stranger for one of its own': mutant((inner) => {
    const leased = new Map<string, CrawlRequest>()
    return {
      lease(max, now) {
        const leases = inner.lease(max, now)
        for (const lease of leases) leased.set(lease.host, lease)
        return leases
      },
      settle: (settlements) =>
        inner.settle(
          settlements.map((each) => ({ ...each, request: leased.get(each.request.host) ?? each.request })),
        ),
    }
  }),
  'drops what is added while a lease is pending': mutant((inner) => {
    let leasing = false
    return {
      add: (requests) => (leasing ? undefined : inner.add(requests)),
      async lease(max, now) {
        leasing = true
        await Promise.resolve()
        leasing = false
        return inner.lease(max, now)
      },
    }
  }),
  'loses the parent': mutant((inner) => ({
    add: (requests) => inner.add(requests.map((each) => ({ ...each, parent: undefined }))),
  })),
  'loses the purpose': mutant((inner) => ({
    add: (requests) => inner.add(requests.map((each) => ({ ...each, purpose: undefined }))),
  })),
  'loses the way of a redirect': mutant((inner) => ({
    add: (requests) => inner.add(requests.map((each) => ({ ...each, via: undefined }))),
  })),
  'loses what the program asked for': mutant((inner) => ({
    add: (requests) => inner.add(requests.map((each) => ({ ...each, extras: undefined }))),
  })),
  'loses the data of a request': mutant((inner) => ({
    add: (requests) =>
      inner.add(
        requests.map((each) => ({ ...each, extras: each.extras && { ...each.extras, data: undefined } })),
      ),
  })),
  'loses what the program asked for when it tries again': settling((each) =>
    each.again === undefined
      ? each
      : { ...each, request: Object.defineProperty(each.request, 'extras', { value: undefined }) },
  ),
  'takes a POST for the GET of its URL': mutant((inner) => {
    const known = new Set<string>()
    return {
      add(requests) {
        const isNew = ({ url }: CrawlRequest) => !known.has(url)
        const fresh = requests.filter((each) => isNew(each) && known.add(each.url))
        return inner.add(fresh)
      },
    }
  }),
  'does not wait for notBefore': mutant((inner) => ({
    add: (requests) => inner.add(requests.map((each) => ({ ...each, notBefore: undefined }))),
  })),
  'does not wait for the notBefore of what was found': settling((each) => ({
    ...each,
    found: each.found?.map((request) => ({ ...request, notBefore: undefined })),
  })),
  'ends notBefore a millisecond early': mutant((inner) => ({
    add: (requests) =>
      inner.add(requests.map((each) => (each.notBefore ? { ...each, notBefore: each.notBefore - 1 } : each))),
  })),
  'lets all requests of a host wait for notBefore': mutant((inner) => {
    const until = new Map<string, number>()
    return {
      add(requests) {
        for (const { host, notBefore = 0 } of requests)
          until.set(host, Math.max(notBefore, until.get(host) ?? 0))
        const waiting = (each: CrawlRequest) => ({ ...each, notBefore: until.get(each.host) || undefined })
        return inner.add(requests.map(waiting))
      },
    }
  }),
  'forgets the trouble of a host': mutant((inner) => ({
    settle: (settlements) => inner.settle(settlements.map((each) => ({ ...each, hostTrouble: undefined }))),
  })),
  'drops what was found': settling(({ found: _, ...each }) => each),
  'loses the last of what was found': settling((each) => ({ ...each, found: each.found?.slice(0, -1) })),
  'takes in what an ignored settlement found': mutant((inner) => ({
    settle(settlements) {
      inner.settle(settlements.map(({ found: _, ...each }) => each))
      for (const { found = [] } of settlements) inner.add(found)
    },
  })),
  'takes in what was found a moment later': mutant((inner) => ({
    settle(settlements) {
      const leased = inner.leased
      inner.settle(settlements.map(({ found: _, ...each }) => each))
      if (inner.leased === leased) return
      queueMicrotask(() => {
        for (const { found = [] } of settlements) inner.add(found)
      })
    },
  })),
  'takes in what was found twice': settling((each) => ({
    ...each,
    found: each.found && [...each.found, ...each.found],
  })),
  'turns round what was found': settling((each) => ({ ...each, found: each.found?.toReversed() })),
  'drops what was found if the request is to be tried again': settling((each) =>
    each.again ? { ...each, found: undefined } : each,
  ),
  'drops a request that led to itself': settling((each) => ({
    ...each,
    found: each.found?.filter(({ url }) => url !== each.request.url),
  })),
  'takes requests of one URL for one': mutant((inner) => ({
    settle: (settlements) =>
      inner.settle(
        settlements.map((each) => ({
          ...each,
          found: each.found && [...new Map(each.found.map((request) => [request.url, request])).values()],
        })),
      ),
  })),
  'does not pause before what was found on the same host': settling((each) =>
    each.found?.some(({ host }) => host === each.request.host) ? { ...each, visitedAt: undefined } : each,
  ),
  'loses what the program asked for of what was found': settling((each) => ({
    ...each,
    found: each.found?.map((request) => ({ ...request, extras: undefined })),
  })),
  'loses the purpose of what was found': settling((each) => ({
    ...each,
    found: each.found?.map((request) => ({ ...request, purpose: undefined })),
  })),
  'does not grow by what was found': mutant((inner) => {
    const held: CrawlRequest[] = []
    return {
      settle(settlements) {
        for (const { found = [] } of settlements) held.push(...found.slice(30))
        return inner.settle(settlements.map((each) => ({ ...each, found: each.found?.slice(0, 30) })))
      },
      lease(max, now) {
        const leases = inner.lease(max, now)
        inner.add(held.splice(0))
        return leases
      },
    }
  }),
  'throws when closed twice': mutant((inner) => {
    let closed = false
    return {
      close() {
        if (closed) throw new Error('closed already')
        closed = true
        return inner.close()
      },
    }
  }),
}

/** Fewer than the suite's default: forty mutants take their time. */
const OPERATIONS = 1000

describe('the suite of frontiers', () => {
  it('passes one that answers with promises', async () => {
    const later = () => new Promise<void>((resolve) => setImmediate(resolve))
    const create = mutant((inner) => ({
      async add(requests) {
        inner.add(requests)
        await later()
      },
      async lease(max, now) {
        await later()
        return inner.lease(max, now)
      },
      async settle(settlements) {
        inner.settle(settlements)
        await later()
      },
      async close() {
        await later()
        inner.close()
      },
    }))
    expect(await failuresOf((it) => frontierSuite({ it, create, operations: 300 }))).toEqual([])
  })

  it.for(Object.entries(MUTANTS))('notices a frontier that %s', async ([, create]) => {
    expect(await isNoticed((it) => frontierSuite({ it, create, operations: OPERATIONS }))).toBe(true)
  })
})
