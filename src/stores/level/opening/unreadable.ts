/** Finds records that cannot be decoded, before the first of them ends a running crawl. */

import type { Database } from '../db/database.js'
import { readMove } from '../format/counts.js'
import { entryOf, hostIn, partitionIn } from '../format/keys.js'
import { readWriterMeta } from '../format/meta.js'
import { readHost, readRequest } from '../format/records.js'
import { readFilter, readPrints } from '../seen/archive.js'

const EVERYTHING = { from: ' ', to: '~' } as const

const decoder = new TextDecoder('utf-8', { fatal: true })
const text = (record: Uint8Array) => decoder.decode(record)

/** Decoders by kind. Kinds that are not listed have no content that could be wrong. */
const DECODERS: Readonly<Record<string, (key: string, record: Uint8Array) => unknown>> = {
  p: (key, record) => readRequest(text(record), hostIn(key)),
  l: (key, record) => readRequest(text(record), hostIn(key)),
  q: (key, record) => [entryOf(key), readHost(text(record))],
  i: (_, record) => readHost(text(record)),
  s: (_, record) => readPrints(record),
  f: (_, record) => readPrints(record),
  b: (_, record) => readFilter(record),
  k: (_, record) => JSON.parse(text(record)),
  n: (key, record) => readMove(partitionIn(key), text(record)),
  m: (_, record) => readWriterMeta(text(record)),
}

/** The keys of all records that cannot be decoded. */
export async function unreadableKeys(database: Database): Promise<string[]> {
  const found: string[] = []
  for await (const entries of database.scanBytes(EVERYTHING)) {
    for (const [key, record] of entries) {
      try {
        DECODERS[key[0]!]?.(key, record)
      } catch {
        found.push(key)
      }
    }
  }
  return found
}
