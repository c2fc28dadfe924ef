/** Locates the program of worker threads: next to this file, as long as both are in Kumo's package. */

import { existsSync } from 'node:fs'
import { here } from '../../require.js'

/** Whether this is the TypeScript source, run by a loader. A thread cannot run that, so it runs the build. */
const isSource = here?.endsWith('.ts') === true

/** The program of a worker thread. Tests replace it. */
export const threadProgram = {
  url: new URL(isSource ? '../dist/thread.js' : './thread.js', here ?? 'file:///bundle'),
}

/** Whether Kumo runs from its package, rather than from a bundle that contains only parts of it. */
export function isInPackage(): boolean {
  return isSource || existsSync(threadProgram.url)
}
