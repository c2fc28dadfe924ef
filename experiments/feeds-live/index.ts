/**
 * The account of a crawl that follows feeds, checked against the truth: feeds on this machine post by known processes, in
 * fast time, and the real crawler polls them within a budget. Only the server knows what was lost and what was asked for in
 * vain; the crawler estimates the one and counts the other, and its feasibility report has forecast both.
 */

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { FeedStats } from '../../src/feeds/follow/contract.js'
import { Crawler } from '../../src/index.js'
import { virtualClock } from '../../src/sim/index.js'
import { type Clock, systemClock } from '../../src/time.js'
import { type Claim, printTable } from '../table.js'
import { DAY_MS, LiveFeeds, type LiveFeedsOptions, type TrueCounts } from './world.js'

export interface LiveFeedsRun extends LiveFeedsOptions {
  readonly budgetPerDay: number
  /** Days before the scored ones, in which the crawler learns. */
  readonly learningDays: number
  /** Real time, this many times as fast, over sockets. Absent: virtual time, without sockets. */
  readonly speed?: number | undefined
}

export interface LiveFeedsResult {
  /** In the scored time. */
  readonly truth: TrueCounts
  readonly counted: { readonly lost: number; readonly futile: number; readonly polls: number }
  /** Of the feasibility report, on average. */
  readonly forecast: { readonly lost: number; readonly futile: number; readonly polls: number }
  readonly perDay: number
  /** Entries that were in a polled window and not delivered, and those that were delivered more than once. */
  readonly missed: number
  readonly repeated: number
}

export async function runLiveFeeds(options: LiveFeedsRun): Promise<LiveFeedsResult> {
  const { speed, feeds, days, learningDays, budgetPerDay } = options
  const virtual = speed === undefined ? virtualClock() : undefined
  const clock = virtual ?? fastClock(speed!)
  const start = clock.now()
  const world = new LiveFeeds(options, start)
  const web = virtual === undefined ? await serve(world, clock) : undefined
  const hostOf = (feed: number) => `127.0.${8 + Math.floor(feed / 200)}.${(feed % 200) + 1}`
  const seeds = Array.from({ length: feeds }, (_, feed) =>
    web === undefined ? `https://feed${feed}.example/` : `http://${hostOf(feed)}:${web.port}/${feed}`,
  )
  const delivered = new Map<string, number>()
  let crawler = new Crawler()
    .seeds(seeds)
    .clock(clock)
    .robots(false)
    .delay(0)
    .depth(0)
    // In fast time; the longest that a timer can wait.
    .timeout({ fetch: '20d', hook: '20d' })
    .feeds({ budget: `${budgetPerDay}/day` })
    .on('feed', ({ new: entries }) => {
      for (const { id } of entries) delivered.set(id!, (delivered.get(id!) ?? 0) + 1)
    })
  if (virtual !== undefined) {
    crawler = crawler.fetcher((request, { known }) => {
      const { etag, xml } = world.poll(Number(/\d+/.exec(request.url)![0]), clock.now())
      const headers = new Map([['etag', etag]])
      const isKnown = known?.etag === etag
      const body = Buffer.from(isKnown ? '' : xml)
      return {
        ok: true,
        status: isKnown ? 304 : 200,
        headers,
        body,
        wireBytes: body.length,
        skippedBody: false,
      }
    })
  }
  const run = crawler.start()
  let before: { truth: TrueCounts; feeds: FeedStats } | undefined
  const forecasts: { lost: number; futile: number; polls: number }[] = []
  const note = () => {
    const now = run.stats()?.feeds
    if (now === undefined) return
    before ??= { truth: world.counts, feeds: now }
    const { lostPerDay: lost, futilePerDay: futile, pollsPerDay: polls } = now.feasibility!
    forecasts.push({ lost, futile, polls })
  }
  for (let day = learningDays; day < days; day++) clock.wakeAt(start + day * DAY_MS, note)
  // Polls in flight end and are delivered.
  clock.wakeAt(start + days * DAY_MS, () => run.stop())
  const summary = await (virtual === undefined
    ? run.done
    : virtual.run(run.done, { withinMs: (days + 1) * DAY_MS }))
  await web?.close()
  const scored = days - learningDays
  const after = summary.feeds!.total
  const first = before!.feeds.total
  const { truth } = before!
  const mean = (of: (each: (typeof forecasts)[number]) => number) =>
    (forecasts.reduce((sum, each) => sum + of(each), 0) / forecasts.length) * scored
  const lostIn = ({ lostByDates, lostByRate }: FeedStats['total']) => lostByDates + lostByRate
  return {
    truth: {
      polls: world.counts.polls - truth.polls,
      futile: world.counts.futile - truth.futile,
      lost: world.counts.lost - truth.lost,
    },
    counted: {
      polls: after.polls - first.polls,
      futile: after.futile + after.notModified - first.futile - first.notModified,
      lost: lostIn(after) - lostIn(first),
    },
    forecast: {
      polls: mean(({ polls }) => polls),
      futile: mean(({ futile }) => futile),
      lost: mean(({ lost }) => lost),
    },
    perDay: world.perDay,
    missed: [...world.shown].filter((id) => !delivered.has(id)).length,
    repeated: [...delivered.values()].filter((times) => times > 1).length,
  }
}

/** Answers on all of 127.0.0.0/8. */
async function serve(world: LiveFeeds, clock: Clock) {
  const server = createServer((request, response) => {
    const { etag, xml } = world.poll(Number(request.url!.slice(1)), clock.now())
    response.setHeader('etag', etag)
    if (request.headers['if-none-match'] === etag) return void response.writeHead(304).end()
    response.setHeader('content-type', 'application/rss+xml').end(xml)
  })
  await new Promise<void>((resolve) => void server.listen(0, '0.0.0.0', resolve))
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve())
      server.closeAllConnections()
    })
  return { port: (server.address() as AddressInfo).port, close }
}

function fastClock(factor: number): Clock {
  const real = systemClock()
  const start = real.now()
  return {
    now: () => start + (real.now() - start) * factor,
    // A hair later, or the division could make it a hair too early.
    wakeAt: (at, callback) => real.wakeAt(start + (at - start) / factor + 0.001, callback),
  }
}

/** Half an article to twenty a day, and a poll a day for each feed on average: a good part of the articles is lost. */
const FEEDS = { windows: [5, 10, 20], slowest: 0.5, fastest: 20, learningDays: 20 }

/** Every seed is one with which nothing was chosen. There are so many feeds that chance is a few percent of each count. */
const RUNS: readonly { readonly name: string; readonly world: Pick<LiveFeedsRun, RunOptions> }[] = [
  { name: 'sockets, bursts', world: { feeds: 450, days: 60, burst: 2, seed: 61, speed: DAY_MS / 2000 } },
  { name: 'virtual time, steady', world: { feeds: 600, days: 60, burst: 1, seed: 62 } },
  { name: 'virtual time, bursts', world: { feeds: 600, days: 60, burst: 2, seed: 63 } },
]

type RunOptions = 'feeds' | 'days' | 'burst' | 'seed' | 'speed'

/** The bar: truth and estimate are within this share of each other, and of the forecast. */
const TOLERANCE = 0.1

export async function feedsLive(): Promise<readonly Claim[]> {
  const claims: Claim[] = []
  for (const { name, world } of RUNS) {
    const { feeds, days } = world
    const result = await runLiveFeeds({ ...FEEDS, ...world, budgetPerDay: feeds })
    const { truth, counted, forecast, missed, repeated } = result
    const inFlight = world.speed === undefined ? 0 : 0.005 * truth.polls
    const scored = days - FEEDS.learningDays
    console.log(
      `${name}: ${feeds} feeds, ${Math.round(result.perDay)} articles a day, ${scored} scored days\n`,
    )
    printTable(
      ['', 'truth', 'counted', 'forecast'],
      [
        ['polls', truth.polls, counted.polls, forecast.polls],
        ['lost articles', truth.lost, counted.lost, forecast.lost],
        ['futile polls', truth.futile, counted.futile, forecast.futile],
      ],
    )
    const near = (what: string, value: number, other: number): Claim => {
      const ratio = value / other
      return { what: `${name}: ${what}: ${ratio.toFixed(3)}`, holds: Math.abs(ratio - 1) <= TOLERANCE }
    }
    claims.push(
      near('lost articles, truth ÷ forecast', truth.lost, forecast.lost),
      near('futile polls, truth ÷ forecast', truth.futile, forecast.futile),
      near('lost articles, estimate ÷ truth', counted.lost, truth.lost),
      {
        // Over sockets, a few polls are on their way when the scored time begins.
        what: `${name}: polls counted ${counted.polls} of ${truth.polls}, futile ones ${counted.futile} of ${truth.futile}`,
        holds: Math.abs(counted.polls - truth.polls) + Math.abs(counted.futile - truth.futile) <= inFlight,
      },
      {
        what: `${name}: ${missed} entries of polled windows were not delivered, ${repeated} more than once`,
        holds: missed + repeated === 0,
      },
    )
  }
  return claims
}
