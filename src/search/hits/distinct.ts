/** Which candidates become hits: no copies of better ones, and no more of a host than wanted. */

import type { CheckedOptions } from '../query/search-options.js'
import { areAlike } from '../segment/sketch.js'

export interface Distinct<Candidate> {
  readonly candidate: Candidate
  readonly duplicates: Candidate[]
}

export function distinct<Candidate>(
  candidates: readonly Candidate[],
  most: number,
  { groupBy, perHost }: Pick<CheckedOptions, 'groupBy' | 'perHost'>,
  sketchOf: (candidate: Candidate) => Uint8Array,
  hostOf: (candidate: Candidate) => string,
): Distinct<Candidate>[] {
  const kept: (Distinct<Candidate> & { readonly sketch: Uint8Array })[] = []
  const hosts = new Map<string, number>()
  for (const candidate of candidates) {
    const sketch = sketchOf(candidate)
    const original = groupBy === 'none' ? undefined : kept.find((each) => areAlike(each.sketch, sketch))
    if (original !== undefined) {
      original.duplicates.push(candidate)
      continue
    }
    if (perHost < Number.MAX_SAFE_INTEGER) {
      const host = hostOf(candidate)
      const count = hosts.get(host) ?? 0
      if (count >= perHost) continue
      hosts.set(host, count + 1)
    }
    if (kept.length === most) break
    kept.push({ candidate, duplicates: [], sketch })
  }
  return kept
}
