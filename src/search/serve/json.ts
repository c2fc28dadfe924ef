/** Answers of the web service that are no pages. */

import { KumoError } from '../../errors.js'

export function json(value: unknown, status = 200): Response {
  return Response.json(value, {
    status,
    headers: { 'x-content-type-options': 'nosniff', 'cache-control': 'no-store' },
  })
}

/** What the disk or the index says is for the log, not for visitors. */
export function failed(error: unknown): Response {
  return json({ error: error instanceof KumoError ? error.code : 'KUMO_INDEX_FAILED' }, 500)
}
