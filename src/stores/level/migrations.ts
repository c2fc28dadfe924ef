/** How stores of earlier formats become stores of this one. */

import type { Database } from './database.js'
import { META } from './keys.js'
import type { Meta } from './meta.js'

/** To be raised with every change of keys or records, together with a step below. */
export const FORMAT = 1

/** The step from a format to the next one: what it changes is one commit. */
type Step = (database: Database, meta: Meta) => Promise<Map<string, string | null>>

/** By the format that they start from. */
const STEPS: Readonly<Record<number, Step>> = {}

export async function migrate(database: Database, meta: Meta, steps = STEPS, target = FORMAT): Promise<Meta> {
  let now = meta
  while (now.format < target) {
    const step = steps[now.format]
    if (step === undefined) throw new Error(`no way leads from format ${now.format} to ${target}`)
    const changes = await step(database, now)
    now = { ...now, format: now.format + 1 }
    changes.set(META, JSON.stringify(now))
    await database.write({ values: changes, once: [] })
  }
  return now
}
