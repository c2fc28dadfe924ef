/** Shows progress: one line that is rewritten in a terminal, one line a second elsewhere. */

import type { WriteStream } from 'node:tty'
import type { Stats } from 'kumo'
import { count, counted, rate } from './format.js'

const REWRITE_MS = 100
const LINE_MS = 1000
/** A line that wraps cannot be rewritten, and the terminal may add `^C` to it. */
const MARGIN = 3
/** Some terminals report zero columns. */
const USUAL_WIDTH = 80
const ERASE_LINE = '\r\x1b[K'

/** Each field with its rank: in a narrow terminal the field with the highest rank is dropped first. */
function fields(stats: Stats): { text: string; rank: number }[] {
  return [
    { text: counted(stats.pages, 'page'), rank: 1 },
    { text: `${rate(stats.recentPagesPerSecond)}/s`, rank: 2 },
    { text: counted(stats.hostsVisited, 'host'), rank: 4 },
    { text: `${count(stats.pending)} pending`, rank: 5 },
    { text: `${count(stats.inFlight)} in flight`, rank: 6 },
    { text: `bottleneck: ${stats.bottleneck}`, rank: 3 },
  ]
}

/** The progress line, at most `width` characters wide. */
function progressLine(stats: Stats, width: number): string {
  const all = fields(stats)
  for (let most = all.length; most > 0; most--) {
    const shown = all.filter(({ rank }) => rank <= most)
    const line = shown.map(({ text }) => text).join(' · ')
    if (line.length <= width) return line
  }
  return ''
}

export interface Progress {
  /** Prints a line that stays above the progress line. */
  note(text: string): void
  stop(): void
}

/** Shows progress until stopped. It never hides the cursor, so a crash cannot leave it hidden. */
export function showProgress(stats: () => Stats | undefined, out: WriteStream): Progress {
  const rewrites = out.isTTY && process.env.TERM !== 'dumb'
  const show = () => {
    const now = stats()
    if (now === undefined) return
    if (rewrites) out.write(ERASE_LINE + progressLine(now, (out.columns || USUAL_WIDTH) - MARGIN))
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
