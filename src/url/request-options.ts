/** Requests as a program writes them: checked, and turned into what the crawl keeps of them. */

import { invalidOption, isPlainObject, type KumoError, messageOf, optionError, show } from '../errors.js'
import type { RequestExtras } from '../types.js'
import { canonicalizeUrl } from './canonicalize.js'
import { didYouMeanUrl } from './meant-url.js'
import { RESERVED_HEADERS } from './reserved-headers.js'

/** A URL, or a request with more than a URL. */
export type RequestInput = string | URL | RequestOptions

/**
 * A request, like the options of `fetch()`.
 *
 * @example
 * const request: RequestOptions = { url: 'https://example.com/list', label: 'list', data: { category: 3 } }
 */
export interface RequestOptions {
  /** Absolute; for `page.follow()` also relative to the page. */
  readonly url: string | URL
  /** Default: `GET`, or `POST` if there is a body. */
  readonly method?: string | undefined
  /** Headers of this request only. They do not follow a redirect to another origin. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** Kept with the request until it is done, so a stream is not allowed. At most 1 MB. */
  readonly body?: string | URLSearchParams | Uint8Array | undefined
  /** Chooses the handler of `routes()`. At most 200 characters. */
  readonly label?: string | undefined
  /** Anything that JSON can represent, at most 64 KB of it. It comes back as `page.request.data`. */
  readonly data?: unknown
  /** Within a host, larger numbers go first. Default 0. */
  readonly priority?: number | undefined
  /** Not before this time. */
  readonly notBefore?: Date | number | undefined
  /** The depth of the request. Default 0. */
  readonly depth?: number | undefined
}

/** What `page.follow()` takes besides the URL; the depth is that of the page and one more. */
export type FollowOptions = Omit<RequestOptions, 'url' | 'depth'>

/** A checked request. */
export interface RequestSpec {
  /** Canonical. */
  readonly url: string
  readonly depth: number
  readonly priority: number
  readonly notBefore?: number | undefined
  readonly extras?: RequestExtras | undefined
}

const MAX_LABEL_LENGTH = 200
/** In characters of JSON. */
const MAX_DATA_LENGTH = 64 * 1024
/** In bytes. */
const MAX_BODY_LENGTH = 1024 * 1024

const KEYS = ['url', 'method', 'headers', 'body', 'label', 'data', 'priority', 'notBefore', 'depth']
/** A token (RFC 9110), as methods and header names are. */
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
/** One line of what a header can carry. */
const HEADER_VALUE = /^[\t -~\x80-\xff]*$/
/** Methods that a crawl cannot send. */
const FORBIDDEN = new Set(['CONNECT', 'TRACE', 'TRACK'])

/**
 * @param option The name in messages: `seeds`, `run.add`, `page.follow`.
 * @param base For URLs relative to a page.
 * @throws KumoError `KUMO_INVALID_OPTION`
 */
export function requestSpec(option: string, input: unknown, base?: string): RequestSpec {
  if (typeof input === 'string' || input instanceof URL)
    return { url: urlOf(option, input, base), depth: 0, priority: 0 }
  if (typeof input !== 'object' || input === null || !isPlainObject(input))
    throw invalidOption(option, input, 'a URL, or a request such as { url, label, data }')
  const unknown = Object.keys(input).find((key) => !KEYS.includes(key))
  if (unknown !== undefined) throw optionError(option, `the key '${unknown}'`, KEYS.join(', '))
  const given = input as Record<keyof RequestOptions, unknown>
  const url = urlOf(`${option}.url`, given.url, base)
  const extras = extrasOf(option, given)
  const notBefore = timeOf(`${option}.notBefore`, given.notBefore)
  return {
    url,
    depth: numberOf(`${option}.depth`, given.depth, 'a whole number, 0 or more', isCount),
    priority: numberOf(`${option}.priority`, given.priority, 'a number', Number.isFinite),
    ...(notBefore !== undefined && { notBefore }),
    ...(extras && { extras }),
  }
}

function urlOf(option: string, given: unknown, base: string | undefined): string {
  const href = given instanceof URL ? given.href : given
  const url = typeof href === 'string' ? canonicalizeUrl(href.trim(), base) : undefined
  if (url === undefined) throw notAUrl(option, given, base)
  return url
}

function notAUrl(option: string, given: unknown, base: string | undefined): KumoError {
  const absolute = 'absolute http(s) URLs such as https://example.com/'
  const allowed = base === undefined ? absolute + didYouMeanUrl(given) : 'http(s) URLs'
  return invalidOption(option, given, allowed)
}

function extrasOf(option: string, given: Record<keyof RequestOptions, unknown>): RequestExtras | undefined {
  const { body, type, binary } = bodyOf(`${option}.body`, given.body)
  const method = methodOf(`${option}.method`, given.method) ?? (body === undefined ? undefined : 'POST')
  if (body !== undefined && (method === 'GET' || method === 'HEAD'))
    throw optionError(option, `a body with ${method}`, 'a body with POST, PUT, PATCH, DELETE or QUERY')
  const headers = headersOf(`${option}.headers`, given.headers, type)
  const label = labelOf(`${option}.label`, given.label)
  const data = dataOf(`${option}.data`, given.data)
  const extras: RequestExtras = {
    ...(method !== undefined && method !== 'GET' && { method }),
    ...(headers && { headers }),
    ...(body !== undefined && { body }),
    ...(binary && { binary }),
    ...(label !== undefined && { label }),
    ...(data !== undefined && { data }),
  }
  return Object.keys(extras).length === 0 ? undefined : extras
}

function methodOf(option: string, given: unknown): string | undefined {
  if (given === undefined) return undefined
  const method = typeof given === 'string' && TOKEN.test(given) ? given.toUpperCase() : undefined
  if (method === undefined || FORBIDDEN.has(method))
    throw invalidOption(option, given, "an HTTP method such as 'GET' or 'POST'")
  return method
}

interface Body {
  readonly body?: string
  readonly binary?: true
  /** The content type that it has if no header says another. */
  readonly type?: string
}

function bodyOf(option: string, given: unknown): Body {
  if (given === undefined || given === null) return {}
  if (typeof given === 'string')
    return { body: shortBody(option, given, Buffer.byteLength(given)), type: 'text/plain;charset=UTF-8' }
  if (given instanceof URLSearchParams) {
    const body = given.toString()
    return {
      body: shortBody(option, body, body.length),
      type: 'application/x-www-form-urlencoded;charset=UTF-8',
    }
  }
  if (given instanceof Uint8Array) {
    const body = Buffer.from(given.buffer, given.byteOffset, given.byteLength).toString('base64')
    return { body: shortBody(option, body, given.byteLength), binary: true }
  }
  const allowed = 'a string, URLSearchParams or a Uint8Array; a stream could be sent only once'
  throw invalidOption(option, given, allowed)
}

function shortBody(option: string, body: string, bytes: number): string {
  if (bytes <= MAX_BODY_LENGTH) return body
  throw optionError(option, `${bytes} bytes`, `at most ${MAX_BODY_LENGTH} bytes`)
}

function headersOf(
  option: string,
  given: unknown,
  type: string | undefined,
): Readonly<Record<string, string>> | undefined {
  const headers: Record<string, string> = type === undefined ? {} : { 'content-type': type }
  if (given !== undefined) {
    const isIterable = given instanceof Headers || given instanceof Map
    if (!isIterable && (typeof given !== 'object' || given === null || !isPlainObject(given)))
      throw invalidOption(option, given, "an object such as { accept: 'text/html' }")
    const entries: Iterable<[string, unknown]> = isIterable
      ? (given as Map<string, unknown>)
      : Object.entries(given as object)
    for (const [name, value] of entries) {
      const isValid = TOKEN.test(name) && typeof value === 'string' && HEADER_VALUE.test(value)
      // The value may be a secret.
      if (!isValid)
        throw optionError(option, `an invalid header ${show(name)}`, 'names and values of one line')
      const key = name.toLowerCase()
      const reason = RESERVED_HEADERS[key]
      if (reason !== undefined)
        throw optionError(option, show(name), `headers that Kumo does not set itself; ${reason}`)
      headers[key] = value.trim()
    }
  }
  return Object.keys(headers).length === 0 ? undefined : headers
}

function labelOf(option: string, given: unknown): string | undefined {
  if (given === undefined) return undefined
  if (typeof given === 'string' && given !== '' && given.length <= MAX_LABEL_LENGTH) return given
  throw invalidOption(option, given, `a text of 1 to ${MAX_LABEL_LENGTH} characters`)
}

function dataOf(option: string, given: unknown): string | undefined {
  if (given === undefined) return undefined
  let text: string | undefined
  try {
    text = JSON.stringify(given)
  } catch (error) {
    throw optionError(option, `data that is not JSON (${messageOf(error)})`, 'what JSON can represent')
  }
  if (text === undefined) throw invalidOption(option, given, 'what JSON can represent')
  if (text.length <= MAX_DATA_LENGTH) return text
  const allowed = `at most ${MAX_DATA_LENGTH}; keep the data elsewhere and pass its key`
  throw optionError(option, `${text.length} characters of JSON`, allowed)
}

function timeOf(option: string, given: unknown): number | undefined {
  if (given === undefined) return undefined
  const time = given instanceof Date ? given.getTime() : given
  if (Number.isFinite(time)) return time as number
  throw invalidOption(option, given, 'a Date, or milliseconds since the epoch')
}

function numberOf(
  option: string,
  given: unknown,
  allowed: string,
  isValid: (value: unknown) => boolean,
): number {
  if (given === undefined) return 0
  if (isValid(given)) return given as number
  throw invalidOption(option, given, allowed)
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0
}
