/**
 * Some of what `npm run soak:damage` does, always the same: one file of each kind with a flipped bit, a block of zeros or
 * without its end. The program never dies of it, every error is Kumo's, and what is lost is told.
 */

import { seededRandom } from 'kumo/adapters'
import { expect, test } from 'vitest'
import { damageRounds, type Injury, KINDS, type Kind } from './damage-rounds.js'

const SAMPLES: readonly { workers: number; kinds: readonly Kind[]; injuries: readonly Injury[] }[] = [
  { workers: 0, kinds: Object.keys(KINDS) as Kind[], injuries: ['flip', 'zero', 'cut'] },
  { workers: 2, kinds: ['table'], injuries: ['flip'] },
]

test.for(SAMPLES)('with $workers workers, by a fixed seed', async (sample) => {
  const trials = await damageRounds({ ...sample, random: seededRandom(7), trials: 1 })
  expect(trials).toHaveLength(2 * sample.kinds.length * sample.injuries.length)
  expect(trials.filter(({ outcome }) => outcome instanceof Error)).toEqual([])
})
