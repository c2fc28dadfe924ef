/** The packed package on this Node.js and on the oldest that package.json allows; `npm run test:nodes` has them all. */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { PROJECT } from '../run-program.js'
import { NODES, nodeBinary } from './runtimes.js'
import { FORMATS, smokeProblems } from './smoke.js'

const { engines } = JSON.parse(readFileSync(join(PROJECT, 'package.json'), 'utf8'))
const OLDEST = NODES[0]!

test('the oldest version that is tested is the oldest that is allowed', () => {
  expect(engines.node).toBe(`>=${OLDEST}`)
})

describe.each(FORMATS)('by %s', (format) => {
  test(`on Node.js ${process.version}`, async () => {
    expect(await smokeProblems(process.execPath, format)).toEqual([])
  })

  test(`on Node.js ${OLDEST}`, async ({ skip }) => {
    const binary = await nodeBinary(OLDEST).catch((error) =>
      skip(`it could not be downloaded: ${error.message}`),
    )
    expect(await smokeProblems(binary as string, format)).toEqual([])
  }, 300_000)
})
