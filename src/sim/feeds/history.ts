import { KumoError } from '../../errors.js'
import { parseHttpDate, parseW3cDate } from '../../time.js'
import { hostOf } from '../../url/canonicalize.js'
import type { FeedWorld } from './contract.js'

const DAY_MS = 86_400_000
const MOST_DAYS = 3650
/** The header of a file; without one, columns are feed and time. */
const NAMES = {
  feed: ['feed', 'url', 'site', 'id'],
  time: ['time', 'published', 'date', 'at'],
  window: ['window', 'shown'],
}

/** How a history is read. */
export interface HistoryOptions {
  /** Entries that a feed shows, if the file does not say. Default 10. */
  readonly window?: number | undefined
}

/**
 * Feeds from a history in CSV: a line per article with the feed's name or URL and the time of publication (ISO 8601, RFC
 * 822, or ms since the epoch), and the window if feeds differ. A header may name the columns: `feed,time,window`. A feed
 * that never posted has a line without a time.
 *
 * @throws KumoError (`KUMO_INVALID_OPTION`) that names the line.
 */
export function feedHistory(csv: string, options: HistoryOptions = {}): FeedWorld {
  const { window: usual = 10 } = options
  const feeds = new Map<string, { window: number; times: number[] }>()
  let columns: { feed: number; time: number; window: number } | undefined
  let number = 0
  for (const line of csv.split(/\r?\n/)) {
    number++
    if (line.trim() === '') continue
    const cells = cellsOf(line)
    if (columns === undefined) {
      columns = columnsOf(cells)
      if (isHeader(cells)) continue
    }
    const name = cells[columns.feed]?.trim() ?? ''
    const written = cells[columns.time]?.trim() ?? ''
    const given = columns.window < 0 ? '' : (cells[columns.window]?.trim() ?? '')
    const time = written === '' ? undefined : timeOf(written)
    const window = given === '' ? undefined : Number(given)
    const isBad = name === '' || Number.isNaN(time) || (window !== undefined && !(window >= 1))
    if (isBad) throw wrong(number, line)
    const feed = feeds.get(name) ?? { window: usual, times: [] }
    feeds.set(name, feed)
    if (window !== undefined) feed.window = Math.floor(window)
    if (time !== undefined) feed.times.push(time)
  }
  return worldOf(feeds)
}

function worldOf(
  feeds: ReadonlyMap<string, { readonly window: number; readonly times: number[] }>,
): FeedWorld {
  let [first, last] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
  for (const { times } of feeds.values())
    for (const time of times) [first, last] = [Math.min(first, time), Math.max(last, time)]
  if (!(first <= last))
    throw new KumoError(
      'KUMO_INVALID_OPTION',
      'the history has no article: write a line feed,time for each one',
    )
  const days = Math.ceil((last - first) / DAY_MS) + 1
  if (days > MOST_DAYS)
    throw new KumoError(
      'KUMO_INVALID_OPTION',
      `the history spans ${days.toLocaleString('en')} days, from ${new Date(first).toISOString()} to ${new Date(last).toISOString()}; allowed: ${MOST_DAYS}; remove the times that are wrong`,
    )
  return {
    days,
    feeds: [...feeds].map(([name, { window, times }]) => ({
      host: name.includes('://') ? hostOf(name) : name,
      window,
      posts: Float64Array.from(times, (time) => (time - first) / DAY_MS).sort(),
    })),
  }
}

function wrong(number: number, line: string): KumoError {
  const shown = line.length > 60 ? `${line.slice(0, 60)}…` : line
  return new KumoError(
    'KUMO_INVALID_OPTION',
    `line ${number} of the history: got '${shown}'; allowed: a feed and a time, as in: https://example.com/feed,2024-05-01T10:00:00Z`,
  )
}

function isHeader(cells: readonly string[]): boolean {
  return cells.some((cell) => NAMES.time.includes(cell.trim().toLowerCase()))
}

function columnsOf(cells: readonly string[]): { feed: number; time: number; window: number } {
  if (!isHeader(cells)) return { feed: 0, time: 1, window: 2 }
  const find = (names: readonly string[]) =>
    cells.findIndex((cell) => names.includes(cell.trim().toLowerCase()))
  return { feed: Math.max(0, find(NAMES.feed)), time: find(NAMES.time), window: find(NAMES.window) }
}

/** Cells may be in quotes, with quotes inside doubled. */
function cellsOf(line: string): string[] {
  return [...line.matchAll(/("(?:[^"]|"")*"|[^,;\t]*)(?:[,;\t]|$)/g)]
    .map(([, cell = '']) => (cell.startsWith('"') ? cell.slice(1, -1).replaceAll('""', '"') : cell))
    .slice(0, 16)
}

function timeOf(written: string): number {
  if (/^\d{12,14}$/.test(written)) return Number(written)
  return parseW3cDate(written) ?? parseHttpDate(written) ?? Number.NaN
}
