/** Dates in sitemaps (W3C) and feeds (RFC 822). */

import { parseHttpDate, parseW3cDate } from '../../time.js'

/** The instant in ms since the epoch, or undefined if the text is not a date. */
export function dateOf(text: string): number | undefined {
  const ms = parseW3cDate(text) ?? parseHttpDate(text)
  // Anything before 1970 is a default value, such as 0001-01-01.
  return ms === undefined || ms < 0 ? undefined : ms
}
