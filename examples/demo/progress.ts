/** How the crawl stands while it runs: one line rewritten in a terminal, a line a second anywhere else. */

import type { WriteStream } from 'node:tty'
import type { Stats } from 'kumo'
import { count, counted, rate } from './format.js'

const REWRITE_MS = 100
const LINE_MS = 1000
/** A line that wraps cannot be rewritten, and the terminal may add `^C` to it. */
const MARGIN = 3
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

export interface Progress {
  /** A line that stays, above the one that is rewritten. */
  note(text: string): void
  stop(): void
}

/** Shows progress until it is stopped. The cursor is never hidden, so that nothing can leave it so. */
export function showProgress(stats: () => Stats | undefined, out: WriteStream): Progress {
  const rewrites = out.isTTY && process.env.TERM !== 'dumb'
  const show = () => {
    const now = stats()
    if (now === undefined) return
    if (rewrites) out.write(ERASE_LINE + progressLine(now, out.columns - MARGIN))
    else out.write(`${progressLine(now, Number.POSITIVE_INFINITY)}\n`)
  }
  const timer = setInterval(show, rewrites ? REWRITE_MS : LINE_MS)
  return {
    note(text) {
      out.write(`${rewrites ? ERASE_LINE : ''}${text}\n`)
    },
    stop() {
      clearInterval(timer)
      if (rewrites) out.write(ERASE_LINE)
    },
  }
}
