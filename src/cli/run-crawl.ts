/** Runs the crawl of a command: shows its progress, and ends it gently or at once on Ctrl-C. */

import type { Crawler, CrawlRun, Summary } from '../index.js'
import { systemClock } from '../time.js'
import { type HealthAddress, serveHealth } from './crawl/health.js'
import { showProgress } from './crawl/progress.js'
import { onInterrupt } from './interrupts.js'
import type { Screen } from './screen.js'

const STOPPING = 'Stopping: waiting for requests in flight. Press Ctrl-C again to abort them.'
const ABORTING = 'Aborting.'

export interface RunCrawlOptions {
  readonly screen: Screen
  readonly isQuiet: boolean
  readonly aborter: AbortController
  /** Printed when the crawl is stopped. */
  readonly onStop?: string | undefined
  /** Where to answer whether the crawl can go on. */
  readonly health?: HealthAddress | undefined
}

/** Resolves when the crawl has ended, with the progress removed from the screen. */
export async function runCrawl(
  crawler: Crawler,
  { screen, isQuiet, aborter, onStop, health }: RunCrawlOptions,
): Promise<Summary> {
  const clock = systemClock()
  const note = (...lines: string[]) => {
    if (!isQuiet) screen.note(...lines)
  }
  const run: CrawlRun = crawler.start({ signal: aborter.signal })
  const removeHandlers = onInterrupt(clock, {
    first() {
      note(STOPPING, ...(onStop === undefined ? [] : [onStop]))
      run.stop()
    },
    second() {
      note(ABORTING)
      aborter.abort()
    },
  })
  const server = health === undefined ? undefined : serveHealth(run, health)
  // A port that is taken ends the crawl before it has begun.
  server?.catch(() => aborter.abort())
  const hide = isQuiet ? () => {} : showProgress(() => run.stats(), screen, clock)
  try {
    const summary = await run.done
    await server
    return summary
  } finally {
    void server?.then((open) => open.close()).catch(() => {})
    hide()
    removeHandlers()
  }
}
