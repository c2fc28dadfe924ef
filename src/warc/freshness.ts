/** The rules of HTTP caching (RFC 9111) for a cache that one program uses. Pure. */

import { parseHttpDate } from '../time.js'

/** Statuses that may be kept without the server saying so (RFC 9110, 15.1). */
const KEPT: ReadonlySet<number> = new Set([200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501])
/** Of the time since the last change: what has not changed for long will probably stay for a while (RFC 9111, 4.2.2). */
const HEURISTIC_SHARE = 0.1
const MAX_HEURISTIC_MS = 86_400_000

type Header = (name: string) => string | undefined

/**
 * How long an answer may be used without asking the server, in ms from when it was received; 0: not at all.
 *
 * @param receivedAt In ms since the epoch, for answers without a date of their own.
 */
export function freshForMs(status: number, header: Header, receivedAt: number): number {
  const control = directivesOf(header('cache-control'))
  if (control.has('no-store') || control.has('no-cache') || varies(header('vary'))) return 0
  const said = Number(/^\d+$/.exec(header('age')?.trim() ?? '')?.[0] ?? 0) * 1000
  // A cache in between may not say how old its answer was (RFC 9111, 4.2.3).
  const apparent = receivedAt - (parseHttpDate(header('date') ?? '') ?? receivedAt)
  return Math.max(0, lifetimeMs(status, header, control, receivedAt) - Math.max(said, apparent))
}

/** Whether an answer forbids to be kept. */
export function mustNotBeKept(header: Header): boolean {
  return directivesOf(header('cache-control')).has('no-store')
}

/** Request headers that are the same in every run of a crawl. */
const CONSTANT: ReadonlySet<string> = new Set(['accept', 'accept-encoding', 'origin'])

/** Whether another run may get another answer, for example in another language: the server must be asked. */
function varies(vary: string | undefined): boolean {
  const names = (vary ?? '').split(',').map((name) => name.trim().toLowerCase())
  return names.some((name) => name !== '' && !CONSTANT.has(name))
}

function lifetimeMs(
  status: number,
  header: Header,
  control: ReadonlyMap<string, string>,
  receivedAt: number,
): number {
  const maxAge = control.get('max-age')
  if (maxAge !== undefined) return /^\d+$/.test(maxAge) ? Number(maxAge) * 1000 : 0
  const date = parseHttpDate(header('date') ?? '') ?? receivedAt
  const expires = header('expires')
  // A date that cannot be read is in the past (RFC 9111, 5.3).
  if (expires !== undefined) return (parseHttpDate(expires) ?? 0) - date
  const modified = parseHttpDate(header('last-modified') ?? '')
  if (modified === undefined || !KEPT.has(status)) return 0
  return Math.min((date - modified) * HEURISTIC_SHARE, MAX_HEURISTIC_MS)
}

function directivesOf(cacheControl: string | undefined): ReadonlyMap<string, string> {
  const directives = (cacheControl ?? '').split(',').map((each): [string, string] => {
    const [name = '', value = ''] = each.split('=')
    return [name.trim().toLowerCase(), value.trim().replaceAll('"', '')]
  })
  return new Map(directives)
}
