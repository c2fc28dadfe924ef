/** How the crawl stands while it runs: one line rewritten in a terminal, a line a second anywhere else. */

import type { WriteStream } from 'node:tty'
import type { Stats } from 'kumo'
import { count, counted, rate } from './format.js'

const REWRITE_MS = 100
const LINE_MS = 1000
const ERASE_LINE = '\r\x1b[K'

/** What is most worth knowing comes first: a narrow terminal shows as many fields as fit. */
function fields(stats: Stats): string[] {
  return [
    counted(stats.pages, 'page'),
    `${rate(stats.recentPagesPerSecond)} pages/s`,
    counted(stats.hostsVisited, 'host'),
    `${count(stats.pending)} pending`,
    `${count(stats.inFlight)} in flight`,
    `bottleneck: ${stats.bottleneck}`,
  ]
}

/** The progress line, at most `width` characters wide. */
export function progressLine(stats: Stats, width: number): string {
  let line = ''
  for (const field of fields(stats)) {
    const longer = line === '' ? field : `${line} · ${field}`
    if (longer.length > width) break
    line = longer
  }
  return line
}

/** Shows progress until it is stopped. The cursor is never hidden, so that nothing can leave it so. */
export function showProgress(stats: () => Stats | undefined, out: WriteStream): { stop(): void } {
  const rewrites = out.isTTY && process.env.TERM !== 'dumb'
  const show = () => {
    const now = stats()
    if (now === undefined) return
    // A line as wide as the terminal would wrap, and only its last part would be rewritten.
    if (rewrites) out.write(ERASE_LINE + progressLine(now, out.columns - 1))
    else out.write(`${progressLine(now, Number.POSITIVE_INFINITY)}\n`)
  }
  const timer = setInterval(show, rewrites ? REWRITE_MS : LINE_MS)
  return {
    stop() {
      clearInterval(timer)
      if (rewrites) out.write(ERASE_LINE)
    },
  }
}
