/** A page as a line: for people, or for programs. */

import type { Failure, Page } from '../../index.js'
import { cut, printable } from '../format.js'

/** Titles beyond this are no longer read by anybody. */
const LONGEST_TITLE = 100
/** In the place of the status where there was no answer. */
const NO_STATUS = '---'

/** `200  https://example.com/  Example`; with `changed` or `gone` at the end where it was visited before. */
export function pageLine({ status, url, title, change }: Page): string {
  const became = change === 'new' ? '' : `  (${change})`
  const line = `${status || NO_STATUS}  ${printable(url)}  ${cut(printable(title), LONGEST_TITLE)}`
  return `${line.trimEnd()}${became}`
}

/** `404  https://example.com/gone  failed: http-status`; the message where the code does not say it all. */
export function failureLine({ status, url, code, message }: Failure): string {
  const reason = status === undefined ? `${code}: ${printable(message)}` : code
  return `${status ?? NO_STATUS}  ${printable(url)}  failed: ${reason}`
}

/** Control characters that JSON allows in a text, and that some terminals obey. */
const OBEYED = /[\x7f-\x9f]/g

/** One line of JSON. Every key is always there. */
export function pageJson(page: Page): string {
  const { id, url, change, status, title, depth, parent = null, mediaType, wireBytes: bytes } = page
  const fetchedAt = new Date(page.fetchedAt).toISOString()
  const line = JSON.stringify({ id, url, change, status, title, depth, parent, mediaType, bytes, fetchedAt })
  return line.replace(OBEYED, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
