/** The state of a stored crawl as text. Pure. */

import type { Inspection } from '../../index.js'
import { bytes, count, counted, cut, duration, instant, printable, tally, wrap } from '../format.js'

export interface ReportDetails {
  /** Milliseconds since the epoch; ages and pauses are relative to it. */
  readonly now: number
  /** Columns. */
  readonly width: number
}

const LABEL_WIDTH = 12

/** The whole report, line by line. */
export function reportLines(inspection: Inspection, details: ReportDetails): string[] {
  const { failures, skips, statuses } = inspection
  const { width } = details
  const sections = [
    overview(inspection, details),
    counts('Responses by status', statuses, width),
    counts('Failures by code', failures, width),
    counts('Skipped by reason', skips, width),
    hosts(inspection, details),
    feeds(inspection, details),
    recentFailures(inspection, details),
  ]
  return sections
    .filter((lines) => lines.length > 0)
    .flatMap((lines, i) => (i === 0 ? lines : ['', ...lines]))
}

function overview(inspection: Inspection, { now, width }: ReportDetails): string[] {
  const { path, state, inUse, runs, startedAt, lastCommitAt, bytesOnDisk, format } = inspection
  const age = duration(Math.max(0, now - lastCommitAt))
  const rows: [label: string, text: string][] = [
    ['crawl', printable(path)],
    ['state', stateOf(state, inUse)],
    ['runs', `${count(runs)}, first started ${instant(startedAt)}`],
    ['last write', `${instant(lastCommitAt)}, ${age} ago`],
    [/^redis/.test(path) ? 'in Redis' : 'on disk', `${bytes(bytesOnDisk)}, format ${format}`],
    ['pages', `${count(inspection.pages)}, ${bytes(inspection.bytes)} of bodies`],
    ['pending', `${counted(inspection.pending, 'URL')} of ${count(inspection.known)} known`],
    ['failed', counted(inspection.failed, 'URL')],
  ]
  const indent = ' '.repeat(LABEL_WIDTH)
  return rows.flatMap(([label, text]) => {
    const [first = '', ...more] = wrap(text, width, indent)
    return [label.padEnd(LABEL_WIDTH) + first.slice(LABEL_WIDTH), ...more]
  })
}

function stateOf(state: Inspection['state'], inUse: boolean): string {
  if (inUse) return 'running (open in another process)'
  // No process has it open, so it is not running.
  return state === 'crashed or running' ? 'crashed; the next run resumes from the last write' : state
}

function counts(title: string, byWord: Readonly<Record<string, number>>, width: number): string[] {
  return Object.keys(byWord).length === 0 ? [] : [title, ...tally(byWord, width)]
}

function hosts({ hosts: { total, withMostPending } }: Inspection, { now, width }: ReportDetails): string[] {
  if (withMostPending.length === 0) return []
  const digits = Math.max(...withMostPending.map(({ pending }) => count(pending).length))
  const rows = withMostPending.map(({ host, pending, notBefore = 0, incidents = 0 }) => {
    const pause = notBefore > now ? [`paused for ${duration(notBefore - now)}`] : []
    const trouble = incidents > 0 ? [`${counted(incidents, 'incident')} in a row`] : []
    const remarks = [...pause, ...trouble].join(', ')
    return `  ${count(pending).padStart(digits)}  ${printable(host)}${remarks === '' ? '' : `  (${remarks})`}`
  })
  return [
    `Hosts with the most pending URLs (${count(withMostPending.length)} of ${count(total)})`,
    ...rows.map((row) => cut(row, width)),
  ]
}

function feeds({ feeds }: Inspection, { now, width }: ReportDetails): string[] {
  if (feeds === undefined) return []
  const { followed, failing, ended, total, listed } = feeds
  const { polls, fresh, futile, notModified, lostByDates, lostByRate } = total
  const lines = [
    `${counted(followed, 'feed')} followed, ${count(failing)} failing, ${count(ended)} ended`,
    `${counted(polls, 'poll')}: ${counted(fresh, 'new article')}, about ${count(Math.round(lostByDates + lostByRate))} lost, ` +
      `${count(futile)} polls in vain and ${count(notModified)} not modified`,
  ]
  const rows = listed.flatMap((feed) => [
    `  ${printable(feed.url)}`,
    `    ${decimal(feed.perDay)} a day, window ${count(feed.window)}, ${counted(feed.account.polls, 'poll')}, ` +
      `${count(feed.account.fresh)} new, ${count(Math.round(feed.lost))} lost; ` +
      `next ${feed.nextAt > now ? `in ${duration(feed.nextAt - now)}` : 'now'} (${feed.why})`,
    ...(feed.failure ? wrap(printable(feed.failure.message), width, '    ') : []),
  ])
  return ['Feeds', ...lines.flatMap((line) => wrap(line, width, '  ')), ...rows]
}

function decimal(value: number): string {
  return value >= 10 ? count(Math.round(value)) : value.toFixed(2)
}

function recentFailures({ recentFailures }: Inspection, { width }: ReportDetails): string[] {
  if (recentFailures.length === 0) return []
  const rows = recentFailures.flatMap(({ url, code, message, status, attempt, at }) => {
    const failure = `${code}${status === undefined ? '' : ` ${status}`}`
    const tries = attempt > 0 ? `, attempt ${count(attempt + 1)}` : ''
    // URLs are there to be copied, so they are never cut or wrapped.
    return [
      `  ${instant(at)}  ${failure}${tries}`,
      `    ${printable(url)}`,
      ...wrap(printable(message), width, '    '),
    ]
  })
  return ['Recent failures', ...rows]
}
