import type { RequestExtras } from '../../types.js'
import { originOf } from '../../url/canonicalize.js'

const MOVED_PERMANENTLY = 301
const FOUND = 302
const SEE_OTHER = 303

/** Headers that describe the body (RFC 9110, 8): they go where it goes, and nowhere else. */
const OF_CONTENT = /^content-/

/**
 * What is left of a request after a redirect, besides its URL (RFC 9110, 15.4): 301 and 302 turn POST into GET, 303 turns
 * everything but HEAD into GET, and 307 and 308 repeat the request with its body. Label, data and the distance to the scope stay. Headers may
 * contain a secret, so they stay within their origin, except those that describe a repeated body. Pure.
 */
export function afterRedirect(
  extras: RequestExtras | undefined,
  status: number,
  from: string,
  to: string,
): RequestExtras | undefined {
  if (extras === undefined) return undefined
  const { method, body, binary, label, data, outside } = extras
  const becomesGet = turnsIntoGet(method, status)
  const headers = headersAfter(extras, becomesGet, originOf(from) === originOf(to))
  const left: RequestExtras = {
    ...(!becomesGet && method !== undefined && { method }),
    ...(!becomesGet && body !== undefined && { body }),
    ...(!becomesGet && binary && { binary }),
    ...(headers && { headers }),
    ...(label !== undefined && { label }),
    ...(data !== undefined && { data }),
    ...(outside !== undefined && { outside }),
  }
  return Object.keys(left).length === 0 ? undefined : left
}

/** What is left of the extras of a request for another origin: its headers stay behind, except those of its body. Pure. */
export function forOtherOrigin(extras: RequestExtras | undefined): RequestExtras | undefined {
  if (extras?.headers === undefined) return extras
  const { headers: _, ...others } = extras
  const headers = headersAfter(extras, false, false)
  const left: RequestExtras = { ...others, ...(headers && { headers }) }
  return Object.keys(left).length === 0 ? undefined : left
}

function turnsIntoGet(method = 'GET', status: number): boolean {
  if (status === SEE_OTHER) return method !== 'HEAD'
  return method === 'POST' && (status === MOVED_PERMANENTLY || status === FOUND)
}

function headersAfter(
  { headers, body }: RequestExtras,
  becomesGet: boolean,
  isSameOrigin: boolean,
): Readonly<Record<string, string>> | undefined {
  if (headers === undefined) return undefined
  const hasBody = body !== undefined && !becomesGet
  const left = Object.entries(headers).filter(([name]) => (OF_CONTENT.test(name) ? hasBody : isSameOrigin))
  return left.length === 0 ? undefined : Object.fromEntries(left)
}
