/** What is in a store, as text that fits a terminal. Pure: it turns an inspection into lines. */

import type { Inspection } from '../../index.js'
import { bytes, count, counted, cut, duration, instant, printable, tally, wrap } from '../format.js'

export interface InspectionDetails {
  /** Milliseconds since the epoch: pauses are told from here. */
  readonly now: number
  /** Columns. */
  readonly width: number
}

const LABEL_WIDTH = 12

/** The whole text, line by line. */
export function inspectionLines(inspection: Inspection, details: InspectionDetails): string[] {
  const { failures, skips, statuses } = inspection
  const { width } = details
  const sections = [
    overview(inspection, details),
    counts('Answers by status', statuses, width),
    counts('Failed, by code', failures, width),
    counts('Not fetched, by reason', skips, width),
    hosts(inspection, details),
    recentFailures(inspection, details),
  ]
  return sections
    .filter((lines) => lines.length > 0)
    .flatMap((lines, i) => (i === 0 ? lines : ['', ...lines]))
}

function overview(inspection: Inspection, { now, width }: InspectionDetails): string[] {
  const { path, state, inUse, runs, startedAt, lastCommitAt, bytesOnDisk, format } = inspection
  const age = duration(Math.max(0, now - lastCommitAt))
  const rows: [label: string, text: string][] = [
    ['crawl', printable(path)],
    ['state', stateOf(state, inUse)],
    ['runs', `${count(runs)}, the first since ${instant(startedAt)}`],
    ['last write', `${instant(lastCommitAt)}, ${age} ago`],
    ['on disk', `${bytes(bytesOnDisk)}, format ${format}`],
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
  if (inUse) return 'running: a process has it open'
  // Nobody has it open, so the other half of the word is ruled out.
  return state === 'crashed or running' ? 'crashed; the next run goes on from the last write' : state
}

function counts(title: string, byWord: Readonly<Record<string, number>>, width: number): string[] {
  return Object.keys(byWord).length === 0 ? [] : [title, ...tally(byWord, width)]
}

function hosts(
  { hosts: { total, withMostPending } }: Inspection,
  { now, width }: InspectionDetails,
): string[] {
  if (withMostPending.length === 0) return []
  const digits = Math.max(...withMostPending.map(({ pending }) => count(pending).length))
  const rows = withMostPending.map(({ host, pending, notBefore = 0, incidents = 0 }) => {
    const rest = notBefore > now ? [`rests for ${duration(notBefore - now)}`] : []
    const trouble = incidents > 0 ? [`${counted(incidents, 'incident')} in a row`] : []
    const remarks = [...rest, ...trouble].join(', ')
    return `  ${count(pending).padStart(digits)}  ${printable(host)}${remarks === '' ? '' : `  (${remarks})`}`
  })
  return [
    `Hosts with most pending (${count(withMostPending.length)} of ${count(total)})`,
    ...rows.map((row) => cut(row, width)),
  ]
}

function recentFailures({ recentFailures }: Inspection, { width }: InspectionDetails): string[] {
  if (recentFailures.length === 0) return []
  const rows = recentFailures.flatMap(({ url, code, message, status, attempt, at }) => {
    const what = `${code}${status === undefined ? '' : ` ${status}`}`
    const tries = attempt > 0 ? `, try ${count(attempt + 1)}` : ''
    // A URL is copied more often than it is read, so it is the one thing that is never cut or broken.
    return [
      `  ${instant(at)}  ${what}${tries}`,
      `    ${printable(url)}`,
      ...wrap(printable(message), width, '    '),
    ]
  })
  return ['Last failures', ...rows]
}
