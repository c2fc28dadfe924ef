/** Pages and failures as lines of output: text for people, JSON for programs. */

import type { Failure, Page } from '../../index.js'
import { cut, printable } from '../format.js'

/** Longer titles are cut. */
const LONGEST_TITLE = 100
/** Stands for the status if there was no response. */
const NO_STATUS = '---'

/** `200  https://example.com/  Example`, followed by `(changed)`, `(unchanged)` or `(gone)` for a known page. */
export function pageLine({ status, url, title, change }: Page): string {
  const suffix = change === 'new' ? '' : `  (${change})`
  const line = `${status || NO_STATUS}  ${printable(url)}  ${cut(printable(title), LONGEST_TITLE)}`
  return `${line.trimEnd()}${suffix}`
}

/** `404  https://example.com/gone  failed: http-status`. Without a status, the message is added. */
export function failureLine({ status, url, code, message }: Failure): string {
  const reason = status === undefined ? `${code}: ${printable(message)}` : code
  return `${status ?? NO_STATUS}  ${printable(url)}  failed: ${reason}`
}

/** Control characters that JSON does not escape and some terminals interpret. */
const C1_CONTROLS = /[\x7f-\x9f]/g

/** One line of JSON; every key is always present. */
export function pageJson(page: Page): string {
  const { id, url, change, status, title, depth, parent = null, mediaType, wireBytes: bytes } = page
  const fetchedAt = new Date(page.fetchedAt).toISOString()
  const line = JSON.stringify({ id, url, change, status, title, depth, parent, mediaType, bytes, fetchedAt })
  return line.replace(
    C1_CONTROLS,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
