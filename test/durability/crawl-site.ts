/** One crawl of a site through all its interruptions, and what is to be said of it. */

import { join } from 'node:path'
import type { LoopbackWeb } from '../loopback/web.js'
import { readDeliveries, wrongDeliveries } from './deliveries.js'
import { interruptedCrawl, type NextInterruption } from './interrupted-crawl.js'
import type { Ending, Run, Task } from './run.js'
import { closedPages, openPages, type Site, seedsOf } from './sites.js'
import { type Verdict, verdictOf } from './verdict.js'

export interface CrawlSiteOptions {
  readonly site: Site
  /** Its server, which forgets what it saw before. */
  readonly web: LoopbackWeb
  /** For the store and the deliveries. Given again, the crawl goes on where it was. */
  readonly folder: string
  readonly next: NextInterruption
  readonly level?: Task['level']
  readonly limitPages?: number
  readonly workers?: number
  /** Takes a store that lives no longer than the program, to see what the checks say to it. */
  readonly forgetful?: boolean
}

export interface SiteCrawl {
  readonly runs: readonly Run[]
  readonly ending: Ending
  /** Of the server's log, and of what was delivered. */
  readonly verdict: Verdict
}

/** How often the store commits where nothing else is said. */
const COMMIT_MS = 100
/** A commit that waits for the disk takes as long as the disk does, and this one may be busy. */
const DISK_MS = 1000
/** Far more often than commits, and seldom enough to cost nothing. */
export const BEAT_MS = 10

/** Crawls the site to its end. */
export async function crawlSite(options: CrawlSiteOptions): Promise<SiteCrawl> {
  const { site, web, folder, next, level, limitPages, workers, forgetful = false } = options
  const { delayMs, concurrency } = site
  const deliveries = join(folder, 'deliveries.txt')
  const task: Task = {
    seeds: seedsOf(web),
    delayMs,
    concurrency,
    deliveries,
    pulse: join(folder, 'pulse.txt'),
    beatMs: BEAT_MS,
    ...(forgetful ? {} : { folder: join(folder, 'store') }),
    ...(level === undefined ? {} : { level }),
    ...(limitPages === undefined ? {} : { limitPages }),
    ...(workers === undefined ? {} : { workers }),
  }
  await web.reset()
  const runs = await interruptedCrawl(task, next)
  const ending = runs.at(-1)!.ending!
  const wanted = limitPages === undefined ? openPages(site, web) : undefined
  // The pulse is the main thread's, and does not tell when another had to wait for its turn.
  const waits = level?.durability === 'machine' || workers !== undefined
  const commitMs = COMMIT_MS + (waits ? DISK_MS : 0)
  const forbidden = closedPages(site, web)
  const verdict = verdictOf({
    requests: await web.requests(),
    runs,
    wanted,
    forbidden,
    delayMs,
    commitMs,
  })
  const findings = [
    ...verdict.findings,
    ...wrongDeliveries(readDeliveries(deliveries), wanted),
    ...wrongEnding(ending, runs.length, wanted?.size ?? limitPages),
  ]
  return { runs, ending, verdict: { ...verdict, findings } }
}

/** Counts must go on from run to run, and a page that is fetched again counts once. */
function wrongEnding({ pages, reason }: Ending, runs: number, wantedPages: number | undefined): string[] {
  const findings: string[] = []
  if (pages !== wantedPages) findings.push(`the crawl counted ${pages} pages instead of ${wantedPages}`)
  // A kill between the last commit and the last word leaves a finished crawl, and the next run says so.
  if (reason === 'already-done' && runs === 1) findings.push('a crawl was done before it began')
  return findings
}
