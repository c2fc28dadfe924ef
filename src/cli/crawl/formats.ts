/** Pages and failures as output: text for people; JSON Lines, CSV and Markdown for programs. */

import type { Failure, Page } from '../../index.js'
import { cut, printable } from '../format.js'
import { DEFAULT_FIELDS, type Field } from './fields.js'

/** How results are printed. Each string is written with a line break after it. */
export interface Format {
  /** Printed first. */
  readonly header?: string
  readonly page: (page: Page) => string | Promise<string>
  /** Absent: failures are not printed. */
  readonly failure?: (failure: Failure) => string
}

/** A format whose lines are ready at once. */
interface LineFormat extends Format {
  readonly page: (page: Page) => string
}

/** Longer titles are cut. */
const LONGEST_TITLE = 100
/** Stands for the status if there was no response. */
const NO_STATUS = '---'

/** Lines for people. */
export const TEXT = { page: pageLine, failure: failureLine } satisfies Format

/** `200  https://example.com/  Example`, followed by `(changed)`, `(unchanged)` or `(gone)` for a known page. */
function pageLine({ status, url, title, change }: Page): string {
  const suffix = change === 'new' ? '' : `  (${change})`
  const line = `${status || NO_STATUS}  ${printable(url)}  ${cut(printable(title), LONGEST_TITLE)}`
  return `${line.trimEnd()}${suffix}`
}

/** `404  https://example.com/gone  failed: http-status`. Without a status, the message is added. */
function failureLine({ status, url, code, message }: Failure): string {
  const reason = status === undefined ? `${code}: ${printable(message)}` : code
  return `${status ?? NO_STATUS}  ${printable(url)}  failed: ${reason}`
}

/** A line of JSON for each page and failure; every key is always present. Without a `type`, only pages are printed. */
export function jsonLines(fields: readonly Field[] | undefined): LineFormat {
  const { page: ofPage, failure: ofFailure } = DEFAULT_FIELDS
  return withFailures(
    fields,
    (page) => record((fields ?? ofPage).map((field) => [field.name, field.page(page)])),
    (failure) => record((fields ?? ofFailure).map((field) => [field.name, field.failure(failure)])),
  )
}

/** A row for each page and failure, as in RFC 4180. Without a `type`, only pages are printed. */
export function csv(fields: readonly Field[] = DEFAULT_FIELDS.row): LineFormat {
  const row = (values: readonly unknown[]) => values.map(cell).join(',')
  return {
    header: row(fields.map(({ name }) => name)),
    ...withFailures(
      fields,
      (page) => row(fields.map((field) => field.page(page))),
      (failure) => row(fields.map((field) => field.failure(failure))),
    ),
  }
}

function withFailures(
  fields: readonly Field[] | undefined,
  page: (page: Page) => string,
  failure: (failure: Failure) => string,
): LineFormat {
  return fields === undefined || fields.some(({ name }) => name === 'type') ? { page, failure } : { page }
}

/** Control characters that JSON does not escape and some terminals interpret. */
const C1_CONTROLS = /[\x7f-\x9f]/g

/** A value as one line of JSON. */
export function json(value: unknown): string {
  return JSON.stringify(value).replace(
    C1_CONTROLS,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/** The values of fields as one line of JSON. Missing ones are null. */
function record(entries: readonly (readonly [name: string, value: unknown])[]): string {
  return json(Object.fromEntries(entries.map(([name, value]) => [name, value ?? null])))
}

function cell(value: unknown): string {
  const text = harmless(
    typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value ?? ''),
  )
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** Control characters except tab and line breaks. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters to replace
const CONTROLS = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]/g

/** Text from the web of several lines, without what a terminal would interpret. */
export function harmless(text: string): string {
  return text.replace(CONTROLS, '\ufffd')
}
