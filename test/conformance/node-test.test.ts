import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const project = fileURLToPath(new URL('../..', import.meta.url))

function runNodeTest(environment: Record<string, string>) {
  const { NODE_TEST_CONTEXT: _, NODE_OPTIONS: __, ...inherited } = process.env
  const file = 'test/conformance/under-node-test.ts'
  const args = ['--import', 'tsx', '--test', '--test-reporter', 'tap', file]
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    cwd: project,
    env: { ...inherited, ...environment },
    encoding: 'utf8',
  })
  return { status, output: stdout + stderr }
}

describe('a conformance suite under node:test', () => {
  it('passes a sound adapter, case by case', () => {
    const { status, output } = runNodeTest({ BROKEN: '0' })
    expect(output).toMatch(/# fail 0/)
    expect(output).toMatch(/ok \d+ - exactly one of several overlapping calls sees a URL as new/)
    expect(status).toBe(0)
  })

  it('fails a broken one', () => {
    const { status, output } = runNodeTest({ BROKEN: '1' })
    expect(output).toMatch(/not ok \d+ - a URL is new once/)
    expect(status).toBe(1)
  })
})
