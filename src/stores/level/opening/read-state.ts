import { resolve } from 'node:path'
import type { StateStore } from '../../contract.js'
import { withCopy } from '../db/copy.js'
import { noCrawl } from '../db/errors.js'
import { holdsDatabase } from '../db/folder.js'
import { readMeta } from '../format/meta.js'
import { levelState } from '../state.js'

/** More than any store has: a partition is written as four hexadecimal digits. */
const ALL_PARTITIONS = 0x10000

/**
 * Reads the records in a crawl's folder without disturbing a running crawl. Like `inspectCrawl`, it opens a copy that
 * shares the large files with the original and is removed afterwards. Records of hosts can be listed, but not looked
 * up.
 */
export async function readState<T>(path: string, read: (state: StateStore) => Promise<T>): Promise<T> {
  const folder = resolve(path)
  if (!holdsDatabase(folder)) throw noCrawl(folder)
  return withCopy(folder, async (database) => {
    if ((await readMeta(folder, database, {})) === undefined) throw noCrawl(folder)
    return read(levelState({ database, partitions: ALL_PARTITIONS, partitionOf: () => 0 }))
  })
}
