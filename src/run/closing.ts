/** Closes the parts of a run: all of them, even if one fails. */

import type { AbortGrace } from '../engine/abort-grace.js'
import { KumoError, messageOf } from '../errors.js'
import { type Clock, LATE, type Waits, within } from '../time.js'
import type { MaybePromise } from '../types.js'

/** After an abort, no part is given more time than this to close. */
const ABORTED_CLOSE_MS = 250

/** A part to close, and its name for error messages. */
export type Closer = readonly [name: string, close: () => MaybePromise<unknown>]

/**
 * Closes in reverse order of opening. A part that fails or is late does not keep the others open. Throws the first
 * failure, except lateness after an abort, when nothing is waited for.
 */
export async function closeAll(
  closers: Closer[],
  waits: Waits,
  clock: Clock,
  grace: AbortGrace,
): Promise<void> {
  const failures: KumoError[] = []
  for (const [name, close] of closers.splice(0).reverse()) {
    try {
      const closing = close()
      if (!(closing instanceof Promise)) continue
      const isAborted = grace.isAborted
      const closed = await (isAborted
        ? within(clock, ABORTED_CLOSE_MS, closing)
        : grace.wait(waits.wait(closing)))
      if (closed === LATE && !isAborted) throw new Error(`it took longer than ${waits.ms} ms`)
    } catch (cause) {
      const message = `${name} could not be closed: ${messageOf(cause)}`
      const isStoreError = cause instanceof KumoError && cause.code.startsWith('KUMO_STORE')
      failures.push(isStoreError ? cause : new KumoError('KUMO_CLOSE_FAILED', message, { cause }))
    }
  }
  waits.close()
  if (failures.length > 0) throw failures[0]
}
