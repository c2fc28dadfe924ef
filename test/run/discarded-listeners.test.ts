/** `crawler.on('page', f); crawler.run()` is noticed, and nothing that is meant so is taken for it. */

import { expect, test } from 'vitest'
import { runProgram } from '../run-program.js'

const PROGRAM = 'test/run/programs/listeners.ts'

async function warningsOf(way: string): Promise<string[]> {
  const { code, stderr } = await runProgram(PROGRAM, [way])
  expect(code).toBe(0)
  return stderr.split('\n').filter((line) => line.includes('KumoWarning') || line === 'goes on')
}

const WARNING = expect.stringMatching(
  /KumoWarning: The listener of \.on\('page'\) was never called: .*crawler\.start\(\)\.on\('page', …\)\.$/,
)

test.each(['discarded', 'discarded and started as a handle', 'discarded and iterated'])(
  '%s: one warning, at the end of the process at the latest',
  async (way) => {
    expect(await warningsOf(way)).toEqual([WARNING])
  },
)

test('as soon as the crawler with the listener is garbage', async () => {
  expect(await warningsOf('collected while the process goes on')).toEqual([WARNING, 'goes on'])
  expect(await warningsOf('collected before the run')).toEqual([WARNING, 'goes on'])
})

test.each([
  'chained',
  'branch first',
  'branch later',
  'branch later, through garbage collections',
  'on the handle',
  'never started',
])('%s: no warning', async (way) => {
  expect(await warningsOf(way)).toEqual([])
})
