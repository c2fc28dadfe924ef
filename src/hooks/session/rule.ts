/** Whether a response fulfils a rule of a session. */

import type { Page } from '../../extract/contract.js'
import type { FetchedResponse } from '../../fetch/contract.js'
import { isThenable, LATE, type Waits } from '../../time.js'
import type { MaybePromise } from '../../types.js'
import { baseFor, resolve } from '../../url/resolve.js'
import { glob } from '../../url/scope/rules.js'
import { scopeTarget } from '../../url/scope/scope.js'
import type { SessionConditions } from './contract.js'

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])

/** Where a response redirects to; undefined if it does not. */
export function targetOf(url: string, { status, headers }: FetchedResponse): string | undefined {
  const location = REDIRECTS.has(status) ? headers.get('location') : undefined
  return location === undefined ? undefined : resolve(location, baseFor(url))
}

/**
 * Tells a page that shows the session over, or a login that worked.
 *
 * @throws what the user's function throws.
 */
export function fulfils(
  { statuses, redirect, selector, when }: SessionConditions,
  response: FetchedResponse,
  page: () => Page,
  waits: Waits,
): MaybePromise<boolean> {
  if (statuses?.includes(response.status)) return true
  if (redirect !== undefined && isRedirectedTo(redirect, page().url, response)) return true
  if (selector !== undefined && hasElement(page(), selector)) return true
  const answer = when?.(page())
  return isThenable(answer) ? inTime(answer as PromiseLike<boolean>, waits) : answer === true
}

async function inTime(answer: PromiseLike<boolean>, waits: Waits): Promise<boolean> {
  const value = await waits.wait(answer)
  if (value === LATE) throw new Error(`it did not answer within ${waits.ms} ms`)
  return value === true
}

function isRedirectedTo(pattern: string | RegExp, url: string, response: FetchedResponse): boolean {
  const to = targetOf(url, response)
  if (to === undefined) return false
  if (typeof pattern !== 'string')
    return new RegExp(pattern.source, pattern.flags.replace(/[gy]/g, '')).test(to)
  return (
    glob(pattern)
      .start()
      .test(scopeTarget(withoutQuery(to), 0, undefined)) === true
  )
}

/** A page that is not markup has no elements. */
function hasElement(page: Page, selector: string): boolean {
  try {
    return page.document.querySelector(selector) !== null
  } catch {
    return false
  }
}

export function withoutQuery(url: string): string {
  const query = url.indexOf('?')
  return query < 0 ? url : url.slice(0, query)
}
