/** Crawls drawn from a seed: what may vary varies, and the seed alone replays it. */

import { type Random, seededRandom } from '../../src/adapters.js'
import type { WebShape } from '../../src/sim/index.js'

/** How a run is cut short or disturbed. */
export type Course =
  | { readonly kind: 'to the end' }
  | { readonly kind: 'page limit'; readonly pages: number }
  | { readonly kind: 'host limit'; readonly pagesPerHost: number }
  | { readonly kind: 'byte limit'; readonly bytes: number }
  | { readonly kind: 'time limit' | 'stop' | 'abort' | 'leave'; readonly afterMs: number }
  | { readonly kind: 'pauses'; readonly moments: readonly { afterMs: number; forMs: number }[] }

export interface Scenario {
  readonly seed: number
  readonly web: WebShape
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
  /** Whether pages are taken by a `for await`. */
  readonly reads: boolean
  readonly course: Course
}

export function drawScenario(seed: number): Scenario {
  const random = seededRandom(seed)
  const oneIn = (n: number) => random.next() * n < 1
  const upTo = (most: number) => Math.floor(random.next() * (most + 1))
  const course = drawCourse(random)
  return {
    seed,
    web: drawWeb(seed, random),
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
    reads: course.kind === 'leave' || (course.kind !== 'abort' && oneIn(6)),
    course,
  }
}

function drawWeb(seed: number, random: Random): WebShape {
  const hosts = 1 + Math.floor(50 * random.next() ** 2)
  // Few pages on many hosts, many on few: a run stays small.
  const pages = 10 + Math.floor(600 * random.next() ** 2)
  const sometimes = (most: number) => (random.next() < 0.5 ? most * random.next() : 0)
  const fastest = random.next() < 0.5 ? 1 : 50
  return {
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
  }
}

/** Courses and how often they are drawn; the rest go to the end. */
const COURSES: readonly [share: number, draw: (random: Random) => Course][] = [
  [0.15, (random) => ({ kind: 'page limit', pages: whole(random, 100) })],
  [0.08, (random) => ({ kind: 'host limit', pagesPerHost: whole(random, 10) })],
  [0.04, (random) => ({ kind: 'byte limit', bytes: whole(random, 50_000) })],
  [0.05, (random) => ({ kind: 'time limit', afterMs: moment(random) })],
  [0.07, (random) => ({ kind: 'stop', afterMs: moment(random) })],
  [0.05, (random) => ({ kind: 'abort', afterMs: moment(random) })],
  [0.05, (random) => ({ kind: 'leave', afterMs: moment(random) })],
  [0.1, (random) => ({ kind: 'pauses', moments: drawPauses(random) })],
]

function drawCourse(random: Random): Course {
  let draw = random.next()
  for (const [share, make] of COURSES) {
    if (draw < share) return make(random)
    draw -= share
  }
  return { kind: 'to the end' }
}

function drawPauses(random: Random): { afterMs: number; forMs: number }[] {
  const moments: { afterMs: number; forMs: number }[] = []
  let over = 0
  for (let i = 0; i < 3; i++) {
    const afterMs = over + whole(random, 10_000)
    const forMs = whole(random, 20_000)
    moments.push({ afterMs, forMs })
    over = afterMs + forMs
  }
  return moments
}

/** Early moments are likelier: there a crawl is still busy. */
function moment(random: Random): number {
  return 1 + Math.floor(60_000 * random.next() ** 3)
}

function whole(random: Random, most: number): number {
  return 1 + Math.floor(most * random.next())
}
