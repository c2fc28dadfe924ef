/** Proves a `Fetcher`. */

import assert from 'node:assert/strict'
import type { FetchContext, FetchedResponse, Fetcher, FetchFailure, Outcome } from '../fetch/contract.js'
import type { CrawlRequest, FailureCode, RequestExtras } from '../types.js'
import { casesOf, eventually, PATIENCE_MS, pause, type SuiteOptions } from './suite.js'

/** Options of the fetcher's suite. Cases whose URL is missing are not registered. */
export interface FetcherSuiteOptions extends SuiteOptions<Fetcher> {
  /** URLs of your own test server; canonical, so that the host is spelled as in `new URL(url).host`. */
  urls: {
    /** Answers 200 with a body that is not empty and always the same. */
    page: string
    /** Answers 404, with a body. */
    missing?: string | undefined
    /** Answers 301, 302, 303, 307 or 308 with a `Location`. */
    redirect?: string | undefined
    /** Accepts the request and never answers. */
    hanging?: string | undefined
    /** Cannot be connected to: a closed port, or a name without an address. */
    unreachable?: string | undefined
    /**
     * Answers every method with 200, `content-type: application/json`, and what it received:
     * `{ "method": …, "headers": { … }, "body": … }`, with header names in lower case and the body in base64.
     */
    echo?: string | undefined
  }
  /** How long a case waits for an outcome before it fails. Default 5 s; a slow fetcher may need more. */
  patienceMs?: number
}

/** The codes that a fetcher may return for a request without an answer; the other codes are set by the engine. */
const FETCH_FAILURES: readonly FailureCode[] = [
  'timeout',
  'dns-failed',
  'connect-failed',
  'connection-lost',
  'tls-failed',
  'bad-response',
  'headers-too-large',
  'body-too-large',
  'decode-failed',
  'aborted',
  'fetcher-failed',
]

/** Enough to need several connections, and few enough for a fetcher that starts a browser. */
const AT_ONCE = 8

/** By then, a request on loopback has certainly been sent. */
const TIME_TO_SEND_MS = 100

/**
 * Registers the cases that every fetcher must pass.
 *
 * @example
 * import { it } from 'node:test'
 * import { fetcherSuite } from 'kumo/conformance'
 *
 * fetcherSuite({ it, create: () => new MyFetcher(), urls: { page: 'http://127.0.0.1:8080/page' } })
 */
export function fetcherSuite(options: FetcherSuiteOptions): void {
  const { page, missing, redirect, hanging, unreachable, echo } = options.urls
  const fetched = (fetcher: Fetcher, url: string, context = new SuiteContext(), extras?: RequestExtras) =>
    outcomeOf(fetcher, url, context, options.patienceMs ?? PATIENCE_MS, extras)
  const test = casesOf(options, (fetcher) => fetcher.close?.())

  test('the outcome of a page has its status, headers and body', async (fetcher) => {
    const response = answerOf(await fetched(fetcher, page))
    assert.equal(response.status, 200)
    assert.equal(response.skippedBody, false)
    assert.ok(response.body.byteLength > 0, 'the body is empty')
    assert.ok(response.wireBytes > 0, 'wireBytes does not count the body')
  })

  test('header names are in lower case, and get() agrees with entries()', async (fetcher) => {
    const { headers } = answerOf(await fetched(fetcher, page))
    const entries = [...headers.entries()]
    assert.ok(entries.length > 0, 'a response has headers')
    for (const [name, value] of entries) {
      assert.equal(name, name.toLowerCase())
      assert.equal(headers.get(name), value)
    }
    assert.equal(new Set(entries.map(([name]) => name)).size, entries.length, 'a name is listed twice')
    assert.equal(headers.get('x-no-such-header'), undefined)
  })

  test('fetching a page twice returns the same body', async (fetcher) => {
    const first = answerOf(await fetched(fetcher, page))
    const second = answerOf(await fetched(fetcher, page))
    assert.deepEqual(bytesOf(second), bytesOf(first))
  })

  test('concurrent fetches each get their own outcome', async (fetcher) => {
    const expected = bytesOf(answerOf(await fetched(fetcher, page)))
    const outcomes = await Promise.all(Array.from({ length: AT_ONCE }, () => fetched(fetcher, page)))
    for (const outcome of outcomes) assert.deepEqual(bytesOf(answerOf(outcome)), expected)
  })

  test('the body of an unwanted media type is not read', async (fetcher) => {
    const response = answerOf(await fetched(fetcher, page, new SuiteContext(() => false)))
    assert.equal(response.status, 200)
    assert.equal(response.skippedBody, true)
    assert.equal(response.body.byteLength, 0, 'the body is not kept')
  })

  test('aborting after the end has no effect', async (fetcher) => {
    const context = new SuiteContext()
    const outcome = await fetched(fetcher, page, context)
    context.abort()
    answerOf(outcome)
    answerOf(await fetched(fetcher, page))
  })

  test('a context that is already aborted sends no request', async (fetcher) => {
    const context = new SuiteContext()
    context.abort()
    assert.equal(failureOf(await fetched(fetcher, page, context)).code, 'aborted')
  })

  test('closing twice is allowed, and a fetch after close returns a failure', async (fetcher) => {
    await fetched(fetcher, page)
    await fetcher.close?.()
    await fetcher.close?.()
    if (fetcher.close) failureOf(await fetched(fetcher, page))
  })

  test('closing before the first fetch is allowed', async (fetcher) => {
    await fetcher.close?.()
  })

  if (missing) {
    test('an error status is a response without a body', async (fetcher) => {
      const response = answerOf(await fetched(fetcher, missing))
      assert.equal(response.status, 404)
      assert.equal(response.body.byteLength, 0, 'the body of an error status is not kept')
    })
  }

  if (redirect) {
    test('a redirect is a response and is not followed', async (fetcher) => {
      const response = answerOf(await fetched(fetcher, redirect))
      assert.ok(response.status >= 300 && response.status < 400, `status is ${response.status}`)
      assert.ok(response.headers.get('location'), 'the Location is missing')
      assert.equal(response.body.byteLength, 0, 'the body of a redirect is not kept')
    })
  }

  if (echo) {
    const echoed = async (fetcher: Fetcher, extras: RequestExtras): Promise<Echo> =>
      JSON.parse(bytesOf(answerOf(await fetched(fetcher, echo, new SuiteContext(), extras))))

    test('a request has the method, the headers and the body that it was given', async (fetcher) => {
      const headers = { 'content-type': 'text/plain;charset=UTF-8', 'x-own': 'yes', accept: 'text/x-own' }
      for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
        const received = await echoed(fetcher, { method, headers, body: 'q=蜘蛛' })
        assert.equal(received.method, method)
        assert.equal(Buffer.from(received.body, 'base64').toString(), 'q=蜘蛛', `the body of ${method}`)
        assert.equal(received.headers['content-length'], '8', `the length of the body of ${method}`)
        for (const [name, value] of Object.entries(headers))
          assert.equal(received.headers[name], value, `the header ${name}`)
      }
    })

    test('a binary body is sent byte by byte', async (fetcher) => {
      const body = Buffer.from([0, 255, 10, 13, 128, 0]).toString('base64')
      const received = await echoed(fetcher, { method: 'POST', body, binary: true })
      assert.equal(received.body, body)
    })

    test('a request without a body sends none, and the headers of one request are not those of the next', async (fetcher) => {
      await echoed(fetcher, { method: 'POST', headers: { 'x-own': 'yes' }, body: 'text' })
      const received = await echoed(fetcher, { label: 'list', data: '{}' })
      assert.equal(received.method, 'GET')
      assert.equal(received.body, '')
      assert.equal(received.headers['x-own'], undefined)
    })

    test('the response to HEAD has headers and no body', async (fetcher) => {
      const head = answerOf(await fetched(fetcher, echo, new SuiteContext(), { method: 'HEAD' }))
      assert.equal(head.status, 200)
      assert.match(head.headers.get('content-type') ?? '', /^application\/json/)
      assert.equal(head.body.byteLength, 0)
      assert.equal(head.skippedBody, false, 'there is no body to skip')
      answerOf(await fetched(fetcher, page))
    })
  }

  if (unreachable) {
    test('an unreachable host is a failure with a matching code', async (fetcher) => {
      const failure = failureOf(await fetched(fetcher, unreachable))
      assert.ok(
        failure.code === 'connect-failed' || failure.code === 'dns-failed',
        `the code is ${failure.code}, although there was no connection to the host`,
      )
    })
  }

  if (hanging) {
    test('aborting ends the fetch soon, with the code aborted', async (fetcher) => {
      const context = new SuiteContext()
      const outcome = fetched(fetcher, hanging, context)
      context.abort()
      assert.equal(failureOf(await outcome).code, 'aborted')
    })

    test('aborting while waiting for the response ends the fetch', async (fetcher) => {
      answerOf(await fetched(fetcher, page))
      const context = new SuiteContext()
      const outcome = fetched(fetcher, hanging, context)
      await pause(TIME_TO_SEND_MS)
      context.abort()
      assert.equal(failureOf(await outcome).code, 'aborted')
    })

    test('the fetcher can be used after an abort', async (fetcher) => {
      const context = new SuiteContext()
      const outcome = fetched(fetcher, hanging, context)
      context.abort()
      await outcome
      answerOf(await fetched(fetcher, page))
    })

    test('close ends fetches in flight', async (fetcher) => {
      if (!fetcher.close) return
      const outcome = fetched(fetcher, hanging)
      // It may fail before anything awaits it.
      outcome.catch(() => {})
      await fetcher.close()
      failureOf(await outcome)
    })
  }
}

/** What the test server says that it received. */
interface Echo {
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  /** In base64. */
  readonly body: string
}

/** A context like that of the engine: the signal is created on demand, the callback called at most once. */
class SuiteContext implements FetchContext {
  onAbort: (() => void) | undefined
  aborted = false
  #controller: AbortController | undefined

  constructor(readonly wants: (mediaType: string) => boolean = () => true) {}

  get signal(): AbortSignal {
    this.#controller ??= new AbortController()
    if (this.aborted) this.#controller.abort()
    return this.#controller.signal
  }

  abort(): void {
    this.aborted = true
    this.#controller?.abort()
    this.onAbort?.()
  }
}

/** The outcome of fetching a URL: there must be one, it must be a value, and it must have the right shape. */
async function outcomeOf(
  fetcher: Fetcher,
  url: string,
  context: FetchContext,
  patienceMs: number,
  extras: RequestExtras | undefined,
): Promise<Outcome> {
  const host = new URL(url).host
  const request: CrawlRequest = {
    url,
    host,
    depth: 0,
    priority: 0,
    attempt: 0,
    redirects: 0,
    parent: undefined,
    ...(extras && { extras }),
  }
  let outcome: Outcome | undefined
  let thrown: { error: unknown } | undefined
  const settled = (async () => fetcher.fetch(request, context))().then(
    (value) => {
      outcome = value
    },
    (error) => {
      thrown = { error }
    },
  )
  await eventually(`the outcome of ${url}`, () => outcome !== undefined || thrown !== undefined, patienceMs)
  await settled
  if (thrown) assert.fail(`fetch of ${url} threw instead of returning an outcome: ${String(thrown.error)}`)
  return outcome!
}

function answerOf(outcome: Outcome): FetchedResponse {
  if (!outcome.ok) assert.fail(`expected a response, got ${outcome.code}: ${outcome.message}`)
  assert.equal(outcome.ok, true)
  assert.ok(Number.isInteger(outcome.status) && outcome.status >= 200 && outcome.status < 600, 'status')
  assert.ok(outcome.body instanceof Uint8Array, 'the body is a Uint8Array')
  assert.equal(typeof outcome.skippedBody, 'boolean')
  assert.ok(Number.isInteger(outcome.wireBytes) && outcome.wireBytes >= 0, 'wireBytes')
  assert.equal(typeof outcome.headers.get, 'function')
  return outcome
}

function failureOf(outcome: Outcome): FetchFailure {
  if (outcome.ok) assert.fail(`expected a failure, got status ${outcome.status}`)
  assert.ok(FETCH_FAILURES.includes(outcome.code), `${outcome.code} is not a code that a fetcher may return`)
  assert.ok(
    typeof outcome.message === 'string' && outcome.message.length > 0,
    'the message says what happened',
  )
  return outcome
}

function bytesOf(response: FetchedResponse): string {
  return Buffer.from(response.body).toString('latin1')
}
