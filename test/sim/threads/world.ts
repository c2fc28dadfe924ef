/** What outlasts the threads of a simulated crawl, and its process: the web, the disk, and what was seen from outside. */

import type { WorkerEvent } from '../../../src/engine/events.js'
import { withRecipe } from '../../../src/modules/recipe.js'
import { type CrawlOptions, DEFAULTS } from '../../../src/options/options.js'
import type { SeedInput } from '../../../src/options/seeds.js'
import { byHost } from '../../../src/partition/by-host.js'
import { type SimulatedWeb, simulatedWeb, type VirtualClock, virtualClock } from '../../../src/sim/index.js'
import type { Store } from '../../../src/stores/contract.js'
import { memory } from '../../../src/stores/memory.js'
import { type Random, seededRandom } from '../../../src/time.js'
import { anywhere } from '../../../src/url/scope/rules.js'
import { SimDisk } from '../disk/disk.js'
import { diskStore, sharedDisk } from '../disk/store.js'
import { Holdings } from './holdings.js'
import type { CrewScenario } from './scenario.js'
import type { SimThread } from './sim-thread.js'
import { type ThreadVisit, webIn } from './thread-web.js'

export interface DeathRecord {
  readonly thread: SimThread
  readonly at: number
  /** The partitions that it had. */
  readonly held: ReadonlySet<number>
  /** Those that it had ever had. */
  readonly hadHeld: ReadonlySet<number>
  /** Requests that waited there. */
  readonly pending: number
}

export class CrewWorld {
  readonly clock: VirtualClock = virtualClock()
  readonly web: SimulatedWeb
  readonly visits: ThreadVisit[] = []
  readonly delivered: string[] = []
  readonly deaths: DeathRecord[] = []
  readonly replaced: WorkerEvent[] = []
  readonly holdings: Holdings
  readonly #scenario: CrewScenario
  readonly #disk: SimDisk | undefined
  /** The chance of what the user's code does. */
  readonly #user: Random

  constructor(scenario: CrewScenario) {
    this.#scenario = scenario
    this.web = simulatedWeb({ ...scenario.web, clock: this.clock })
    this.holdings = new Holdings((host) => this.partitionOf(host))
    this.#disk = scenario.store === 'memory' ? undefined : new SimDisk((host) => this.partitionOf(host))
    this.#user = seededRandom(scenario.seed + 1)
  }

  partitionOf(host: string): number {
    return byHost(this.#scenario.partitions).partition(host)
  }

  /** The options of a workerRun. What threads cannot be sent is put in by `adapt`. */
  options(shards: number): CrawlOptions {
    const { course, robots, concurrency, delayMs, partitions, balance, watchdogMs } = this.#scenario
    const disk = this.#disk
    const { limit } = DEFAULTS
    return {
      ...DEFAULTS,
      seeds: this.#seeds(),
      scope: anywhere(),
      workers: { count: shards, balance, watchdogMs },
      concurrency,
      delayMs,
      partitioner: byHost(partitions),
      robots: { ...DEFAULTS.robots, obey: robots },
      limit: {
        ...limit,
        ...(course.kind === 'page limit' && { pages: course.pages }),
        ...(course.kind === 'host limit' && { pagesPerHost: course.pagesPerHost }),
      },
      // Hosts are never given up, or what can be reached would depend on chance.
      retries: { ...DEFAULTS.retries, cooldownMs: 8000, cooldowns: 1000 },
      // By its recipe another thread would take it for the memory store.
      store: withRecipe({ ...memory(), ...(disk && { share: () => sharedDisk(disk) }) }, 'memory'),
      hooks: [{ name: 'observer', page: (page) => this.#deliver(page.url) }],
      listeners: [['worker', (event: WorkerEvent) => void this.replaced.push(event)]],
    }
  }

  adapt(options: CrawlOptions, thread: SimThread): CrawlOptions {
    const { seed } = this.#scenario
    return {
      ...options,
      store: this.#storeIn(thread),
      fetcher: webIn(thread, this.web, this.visits),
      random: seededRandom(seed + 2 + thread.number),
    }
  }

  died(thread: SimThread): void {
    this.deaths.push({
      thread,
      at: this.clock.now(),
      held: this.holdings.of(thread),
      hadHeld: this.holdings.everOf(thread),
      pending: this.holdings.pendingOf(thread),
    })
  }

  #deliver(url: string): Promise<void> | undefined {
    this.delivered.push(url)
    const { slowHooksMs } = this.#scenario
    return slowHooksMs > 0 ? this.clock.sleep(this.#user.next() * slowHooksMs) : undefined
  }

  #storeIn(thread: SimThread): Store {
    const { store, seed } = this.#scenario
    const disk = this.#disk
    return {
      name: 'simulated',
      open: async (context) => {
        const random = seededRandom(seed + 3 + thread.number)
        const open =
          disk === undefined || store === 'memory'
            ? await memory().open(context)
            : diskStore(disk, thread, context, { ...store, random })
        return this.holdings.watched(open, context.shard!.partitions, thread)
      },
    }
  }

  /** A part as a list, the others from two sources, of which one takes its time, and may have no end. */
  #seeds(): readonly SeedInput[] {
    const { web, clock } = this
    const { slowSeedsMs, seed, course, deaths, stalls, crash } = this.#scenario
    if (slowSeedsMs === 0) return [web.seeds]
    const random = seededRandom(seed + 4)
    const third = Math.ceil(web.seeds.length / 3)
    const isReached = course.kind === 'page limit' && course.pages <= web.expected(this.#scenario).size
    const isEndless = isReached && deaths.length + stalls.length === 0 && crash === undefined
    async function* slowly() {
      const last = web.seeds.slice(2 * third)
      for (let i = 0; i < last.length || isEndless; i++) {
        await clock.sleep(random.next() * slowSeedsMs)
        yield last[i] ?? web.seeds[0]!
      }
    }
    return [web.seeds.slice(0, third), web.seeds.slice(third, 2 * third).values(), slowly()]
  }
}
