/** Counts what is stored, where recorded counts are missing or cannot be trusted. */

import type { Database } from '../db/database.js'
import type { PartitionCount } from '../format/counts.js'
import { fromOrdered, partitionIn, partitionText } from '../format/keys.js'

export const PRINT_BYTES = 8
const SEQ_DIGITS = 9

export interface Counted {
  readonly counts: readonly PartitionCount[]
  /** Greater than the number of any request, and no less than that of any list of fingerprints. */
  readonly nextSeq: number
}

/** Reads the keys of all requests and the sizes of all lists of fingerprints. */
export async function countAll(database: Database): Promise<Counted> {
  const pending = new Map<number, number>()
  const known = new Map<number, number>()
  let nextSeq = 0
  for (const kind of ['l', 'p'] as const) {
    for await (const keys of database.scanKeys({ from: kind, to: after(kind) })) {
      for (const key of keys) {
        add(pending, partitionIn(key), 1)
        nextSeq = Math.max(nextSeq, fromOrdered(key.slice(-SEQ_DIGITS)) + 1)
      }
    }
  }
  for (const kind of ['f', 's'] as const) {
    for await (const entries of database.scanBytes({ from: kind, to: after(kind) })) {
      for (const [key, prints] of entries) {
        add(known, partitionIn(key), prints.length / PRINT_BYTES)
        if (kind === 's') nextSeq = Math.max(nextSeq, fromOrdered(key.slice(5)))
      }
    }
  }
  const counts = [...new Set([...pending.keys(), ...known.keys()])]
    .sort((a, b) => a - b)
    .map((partition) => ({
      partition,
      pending: pending.get(partition) ?? 0,
      known: known.get(partition) ?? 0,
    }))
  return { counts, nextSeq }
}

/** Calls `each` once for every host with requests. */
export async function eachHost(
  database: Database,
  kind: 'p' | 'l',
  each: (partition: string, host: string) => unknown,
): Promise<void> {
  let last = ''
  for await (const keys of database.scanKeys({ from: kind, to: after(kind) })) {
    for (const key of keys) {
      const prefix = key.slice(1, key.indexOf('\0'))
      if (prefix === last) continue
      last = prefix
      await each(partitionText(partitionIn(key)), prefix.slice(4))
    }
  }
}

function add(counts: Map<number, number>, partition: number, more: number): void {
  counts.set(partition, (counts.get(partition) ?? 0) + more)
}

function after(kind: string): string {
  return String.fromCharCode(kind.charCodeAt(0) + 1)
}
