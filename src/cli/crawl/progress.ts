/** Progress of a running crawl: a line rewritten in place in a terminal, or a new line every ten seconds elsewhere. */

import type { Stats } from '../../index.js'
import type { Clock, Timer } from '../../time.js'
import { count, counted, rate } from '../format.js'
import type { Screen } from '../screen.js'

const REWRITE_MS = 200
/** Often enough to show that the crawl is alive, rarely enough for a log file. */
const LINE_MS = 10_000

/** The fields with their rank. In a narrow terminal, the highest ranks are dropped first. */
function fields(stats: Stats): { text: string; rank: number }[] {
  return [
    { text: counted(stats.pages, 'page'), rank: 1 },
    { text: `${rate(stats.recentPagesPerSecond)}/s`, rank: 2 },
    { text: `${count(stats.pending)} pending`, rank: 3 },
    { text: `${count(stats.failed)} failed`, rank: 4 },
    { text: `bottleneck: ${stats.bottleneck}`, rank: 5 },
  ]
}

/** The progress line, in at most `width` characters. */
export function progressLine(stats: Stats, width: number): string {
  const all = fields(stats)
  for (let most = all.length; most > 0; most--) {
    const shown = all.filter(({ rank }) => rank <= most)
    const line = shown.map(({ text }) => text).join(' · ')
    if (line.length <= width) return line
  }
  return ''
}

/** Shows progress until the returned function is called. The cursor is never hidden, so it cannot be lost. */
export function showProgress(stats: () => Stats | undefined, screen: Screen, clock: Clock): () => void {
  const everyMs = screen.rewrites ? REWRITE_MS : LINE_MS
  let timer: Timer
  const show = () => {
    const now = stats()
    if (now !== undefined) {
      if (screen.rewrites) screen.status(progressLine(now, screen.width))
      else screen.note(progressLine(now, Number.POSITIVE_INFINITY))
    }
    timer = clock.wakeAt(clock.now() + everyMs, show)
  }
  timer = clock.wakeAt(clock.now() + everyMs, show)
  return () => {
    timer.cancel()
    if (screen.rewrites) screen.status('')
  }
}
