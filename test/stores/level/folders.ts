/** Folders for the databases of tests. All are removed when the tests have ended. */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'

const made: string[] = []

/** test/thread-program.ts makes the folder around them, because files that share a process have no common end. */
export async function folder(): Promise<string> {
  const path = await mkdtemp(join(process.env.KUMO_TEST_FOLDERS ?? tmpdir(), 'kumo-level-'))
  made.push(path)
  return path
}

/** Another one to be removed. */
export function removeLater(path: string): string {
  made.push(path)
  return path
}

afterAll(() => Promise.all(made.splice(0).map((path) => rm(path, { recursive: true, force: true }))))
