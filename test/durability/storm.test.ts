/**
 * Crawls with a store on disk and worker threads that are refused, aborted and stopped, and whose threads die or are ended:
 * none of it may take the process along. `npm run soak -- --ends 500` does the same for longer.
 */

import { expect, test } from 'vitest'
import { isThorough } from '../thorough.js'
import { storm } from './storm.js'

const ENDS = isThorough ? 60 : 11

test(`${ENDS} ends of every kind: the process survives, and every folder can be gone on with`, async () => {
  const { counts, ...end } = await storm({ ends: ENDS, seed: Number(process.env.KUMO_SEED ?? 1) })
  expect(end).toEqual({ code: 0, signal: null, complaints: '' })
  expect(Object.values(counts).reduce((sum, count) => sum + count, 0)).toBe(ENDS)
  expect(Object.entries(counts).filter(([, count]) => count === 0)).toEqual([])
})
