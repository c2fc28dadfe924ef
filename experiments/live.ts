/**
 * Checks a forecast against reality: a web on this machine whose pages change by known Poisson processes, within
 * seconds instead of days, is crawled by the real crawler over real sockets, and compared with the forecast of
 * `simulateRefresh` for the same web and rules. Only the server's log decides what was caught.
 */

import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { Crawler, type RefreshOptions } from '../src/index.js'
import { refreshOptions } from '../src/options/check-refresh.js'
import { simulateRefresh } from '../src/sim/refresh/run.js'
import { seededRandom } from '../src/time.js'
import { type Claim, printTable } from './table.js'

/** A web and how it is crawled. */
export interface LiveOptions {
  readonly hosts: number
  readonly pagesPerHost: number
  /** Mean intervals between a page's changes are between these, equally many in each octave. */
  readonly fastestMs: number
  readonly slowestMs: number
  /** How long the server waits before it answers. */
  readonly latencyMs: number
  readonly delayMs: number
  readonly sockets: number
  readonly refresh: RefreshOptions
  readonly learningMs: number
  readonly scoredMs: number
  readonly seed: number
  /** Forecasts are random, so several are averaged. */
  readonly forecasts: number
}

/** What the server needs to know. */
export interface LiveWeb {
  readonly hosts: number
  readonly pagesPerHost: number
  readonly latencyMs: number
  /** The times at which each page changes, ascending, in ms since the start. */
  readonly changesMs: readonly (readonly number[])[]
}

/** What the server logged: `version` is the number of changes of the page so far. */
export interface Answer {
  readonly page: number
  readonly version: number
  readonly at: number
  readonly status: number
}

/** The result of a crawl in the scored time. */
export interface LiveScore {
  readonly changes: number
  readonly caughtShare: number
  readonly freshness: number
  readonly visitsPerSecond: number
}

/** A live run and its forecast. */
export interface LiveOutcome {
  readonly live: LiveScore
  readonly forecasts: readonly LiveScore[]
  /** The mean of the forecasts. */
  readonly forecast: LiveScore
  /** The mean duration of a download as seen by the crawler, which the forecast uses. */
  readonly downloadMs: number
  /** Answers with status 304. */
  readonly confirmed: number
  /**
   * Answers of the whole run whose content differs from the page's previous answer, and how many of them the crawler
   * reported.
   */
  readonly shown: number
  readonly told: number
  readonly threadBusy: number
}

const FULL: LiveOptions = {
  hosts: 40,
  pagesPerHost: 25,
  fastestMs: 1500,
  slowestMs: 60_000,
  latencyMs: 5,
  delayMs: 5,
  sockets: 50,
  refresh: { min: '300ms', max: '2m', first: '2s', target: 0.6 },
  learningMs: 25_000,
  scoredMs: 60_000,
  seed: 1,
  forecasts: 5,
}
/** How far off the forecast may be. */
const TOLERANCE = 0.05
/** The crawl continues for a moment, so that it does not end within the scored time. */
const TAIL_MS = 500
const SERVER = fileURLToPath(new URL('./live-web.mjs', import.meta.url))

/** Runs the experiment and prints its result. */
export async function live(): Promise<readonly Claim[]> {
  const { hosts, pagesPerHost, learningMs, scoredMs, fastestMs, slowestMs } = FULL
  console.log(
    `${hosts} hosts of ${pagesPerHost} pages that change every ${fastestMs / 1000} to ${slowestMs / 1000} s; ` +
      `${scoredMs / 1000} s after ${learningMs / 1000} s of learning\n`,
  )
  const outcome = await runLive(FULL)
  const { live, forecast, forecasts, downloadMs, confirmed, shown, told, threadBusy } = outcome
  const figures: [string, (score: LiveScore) => number][] = [
    ['share of changes caught', ({ caughtShare }) => caughtShare],
    ['freshness', ({ freshness }) => freshness],
    ['visits per second', ({ visitsPerSecond }) => visitsPerSecond],
    ['changes', ({ changes }) => changes],
  ]
  printTable(
    ['', 'live', 'forecast', 'lowest', 'highest', 'live ÷ forecast'],
    figures.map(([what, of]) => {
      const all = forecasts.map(of)
      const ratio = (of(live) / of(forecast)).toFixed(3)
      return [what, of(live), of(forecast), Math.min(...all), Math.max(...all), ratio]
    }),
  )
  console.log(
    `A download took ${downloadMs.toFixed(1)} ms; ${confirmed} answers were 304; ` +
      `the crawler's thread was busy for ${(100 * threadBusy).toFixed(0)} % of the time.\n`,
  )
  const ratio = live.caughtShare / forecast.caughtShare
  return [
    {
      what: `changes caught are ${ratio.toFixed(3)} times the forecast (0.95 to 1.05)`,
      holds: Math.abs(ratio - 1) <= TOLERANCE,
    },
    {
      what: `the crawler reported ${told} of the ${shown} changes that it was served`,
      // Visits in progress at the end may remain unread.
      holds: told <= shown && told >= shown - FULL.sockets,
    },
  ]
}

/** Crawls a web and forecasts it. */
export async function runLive(options: LiveOptions): Promise<LiveOutcome> {
  const { hosts, pagesPerHost, latencyMs, learningMs, scoredMs, delayMs, sockets } = options
  const endMs = learningMs + scoredMs
  const intervalsMs = drawIntervals(options)
  const changesMs = drawChanges(intervalsMs, endMs + TAIL_MS, options.seed)
  const crawled = await crawl(options, { hosts, pagesPerHost, latencyMs, changesMs }, endMs + TAIL_MS)
  const live = scoreOf(changesMs, crawled.answers, learningMs, endMs)

  const { refresh } = refreshOptions(options.refresh)
  const world = {
    servers: Array.from({ length: hosts }, (_, host) => ({
      host: addressOf(host),
      downloadMs: crawled.downloadMs,
      pages: intervalsMs
        .slice(host * pagesPerHost, (host + 1) * pagesPerHost)
        .map((changeMs) => ({ changeMs })),
    })),
  }
  const forecasts = Array.from({ length: options.forecasts }, (_, i): LiveScore => {
    const seed = options.seed + 2 + i
    const rules = { sockets, delayMs, refresh, learningMs, durationMs: scoredMs, seed }
    const { changes, caughtShare, freshness, visits } = simulateRefresh(world, rules)
    return { changes, caughtShare, freshness, visitsPerSecond: visits / (scoredMs / 1000) }
  })
  const confirmed = crawled.answers.filter(({ status }) => status === 304).length
  const shown = shownIn(crawled.answers)
  const { downloadMs, told, threadBusy } = crawled
  return { live, forecasts, forecast: meanOf(forecasts), downloadMs, confirmed, shown, told, threadBusy }
}

/**
 * Scores a log by the definitions of the forecast. A change is caught if the new content was served before the page's
 * next change, and counts when it was served: so changes from before the scored time that are caught in it stand for
 * those in it that are caught later. The copy of a page is current from an answer until the next change.
 */
export function scoreOf(
  changesMs: LiveWeb['changesMs'],
  answers: readonly Answer[],
  fromMs: number,
  toMs: number,
): LiveScore {
  const served = changesMs.map(() => new Map<number, number>())
  let visits = 0
  for (const { page, version, at, status } of answers) {
    if (at >= toMs) continue
    if (at >= fromMs) visits++
    // An answer shows the page as it is at that time, so the first answer with a version is when its copy became
    // current. A 304 can only confirm what was served before.
    if (status === 200 && !served[page]!.has(version)) served[page]!.set(version, at)
  }
  let changes = 0
  let caught = 0
  let freshMs = 0
  for (const [page, instants] of changesMs.entries()) {
    // Version 0 is the page before its first change.
    for (let version = 0; version <= instants.length; version++) {
      const madeAt = version === 0 ? Number.NEGATIVE_INFINITY : instants[version - 1]!
      const replacedAt = instants[version] ?? Number.POSITIVE_INFINITY
      const servedAt = served[page]!.get(version)
      if (madeAt >= fromMs && madeAt < toMs) changes++
      if (servedAt !== undefined) {
        if (version > 0 && servedAt >= fromMs) caught++
        freshMs += Math.max(0, Math.min(replacedAt, toMs) - Math.max(servedAt, fromMs))
      }
    }
  }
  const ms = toMs - fromMs
  return {
    changes,
    caughtShare: caught / changes,
    freshness: freshMs / (ms * changesMs.length),
    visitsPerSecond: visits / (ms / 1000),
  }
}

/** Answers whose content differs from the previous answer of the same page. */
function shownIn(answers: readonly Answer[]): number {
  const last = new Map<number, number>()
  let shown = 0
  for (const { page, version, status } of answers) {
    if (status !== 200) continue
    if (last.has(page) && last.get(page) !== version) shown++
    last.set(page, version)
  }
  return shown
}

function drawIntervals({ hosts, pagesPerHost, fastestMs, slowestMs, seed }: LiveOptions): number[] {
  const random = seededRandom(seed)
  return Array.from(
    { length: hosts * pagesPerHost },
    () => fastestMs * (slowestMs / fastestMs) ** random.next(),
  )
}

/** Poisson processes: the times between changes are exponentially distributed. */
function drawChanges(intervalsMs: readonly number[], endMs: number, seed: number): number[][] {
  const random = seededRandom(seed + 1)
  return intervalsMs.map((intervalMs) => {
    const changes: number[] = []
    for (let at = 0; ; changes.push(at)) {
      at -= Math.log(1 - random.next()) * intervalMs
      if (at >= endMs) return changes
    }
  })
}

async function crawl(
  { hosts, delayMs, sockets, refresh }: LiveOptions,
  web: LiveWeb,
  untilMs: number,
): Promise<{ answers: Answer[]; downloadMs: number; told: number; threadBusy: number }> {
  const server = fork(SERVER, { execArgv: [] })
  try {
    server.send(web)
    const { port } = await answerOf<{ port: number }>(server)
    let pages = 0
    let fetchMs = 0
    const crawler = new Crawler()
      .seeds(Array.from({ length: hosts }, (_, host) => `http://${addressOf(host)}:${port}/`))
      .scope('host')
      .robots(false)
      .delay(`${delayMs}ms`)
      .concurrency(sockets)
      .refresh({ ...refresh, until: untilMs })
      .on('page', (page) => {
        pages++
        fetchMs += page.fetchMs
      })
    server.send('begin')
    await answerOf(server)
    const summary = await crawler.run()
    if (summary.failed > 0) throw new Error(`${summary.failed} visits to the live web failed`)
    server.send('log')
    const { log } = await answerOf<{ log: number[] }>(server)
    const { changes, threadBusy = 0 } = summary
    return { answers: readLog(log), downloadMs: fetchMs / pages, told: changes.changed ?? 0, threadBusy }
  } finally {
    const gone = once(server, 'exit')
    server.kill()
    await gone
  }
}

async function answerOf<Message>(server: ChildProcess): Promise<Message> {
  const [message] = await once(server, 'message')
  return message as Message
}

function readLog(log: readonly number[]): Answer[] {
  const answers: Answer[] = []
  for (let i = 0; i < log.length; i += 4) {
    answers.push({ page: log[i]!, version: log[i + 1]!, at: log[i + 2]!, status: log[i + 3]! })
  }
  return answers
}

/** Every address of 127.0.0.0/8 is a separate host. */
function addressOf(host: number): string {
  return `127.1.0.${host + 1}`
}

function meanOf(scores: readonly LiveScore[]): LiveScore {
  const mean = (of: (score: LiveScore) => number) =>
    scores.reduce((sum, score) => sum + of(score), 0) / scores.length
  return {
    changes: mean(({ changes }) => changes),
    caughtShare: mean(({ caughtShare }) => caughtShare),
    freshness: mean(({ freshness }) => freshness),
    visitsPerSecond: mean(({ visitsPerSecond }) => visitsPerSecond),
  }
}
