import { describe, expect, it } from 'vitest'
import type { Settlement, StoreContext } from '../../src/adapters.js'
import { memoryFrontier } from '../../src/adapters.js'
import type { CrawlRequest, Frontier } from '../../src/index.js'
import type { FindingKind } from '../../src/sim/index.js'
import { runScenario } from './run-scenario.js'
import type { Scenario } from './scenario.js'

/** Shows that the checks are no decoration: each breaks the frontier in one way, and each must be found out. */

const SEEDS = [1, 2, 3, 4, 5]

function scenario(seed: number): Scenario {
  return {
    seed,
    web: {
      seed,
      hosts: 12,
      pagesPerHost: 12,
      crossHostShare: 0.2,
      failures: { status503: 0.2, reset: 0.1 },
      robots: 1,
    },
    concurrency: 5,
    delayMs: 100,
    connections: 1,
    growAt: 100,
    retries: 2,
    robots: true,
    timeoutMs: 30_000,
    slowHooksMs: 0,
    badHooks: 0,
    slowStoreMs: 0,
    reads: false,
    course: { kind: 'to the end' },
  }
}

type Change = Partial<Pick<Frontier, 'add' | 'lease' | 'settle'>>

/** A memory frontier with some methods changed. */
function changed(context: StoreContext, change: (inner: Frontier) => Change): Frontier {
  const inner = memoryFrontier(context)
  return {
    add: (requests) => inner.add(requests),
    lease: (max, now) => inner.lease(max, now),
    settle: (settlements) => inner.settle(settlements),
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
    close: () => inner.close(),
    ...change(inner),
  }
}

const settling = (context: StoreContext, edit: (settlement: Settlement) => Settlement): Frontier =>
  changed(context, (inner) => ({ settle: (settlements) => inner.settle(settlements.map(edit)) }))

const MUTANTS: [name: string, kind: FindingKind, make: (context: StoreContext) => Frontier][] = [
  [
    'ignores the delay',
    'interval',
    (context) => memoryFrontier({ ...context, politeness: { ...context.politeness, delayMs: 0 } }),
  ],
  [
    'counts the delay from the start of the visit, 50 ms early',
    'interval',
    (context) =>
      settling(context, (each) =>
        each.visitedAt === undefined ? each : { ...each, visitedAt: each.visitedAt - 50 },
      ),
  ],
  [
    'ignores Crawl-delay',
    'interval',
    (context) => settling(context, (each) => ({ ...each, hostDelayMs: undefined })),
  ],
  [
    'ignores backoff',
    'backoff',
    (context) =>
      settling(context, (each) =>
        isRetry(each) ? { ...each, hostNotBefore: undefined, again: { ...each.again, at: 0 } } : each,
      ),
  ],
  [
    'leases a host twice',
    'overlap',
    (context) =>
      memoryFrontier({ ...context, politeness: { ...context.politeness, connections: 2, growAt: 1 } }),
  ],
  [
    'loses one request in twenty',
    'missing',
    (context) => {
      let count = 0
      const keeps = () => ++count % 20 !== 0
      return changed(context, (inner) => ({
        add: (requests) => inner.add(requests.filter(keeps)),
        settle: (settlements) =>
          inner.settle(settlements.map((each) => ({ ...each, found: each.found?.filter(keeps) }))),
      }))
    },
  ],
  [
    'loses what is to be tried again',
    'missing',
    (context) => settling(context, (each) => (isRetry(each) ? { ...each, again: undefined } : each)),
  ],
  [
    'hands out twice',
    'delivered-twice',
    (context) => changed(context, (inner) => ({ lease: (max, now) => twice(inner, max, now) })),
  ],
  [
    'hands out again what is done',
    'fetched-again',
    (context) =>
      changed(context, (inner) => {
        let left = 3
        return {
          settle(settlements) {
            inner.settle(settlements)
            const done = settlements.find((each) => each.again === undefined)
            if (done !== undefined && left-- > 0) inner.add([done.request])
          },
        }
      }),
  ],
  [
    'hands out more than was asked for',
    'too-many-in-flight',
    (context) => changed(context, (inner) => ({ lease: (max, now) => inner.lease(max + 2, now) })),
  ],
]

/** Not those that merely wait for robots.txt: sent back at once, they would be asked for without end. */
function isRetry(
  settlement: Settlement,
): settlement is Settlement & { again: NonNullable<Settlement['again']> } {
  return settlement.again !== undefined && settlement.again.attempt > 0
}

function twice(inner: Frontier, max: number, now: number): CrawlRequest[] {
  const leases = inner.lease(Math.ceil(max / 2), now) as CrawlRequest[]
  return leases.length * 2 <= max ? [...leases, ...leases] : leases
}

describe('checkRun', () => {
  it.for(SEEDS)('finds nothing in a sound frontier, seed %i', async (seed) => {
    const { findings, summary } = await runScenario(scenario(seed), (context) => changed(context, () => ({})))
    expect(findings).toEqual([])
    expect(summary.pages).toBeGreaterThan(10)
  })

  describe.for(MUTANTS)('finds out a frontier that %s', ([, kind, make]) => {
    it.for(SEEDS)(`by '${kind}', seed %i`, async (seed) => {
      const { findings } = await runScenario(scenario(seed), make)
      expect(findings.map((finding) => finding.split(':')[0])).toContain(kind)
    })
  })
})
