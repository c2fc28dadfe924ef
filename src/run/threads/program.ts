/** Where the program of worker threads is: beside this file, as long as both are in Kumo's package. */

import { existsSync } from 'node:fs'
import { here } from '../../require.js'

/** Whether this is the source itself, run by a loader. A thread cannot run that, so it runs what was built from it. */
const isSource = here?.endsWith('.ts') === true

/** The program of a worker thread. Tests put another in its place. */
export const threadProgram = {
  url: new URL(isSource ? '../dist/thread.js' : './thread.js', here ?? 'file:///bundle'),
}

/** Whether Kumo runs from its package, and not from a bundle that a part of it was copied into. */
export function isInPackage(): boolean {
  return isSource || existsSync(threadProgram.url)
}
