import { resolve } from 'node:path'
import { KumoError } from '../../../errors.js'
import type { StateStore } from '../../contract.js'
import { withCopy } from '../db/copy.js'
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
  if (!holdsDatabase(folder)) throw none(folder)
  return withCopy(folder, async (database) => {
    if ((await readMeta(folder, database, {})) === undefined) throw none(folder)
    return read(levelState({ database, partitions: ALL_PARTITIONS, partitionOf: () => 0 }))
  })
}

function none(folder: string): KumoError {
  return new KumoError('KUMO_STORE_RESUME', `${folder} holds no crawl; check the path`)
}
