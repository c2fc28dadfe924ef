/** A crawl drawn from a seed: everything that may vary varies, and everything about it can be replayed. */

import type { Frontier } from '../../src/frontier/contract.js'
import { Crawler, type EndReason, type Summary } from '../../src/index.js'
import {
  checkRun,
  type Finding,
  type SimulatedWeb,
  simulatedWeb,
  type VirtualClock,
  virtualClock,
} from '../../src/sim/index.js'
import type { StoreContext } from '../../src/stores/contract.js'
import { type Random, seededRandom } from '../../src/time.js'
import { slowFrontier, slowSeen } from './slow-store.js'

/** Half of the first wait before a retry: chance takes at most the other half. */
const LEAST_BACKOFF_MS = 500
/** What an aborted crawl may take until it is over. */
const ABORT_MS = 1000
const HOOK_TIMEOUT_MS = 10_000

/** How a run is cut short or disturbed. */
type Course =
  | { readonly kind: 'to the end' }
  | { readonly kind: 'page limit'; readonly pages: number }
  | { readonly kind: 'host limit'; readonly pagesPerHost: number }
  | { readonly kind: 'time limit' | 'stop' | 'abort' | 'leave'; readonly afterMs: number }
  | { readonly kind: 'pauses'; readonly moments: readonly { afterMs: number; forMs: number }[] }

/** All that is drawn, apart from the web. */
export interface Scenario {
  readonly seed: number
  readonly concurrency: number
  readonly delayMs: number
  readonly connections: number
  readonly growAt: number
  readonly retries: number
  readonly robots: boolean
  readonly timeoutMs: number
  /** Most virtual ms that hooks and listeners take for a page; 0: they answer at once. */
  readonly slowHooksMs: number
  /** Share of pages on which the hook throws. */
  readonly badHooks: number
  /** Most virtual ms that the store takes for an answer; 0: the plain memory store. */
  readonly slowStoreMs: number
  /** Whether pages are taken by a `for await` instead of a listener. */
  readonly reads: boolean
  readonly course: Course
}

export interface ScenarioRun {
  readonly scenario: Scenario
  readonly web: SimulatedWeb
  readonly delivered: readonly string[]
  readonly summary: Summary | undefined
  readonly findings: readonly Finding[]
}

export type FrontierMaker = (context: StoreContext) => Frontier

export interface ScenarioChanges {
  readonly frontier?: FrontierMaker
  readonly course?: Course
}

/** Runs the crawl of a seed in virtual time and checks it. */
export async function runScenario(seed: number, changes: ScenarioChanges = {}): Promise<ScenarioRun> {
  const random = seededRandom(seed)
  const clock = virtualClock()
  const web = drawWeb(seed, random, clock)
  const drawn = drawScenario(seed, random)
  const scenario = changes.course === undefined ? drawn : { ...drawn, course: changes.course }
  const { concurrency, delayMs, connections, growAt, retries, robots, timeoutMs, course, slowStoreMs } =
    scenario

  const delivered: string[] = []
  const quiet: [number, number][] = []
  const abort = new AbortController()
  let startedAt = clock.now()
  const user = seededRandom(seed + 1)
  let crawler = new Crawler()
    .seeds(web.seeds as string[])
    .scope('all')
    .concurrency(concurrency)
    .delay(delayMs)
    .perHost({ connections, growAt })
    .retries(retries)
    .robots(robots)
    .timeout({ fetch: timeoutMs, hook: HOOK_TIMEOUT_MS })
    .clock(clock)
    .random(seededRandom(seed + 2))
    .fetch(web)
    .use({
      name: 'user code',
      // From here on the crawl does no real work that virtual time would not wait for.
      open() {
        startedAt = clock.now()
        const after = (ms: number, act: () => void) => void clock.wakeAt(startedAt + ms, act)
        const quietFor = (ms: number) => quiet.push([clock.now(), clock.now() + ms])
        if (course.kind === 'stop') {
          after(course.afterMs, () => {
            crawler.stop()
            quietFor(Number.POSITIVE_INFINITY)
          })
        } else if (course.kind === 'abort') {
          after(course.afterMs, () => {
            abort.abort()
            quietFor(Number.POSITIVE_INFINITY)
          })
        } else if (course.kind === 'pauses') {
          for (const { afterMs, forMs } of course.moments) {
            after(afterMs, () => {
              crawler.pause()
              quietFor(forMs)
            })
            after(afterMs + forMs, () => crawler.resume())
          }
        }
      },
      page: (page) => {
        delivered.push(page.url)
        if (user.next() < scenario.badHooks) throw new Error('a defect of the user')
        if (scenario.slowHooksMs > 0) return clock.sleep(user.next() * scenario.slowHooksMs)
      },
    })
  if (scenario.slowHooksMs > 0) {
    const takeTime = () => clock.sleep(user.next() * scenario.slowHooksMs)
    crawler = crawler.on('failure', takeTime).on('redirect', takeTime).on('progress', takeTime)
  }
  if (course.kind === 'page limit') crawler = crawler.limit({ pages: course.pages })
  if (course.kind === 'host limit') crawler = crawler.limit({ pagesPerHost: course.pagesPerHost })
  if (course.kind === 'time limit') crawler = crawler.limit({ time: course.afterMs })
  const { frontier } = changes
  if (frontier !== undefined) crawler = crawler.frontier(frontier)
  else if (slowStoreMs > 0) {
    const lag = () => clock.sleep(user.next() * slowStoreMs)
    crawler = crawler.frontier((context) => slowFrontier(context, lag)).seen(slowSeen(lag))
  }

  const read = async (): Promise<undefined> => {
    for await (const _page of crawler) {
      if (scenario.slowHooksMs > 0) await clock.sleep(user.next() * scenario.slowHooksMs)
      if (course.kind === 'leave' && clock.now() - startedAt >= course.afterMs) break
    }
  }
  const summary = await clock.run(scenario.reads ? read() : crawler.run({ signal: abort.signal }), { withinMs: 86_400_000 })
  const stats = summary ?? (crawler.stats() as Summary)

  const left = course.kind === 'leave' && stats.reason === 'aborted'
  const expected = web.expected({ retries, robots, timeoutMs })
  const findings = checkRun({
    ...{
      log: web.log,
      delivered,
      expected,
      complete: stats.reason === 'done' && course.kind !== 'host limit',
    },
    ...{ concurrency, delayMs, connections, retries, robots, quiet },
    allows: (url) => web.allows(url),
    crawlDelayMs: (host) => web.crawlDelayMs(host),
    backoffMs: LEAST_BACKOFF_MS,
  })
  const result = { scenario, web, delivered, summary: stats, findings }
  const wrong = left ? [] : wrongSummary(result, expected)
  return { ...result, findings: [...findings, ...wrong] }
}

/** What the summary claims, against what was seen from outside. */
function wrongSummary(
  { scenario, summary, delivered, web }: ScenarioRun & { summary: Summary },
  expected: ReadonlySet<string>,
): Finding[] {
  const wrong: Finding[] = []
  const same = (what: string, actual: unknown, right: unknown) => {
    if (actual !== right) wrong.push({ kind: 'unexpected', message: `${what} is ${actual}, not ${right}` })
  }
  const { course, delayMs, connections } = scenario
  const isRules = ({ url }: { url: string }) => url.endsWith('/robots.txt')
  const cut = summary.reason === 'aborted' || course.kind === 'time limit'
  same('summary.robots', summary.robots, web.log.filter(isRules).length)
  if (!cut) {
    same('summary.pages', summary.pages, delivered.length)
    same('summary.inFlight', summary.inFlight, 0)
  }
  if (summary.reason === 'done') same('summary.pending', summary.pending, 0)
  same('the reason is one of this course', reasonsOf(course, expected.size).includes(summary.reason), true)
  if (course.kind === 'page limit') same('pages', delivered.length, Math.min(course.pages, expected.size))
  if (course.kind === 'host limit') {
    const counts = new Map<string, number>()
    for (const url of delivered) {
      const host = new URL(url).host
      counts.set(host, (counts.get(host) ?? 0) + 1)
    }
    same(
      'the host limit is kept',
      [...counts.values()].every((count) => count <= course.pagesPerHost),
      true,
    )
  }
  if (course.kind === 'time limit' || course.kind === 'abort') {
    same('it ends in time', summary.elapsedMs <= course.afterMs + ABORT_MS, true)
  }
  if (connections === 1 && summary.shortestGapMs !== undefined) {
    same('shortestGapMs is at least the delay', summary.shortestGapMs >= delayMs - ROUNDING_MS, true)
  }
  return wrong
}

/** Instants of today are kept to about a quarter of a microsecond. */
const ROUNDING_MS = 0.001

function reasonsOf(course: Course, pages: number): readonly EndReason[] {
  switch (course.kind) {
    case 'page limit':
      return [course.pages <= pages ? 'limit' : 'done']
    case 'time limit':
      return ['limit', 'done']
    case 'stop':
      return ['stopped', 'done']
    case 'abort':
    case 'leave':
      return ['aborted', 'done']
    default:
      return ['done']
  }
}

function drawWeb(seed: number, random: Random, clock: VirtualClock): SimulatedWeb {
  const hosts = 1 + Math.floor(50 * random.next() ** 2)
  // Few pages on many hosts, many on few: a run stays small.
  const pages = 10 + Math.floor(190 * random.next() ** 2)
  const sometimes = (share: number) => (random.next() < 0.5 ? share * random.next() : 0)
  const fastest = random.next() < 0.5 ? 1 : 50
  return simulatedWeb({
    seed,
    hosts,
    pagesPerHost: Math.max(1, Math.round(pages / hosts)),
    linksPerPage: 1 + Math.floor(8 * random.next()),
    crossHostShare: sometimes(0.8),
    latencyMs: [fastest, fastest + 400 * random.next()],
    failures: {
      timeout: sometimes(0.1),
      reset: sometimes(0.1),
      status503: sometimes(0.1),
      never: sometimes(0.05),
    },
    redirects: sometimes(0.3),
    missing: sometimes(0.1),
    robots: sometimes(1),
    brokenRobots: sometimes(0.2),
    slowHosts: sometimes(0.4),
    twoSchemes: sometimes(0.5),
    clock,
  })
}

function drawScenario(seed: number, random: Random): Scenario {
  const oneIn = (n: number) => random.next() * n < 1
  const upTo = (most: number) => Math.floor(random.next() * (most + 1))
  const course = drawCourse(random)
  return {
    seed,
    concurrency: 1 + Math.floor(100 * random.next() ** 2),
    delayMs: oneIn(5) ? 0 : upTo(5000),
    connections: 1 + upTo(3),
    growAt: 1 + upTo(20),
    retries: oneIn(6) ? upTo(1) : 2,
    robots: !oneIn(4),
    timeoutMs: oneIn(5) ? 1000 : 30_000,
    slowHooksMs: oneIn(3) ? 1 + upTo(3000) : 0,
    badHooks: oneIn(5) ? 0.2 : 0,
    slowStoreMs: oneIn(5) ? 1 + upTo(50) : 0,
    reads: course.kind === 'leave' || (oneIn(6) && course.kind !== 'abort'),
    course,
  }
}

function drawCourse(random: Random): Course {
  const draw = random.next()
  const afterMs = 1 + Math.floor(60_000 * random.next() ** 3)
  if (draw < 0.45) return { kind: 'to the end' }
  if (draw < 0.6) return { kind: 'page limit', pages: 1 + Math.floor(100 * random.next()) }
  if (draw < 0.68) return { kind: 'host limit', pagesPerHost: 1 + Math.floor(10 * random.next()) }
  if (draw < 0.73) return { kind: 'time limit', afterMs }
  if (draw < 0.8) return { kind: 'stop', afterMs }
  if (draw < 0.85) return { kind: 'abort', afterMs }
  if (draw < 0.9) return { kind: 'leave', afterMs }
  const moments: { afterMs: number; forMs: number }[] = []
  let from = 0
  for (let i = 0; i < 3; i++) {
    const moment = {
      afterMs: from + 1 + Math.floor(10_000 * random.next()),
      forMs: 1 + Math.floor(20_000 * random.next()),
    }
    moments.push(moment)
    from = moment.afterMs + moment.forMs
  }
  return { kind: 'pauses', moments }
}
