/**
 * Request and response headers. Response headers stay raw bytes until they are read: a page has a dozen of them and the
 * crawl reads two or three. Request headers are validated once, when the fetcher is created, so that a bad one is an
 * error there and not a failure of every page.
 */

import { isUtf8 } from 'node:buffer'
import { invalidOption, optionError } from '../../errors.js'
import { RESERVED_HEADERS } from '../../url/reserved-headers.js'
import type { ResponseHeaders, Validators } from '../contract.js'

/** `ResponseHeaders` over undici's flat array: name, value, name, value, … */
export class RawHeaders implements ResponseHeaders {
  readonly #raw: readonly Buffer[]

  constructor(raw: readonly Buffer[]) {
    this.#raw = raw
  }

  get(name: string): string | undefined {
    const raw = this.#raw
    let found: string | undefined
    for (let i = 0; i + 1 < raw.length; i += 2) {
      const key = raw[i]!
      if (!isNamed(key, name)) continue
      const value = textOf(raw[i + 1]!)
      found = found === undefined ? value : `${found}, ${value}`
    }
    return found
  }

  /**
   * The value of each line of one name, one character for each byte. `Set-Cookie` cannot be joined, because its dates
   * have commas, and what is sent back must be the same bytes.
   */
  lines(name: string): string[] {
    const raw = this.#raw
    const found: string[] = []
    for (let i = 0; i + 1 < raw.length; i += 2) {
      const key = raw[i]!
      if (isNamed(key, name)) found.push(raw[i + 1]!.toString('latin1').trim())
    }
    return found
  }

  /** In order, repeated lines apart, names as written; one character for each byte. */
  *received(): Iterable<readonly [name: string, value: string]> {
    for (let i = 0; i + 1 < this.#raw.length; i += 2)
      yield [this.#raw[i]!.toString('latin1'), this.#raw[i + 1]!.toString('latin1')]
  }

  *entries(): Iterable<readonly [name: string, value: string]> {
    const joined = new Map<string, string>()
    for (let i = 0; i + 1 < this.#raw.length; i += 2) {
      const name = nameOf(this.#raw[i]!)
      const before = joined.get(name)
      const value = textOf(this.#raw[i + 1]!)
      joined.set(name, before === undefined ? value : `${before}, ${value}`)
    }
    yield* joined
  }

  detached(): ResponseHeaders {
    return new Map(this.entries())
  }
}

/** Compares a raw header name with a lower-case name, without decoding it: every page reads some headers. */
function isNamed(bytes: Buffer, name: string): boolean {
  if (bytes.length !== name.length) return false
  for (let i = 0; i < name.length; i++) {
    const byte = bytes[i]!
    const isCapital = byte >= CAPITAL_A && byte <= CAPITAL_Z
    if ((isCapital ? byte | SMALL : byte) !== name.charCodeAt(i)) return false
  }
  return true
}

const CAPITAL_A = 0x41
const CAPITAL_Z = 0x5a
/** The bit that makes a letter small. */
const SMALL = 0x20

function nameOf(bytes: Buffer): string {
  return bytes.toString('latin1').toLowerCase()
}

/** Headers are Latin-1 by specification, but a `Location` in raw UTF-8 is common, and browsers accept it. */
function textOf(bytes: Buffer): string {
  return (isUtf8(bytes) ? bytes.toString('utf8') : bytes.toString('latin1')).trim()
}

/** The type of a `Content-Type` value without its parameters, in lower case; '' if there is none. */
export function mediaTypeOf(contentType: string | undefined): string {
  if (contentType === undefined) return ''
  const end = contentType.search(/[;,]/)
  return (end < 0 ? contentType : contentType.slice(0, end)).trim().toLowerCase()
}

/** The number in a `Content-Length` value; undefined if there is none. */
export function announcedLength(contentLength: string | undefined): number | undefined {
  return contentLength !== undefined && /^\d+$/.test(contentLength) ? Number(contentLength) : undefined
}

/** Any media type is accepted; markup is preferred. */
const ACCEPT = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'

/** What decode.ts can decode. */
const ACCEPT_ENCODING = 'gzip, deflate, br'

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
/** Tab, visible ASCII, space and Latin-1: characters that do not end a header line. */
export const LINE_TEXT = /^[\t\x20-\x7e\x80-\xff]*$/

/**
 * Request headers as the flat array that undici accepts. A header of a later layer replaces one of the same name, also
 * a default.
 *
 * @throws KumoError `KUMO_INVALID_OPTION`, naming the header, for what cannot be sent.
 */
export function requestHeaders(userAgent: string, ...layers: Readonly<Record<string, string>>[]): string[] {
  if (typeof userAgent !== 'string' || userAgent.trim() === '' || !LINE_TEXT.test(userAgent)) {
    throw invalidOption(
      'userAgent',
      userAgent,
      'one line of Latin-1 text that is not empty: it is sent as a header',
    )
  }
  const headers = new Map([
    ['user-agent', userAgent],
    ['accept', ACCEPT],
    ['accept-encoding', ACCEPT_ENCODING],
  ])
  for (const [name, value] of layers.flatMap(entriesOf)) {
    const key = name.toLowerCase()
    if (!TOKEN.test(name))
      throw invalidOption('headers', name, 'names of headers: letters, digits and hyphens')
    const reason = RESERVED_HEADERS[key]
    if (reason !== undefined)
      throw optionError('headers', `'${name}'`, `headers that Kumo does not set itself; ${reason}`)
    if (typeof value !== 'string' || !LINE_TEXT.test(value)) {
      throw optionError(`headers.${name}`, 'a value that cannot be sent', 'one line of Latin-1 text')
    }
    headers.set(key, value)
  }
  return [...headers].flat()
}

/** Text has entries too, one for each character. */
function entriesOf(layer: Readonly<Record<string, string>>): [name: string, value: string][] {
  if (typeof layer !== 'object') throw optionError('headers', typeof layer, 'an object of names and values')
  return Object.entries(layer)
}

/** Adds the headers of a conditional request. Values that cannot be sent are left out. */
export function withConditions(headers: string[], { etag, modified }: Validators): string[] {
  const sent = [...headers]
  if (etag !== undefined && SENDABLE.test(etag)) sent.push('if-none-match', etag)
  if (modified !== undefined && SENDABLE.test(modified)) sent.push('if-modified-since', modified)
  return sent
}

const SENDABLE = /^[\x20-\x7e]+$/
