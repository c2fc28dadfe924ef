/** What keeps a node from going on, in words, and what passes by itself. */

import { KumoError, messageOf } from '../../../errors.js'
import { VERSION } from '../protocol/scripts.js'
import type { Refusal } from './reply.js'

/** The last commit that the server still has, as far as it is known. */
export function baseIn(refusal: Refusal): number {
  if (refusal.refused === 'reborn') return refusal.base
  return refusal.refused === 'fenced' ? Number.POSITIVE_INFINITY : -1
}

/** Machines that run NTP differ by milliseconds, and by seconds while they start. */
const MOST_SKEW_MS = 60_000

export const STALLED = 'Redis has not answered a commit for half a second'
export const SILENT =
  'Redis does not answer, so the lease of this node has run out; it visits no host until Redis answers again'
export const NOT_CONFIRMED =
  'no replica of Redis confirms the lease of this node, so that another node may have its hosts after a fail-over; ' +
  'it visits no host until a replica is back'

/** Errors that end by themselves, or when somebody acts: the server is full, loading, failing over or busy. */
export function isPassing(error: unknown): boolean {
  return /^(OOM|LOADING|MASTERDOWN|BUSY|READONLY|NOREPLICAS|MISCONF|TRYAGAIN|UNKILLABLE|Connection|Stream|connect|read|write|getaddrinfo|All sentinels|Socket)|ECONN|EPIPE|ETIMEDOUT|ENOTFOUND|closed/.test(
    messageOf(error),
  )
}

/** @throws KumoError if the clocks of the machines differ so much that instants in records would mean nothing. */
export function assertInStep(aheadMs: number): void {
  if (Math.abs(aheadMs) <= MOST_SKEW_MS) return
  const seconds = Math.round(Math.abs(aheadMs) / 1000)
  const message =
    `redis: the clock of this machine is ${seconds} s ${aheadMs > 0 ? 'behind' : 'ahead of'} that of the Redis server; ` +
    'set both by NTP, because all processes of a crawl store when a page or feed is due'
  throw new KumoError('KUMO_STORE_FAILED', message)
}

/** An error of the first script that reads the keys of a crawl, in words. */
export function failedToJoin(error: unknown): unknown {
  if (!messageOf(error).includes('WRONGTYPE')) return error
  const message =
    'redis: keys with the name of this crawl belong to another program; use another name, or another database'
  return new KumoError('KUMO_STORE_MISMATCH', message, { cause: error })
}

export function refusedToJoin([what, found = '']: readonly string[], identity: string): KumoError {
  if (what === 'gone') {
    const message =
      'redis: the server has lost the crawl: its keys were deleted, or it came back without its data; ' +
      'turn on appendonly, and start the crawl again'
    return new KumoError('KUMO_STORE_FAILED', message)
  }
  if (what === 'version') {
    const message = `redis: the crawl was created by another version of Kumo (format ${found}, this is ${VERSION}); use that version, or another name`
    return new KumoError('KUMO_STORE_MISMATCH', message)
  }
  const message = `redis: the crawl was created with other options: ${differences(found, identity)}; use those, or another name`
  return new KumoError('KUMO_STORE_MISMATCH', message)
}

/** The options that differ, with both values. */
function differences(stored: string, given: string): string {
  const [then, now] = [stored, given].map((text) => JSON.parse(text) as Record<string, string>)
  const names = [...new Set([...Object.keys(then!), ...Object.keys(now!)])]
  return names
    .filter((name) => then![name] !== now![name])
    .map((name) => `${name} was '${then![name] ?? ''}' and is '${now![name] ?? ''}'`)
    .join(', ')
}
