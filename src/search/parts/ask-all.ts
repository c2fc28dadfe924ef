/** Asks all parts of a merged search at once, and says which of them failed or changed. */

import { KumoError, type KumoErrorCode } from '../../errors.js'
import type { Answer, IndexPart } from './contract.js'

/** What goes wrong with a part, and not with the question. */
const FAILURES: ReadonlySet<KumoErrorCode> = new Set([
  'KUMO_INDEX_UNREACHABLE',
  'KUMO_INDEX_DAMAGED',
  'KUMO_INDEX_FAILED',
])

/** The search cannot go on with these parts as they were. */
export class Interrupted extends Error {
  /** Parts that cannot be read. */
  readonly failed: ReadonlyMap<IndexPart, KumoError>
  /** Parts that were committed during the search. */
  readonly changed: readonly IndexPart[]

  constructor(failed: ReadonlyMap<IndexPart, KumoError>, changed: readonly IndexPart[]) {
    super('a part of the index failed or changed')
    this.failed = failed
    this.changed = changed
  }
}

/** The answers of all parts, in their order. @throws Interrupted */
export async function askAll<Each extends { readonly part: IndexPart }, Value>(
  parts: readonly Each[],
  question: (each: Each, number: number) => Promise<Answer<Value>>,
): Promise<Value[]> {
  const answers = await Promise.allSettled(parts.map(async (each, number) => question(each, number)))
  const failed = new Map<IndexPart, KumoError>()
  const changed: IndexPart[] = []
  const values: Value[] = []
  for (const [number, answer] of answers.entries()) {
    const { part } = parts[number]!
    if (answer.status === 'rejected') {
      const { reason } = answer
      if (!(reason instanceof KumoError) || !FAILURES.has(reason.code)) throw reason
      failed.set(part, reason)
    } else if (answer.value === 'changed') changed.push(part)
    else values.push(answer.value.value)
  }
  if (failed.size + changed.length > 0) throw new Interrupted(failed, changed)
  return values
}
