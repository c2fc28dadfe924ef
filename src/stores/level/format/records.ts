/**
 * Encodes requests and hosts. A request's host is part of its key, so its URL and its parent's only store what differs:
 * about 40 bytes per request before compression.
 */

import type { CrawlRequest, HostTrouble } from '../../../types.js'
import { type RareFields, readRareFields, writeRareFields } from './request-fields.js'

const LINE = '\n'
const HTTPS = 'https://'
const HTTP = 'http://'

/** `at`: when the request is due, for one that is scheduled for later, on the store's time scale. */
export function writeRequest(request: CrawlRequest, at?: number): string {
  const { url, host, depth, attempt, redirects, parent } = request
  const counts = attempt === 0 && redirects === 0 ? String(depth) : `${depth} ${attempt} ${redirects}`
  const start = `${counts}${LINE}${shorten(url, host)}${LINE}${parent === undefined ? '' : shorten(parent, host)}`
  return start + writeRareFields(request, at)
}

/** A request, and when it is due if it is scheduled for later. */
export function readRequest(record: string, host: string): { request: CrawlRequest; at: number | undefined } {
  const first = record.indexOf(LINE)
  const second = record.indexOf(LINE, first + 1)
  if (first < 0 || second < 0) throw notARequest(record)
  const third = record.indexOf(LINE, second + 1)
  const url = record.slice(first + 1, second)
  const parent = record.slice(second + 1, third < 0 ? record.length : third)
  const [depth, attempt = '0', redirects = '0'] = record.slice(0, first).split(' ')
  const rare = third < 0 ? NOTHING_RARE : readRareFields(record, third + 1)
  if (rare === undefined) throw notARequest(record)
  const { priority = 0, at, ...more } = rare
  const request: CrawlRequest = {
    url: lengthen(url, host),
    host,
    depth: Number(depth),
    priority,
    attempt: Number(attempt),
    redirects: Number(redirects),
    parent: parent === '' ? undefined : lengthen(parent, host),
    ...more,
  }
  // If one of them is NaN, the sum is too.
  const isValid = Number.isInteger(request.depth + request.attempt + request.redirects)
  if (url === '' || !isValid || Number.isNaN(priority + (at ?? 0))) throw notARequest(record)
  return { request, at }
}

const NOTHING_RARE: RareFields = Object.freeze({})

function notARequest(record: string): Error {
  return new Error(`not a request: ${record.slice(0, 80)}`)
}

/** `/path` for https, `:/path` for http, the whole URL for another host. */
function shorten(url: string, host: string): string {
  if (isOf(url, HTTPS, host)) return url.slice(HTTPS.length + host.length)
  if (isOf(url, HTTP, host)) return `:${url.slice(HTTP.length + host.length)}`
  return url
}

function lengthen(short: string, host: string): string {
  if (short.startsWith('/')) return HTTPS + host + short
  return short.startsWith(':') ? HTTP + host + short.slice(1) : short
}

function isOf(url: string, scheme: string, host: string): boolean {
  return (
    url.startsWith(scheme) && url.startsWith(host, scheme.length) && url[scheme.length + host.length] === '/'
  )
}

/** What a store keeps about a host besides its requests. Instants are on the store's time scale. */
export interface HostRecord {
  readonly resting: readonly number[]
  readonly notBefore: number
  readonly delayMs: number
  readonly trouble: HostTrouble | undefined
  /** Whether some of its requests are scheduled for later. */
  readonly hasLater: boolean
}

const UNVISITED: HostRecord = Object.freeze({
  resting: [],
  notBefore: 0,
  delayMs: 0,
  trouble: undefined,
  hasLater: false,
})

/** A host that was never visited takes no bytes. */
export function writeHost({ resting, notBefore, delayMs, trouble, hasLater }: HostRecord): string {
  if (resting.length === 0 && notBefore === 0 && delayMs === 0 && trouble === undefined && !hasLater)
    return ''
  return JSON.stringify([
    resting,
    notBefore,
    delayMs,
    trouble?.incidents ?? 0,
    trouble?.since ?? 0,
    hasLater ? 1 : 0,
  ])
}

export function readHost(record: string): HostRecord {
  if (record === '') return UNVISITED
  const [resting, notBefore, delayMs, incidents, since, hasLater] = JSON.parse(record)
  if (!Array.isArray(resting) || ![notBefore, delayMs].every(Number.isFinite)) throw new Error('not a host')
  const trouble = incidents > 0 ? { incidents, since } : undefined
  return { resting, notBefore, delayMs, trouble, hasLater: hasLater === 1 }
}
