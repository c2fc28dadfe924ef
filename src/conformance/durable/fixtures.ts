/** What the cases of the suite for durable stores share. */

import assert from 'node:assert/strict'
import type { Frontier } from '../../frontier/contract.js'
import type { SeenStore } from '../../seen/contract.js'
import type { CrawlRequest } from '../../types.js'
import { knownAs } from '../../url/known-as.js'
import { type Lives, leaseSoon } from './lives.js'

/** Registers a case with an empty place. */
export type CheckLives = (name: string, run: (lives: Lives) => Promise<void>) => void

/** A store may round times to whole milliseconds, or keep them on a scale of its own. */
export const SLACK_MS = 1

/** As the engine does it: the seen-set first, then the frontier. */
export async function takeIn(
  { frontier, seen }: { readonly frontier: Frontier; readonly seen: SeenStore },
  requests: readonly CrawlRequest[],
): Promise<void> {
  const fresh = await seen.addAll(requests.map(knownAs))
  assert.ok(fresh.every(Boolean), 'a new name was mistaken for a known one')
  await frontier.add(requests)
}

export async function assertKnown(seen: SeenStore, names: readonly string[]): Promise<void> {
  const fresh = await seen.addAll(names)
  assert.deepEqual(
    names.filter((_, i) => fresh[i]),
    [],
    'known names that are new again',
  )
}

export async function notBefore(frontier: Frontier, due: number): Promise<void> {
  assert.deepEqual(await frontier.lease(100, due - 2 * SLACK_MS), [], 'handed out too early')
}

/** The one request that is handed out at this time, and not before. */
export async function dueExactly(frontier: Frontier, due: number): Promise<CrawlRequest> {
  await notBefore(frontier, due)
  const leases = await leaseSoon(frontier, 1, due + SLACK_MS)
  assert.equal(leases.length, 1, 'number of requests handed out when the pause was over')
  return leases[0]!
}
