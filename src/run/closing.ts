/** How the parts of a run are closed: all of them, whatever one of them does. */

import type { AbortGrace } from '../engine/abort-grace.js'
import { KumoError, messageOf } from '../errors.js'
import { type Clock, LATE, type Waits, within } from '../time.js'
import type { MaybePromise } from '../types.js'

/** After an abort nobody waits longer than this for one part to close. */
const HASTY_CLOSE_MS = 250

/** What is to be closed, for the message if it cannot be, and how. */
export type Closer = readonly [what: string, close: () => MaybePromise<unknown>]

/**
 * In reverse order of opening; one that fails or is late does not keep the others open. The first failure is thrown,
 * but for being late after an abort: then nobody is waited for.
 */
export async function closeAll(
  closers: Closer[],
  waits: Waits,
  clock: Clock,
  grace: AbortGrace,
): Promise<void> {
  const failures: KumoError[] = []
  for (const [what, close] of closers.splice(0).reverse()) {
    try {
      const closing = close()
      if (!(closing instanceof Promise)) continue
      const hasty = grace.isAborted
      const closed = await (hasty ? within(clock, HASTY_CLOSE_MS, closing) : grace.wait(waits.wait(closing)))
      if (closed === LATE && !hasty) throw new Error(`it took longer than ${waits.ms} ms`)
    } catch (cause) {
      const message = `${what} could not be closed: ${messageOf(cause)}`
      const isTold = cause instanceof KumoError && cause.code.startsWith('KUMO_STORE')
      failures.push(isTold ? cause : new KumoError('KUMO_CLOSE_FAILED', message, { cause }))
    }
  }
  waits.close()
  if (failures.length > 0) throw failures[0]
}
