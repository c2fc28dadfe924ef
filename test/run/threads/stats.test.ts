/** What workers report, merged into the statistics of one crawl. */

import { describe, expect, test } from 'vitest'
import { mergeStats } from '../../../src/engine/stats/merge.js'
import { WorkerRunStats } from '../../../src/run/threads/stats.js'

const report = (known: number, pages: number) => ({ ...mergeStats([]), known, pages, pending: known - pages })

describe('while partitions move from one worker to another', () => {
  const moving = () => {
    const stats = new WorkerRunStats([3, 3], () => 512)
    stats.reported(0, report(100, 40))
    stats.reported(1, report(80, 10))
    return stats
  }
  /** 30 URLs of the first worker, 20 of them pages already, are released; its counts of pages stay. */
  const rest = { ...report(70, 40), pending: 50 }
  const arrived = { ...report(110, 10), pending: 80 }

  test('what has left one worker and has not arrived at the other is counted once', () => {
    const stats = moving()
    stats.moved('released', 0, rest)
    stats.reported(0, rest)
    expect(stats.now()).toMatchObject({ known: 180, pages: 50, pending: 130 })
    stats.moved('adopted', 1, arrived)
    expect(stats.now()).toMatchObject({ known: 180, pages: 50, pending: 130 })
  })

  test('the latest report of the worker that released them counts as soon as they have arrived', () => {
    const stats = moving()
    stats.moved('released', 0, rest)
    stats.reported(0, { ...rest, pages: 45, pending: 45 })
    stats.moved('adopted', 1, arrived)
    expect(stats.now()).toMatchObject({ known: 180, pages: 55, pending: 125 })
  })

  test('the summary has what was held back', () => {
    const stats = moving()
    stats.moved('released', 0, rest)
    expect(stats.summary('aborted', [])).toMatchObject({ known: 150, pending: 120 })
  })

  test('a worker that dies after it has released them counts with its last report', () => {
    const stats = moving()
    stats.moved('released', 0, rest)
    stats.reported(0, { ...rest, pages: 48 })
    stats.died(0, false, 0, 48)
    stats.moved('adopted', 1, arrived)
    expect(stats.now()).toMatchObject({ pages: 58, known: 110 })
  })
})
