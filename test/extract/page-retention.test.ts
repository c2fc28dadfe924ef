/** What a user keeps of a page does not keep the page. */

import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

/**
 * Bytes a page that a field may take: a title is short, headers and links are a table of 700 bytes. On a busy machine the
 * collector leaves some more behind; a field that keeps its page takes all of the page.
 */
const MOST_BYTES = 8000

test('a field of 2,000 pages takes its own memory, and none of theirs', async () => {
  const script = fileURLToPath(new URL('./retention.ts', import.meta.url))
  const { stdout } = await promisify(execFile)(process.execPath, ['--import', 'tsx', '--expose-gc', script])
  const { pageBytes, bytes } = JSON.parse(stdout) as { pageBytes: number; bytes: Record<string, number> }
  expect(pageBytes).toBeGreaterThan(5 * MOST_BYTES)
  expect(Object.keys(bytes)).toHaveLength(21)
  expect(Object.entries(bytes).filter(([, kept]) => kept > MOST_BYTES)).toEqual([])
})
