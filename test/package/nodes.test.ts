/** The packed package on this Node.js and on every line that it supports. */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { PROJECT } from '../run-program.js'
import { isThorough } from '../thorough.js'
import { NODES } from './runtimes.js'
import { prepare, smokeTests } from './smoke.js'

const { engines } = JSON.parse(readFileSync(join(PROJECT, 'package.json'), 'utf8'))

test('the oldest version that is tested is the oldest that is allowed', () => {
  expect(engines.node).toBe(`>=${NODES[0]}`)
})

test.each(smokeTests(process.version))(`on Node.js ${process.version}, %s`, async (_, smoke) => {
  expect(await smoke(process.execPath)).toEqual([])
})

describe('with downloaded versions', () => {
  let binaries: ReadonlyMap<string, string> | undefined
  let whyNot = ''
  beforeAll(async () => {
    binaries = await prepare().catch((error) => {
      whyNot = `Skipped, because ${error.message}`
      console.warn(whyNot)
      return undefined
    })
  })

  for (const version of NODES) {
    for (const [name, smoke] of smokeTests(version, !isThorough)) {
      test(`on Node.js ${version}, ${name}`, async ({ skip }) => {
        if (binaries === undefined) skip(whyNot)
        expect(await smoke(binaries!.get(version)!)).toEqual([])
      })
    }
  }
})
