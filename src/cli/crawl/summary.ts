/** What a crawl came to, in a few lines. Pure: it turns a summary into text. */

import type { EndReason, Failure, Summary } from '../../index.js'
import { bytes, count, counted, duration, printable, rate, tally, wrap } from '../format.js'

export interface SummaryDetails {
  /** The first failure of each code, as an example. */
  readonly examples: ReadonlyMap<string, Failure>
  /** The command line that goes on with a crawl in a store; undefined if there is no store. */
  readonly command: string | undefined
  /** What `--limit` says. */
  readonly pageLimit: number | undefined
  /** Columns. */
  readonly width: number
}

const NOTHING_NEW = 'Nothing was left, and no URL was new. Another folder begins anew.'

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
    ...left(summary, details),
  ]
}

function headline(summary: Summary): string {
  const { reason, pages, hostsVisited, elapsedMs, pagesPerSecond, earlierRuns } = summary
  const ending = ENDINGS[reason]
  const came = pages === 0 ? 'no page came back' : counted(pages, 'page')
  const runs = earlierRuns > 0 ? ` in ${counted(earlierRuns + 1, 'run')}` : ''
  const figures = [
    `${counted(hostsVisited, 'host')} visited`,
    bytes(summary.bytes),
    `${duration(elapsedMs)}${pagesPerSecond > 0 ? ` (${rate(pagesPerSecond)} pages/s)` : ''}`,
  ]
  return `${ending}: ${came}${runs}; ${figures.join(', ')}.`
}

function skipped({ skips, skipped }: Summary, { width }: SummaryDetails): string[] {
  if (skipped === 0) return []
  const reasons = Object.entries(skips)
    .sort((a, b) => b[1] - a[1])
    .map(([reason, times]) => `${reason} ${count(times)}`)
  return wrap(`Not fetched: ${reasons.join(', ')}.`, width, '')
}

function failed({ failures, failed }: Summary, { examples, width }: SummaryDetails): string[] {
  if (failed === 0) return []
  const explain = (code: string) => printable(examples.get(code)?.message ?? '')
  return [`${count(failed)} failed:`, ...tally(failures, width, explain)]
}

function left(summary: Summary, { command, pageLimit, width }: SummaryDetails): string[] {
  // What an abort caught in flight is fetched again, so it is as good as pending.
  const urlsLeft = summary.pending + summary.inFlight
  if (summary.reason === 'already-done') return [NOTHING_NEW]
  if (urlsLeft === 0) return []
  const urls = urlsLeft === 1 ? '1 URL is' : `${count(urlsLeft)} URLs are`
  if (command === undefined) {
    return wrap(`${urls} left. With --store DIR, the same command could go on from here later.`, width, '')
  }
  // Pages count over all runs, so the same limit would be reached at once.
  const isFull = pageLimit !== undefined && summary.pages >= pageLimit
  const advice = isFull ? ', with a higher --limit' : ''
  return [`${urls} left. To go on${advice}:`, `  ${command}`]
}
