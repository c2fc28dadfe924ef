/** Proves a `Hook`: what can go wrong no matter what the hook does with pages. */

import assert from 'node:assert/strict'
import type { Page } from '../extract/contract.js'
import type { HttpExchange } from '../fetch/contract.js'
import type { Hook, HookContext } from '../hooks/contract.js'
import { memoryState } from '../stores/memory-state.js'
import type { Failure, MaybePromise, Redirect, Skip } from '../types.js'
import { casesOf, type SuiteOptions } from './suite.js'
import { viewOf } from './view.js'

/** Options of the hook's suite. */
export interface HookSuiteOptions extends SuiteOptions<Hook> {
  /** A page that the hook accepts; called once for each page that is needed. See `pageOf`. */
  page: () => Page
}

/** As many concurrent pages as a crawl of ordinary concurrency may pass to a hook. */
const AT_ONCE = 64

const FAILURE: Failure = {
  url: 'https://example.com/gone',
  code: 'http-status',
  message: 'example.com answered with status 410',
  status: 410,
  attempt: 0,
  final: true,
  parent: undefined,
  depth: 0,
  redirectedFrom: [],
  request: { method: 'GET', label: undefined, data: undefined, priority: 0 },
}

const REDIRECT = {
  url: 'https://example.com/old',
  to: 'https://example.com/new',
  status: 301,
  parent: 'https://example.com/',
  depth: 1,
  redirectedFrom: [] as string[],
  request: FAILURE.request,
} satisfies Redirect

const SKIP: Skip = {
  url: 'https://other.example/',
  reason: 'scope',
  parent: 'https://example.com/',
  request: FAILURE.request,
}

const HEAD = 'HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2\r\n\r\n'
const BODY = '<title>Hello</title>'
const bytesOf = (text: string) => new TextEncoder().encode(text)

const EXCHANGE: HttpExchange = {
  url: 'https://example.com/',
  id: '0123456789abcdef',
  purpose: 'page',
  method: 'GET',
  status: 200,
  protocol: 'http/1.1',
  request: bytesOf('GET / HTTP/1.1\r\nHost: example.com\r\nUser-Agent: kumo\r\n\r\n'),
  response: bytesOf(HEAD + BODY),
  headBytes: HEAD.length,
  body: bytesOf(BODY),
  truncated: false,
  startedAt: 1_700_000_000_000,
  durationMs: 12,
  remoteAddress: '192.0.2.1',
}

/** An exchange of which the server sent only the status. */
const NO_ANSWER_BODY = {
  purpose: 'robots',
  status: 404,
  response: bytesOf('HTTP/1.1 404\r\n\r\n'),
  headBytes: 18,
  body: new Uint8Array(0),
  remoteAddress: undefined,
} satisfies Partial<HttpExchange>

/**
 * Registers the cases that every hook must pass.
 *
 * @example
 * import { it } from 'node:test'
 * import { hookSuite, pageOf } from 'kumo/conformance'
 *
 * const page = () => pageOf({ url: 'https://example.com/', body: '<title>Hello</title>' })
 * hookSuite({ it, create: () => myHook(), page })
 */
export function hookSuite(options: HookSuiteOptions): void {
  const { create, page } = options
  const check = casesOf(options)

  check('it has a name', (hook) => {
    assert.equal(typeof hook.name, 'string')
    assert.notEqual(hook.name.trim(), '')
  })

  check('it accepts pages and failures between open and close', async (hook) => {
    await hook.open?.(context())
    for (let i = 0; i < 3; i++) await hook.page?.(page())
    await hook.failure?.(FAILURE)
    await hook.failure?.({ ...FAILURE, code: 'timeout', status: undefined, final: false })
    await hook.close?.()
  })

  check('it accepts redirects, skips and exchanges', async (hook) => {
    await hook.open?.(context())
    await hook.redirect?.(REDIRECT)
    await hook.redirect?.({ ...REDIRECT, status: 308, parent: undefined, redirectedFrom: [REDIRECT.parent] })
    await hook.skip?.(SKIP)
    await hook.skip?.({ ...SKIP, reason: 'robots', parent: undefined })
    await hook.exchange?.(EXCHANGE)
    await hook.exchange?.({ ...EXCHANGE, ...NO_ANSWER_BODY })
    await hook.close?.()
  })

  check('it can be flushed at any time, also with nothing new', async (hook) => {
    await hook.open?.(context())
    await hook.flush?.()
    await hook.page?.(page())
    await hook.flush?.()
    await hook.flush?.()
    await hook.close?.()
  })

  check('it accepts pages while it flushes', async (hook) => {
    await hook.open?.(context())
    await hook.page?.(page())
    const flushing = hook.flush?.()
    const taking = Array.from({ length: AT_ONCE }, async () => hook.page?.(page()))
    await Promise.all([flushing, ...taking])
    await hook.flush?.()
    await hook.close?.()
  })

  check('it accepts a page again that it was given before, as after a crash', async (hook) => {
    await hook.open?.(context())
    const given = page()
    await hook.page?.(given)
    await hook.flush?.()
    await hook.page?.(given)
    await hook.flush?.()
    await hook.close?.()
  })

  check('its queue, if it asks for one, has room', (hook) => {
    const { parallelism, pages, bytes } = hook.queue ?? {}
    for (const limit of [parallelism, pages, bytes])
      assert.ok(limit === undefined || (Number.isSafeInteger(limit) && limit >= 1), `a limit is ${limit}`)
    assert.ok(hook.queue === undefined || hook.page !== undefined, 'it has a queue, but takes no pages')
  })

  check('it accepts many concurrent pages', async (hook) => {
    await hook.open?.(context())
    const taking = Array.from({ length: AT_ONCE }, async () => hook.page?.(page()))
    await Promise.all([...taking, hook.failure?.(FAILURE)])
    await hook.close?.()
  })

  check('it does not change the page', async (hook) => {
    await hook.open?.(context())
    const given = page()
    await hook.page?.(given)
    await hook.close?.()
    assert.deepEqual(viewOf(given), viewOf(page()))
  })

  check('it handles a crawl without pages', async (hook) => {
    await hook.open?.(context())
    await hook.close?.()
  })

  check('it continues after a page that it cannot process', async (hook) => {
    await hook.open?.(context())
    await settled(() => hook.page?.(unreadable(page())))
    await hook.page?.(page())
    await hook.close?.()
  })

  check('closing twice is allowed', async (hook) => {
    await hook.open?.(context())
    await hook.page?.(page())
    await hook.close?.()
    await hook.close?.()
  })

  check('two hooks are independent', async (hook) => {
    const other = await create()
    await hook.open?.(context())
    await other.open?.(context())
    await other.page?.(page())
    await other.close?.()
    await hook.page?.(page())
    await hook.close?.()
  })
}

/** The hook may throw or not: both are allowed. */
async function settled(run: () => MaybePromise<void>): Promise<void> {
  try {
    await run()
  } catch {
    // The crawl would report the page as failed and continue.
  }
}

/** A page whose every property throws, as the DOM of broken markup might. */
function unreadable(page: Page): Page {
  const refuse = () => {
    throw new Error('this page cannot be read')
  }
  return new Proxy(page, { get: refuse, has: refuse, ownKeys: refuse, getOwnPropertyDescriptor: refuse })
}

/** Each opening has its own state. */
function context(): HookContext {
  return { state: memoryState().space('hook') }
}
