/** Proves a `Store`: its life cycle here, its parts with the suites of their contracts. */

import assert from 'node:assert/strict'
import type { Frontier, Politeness } from '../frontier/contract.js'
import { firstCome } from '../frontier/selection.js'
import type { SeenStore } from '../seen/contract.js'
import type { OpenStore, Store, StoreContext } from '../stores/contract.js'
import { systemClock } from '../time.js'
import type { CrawlRequest, MaybePromise } from '../types.js'
import { type FrontierSuiteOptions, frontierSuite } from './frontier/frontier.js'
import { type SeenStoreSuiteOptions, seenStoreSuite } from './seen.js'
import { stateCases } from './state.js'
import { eventually, pause, type SuiteOptions } from './suite.js'

/** Options of the store's suite. `create` describes an empty place each time. */
export interface StoreSuiteOptions extends SuiteOptions<Store> {
  /**
   * True if data outlives a run, so that one description always opens the same data. Then the case that two openings
   * are independent is left out.
   */
  durable?: boolean
  /** How long a case waits for handles to disappear after close, in ms. Default 5000. */
  patienceMs?: number
  /** See `seenStoreSuite`. */
  urls?: SeenStoreSuiteOptions['urls']
  /** See `frontierSuite`. */
  operations?: FrontierSuiteOptions['operations']
}

const POLITENESS: Politeness = { delayMs: 0, connections: 1, growAt: 1000 }
const NOW = 1_700_000_000_000
const URL_ADDED = 'https://example.com/'
const REQUEST: CrawlRequest = {
  url: URL_ADDED,
  host: 'example.com',
  depth: 0,
  priority: 0,
  attempt: 0,
  redirects: 0,
  parent: undefined,
}

/**
 * Registers the cases that every store must pass, including those of its frontier, its seen-set and its facts.
 * `durableStoreSuite` proves what a durable store must survive.
 *
 * @example
 * import { it } from 'node:test'
 * import { storeSuite } from 'kumo/conformance'
 *
 * storeSuite({ it, create: () => myStore(newTemporaryFolder()) })
 */
export function storeSuite(options: StoreSuiteOptions): void {
  const { it, create } = options
  const check = (name: string, run: (store: Store) => Promise<void>) => {
    it(`store: ${name}`, async () => run(await create()))
  }

  check('it has a name', async (store) => {
    assert.equal(typeof store.name, 'string')
    assert.notEqual(store.name.trim(), '')
  })

  check('an opened store has working parts', async (store) => {
    const opened = await open(store)
    await works(opened)
    await opened.close()
  })

  check('closing the store releases what its parts had open', async (store) => {
    const before = await quietResources()
    const opened = await open(store)
    await works(opened)
    await opened.close()
    await calmsDown(before, options.patienceMs)
  })

  check('the store may be closed after its parts', async (store) => {
    const before = await quietResources()
    const opened = await open(store)
    await works(opened)
    await opened.seen.close()
    await opened.frontier.close()
    await opened.close()
    await calmsDown(before, options.patienceMs)
  })

  check('the store may be closed with requests pending and leased', async (store) => {
    const before = await quietResources()
    const opened = await open(store)
    await opened.frontier.add([REQUEST, { ...REQUEST, url: `${URL_ADDED}2` }])
    await opened.frontier.lease(1, NOW)
    await opened.close()
    await calmsDown(before, options.patienceMs)
  })

  check('a store can be opened again after it was closed', async (store) => {
    for (let i = 0; i < 2; i++) {
      const opened = await open(store)
      const url = `${URL_ADDED}${i}`
      assert.deepEqual(await opened.seen.addAll([url]), [true])
      await opened.close()
    }
  })

  if (!options.durable) {
    check('two openings of one description are independent', async (store) => {
      const first = await open(store)
      const second = await open(store)
      await works(first)
      await first.frontier.add([REQUEST])
      assert.equal(second.frontier.pending, 0)
      assert.equal(second.seen.size, 0)
      await first.close()
      await works(second)
      await second.close()
    })
  }

  const opener = async (politeness: Politeness) => open(await create(), politeness)
  const part = (name: string): SuiteOptions<unknown>['it'] => {
    return (title, run) => it(`${name}: ${title}`, run)
  }
  frontierSuite({
    ...(options.operations !== undefined && { operations: options.operations }),
    it: part('frontier'),
    create: async (politeness) => frontierOf(await opener(politeness)),
  })
  seenStoreSuite({
    ...(options.urls !== undefined && { urls: options.urls }),
    it: part('seen'),
    create: async () => seenOf(await opener(POLITENESS)),
  })
  // Whether the store keeps facts is known only once it is open; if it does not, there is nothing to check.
  stateCases((name, run) => {
    part('state')(name, async () => {
      const opened = await opener(POLITENESS)
      try {
        if (opened.state !== undefined) await run(opened.state)
      } finally {
        await opened.close()
      }
    })
  })
}

function open(store: Store, politeness = POLITENESS): MaybePromise<OpenStore> {
  const context: StoreContext = { politeness, policy: firstCome, clock: systemClock(), partitions: 16 }
  return store.open(context)
}

async function works({ frontier, seen }: OpenStore): Promise<void> {
  assert.deepEqual(await seen.addAll([URL_ADDED]), [true])
  assert.deepEqual(await seen.addAll([URL_ADDED]), [false])
  await frontier.add([REQUEST])
  const [lease] = await frontier.lease(1, NOW)
  assert.equal(lease?.url, URL_ADDED)
  await frontier.settle([{ request: lease, visitedAt: NOW }])
  assert.equal(frontier.pending, 0)
}

/** The frontier of an opened store; closing it closes the store too, because nothing else would. */
function frontierOf(opened: OpenStore): Frontier {
  const { frontier } = opened
  const close = closerOf(opened, frontier)
  return {
    add: (requests) => frontier.add(requests),
    lease: (max, now) => frontier.lease(max, now),
    settle: (settlements) => frontier.settle(settlements),
    nextDue: () => frontier.nextDue(),
    get pending() {
      return frontier.pending
    },
    get leased() {
      return frontier.leased
    },
    get hosts() {
      return frontier.hosts
    },
    close,
  }
}

/** The same for the seen-set. */
function seenOf(opened: OpenStore): SeenStore {
  const { seen } = opened
  const close = closerOf(opened, seen)
  return {
    addAll: (urls) => seen.addAll(urls),
    get size() {
      return seen.size
    },
    close,
  }
}

/** Closes a part as often as requested, and the store once. */
function closerOf(opened: OpenStore, part: { close(): MaybePromise<void> }): () => Promise<void> {
  let closed = false
  return async () => {
    await part.close()
    if (closed) return
    closed = true
    await opened.close()
  }
}

/** Sockets, files and timers that keep the process alive, by kind. */
function activeResources(): Map<string, number> {
  const counts = new Map<string, number>()
  for (const kind of process.getActiveResourcesInfo()) counts.set(kind, (counts.get(kind) ?? 0) + 1)
  return counts
}

/** The minimum of each kind within a moment, because test runners have timers of their own that come and go. */
async function quietResources(): Promise<Map<string, number>> {
  let fewest = activeResources()
  for (let look = 0; look < LOOKS; look++) {
    await pause(BETWEEN_LOOKS_MS)
    const now = activeResources()
    fewest = new Map([...fewest].map(([kind, count]) => [kind, Math.min(count, now.get(kind) ?? 0)]))
  }
  return fewest
}

const LOOKS = 10
const BETWEEN_LOOKS_MS = 5

async function calmsDown(before: ReadonlyMap<string, number>, patienceMs?: number): Promise<void> {
  const more = () => [...activeResources()].filter(([kind, count]) => count > (before.get(kind) ?? 0))
  await eventually('no handle remains after close', () => more().length === 0, patienceMs)
}
