/** The summary of a crawl as text. Pure. */

import type { EndReason, Failure, SkipReason, Summary } from '../../index.js'
import { bytes, count, counted, duration, printable, rate, tally, wrap } from '../format.js'

export interface SummaryDetails {
  /** The first failure of each code, as an example. */
  readonly examples: ReadonlyMap<string, Failure>
  /** The command line that resumes the crawl, with another `--limit` if given; undefined without a store. */
  readonly command: ((pageLimit?: number) => string) | undefined
  /** The value of `--limit`. */
  readonly pageLimit: number | undefined
  /** Columns. */
  readonly width: number
}

const NOTHING_NEW = 'No URL was pending and none was new. Use another folder to crawl again from the start.'

const ENDINGS: Record<EndReason, string> = {
  done: 'Done',
  'already-done': 'Already done',
  limit: 'Limit reached',
  stopped: 'Stopped',
  aborted: 'Aborted',
}

export function summaryLines(summary: Summary, details: SummaryDetails): string[] {
  return [
    ...wrap(headline(summary), details.width, ''),
    ...skipped(summary, details),
    ...failed(summary, details),
    ...hints(summary, details.width),
    ...left(summary, details),
  ]
}

function headline(summary: Summary): string {
  const { reason, pages, hostsVisited, elapsedMs, pagesPerSecond, earlierRuns } = summary
  const ending = ENDINGS[reason]
  const fetched = pages === 0 ? 'no pages' : counted(pages, 'page')
  const runs = earlierRuns > 0 ? ` in ${counted(earlierRuns + 1, 'run')}` : ''
  const figures = [
    `${counted(hostsVisited, 'host')} visited`,
    bytes(summary.bytes),
    `${duration(elapsedMs)}${pagesPerSecond > 0 ? ` (${rate(pagesPerSecond)} pages/s)` : ''}`,
  ]
  return `${ending}: ${fetched}${runs}; ${figures.join(', ')}.`
}

function skipped({ skips, skipped }: Summary, { width }: SummaryDetails): string[] {
  if (skipped === 0) return []
  const reasons = Object.entries(skips)
    .sort((a, b) => b[1] - a[1])
    .map(([reason, times]) => `${reason} ${count(times)}`)
  return wrap(`Skipped: ${reasons.join(', ')}.`, width, '')
}

function failed({ failures, failed }: Summary, { examples, width }: SummaryDetails): string[] {
  if (failed === 0) return []
  const explain = (code: string) => printable(examples.get(code)?.message ?? '')
  return [`${count(failed)} failed:`, ...tally(failures, width, explain)]
}

function left(summary: Summary, { command, pageLimit, width }: SummaryDetails): string[] {
  // Requests that an abort interrupted are fetched again, so they count as pending.
  const urlsLeft = summary.pending + summary.inFlight
  if (summary.reason === 'already-done') return wrap(NOTHING_NEW, width, '')
  if (urlsLeft === 0) return []
  const urls = counted(urlsLeft, 'URL')
  if (command === undefined) {
    return wrap(`${urls} still pending. Use --store DIR to be able to resume a crawl.`, width, '')
  }
  // Pages are counted over all runs, so resuming with the same limit would end at once.
  const isFull = pageLimit !== undefined && summary.pages >= pageLimit
  const next = isFull ? command(Math.max(pageLimit * 2, summary.pages + 1)) : command()
  return [`${urls} still pending. To resume${isFull ? ' with a higher limit' : ''}:`, `  ${next}`]
}

/** What to do if the given URLs were skipped. Without pages, only they and the targets of their redirects can be. */
const HINTS: Partial<Record<SkipReason, string>> = {
  robots: 'robots.txt disallows what was to be fetched. If the host is yours, --no-robots ignores it.',
  scope: 'A given URL redirects out of the scope: start from the new address, or widen --scope.',
  blocked: 'A given URL, or where it redirects to, matches --block.',
  'media-type': 'What was fetched is not HTML, and kumo crawl reads nothing else.',
}

/** Advice for a crawl without pages. */
export function hints({ pages, skips }: Summary, width: number): string[] {
  if (pages > 0) return []
  const reasons = Object.keys(skips) as SkipReason[]
  return reasons.flatMap((reason) => wrap(HINTS[reason] ?? '', width, '')).filter((line) => line !== '')
}
