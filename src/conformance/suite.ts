/**
 * What all conformance suites share: how cases are registered with the test runner of your choice, and how a case
 * waits. The suites use node:assert and import no runner.
 */

import assert from 'node:assert/strict'
import { systemClock } from '../time.js'
import type { MaybePromise } from '../types.js'

/** The runner's function that registers a case: `it` or `test` of vitest, node:test, Mocha or Jest. */
export type It = (name: string, run: () => Promise<void>) => unknown

/** Options of a suite: where to register its cases, and how to create what they test. */
export interface SuiteOptions<T> {
  /** Registers a case: the `it` or `test` of your test runner. */
  it: It
  /** Called once for each case; returns a new instance that shares nothing with earlier ones. */
  create: () => MaybePromise<T>
}

/** Registers one case of a suite; the check receives what `create` returned. */
export type RegisterCase<T> = (name: string, check: (part: T) => MaybePromise<void>) => void

/** The `it` of one suite: each case has its own instance, which is disposed of afterwards even if the check fails. */
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

/** Waits in real time. */
export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => void clock.wakeAt(clock.now() + ms, resolve))
}

/** How long a case waits for something that must happen before it fails; far more than any adapter needs. */
export const PATIENCE_MS = 5000

const LOOK_EVERY_MS = 1

/** Waits in real time until `condition` is true; fails with `what` if it takes too long. */
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
