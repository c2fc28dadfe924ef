/** Builds the program of worker threads from the sources, for tests that run them: see use-thread-program.ts. */

import { rename } from 'node:fs/promises'
import { build } from 'esbuild'
import { removeBuiltPrograms } from './built-program.js'
import { THREAD_PROGRAM } from './thread-program-place.js'

export async function setup(): Promise<void> {
  const made = `${THREAD_PROGRAM}.${process.pid}`
  await build({
    entryPoints: ['src/run/threads/thread.ts'],
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    packages: 'external',
    outfile: made,
    logLevel: 'warning',
  })
  // Another run of the tests may be reading it.
  await rename(made, THREAD_PROGRAM)
}

export function teardown(): void {
  removeBuiltPrograms()
}
