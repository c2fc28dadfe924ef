/** Migrates stores of earlier formats to this one. */

import type { Database } from '../db/database.js'
import { countAll } from '../opening/recount.js'
import { writeCounts } from './counts.js'
import { META } from './keys.js'

/** Increase it with every change of keys or records, and add a step below. */
export const FORMAT = 4

/** A meta of any format. */
type AnyMeta = { readonly format: number }

interface Migrated {
  /** Changes, written as one commit. */
  readonly changes: Map<string, string | null>
  /** Absent: unchanged, apart from the format. */
  readonly meta?: object
}

/** The step from one format to the next. */
type Step = (database: Database, meta: AnyMeta) => Promise<Migrated>

/** By the format that they start from. */
const STEPS: Readonly<Record<number, Step>> = { 1: toWriters, 2: toTurns, 3: toFields }

export async function migrate(
  database: Database,
  meta: AnyMeta,
  steps = STEPS,
  target = FORMAT,
): Promise<AnyMeta> {
  let now = meta
  while (now.format < target) {
    const step = steps[now.format]
    if (step === undefined) throw new Error(`there is no migration from format ${now.format} to ${target}`)
    const { changes, meta: changed = now } = await step(database, now)
    now = { ...changed, format: now.format + 1 }
    changes.set(META, JSON.stringify(now))
    await database.write({ values: changes, once: [] })
  }
  return now
}

/**
 * From 1 to 2: what the partitions hold is counted per partition. Lists of fingerprints used to be numbered like
 * commits and are now numbered like requests, so the next number must be greater than both.
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

/** From 2 to 3: entries of hosts may have a turn. Those without one can still be read, and get one when rewritten. */
async function toTurns(): Promise<Migrated> {
  return { changes: new Map() }
}

/**
 * From 3 to 4: requests may have a method, headers, a body, a label and data, and the rare fields of a request are lines
 * instead of one JSON object, which can still be read.
 */
async function toFields(): Promise<Migrated> {
  return { changes: new Map() }
}
