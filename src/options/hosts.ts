/** `host()`: options for some hosts only. */

import { invalidOption, isPlainObject, optionError } from '../errors.js'
import { CONTROL, type Credentials } from '../fetch/http/access/access.js'
import { basic } from '../fetch/http/access/headers.js'
import { LINE_TEXT } from '../fetch/http/headers.js'
import { parseProxy } from '../fetch/http/proxy.js'
import type { Duration } from '../time.js'
import { type HostRuleBase, hostPattern } from '../url/host-table.js'
import * as check from './check.js'

/** Options of `host()`. What is left out stays as it is for all hosts. */
export interface HostOptions {
  /** The pause between two visits, longer or shorter than `delay()`. A longer Crawl-delay of robots.txt still applies. */
  delay?: Duration | undefined
  /** Most connections to the host, 1 to 1,024. */
  connections?: number | undefined
  /** More request headers. They replace those of `headers()` with the same name. */
  headers?: Readonly<Record<string, string>> | undefined
  /** The `User-Agent` header, which also selects the group of robots.txt. */
  userAgent?: string | undefined
  /** How often a URL is retried, or also which statuses are. */
  retries?: number | { times?: number | undefined; statuses?: readonly number[] | undefined } | undefined
  /**
   * Credentials: `{ username, password }` or `{ bearer }`. Over plain http they are sent only if the pattern has a port,
   * or to the origin of a seed.
   */
  auth?: Credentials | { readonly bearer: string } | undefined
  /** The URL of a proxy; `false`: a direct connection. */
  proxy?: string | URL | false | undefined
  /** Most pages to deliver from one host, instead of `limit({ pagesPerHost })`. */
  maxPages?: number | undefined
}

/** What `host()` was given, checked. Plain data, so that it can be posted to other threads. */
export interface HostRule extends HostRuleBase {
  readonly delayMs?: number | undefined
  readonly connections?: number | undefined
  readonly userAgent?: string | undefined
  readonly times?: number | undefined
  readonly statuses?: readonly number[] | undefined
  readonly auth?: HostAuth | undefined
  readonly proxy?: string | false | undefined
  readonly maxPages?: number | undefined
}

/** Credentials, and where they may go. */
export interface HostAuth {
  /** The value of `Authorization`. */
  readonly authorization: string
  /** The user named the port, and with it the protocol. Otherwise, plain http needs more trust. */
  readonly hasPort: boolean
}

const PATTERNS = "a host such as 'example.com', 'example.com:8080' or '*.example.com'"
const HAS_PORT = /:\d+$/

const times: check.Check<number> = (option, value) => check.integer(option, value, 0)

/** @throws KumoError `KUMO_INVALID_OPTION`, e.g. for `host('example.com').delay`. Credentials are not shown. */
export function hostRule(host: unknown, options: unknown): HostRule {
  const pattern = typeof host === 'string' ? hostPattern(host.trim()) : undefined
  if (pattern === undefined) throw invalidOption('host', host, PATTERNS)
  const given = check.keys(`host('${pattern}')`, options, {
    delay: check.duration,
    connections: (option, value) => check.integer(option, value, 1, 1024),
    headers,
    userAgent: check.headerLine,
    retries,
    auth: (option, value) => ({
      authorization: authorization(option, value),
      hasPort: HAS_PORT.test(pattern),
    }),
    proxy,
    maxPages: (option, value) => check.count(option, value, 1),
  })
  const { delay, retries: tries, ...rest } = given
  return { pattern, ...rest, ...(delay !== undefined && { delayMs: delay }), ...tries }
}

function headers(option: string, value: unknown): Readonly<Record<string, string>> {
  const named = check.naming(option, () => check.headers(option, value))
  return Object.fromEntries(Object.entries(named).map(([name, line]) => [name.toLowerCase(), line]))
}

function retries(option: string, value: unknown): Pick<HostRule, 'times' | 'statuses'> {
  if (typeof value !== 'object' || value === null) return { times: times(option, value) }
  return check.keys(option, value, { times, statuses: check.statuses })
}

function authorization(option: string, value: unknown): string {
  const isObject = typeof value === 'object' && value !== null && isPlainObject(value)
  const { username, password, bearer, ...others } = (isObject ? value : {}) as Record<string, unknown>
  const isText = (text: unknown): text is string => typeof text === 'string' && !CONTROL.test(text)
  if (Object.keys(others).length === 0) {
    if (isText(bearer) && bearer !== '' && LINE_TEXT.test(bearer)) return `Bearer ${bearer}`
    if (isText(username) && isText(password) && !username.includes(':')) return basic({ username, password })
  }
  const allowed = '{ username, password } or { bearer }, as text without control characters'
  throw optionError(option, 'something else', allowed)
}

function proxy(option: string, value: unknown): string | false {
  if (value === false) return false
  parseProxy(value, option)
  return String(value)
}
