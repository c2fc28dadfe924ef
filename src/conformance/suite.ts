/**
 * What every conformance suite shares: how cases are registered with whatever test runner the adapter's author
 * uses, and how a case waits. The suites assert with node:assert and import no runner.
 */

import assert from 'node:assert/strict'
import { systemClock } from '../time.js'
import type { MaybePromise } from '../types.js'

/** The runner's function that registers a case: `it` or `test` of vitest, node:test, Mocha, Jest. */
export type It = (name: string, run: () => Promise<void>) => unknown

/** What a suite is given: where to register its cases, and how to make what they examine. */
export interface SuiteOptions<T> {
  /** Registers a case: the `it` or `test` of your test runner. */
  it: It
  /** Called once for each case; returns a fresh one that shares nothing with those before. */
  create: () => MaybePromise<T>
}

/** Registers one case of a suite; the check is handed what `create` made. */
export type RegisterCase<T> = (name: string, check: (part: T) => MaybePromise<void>) => void

/** The `it` of one suite: each case has a part of its own, disposed of afterwards even if the check fails. */
export function casesOf<T>(
  { it, create }: SuiteOptions<T>,
  dispose: (part: T) => MaybePromise<void> = () => {},
): RegisterCase<T> {
  return (name, check) => {
    it(name, async () => {
      const part = await create()
      try {
        await check(part)
      } finally {
        await dispose(part)
      }
    })
  }
}

const clock = systemClock()

/** Lets real time go by. */
export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => void clock.wakeAt(clock.now() + ms, resolve))
}

/** How long a case waits for something that must happen before it fails; far more than any adapter needs. */
export const PATIENCE_MS = 5000

const LOOK_EVERY_MS = 1

/** Waits in real time until `condition` holds; fails, naming `what`, when patience is at an end. */
export async function eventually(
  what: string,
  condition: () => boolean,
  patienceMs = PATIENCE_MS,
): Promise<void> {
  const deadline = clock.now() + patienceMs
  while (!condition()) {
    if (clock.now() > deadline) assert.fail(`${what}: did not happen within ${patienceMs} ms`)
    await pause(LOOK_EVERY_MS)
  }
}
