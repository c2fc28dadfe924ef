/** What a request sends beyond a plain GET: its method, its own headers and its body. */

import type { RequestExtras } from '../../../types.js'
import { RESERVED_HEADERS } from '../../../url/reserved-headers.js'
import { LINE_TEXT } from '../headers.js'
import { AccessRefused } from './failures.js'

/** The body as bytes. A HEAD request has none. */
export function bodyOf({ method, body, binary }: RequestExtras): Buffer | undefined {
  if (body === undefined || method === 'HEAD') return undefined
  return Buffer.from(body, binary ? 'base64' : 'utf8')
}

/**
 * The crawl's headers for an origin, with those of the request in front of them. A flat list, as undici takes it.
 *
 * @throws AccessRefused for a header that cannot be sent. Its value may be a secret and is not shown.
 */
export function withRequestHeaders(
  headers: string[],
  given: Readonly<Record<string, string>> | undefined,
): string[] {
  if (given === undefined) return headers
  const sent = new Map<string, string>()
  for (let i = 0; i + 1 < headers.length; i += 2) sent.set(headers[i]!, headers[i + 1]!)
  for (const [name, value] of Object.entries(given)) {
    const reason = RESERVED_HEADERS[name] ?? (LINE_TEXT.test(value) ? undefined : 'it is not one line')
    if (reason !== undefined) {
      const what = `was not fetched, because the request has a header '${name}' that cannot be sent: ${reason}`
      throw new AccessRefused({ code: 'fetcher-failed', what })
    }
    sent.set(name, value)
  }
  return [...sent].flat()
}
