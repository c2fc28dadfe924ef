/**
 * Builds the program of worker threads from the sources, for tests that run them: see use-thread-program.ts. Makes the
 * folder for what tests store.
 */

import { mkdtempSync, rmSync } from 'node:fs'
import { rename } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from 'esbuild'
import { removeBuiltPrograms } from './built-program.js'
import { THREAD_PROGRAM } from './thread-program-place.js'

export async function setup(): Promise<void> {
  process.env.KUMO_TEST_FOLDERS ??= mkdtempSync(join(tmpdir(), 'kumo-tests-'))
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
  const folders = process.env.KUMO_TEST_FOLDERS
  if (folders !== undefined) rmSync(folders, { recursive: true, force: true, maxRetries: 3 })
  removeBuiltPrograms()
}
