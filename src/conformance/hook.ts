/** Proves a `Hook`: what its author can get wrong whatever it does with the pages. */

import assert from 'node:assert/strict'
import type { Page } from '../extract/contract.js'
import type { Hook, HookContext } from '../hooks/contract.js'
import { memoryState } from '../stores/memory-state.js'
import type { Failure, MaybePromise } from '../types.js'
import { casesOf, type SuiteOptions } from './suite.js'
import { viewOf } from './view.js'

/** What the hook's suite is given. */
export interface HookSuiteOptions extends SuiteOptions<Hook> {
  /** A page that the hook takes; called again for each page that is needed. See `pageOf`. */
  page: () => Page
}

/** As many as a crawl of ordinary concurrency may hold out to a hook at a time. */
const AT_ONCE = 64

const FAILURE: Failure = {
  url: 'https://example.com/gone',
  code: 'http-status',
  message: 'example.com answered with status 410',
  status: 410,
  attempt: 0,
  final: true,
}

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

  check('it takes pages and failures from open to close', async (hook) => {
    await hook.open?.(context())
    for (let i = 0; i < 3; i++) await hook.page?.(page())
    await hook.failure?.(FAILURE)
    await hook.failure?.({ ...FAILURE, code: 'timeout', status: undefined, final: false })
    await hook.close?.()
  })

  check('it takes many pages at once', async (hook) => {
    await hook.open?.(context())
    const taking = Array.from({ length: AT_ONCE }, async () => hook.page?.(page()))
    await Promise.all([...taking, hook.failure?.(FAILURE)])
    await hook.close?.()
  })

  check('it leaves the page as it is', async (hook) => {
    await hook.open?.(context())
    const given = page()
    await hook.page?.(given)
    await hook.close?.()
    assert.deepEqual(viewOf(given), viewOf(page()))
  })

  check('a crawl without a page is a crawl too', async (hook) => {
    await hook.open?.(context())
    await hook.close?.()
  })

  check('a page that it cannot take ends neither its work nor its life', async (hook) => {
    await hook.open?.(context())
    await settled(() => hook.page?.(unreadable(page())))
    await hook.page?.(page())
    await hook.close?.()
  })

  check('closing twice does nothing', async (hook) => {
    await hook.open?.(context())
    await hook.page?.(page())
    await hook.close?.()
    await hook.close?.()
  })

  check('two hooks have two lives', async (hook) => {
    const other = await create()
    await hook.open?.(context())
    await other.open?.(context())
    await other.page?.(page())
    await other.close?.()
    await hook.page?.(page())
    await hook.close?.()
  })
}

/** The hook may throw or not: both are its right. */
async function settled(run: () => MaybePromise<void>): Promise<void> {
  try {
    await run()
  } catch {
    // The crawl would report the page as failed and go on.
  }
}

/** A page whose every view throws, as a DOM of broken markup might. */
function unreadable(page: Page): Page {
  const refuse = () => {
    throw new Error('this page cannot be read')
  }
  return new Proxy(page, { get: refuse, has: refuse, ownKeys: refuse, getOwnPropertyDescriptor: refuse })
}

/** A memory of its own for each opening. */
function context(): HookContext {
  return { state: memoryState().space('hook') }
}
