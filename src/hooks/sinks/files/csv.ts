import { invalidOption, optionError } from '../../../errors.js'
import type { Page } from '../../../extract/contract.js'
import type { SinkHook } from '../sink.js'
import { type FileSinkOptions, fileSink } from './file-sink.js'

/** Options of `csv()`. */
export interface CsvOptions<Data extends object = object> extends FileSinkOptions {
  /**
   * The columns, each with a function of the page. Null and undefined are empty cells, dates are ISO 8601, objects are
   * JSON. Default: id, url, status, change, fetchedAt, mediaType, title, depth, parent.
   */
  readonly columns?: Readonly<Record<string, (page: Page<Data>) => unknown>> | undefined
}

const COLUMNS: Readonly<Record<string, (page: Page) => unknown>> = {
  id: ({ id }) => id,
  url: ({ url }) => url,
  status: ({ status }) => status,
  change: ({ change }) => change,
  fetchedAt: ({ fetchedAt }) => new Date(fetchedAt),
  mediaType: ({ mediaType }) => mediaType,
  title: ({ title }) => title,
  depth: ({ depth }) => depth,
  parent: ({ parent }) => parent,
}

/**
 * Writes a row for each page to a file in CSV (RFC 4180), or to several if `rotate` is given. With a durable store each
 * page is in it once, also after a crash; a page that is visited again is one more row.
 *
 * @example
 * const prices = csv('prices.csv', { columns: { url: (page) => page.url, title: (page) => page.title } })
 * await new Crawler().seeds('https://example.com/').use(prices).run()
 */
export function csv<Data extends object = object>(
  path: string,
  options: CsvOptions<Data> = {},
): SinkHook<Data> {
  const { columns = COLUMNS, ...rest } = options
  const entries = Object.entries(columns)
  if (entries.length === 0) throw optionError('csv.columns', 'no column', 'at least one')
  for (const [name, read] of entries)
    if (typeof read !== 'function') throw invalidOption(`csv.columns.${name}`, read, 'a function of a page')
  const line = (page: Page<Data>) => entries.map(([, read]) => csvCell(read(page))).join(',')
  const header = entries.map(([name]) => csvCell(name)).join(',')
  return fileSink(path, rest, { kind: 'csv', line, lineEnd: '\r\n', header })
}

const NEEDS_QUOTES = /[",\r\n]|^\s|\s$/

/** A value as a cell. NUL, which most readers refuse, becomes U+FFFD. */
export function csvCell(value: unknown): string {
  const text = cellText(value).replaceAll('\0', '\uFFFD')
  return NEEDS_QUOTES.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

function cellText(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (value instanceof Date) return value.toISOString()
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}
