/** HTTP for sinks: one request with a time limit, and errors that say whether to try again. */

import { invalidOption, KumoError, messageOf } from '../../../errors.js'
import { type Clock, retryAfterMs } from '../../../time.js'

const TIMEOUT_MS = 60_000
/** Answers quote what was wrong; more of them helps nobody. */
const SHOWN = 300

export interface WebRequest {
  /** Default POST. */
  readonly method?: string
  readonly body?: string
  readonly type?: string
  readonly headers?: Readonly<Record<string, string>>
}

export interface WebAnswer {
  readonly status: number
  readonly body: string
  /** What the server asks for in `Retry-After`. */
  readonly retryAfterMs: number | undefined
}

/** A failed request. `Batches` waits as long as `retryAfterMs` says. */
class WebError extends KumoError {
  readonly retryAfterMs: number | undefined

  constructor(message: string, retryAfterMs?: number, cause?: unknown) {
    super('KUMO_SINK_FAILED', message, { cause })
    this.retryAfterMs = retryAfterMs
  }
}

/** Sends requests to one server. */
export class WebClient {
  readonly #sink: string
  readonly #base: string
  readonly #headers: Readonly<Record<string, string>>
  readonly #clock: Clock

  constructor(sink: string, base: string, headers: Readonly<Record<string, string>>, clock: Clock) {
    this.#sink = sink
    this.#base = base
    this.#headers = headers
    this.#clock = clock
  }

  /** The answer, whatever its status. Throws if there is none. */
  async send(path: string, { method = 'POST', body, type, headers }: WebRequest): Promise<WebAnswer> {
    const stop = new AbortController()
    const timer = this.#clock.wakeAt(this.#clock.now() + TIMEOUT_MS, () => stop.abort())
    try {
      const response = await fetch(this.#base + path, {
        method,
        headers: {
          ...(type === undefined ? {} : { 'content-type': type }),
          ...this.#headers,
          ...headers,
        },
        ...(body === undefined ? {} : { body }),
        signal: stop.signal,
        redirect: 'manual',
      })
      return {
        status: response.status,
        body: await response.text(),
        retryAfterMs: retryAfterMs(response.headers.get('retry-after'), this.#clock.now()),
      }
    } catch (error) {
      const why = stop.signal.aborted ? `no answer within ${TIMEOUT_MS} ms` : reasonOf(error)
      throw new WebError(`${this.#sink}: ${shownUrl(this.#base)}: ${why}`, undefined, error)
    } finally {
      timer.cancel()
    }
  }

  /** The error for an answer that is not a success. */
  refused({ status, body, retryAfterMs: wait }: WebAnswer): KumoError {
    return new WebError(`${this.#sink}: ${shownUrl(this.#base)}: ${shownAnswer(status, body)}`, wait)
  }
}

export function shownAnswer(status: number, body: string): string {
  return `status ${status}${body === '' ? '' : `: ${body.slice(0, SHOWN)}`}`
}

/** `fetch` says "fetch failed", and its cause says why. */
function reasonOf(error: unknown): string {
  const { cause } = error as { readonly cause?: unknown }
  const { code } = (cause ?? {}) as { readonly code?: unknown }
  return cause === undefined ? messageOf(error) : messageOf(cause) || String(code)
}

/** Without user and password. */
function shownUrl(url: string): string {
  const parsed = new URL(url)
  return `${parsed.protocol}//${parsed.host}${parsed.pathname}`
}

/** A base URL without the slash at its end, and the header for a user and password in it. */
export function webAddress(
  option: string,
  given: unknown,
): { readonly base: string; readonly headers: Readonly<Record<string, string>> } {
  const url = given instanceof URL ? given.href : given
  if (typeof url !== 'string' || !URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
    throw invalidOption(option, url, 'a URL such as http://localhost:9200')
  const parsed = new URL(url)
  const { username, password } = parsed
  parsed.username = ''
  parsed.password = ''
  const headers: Record<string, string> = {}
  if (username !== '')
    headers.authorization = basic(decodeURIComponent(username), decodeURIComponent(password))
  return { base: parsed.href.replace(/\/$/, ''), headers }
}

function basic(user: string, password: string): string {
  return `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`
}

/** Names in lower case, so that the user's own replace ours. */
export function headersOf(option: string, given: unknown): Readonly<Record<string, string>> {
  if (given === undefined) return {}
  if (typeof given !== 'object' || given === null) throw invalidOption(option, given, 'an object of texts')
  return Object.fromEntries(
    Object.entries(given).map(([name, value]) => {
      if (typeof value !== 'string') throw invalidOption(`${option}.${name}`, value, 'a text')
      return [name.toLowerCase(), value]
    }),
  )
}

/** The server is busy or broken, and another try may succeed. */
export function isPassing(status: number): boolean {
  return status === 408 || status === 425 || status === 429 || status >= 500
}
