/** Runs a drawn crawl with the public `Crawler` in virtual time, and checks it from outside. */

import { type StoreContext, seededRandom } from '../../src/adapters.js'
import { Crawler, type CrawlRun, type Frontier, type Summary } from '../../src/index.js'
import {
  checkRun,
  type FetchRecord,
  type SimulatedWeb,
  simulatedWeb,
  type VirtualClock,
  virtualClock,
} from '../../src/sim/index.js'
import type { Scenario } from './scenario.js'
import { slowFrontier, slowSeen } from './slow-store.js'
import { wrongInSummary } from './wrong-in-summary.js'

/** Half of the first wait before a retry: chance takes at most the other half. */
const LEAST_BACKOFF_MS = 500
const HOOK_TIMEOUT_MS = 10_000
/** Far more than any of these crawls needs. */
const BOUND_MS = 86_400_000

export interface ScenarioRun {
  readonly log: readonly FetchRecord[]
  readonly delivered: readonly string[]
  readonly summary: Summary
  /** What is wrong; empty if all is well. The kind comes first. */
  readonly findings: readonly string[]
}

/** What happens while the crawl runs, as it is seen from outside. */
class Observer {
  readonly delivered: string[] = []
  readonly quiet: [from: number, to: number][] = []
  readonly abort = new AbortController()
  startedAt = 0
  run: CrawlRun | undefined = undefined
}

/** `frontier` takes the place of the drawn one: for frontiers that are to be found out. */
export async function runScenario(
  scenario: Scenario,
  frontier?: (context: StoreContext) => Frontier,
): Promise<ScenarioRun> {
  const clock = virtualClock()
  const web = simulatedWeb({ ...scenario.web, clock })
  const seen = new Observer()
  const crawler = crawlerOf(scenario, web, clock, seen, frontier)
  const run = crawler.start({ signal: seen.abort.signal })
  seen.run = run
  const running = scenario.reads ? read(run, scenario, clock, seen) : run.done
  await clock.run<unknown>(running, { withinMs: BOUND_MS })

  const summary = run.stats() as Summary
  const { course, concurrency, delayMs, connections, retries, robots, timeoutMs } = scenario
  const expected = web.expected({ retries, robots, timeoutMs })
  const { delivered, quiet } = seen
  const complete = summary.reason === 'done' && course.kind !== 'host limit'
  const findings = checkRun({
    log: web.log,
    delivered,
    expected,
    complete,
    concurrency,
    delayMs,
    connections,
    retries,
    robots,
    quiet,
    allows: (url) => web.allows(url),
    crawlDelayMs: (host) => web.crawlDelayMs(host),
    backoffMs: LEAST_BACKOFF_MS,
  }).map(({ kind, message }) => `${kind}: ${message}`)
  const ended = { log: web.log, delivered, summary }
  return { ...ended, findings: [...findings, ...wrongInSummary(scenario, ended, expected)] }
}

function crawlerOf(
  scenario: Scenario,
  web: SimulatedWeb,
  clock: VirtualClock,
  seen: Observer,
  frontier: ((context: StoreContext) => Frontier) | undefined,
): Crawler {
  const { seed, course, connections, growAt, slowHooksMs, slowStoreMs } = scenario
  const user = seededRandom(seed + 1)
  let crawler = new Crawler()
    .seeds(web.seeds)
    .scope('all')
    .concurrency(scenario.concurrency)
    .delay(`${scenario.delayMs}ms`)
    .perHost({ connections, growAt })
    // Hosts are never given up, or what can be reached would depend on chance. The wait doubles on and on.
    .retries({ times: scenario.retries, cooldown: '8s', cooldowns: 1000 })
    .robots(scenario.robots)
    .timeout({ fetch: scenario.timeoutMs, hook: HOOK_TIMEOUT_MS })
    .clock(clock)
    .random(seededRandom(seed + 2))
    .fetcher(web)
    .use({
      name: 'observer',
      // Of every second run the hook has a small queue, which fills up.
      queue: seed % 2 === 0 ? { parallelism: 1 + (seed % 3), pages: 1 + (seed % 5) } : undefined,
      // When hooks are opened all modules are loaded: from here on nothing happens but in virtual time.
      open: () => setMoments(scenario, clock, seen),
      page(page) {
        seen.delivered.push(page.url)
        if (user.next() < scenario.badHooks) throw new Error('a defect of the user')
        if (slowHooksMs > 0) return clock.sleep(user.next() * slowHooksMs)
      },
    })
  if (slowHooksMs > 0) {
    const takeTime = () => clock.sleep(user.next() * slowHooksMs)
    crawler = crawler.on('failure', takeTime).on('redirect', takeTime).on('progress', takeTime)
  }
  if (course.kind === 'page limit') crawler = crawler.limit({ pages: course.pages })
  if (course.kind === 'host limit') crawler = crawler.limit({ pagesPerHost: course.pagesPerHost })
  if (course.kind === 'byte limit') crawler = crawler.limit({ bytes: course.bytes })
  if (course.kind === 'time limit') crawler = crawler.limit({ time: `${course.afterMs}ms` })
  if (frontier !== undefined) crawler = crawler.frontier(frontier)
  else if (slowStoreMs > 0) {
    const lag = () => clock.sleep(user.next() * slowStoreMs)
    crawler = crawler.frontier((context) => slowFrontier(context, lag)).seenStore(slowSeen(lag))
  }
  return crawler
}

function setMoments({ course }: Scenario, clock: VirtualClock, seen: Observer): void {
  const run = seen.run!
  const startedAt = clock.now()
  seen.startedAt = startedAt
  const after = (ms: number, act: () => void, quietForMs: number) => {
    clock.wakeAt(startedAt + ms, () => {
      act()
      seen.quiet.push([startedAt + ms, startedAt + ms + quietForMs])
    })
  }
  if (course.kind === 'stop') after(course.afterMs, () => run.stop(), Number.POSITIVE_INFINITY)
  if (course.kind === 'abort') after(course.afterMs, () => seen.abort.abort(), Number.POSITIVE_INFINITY)
  if (course.kind !== 'pauses') return
  for (const { afterMs, forMs } of course.moments) {
    after(afterMs, () => run.pause(), forMs)
    after(afterMs + forMs, () => run.resume(), 0)
  }
}

async function read(run: CrawlRun, scenario: Scenario, clock: VirtualClock, seen: Observer): Promise<void> {
  const { slowHooksMs, course } = scenario
  for await (const _ of run) {
    if (slowHooksMs > 0) await clock.sleep(slowHooksMs)
    if (course.kind === 'leave' && clock.now() - seen.startedAt >= course.afterMs) break
  }
}
