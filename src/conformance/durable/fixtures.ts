/** What the cases of the suite of durable stores share. */

import assert from 'node:assert/strict'
import type { Frontier } from '../../frontier/contract.js'
import type { SeenStore } from '../../seen/contract.js'
import type { CrawlRequest } from '../../types.js'
import { knownAs } from '../../url/known-as.js'
import { type Lives, leaseSoon } from './lives.js'

/** Registers a case with a place that is empty. */
export type CheckLives = (name: string, run: (lives: Lives) => Promise<void>) => void

/** An instant may be kept in whole milliseconds, or on a scale of the store's own. */
export const SLACK_MS = 1

/** As the engine does it: asked about first, then added. */
export async function takeIn(
  { frontier, seen }: { readonly frontier: Frontier; readonly seen: SeenStore },
  requests: readonly CrawlRequest[],
): Promise<void> {
  const fresh = await seen.addAll(requests.map(knownAs))
  assert.ok(fresh.every(Boolean), 'a new name was taken for known')
  await frontier.add(requests)
}

export async function assertKnown(seen: SeenStore, names: readonly string[]): Promise<void> {
  const fresh = await seen.addAll(names)
  assert.deepEqual(
    names.filter((_, i) => fresh[i]),
    [],
    'names that are new again',
  )
}

export async function notBefore(frontier: Frontier, due: number): Promise<void> {
  assert.deepEqual(await frontier.lease(100, due - 2 * SLACK_MS), [], 'handed out too early')
}

/** The one request that is handed out then, and not before. */
export async function dueExactly(frontier: Frontier, due: number): Promise<CrawlRequest> {
  await notBefore(frontier, due)
  const leases = await leaseSoon(frontier, 1, due + SLACK_MS)
  assert.equal(leases.length, 1, 'requests that were handed out when the pause was over')
  return leases[0]!
}
