/** Folders for the databases of a test file, removed after it. */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'

const made: string[] = []

export async function folder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'kumo-level-'))
  made.push(path)
  return path
}

/** Another one to be removed. */
export function removeLater(path: string): string {
  made.push(path)
  return path
}

afterAll(() => Promise.all(made.splice(0).map((path) => rm(path, { recursive: true, force: true }))))
