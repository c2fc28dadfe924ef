/** Ctrl-C and SIGTERM: the first one stops the crawl, the second aborts it, the third ends the process. */

import type { Clock } from '../time.js'

/** The terminal sends Ctrl-C to the whole process group, and `npx` forwards it once more. */
const ECHO_MS = 300
const SIGNALS = ['SIGINT', 'SIGTERM'] as const
/** By convention 128 + the number of SIGINT. */
const INTERRUPTED = 130

/** Listens until the returned function is called. */
export function onInterrupt(clock: Clock, handlers: { first(): void; second(): void }): () => void {
  let times = 0
  let lastAt = Number.NEGATIVE_INFINITY
  const interrupt = () => {
    if (clock.now() - lastAt < ECHO_MS) return
    lastAt = clock.now()
    times++
    if (times === 1) handlers.first()
    else if (times === 2) handlers.second()
    // The last resort if anything hangs. A store survives it.
    else process.exit(INTERRUPTED)
  }
  for (const signal of SIGNALS) process.on(signal, interrupt)
  return () => {
    for (const signal of SIGNALS) process.off(signal, interrupt)
  }
}
