/** How stores of earlier formats become stores of this one. */

import type { Database } from '../db/database.js'
import { countAll } from '../opening/recount.js'
import { writeCounts } from './counts.js'
import { META } from './keys.js'

/** To be raised with every change of keys or records, together with a step below. */
export const FORMAT = 3

/** A meta of any format. */
type AnyMeta = { readonly format: number }

interface Migrated {
  /** Changes of one commit. */
  readonly changes: Map<string, string | null>
  /** Absent: it stays as it was, but for the format. */
  readonly meta?: object
}

/** The step from a format to the next one. */
type Step = (database: Database, meta: AnyMeta) => Promise<Migrated>

/** By the format that they start from. */
const STEPS: Readonly<Record<number, Step>> = { 1: toWriters, 2: toTurns }

export async function migrate(
  database: Database,
  meta: AnyMeta,
  steps = STEPS,
  target = FORMAT,
): Promise<AnyMeta> {
  let now = meta
  while (now.format < target) {
    const step = steps[now.format]
    if (step === undefined) throw new Error(`no way leads from format ${now.format} to ${target}`)
    const { changes, meta: changed = now } = await step(database, now)
    now = { ...changed, format: now.format + 1 }
    changes.set(META, JSON.stringify(now))
    await database.write({ values: changes, once: [] })
  }
  return now
}

/**
 * From 1 to 2: what the partitions hold is counted one by one. Lists of fingerprints, which had the numbers of commits,
 * have those of requests: the next of these must be larger than any of those.
 */
async function toWriters(database: Database, meta: AnyMeta): Promise<Migrated> {
  const { pending: _, known: __, ...kept } = meta as AnyMeta & Record<string, unknown>
  const counts = (await countAll(database)).counts
  const seq = Math.max(kept.seq as number, (kept.commit as number) + 1)
  return {
    changes: new Map(),
    meta: { ...kept, seq, counts: writeCounts(counts), nextBatch: 0, lanes: {} },
  }
}

/** From 2 to 3: entries of hosts may have a turn. Those without one can still be read; their hosts get one by and by. */
async function toTurns(): Promise<Migrated> {
  return { changes: new Map() }
}
