/** Ctrl-C, and what a process manager sends in its place: the first asks, the second urges, the third ends it. */

import type { Clock } from '../time.js'

/** `npx` passes on a Ctrl-C that the terminal has sent to everybody already. */
const ECHO_MS = 300
const SIGNALS = ['SIGINT', 'SIGTERM'] as const
/** By convention 128 and the number of SIGINT. */
const INTERRUPTED = 130

/** Listens until the function that it returns is called. */
export function onInterrupt(clock: Clock, answers: { first(): void; second(): void }): () => void {
  let times = 0
  let lastAt = Number.NEGATIVE_INFINITY
  const interrupt = () => {
    if (clock.now() - lastAt < ECHO_MS) return
    lastAt = clock.now()
    times++
    if (times === 1) answers.first()
    else if (times === 2) answers.second()
    // Whatever hangs, the user has the last word. A store is made to survive this.
    else process.exit(INTERRUPTED)
  }
  for (const signal of SIGNALS) process.on(signal, interrupt)
  return () => {
    for (const signal of SIGNALS) process.off(signal, interrupt)
  }
}
