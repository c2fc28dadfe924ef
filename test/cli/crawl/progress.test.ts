import type { Stats } from 'kumo'
import { virtualClock } from 'kumo/sim'
import { describe, expect, test } from 'vitest'
import { progressLine, showProgress } from '../../../src/cli/crawl/progress.js'
import { Screen } from '../../../src/cli/screen.js'
import { Terminal } from '../terminal.js'

const stats = {
  pages: 1204,
  recentPagesPerSecond: 9.64,
  pending: 5310,
  failed: 14,
  bottleneck: 'politeness',
} as Stats

describe('progressLine', () => {
  test.each<[width: number, line: string]>([
    [80, '1,204 pages · 9.6/s · 5,310 pending · 14 failed · bottleneck: politeness'],
    [71, '1,204 pages · 9.6/s · 5,310 pending · 14 failed'],
    [40, '1,204 pages · 9.6/s · 5,310 pending'],
    [20, '1,204 pages · 9.6/s'],
    [12, '1,204 pages'],
    [5, ''],
  ])('%i columns', (width, line) => {
    expect(progressLine(stats, width)).toBe(line)
  })
})

describe('showProgress', () => {
  test('writes a line every ten seconds where it cannot rewrite one, and none once it is over', async () => {
    const clock = virtualClock()
    const log = new Terminal({ isTTY: false })
    let pages = 0
    const hide = showProgress(() => ({ ...stats, pages: pages++ }), new Screen(log, log, undefined), clock)
    await clock.advance(9_999)
    expect(log.text).toBe('')
    await clock.advance(20_001)
    expect(log.text.match(/^\d pages? ·.*\n/gm)).toHaveLength(3)
    expect(log.text).not.toContain('\x1b')
    hide()
    await clock.advance(60_000)
    expect(log.text.split('\n')).toHaveLength(4)
    expect(clock.timers).toBe(0)
  })

  test('rewrites one line in a terminal, and takes it away at the end', async () => {
    const clock = virtualClock()
    const window = new Terminal({ columns: 40 })
    const hide = showProgress(() => stats, new Screen(window, window, 'xterm'), clock)
    await clock.advance(1000)
    hide()
    expect(window.text).toBe('\r\x1b[K1,204 pages · 9.6/s · 5,310 pending\r\x1b[K')
  })

  test('has nothing to say before the crawl has begun', async () => {
    const clock = virtualClock()
    const log = new Terminal({ isTTY: false })
    const hide = showProgress(() => undefined, new Screen(log, log, undefined), clock)
    await clock.advance(30_000)
    hide()
    expect(log.text).toBe('')
  })
})
