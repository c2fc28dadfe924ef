/** A test runner of one page: it shows whether a suite notices a broken adapter. */

import type { It } from '../../src/conformance/suite.js'

/** Registers a suite, runs its cases one after the other, and says which failed and why. */
export async function failuresOf(register: (it: It) => void): Promise<string[]> {
  const cases: { name: string; run: () => Promise<void> }[] = []
  register((name, run) => cases.push({ name, run }))
  if (cases.length === 0) throw new Error('the suite registered no cases')
  const failures: string[] = []
  for (const { name, run } of cases) {
    try {
      await run()
    } catch (error) {
      failures.push(`${name}: ${error instanceof Error ? error.message : String(error)}`)
    }
  }
  return failures
}

/** Whether any case fails. The others are not run then: for suites that take their time. */
export async function isNoticed(register: (it: It) => void): Promise<boolean> {
  const cases: (() => Promise<void>)[] = []
  register((_, run) => cases.push(run))
  for (const run of cases) {
    try {
      await run()
    } catch {
      return true
    }
  }
  return false
}
