/** A program that has no time is told from one that dawdles. */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { Pulse, readBeats } from './pulse.js'

const BEAT_MS = 10

test.each<[string, readonly number[], number, number, number]>([
  ['free all the time', [0, 10, 20, 30], 0, 35, 0],
  ['busy in the middle', [0, 10, 60, 70], 0, 75, 40],
  ['busy at the beginning', [0, 50, 60], 20, 65, 20],
  ['busy at the end', [0, 10], 0, 100, 80],
  ['busy twice', [0, 30, 40, 90], 0, 90, 40],
  ['busy outside of the span', [0, 500, 510, 520, 1000], 501, 525, 0],
  ['no beat at all', [], 0, 100, 90],
])('%s', (_, beats, from, to, longest) => {
  expect(new Pulse(beats, BEAT_MS).longestTurnMs(from, to)).toBe(longest)
})

test('beats are read from a file, without those of the run before', () => {
  const folder = mkdtempSync(join(tmpdir(), 'kumo-pulse-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'pulse.txt')
  expect(readBeats(file, 100)).toEqual([])
  writeFileSync(file, '90\n100.5\n110\n')
  expect(readBeats(file, 100)).toEqual([100.5, 110])
})
