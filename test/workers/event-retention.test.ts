/** What a user keeps of a crawl's events does not keep the pages that they came from. */

import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

/** Bytes a page that an event may take: headers are a table of strings. */
const MOST_BYTES = 2000

test.each([0, 2])(
  '3,000 of each event take their own memory, with %i workers',
  async (workers) => {
    const script = fileURLToPath(new URL('./event-retention.ts', import.meta.url))
    const args = ['--import', 'tsx', '--expose-gc', script, String(workers)]
    const { stdout } = await promisify(execFile)(process.execPath, args)
    const { pages, pageBytes, counts, bytes } = JSON.parse(stdout)
    expect(pageBytes).toBeGreaterThan(5 * MOST_BYTES)
    expect({ pages, ...counts }).toEqual({
      pages: 3000,
      headers: 3000,
      // A mailto link, and one that is too long or excluded.
      skip: 6000,
      failure: 3000,
      redirect: 3000,
    })
    expect(Object.entries(bytes as Record<string, number>).filter(([, kept]) => kept > MOST_BYTES)).toEqual(
      [],
    )
  },
  300_000,
)
