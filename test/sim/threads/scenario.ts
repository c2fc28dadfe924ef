/** Crawls over several shards drawn from a seed: what may vary varies, and the seed alone replays it. */

import { type Random, seededRandom } from '../../../src/adapters.js'
import type { WebShape } from '../../../src/sim/index.js'
import type { ToWorker } from '../../../src/workers/messages.js'

type Kind = ToWorker['kind']

/** When something happens: so long after the start, or after a thread was sent the nth message of a kind. */
export type Moment =
  | { readonly afterMs: number }
  | { readonly posted: Kind; readonly nth: number; readonly afterMs: number }

export interface Death {
  readonly when: Moment
  /** Undefined: the shard that the message was for. */
  readonly shard: number | undefined
  /** In the middle of a turn, after it has done so many things more. Undefined: at once. */
  readonly acts: number | undefined
}

export type CrewCourse =
  | { readonly kind: 'to the end' }
  | { readonly kind: 'page limit'; readonly pages: number }
  | { readonly kind: 'host limit'; readonly pagesPerHost: number }
  | { readonly kind: 'stop' | 'abort'; readonly afterMs: number }
  | { readonly kind: 'pause'; readonly afterMs: number; readonly forMs: number }

export interface CrewScenario {
  readonly seed: number
  readonly web: WebShape
  readonly shards: number
  readonly partitions: number
  readonly concurrency: number
  readonly delayMs: number
  readonly robots: boolean
  /** The longest that a late message takes. */
  readonly lateMs: number
  readonly store: 'memory' | { readonly commitMs: number; readonly slowMs: number }
  /** Most ms between two seeds of a slow source; 0: all are given as a list. */
  readonly slowSeedsMs: number
  /** Most ms that the user's hook takes for a page. */
  readonly slowHooksMs: number
  /** Whether the workerRun itself moves partitions. */
  readonly balance: boolean
  /** The partitions of so many hosts, from this one on, go to a shard. */
  readonly moves: readonly { when: Moment; host: number; hosts: number; to: number }[]
  readonly deaths: readonly Death[]
  readonly stalls: readonly { when: Moment; shard: number | 'main'; forMs: number }[]
  readonly watchdogMs: number
  /** The process dies, and another one goes on with so many shards. */
  readonly crash: { readonly afterMs: number; readonly shards: number } | undefined
  readonly course: CrewCourse
}

/** What a crawl is mostly about, so that rare encounters are met in a thousand runs. */
interface Theme {
  readonly moves: number
  readonly deaths: number
  /** Most moments are within so long after the start, */
  readonly withinMs: number
  /** or come with one of these messages. */
  readonly kinds: readonly Kind[]
  readonly course?: (random: Random) => CrewCourse
  readonly store?: 'disk' | 'memory'
  readonly crashes?: boolean
}

const OF_MOVES: readonly Kind[] = ['release', 'expect', 'adopt', 'moved']

const THEMES: readonly Theme[] = [
  { moves: 0, deaths: 0, withinMs: 1000, kinds: ['seeds'] },
  { moves: 20, deaths: 0, withinMs: 5000, kinds: [...OF_MOVES, 'seeds'] },
  {
    moves: 10,
    deaths: 5,
    withinMs: 10_000,
    kinds: [...OF_MOVES, 'seeds', 'peer', 'peerLost', 'leftover', 'requests'],
  },
  { moves: 40, deaths: 5, withinMs: 3000, kinds: OF_MOVES },
  { moves: 40, deaths: 5, withinMs: 3000, kinds: OF_MOVES, store: 'disk' },
  { moves: 3, deaths: 5, withinMs: 2000, kinds: ['seeds', 'peer', 'leftover', 'start'], store: 'disk' },
  { moves: 3, deaths: 3, withinMs: 5000, kinds: ['finish'] },
  { moves: 5, deaths: 4, withinMs: 2000, kinds: ['budgetChanged', 'peer'], course: pageLimit },
  { moves: 10, deaths: 1, withinMs: 3000, kinds: OF_MOVES, store: 'disk', course: toTheEnd, crashes: true },
]

export function drawCrewScenario(seed: number): CrewScenario {
  const random = seededRandom(seed)
  const theme = THEMES[seed % THEMES.length]!
  const oneIn = (n: number) => random.next() * n < 1
  const upTo = (most: number) => Math.floor(random.next() * (most + 1))
  const list = <T>(most: number, draw: () => T): T[] => Array.from({ length: upTo(most) }, draw)
  const shards = 2 + upTo(3)
  const hosts = 3 + Math.floor(57 * random.next() ** 3)
  const isDurable = theme.store === 'disk' || (theme.store === undefined && oneIn(2))
  return {
    seed,
    web: drawWeb(seed, hosts, random),
    shards,
    partitions: 2 ** (2 + upTo(4)),
    concurrency: shards * (1 + upTo(7)),
    delayMs: oneIn(4) ? 0 : Math.floor(2000 * random.next() ** 3),
    robots: oneIn(4),
    lateMs: oneIn(2) ? 3000 : 50,
    store: isDurable
      ? { commitMs: oneIn(3) ? 10 : 10 + upTo(1000), slowMs: oneIn(2) ? 0 : 1 + upTo(300) }
      : 'memory',
    slowSeedsMs: oneIn(2) ? 0 : 1 + upTo(400),
    slowHooksMs: oneIn(3) ? 1 + upTo(500) : 0,
    balance: oneIn(2),
    moves: list(theme.moves, () => ({
      when: drawMoment(random, theme, 0.8),
      host: upTo(hosts - 1),
      hosts: 1 + upTo(3),
      to: upTo(shards - 1),
    })),
    deaths: list(theme.deaths, () => drawDeath(random, theme, shards)),
    stalls: list(oneIn(2) ? 3 : 0, () => ({
      when: drawMoment(random, theme),
      shard: oneIn(6) ? 'main' : upTo(shards - 1),
      forMs: 1 + Math.floor(10_000 * random.next() ** 3),
    })),
    watchdogMs: oneIn(2) ? 5000 : 30_000,
    crash: theme.crashes
      ? { afterMs: 200 + Math.floor(6000 * random.next() ** 2), shards: 1 + upTo(4) }
      : undefined,
    course: theme.course?.(random) ?? drawCourse(random),
  }
}

function drawWeb(seed: number, hosts: number, random: Random): WebShape {
  const pages = 10 + Math.floor(70 * random.next() ** 2)
  const sometimes = (most: number) => (random.next() < 0.4 ? most * random.next() : 0)
  const fastest = random.next() < 0.5 ? 1 : 50
  return {
    seed,
    hosts,
    pagesPerHost: Math.max(1, Math.round(pages / hosts)),
    // With few links each of them counts.
    linksPerPage: 1 + Math.floor(5 * random.next() ** 2),
    crossHostShare: random.next(),
    latencyMs: [fastest, fastest + 400 * random.next()],
    failures: { timeout: sometimes(0.1), reset: sometimes(0.1), status503: sometimes(0.05) },
    redirects: sometimes(0.2),
    missing: sometimes(0.1),
    robots: sometimes(1),
    slowHosts: sometimes(0.3),
    largeHosts: sometimes(0.2),
    twoSchemes: sometimes(0.5),
  }
}

function drawMoment(random: Random, { withinMs, kinds }: Theme, byClock = 0.4): Moment {
  if (random.next() < byClock) return { afterMs: Math.floor(withinMs * random.next() ** 2) }
  const posted = kinds[Math.floor(random.next() * kinds.length)]!
  return {
    posted,
    nth: 1 + Math.floor(6 * random.next() ** 2),
    afterMs: Math.floor(100 * random.next() ** 3),
  }
}

function drawDeath(random: Random, theme: Theme, shards: number): Death {
  const when = drawMoment(random, theme)
  const isReceiver = 'posted' in when && random.next() < 0.6
  return {
    when,
    shard: isReceiver ? undefined : Math.floor(random.next() * shards),
    acts: random.next() < 0.4 ? Math.floor(12 * random.next()) : undefined,
  }
}

function toTheEnd(): CrewCourse {
  return { kind: 'to the end' }
}

function pageLimit(random: Random): CrewCourse {
  return { kind: 'page limit', pages: 1 + Math.floor(40 * random.next()) }
}

function drawCourse(random: Random): CrewCourse {
  const draw = random.next()
  const afterMs = 1 + Math.floor(10_000 * random.next() ** 3)
  if (draw < 0.06) return pageLimit(random)
  if (draw < 0.12) return { kind: 'host limit', pagesPerHost: 1 + Math.floor(5 * random.next()) }
  if (draw < 0.17) return { kind: 'stop', afterMs }
  if (draw < 0.19) return { kind: 'abort', afterMs }
  if (draw < 0.24) return { kind: 'pause', afterMs, forMs: Math.floor(10_000 * random.next()) }
  return toTheEnd()
}
