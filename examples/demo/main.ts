/**
 * `npm run demo` crawls a synthetic web of many hosts on loopback; `npm run demo -- https://example.com/` crawls a real
 * site. Both show progress while the crawl runs and a summary at the end.
 */

import { parseArgs } from 'node:util'
import { Crawler, type Failure, type FailureCode, KumoError } from 'kumo'
import { ROUTES } from '../../test/hostile/routes.js'
import { startHostileWeb } from '../../test/hostile/server.js'
import { counted, paint, wrap } from './format.js'
import { showProgress } from './progress.js'
import { summaryLines } from './summary.js'
import { type DemoWeb, startDemoWeb } from './web.js'

const USAGE = `npm run demo                          crawl a synthetic web on this machine
npm run demo -- <url> …               crawl from these URLs (at most 100 pages)
npm run demo -- --hosts 20 --pages 5  a smaller synthetic web
npm run demo -- --hostile             a web that misbehaves in every way we know
npm run demo -- --cluster 3           three processes on Redis, one of which is killed`

/** A fifth of the default keeps the demo short. The hosts are our own. */
const LOOPBACK_DELAY_MS = 200
const WEB_DELAY_MS = 1000
const WEB_PAGES = 100
const CONCURRENCY = 100
const DEFAULT_HOSTS = 200
const DEFAULT_PAGES = 20
/** `npm run` forwards a Ctrl-C that the terminal has already sent to every process. */
const ECHO_MS = 500
const NARROWEST = 20
const USUAL_WIDTH = 80

const common = new Crawler().concurrency(CONCURRENCY).userAgent('KumoDemo/0.1')

await main().catch((error: unknown) => {
  const isExpected =
    error instanceof KumoError || (error as { code?: string }).code?.startsWith('ERR_PARSE_ARGS')
  console.error(isExpected ? (error as Error).message : error)
  process.exitCode = 1
})

async function main(): Promise<void> {
  // A reader that exits early, such as `| head`, must not cause a stack trace.
  process.stdout.on('error', () => process.exit())
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      hosts: { type: 'string' },
      pages: { type: 'string' },
      hostile: { type: 'boolean' },
      cluster: { type: 'string' },
      help: { type: 'boolean', short: 'h' },
    },
  })
  if (values.help) return console.log(USAGE)
  if (values.hostile) return crawlHostileWeb()
  if (values.cluster !== undefined) {
    // Loaded only here: it needs Redis and its client.
    const { showCluster } = await import('./cluster.js')
    return showCluster(wholeNumber('--cluster', values.cluster, 3))
  }
  if (positionals.length > 0) {
    const pages = await crawl(
      common.seeds(positionals).delay(WEB_DELAY_MS).limit({ pages: WEB_PAGES }),
      WEB_DELAY_MS,
    )
    if (pages > 0) return
    console.error('No page was fetched. The summary above says why.')
    process.exitCode = 1
    return
  }
  const web = await startDemoWeb(
    wholeNumber('--hosts', values.hosts, DEFAULT_HOSTS),
    wholeNumber('--pages', values.pages, DEFAULT_PAGES),
  )
  try {
    const introduction =
      `Crawling a local web of ${counted(web.hosts, 'host')} and ${counted(web.pages, 'page')} from ` +
      `${counted(web.seeds.length, 'seed')}, at least ${LOOPBACK_DELAY_MS} ms between two visits to a host.`
    console.log(wrap(introduction, width(), '').join('\n'))
    // All links lead to loopback. The rule makes sure of it.
    const crawler = common
      .seeds(web.seeds)
      .allowPrivate('all')
      .scope('all')
      .include('127.*')
      .delay(LOOPBACK_DELAY_MS)
    await crawl(crawler, LOOPBACK_DELAY_MS, web)
  } finally {
    await web.close()
  }
}

/** Crawls a server that misbehaves in every way we know, each on its own host. */
async function crawlHostileWeb(): Promise<void> {
  const web = await startHostileWeb()
  try {
    console.log(
      `Crawling a web that misbehaves in ${ROUTES.length} ways, one per seed. docs/security.md lists them.`,
    )
    const seeds = ROUTES.map(({ path, host }, i) =>
      web.url(path.replace('*', '1'), host ?? `127.1.0.${i + 1}`),
    )
    const patience = { times: 1, backoff: 10, maxRetryAfter: 50, cooldown: 20, cooldowns: 1 }
    const crawler = common.seeds(seeds).allowPrivate('all').scope('host').delay(LOOPBACK_DELAY_MS)
    await crawl(crawler.timeout('2s').retries(patience).limit({ pagesPerHost: 20 }), LOOPBACK_DELAY_MS)
  } finally {
    await web.close()
  }
}

/** Runs the crawl with progress, Ctrl-C and a summary. Returns the number of pages. */
async function crawl(described: Crawler, delayMs: number, web?: DemoWeb): Promise<number> {
  const out = process.stdout
  const examples = new Map<FailureCode, Failure>()
  const crawler = described.on('failure', (failure) => {
    if (failure.final && !examples.has(failure.code)) examples.set(failure.code, failure)
  })
  const interrupted = new AbortController()
  let firstAt: number | undefined
  const onInterrupt = () => {
    // The first Ctrl-C lets visits in flight finish, the second aborts them.
    if (firstAt === undefined) {
      firstAt = performance.now()
      progress.note('Stopping once the visits in flight have finished. Press Ctrl-C again to abort them.')
      run.stop()
    } else if (performance.now() - firstAt > ECHO_MS) {
      interrupted.abort()
    }
  }
  const run = crawler.start({ signal: interrupted.signal })
  const progress = showProgress(() => run.stats(), out)
  process.on('SIGINT', onInterrupt).on('SIGTERM', onInterrupt)
  try {
    const summary = await run.done
    progress.stop()
    const lines = summaryLines(summary, {
      delayMs,
      concurrency: CONCURRENCY,
      examples,
      witness: web && ((await web.report(delayMs)) ?? 'gone'),
      paint: paint(out.isTTY && out.hasColors()),
      width: width(),
    })
    console.log(lines.join('\n'))
    return summary.pages
  } finally {
    progress.stop()
    process.off('SIGINT', onInterrupt).off('SIGTERM', onInterrupt)
  }
}

function width(): number {
  // Some terminals report zero columns.
  return Math.max(NARROWEST, process.stdout.columns || USUAL_WIDTH)
}

function wholeNumber(flag: string, text: string | undefined, otherwise: number): number {
  if (text === undefined) return otherwise
  const value = Number(text)
  if (Number.isInteger(value) && value >= 1) return value
  throw new KumoError('KUMO_INVALID_OPTION', `${flag}: got '${text}'; allowed: a whole number, 1 or more`)
}
