import { expect, test } from 'vitest'
import { nextRoundOf, REFRESH, Rounds } from '../../../src/engine/refresh/rounds.js'
import { memoryState } from '../../../src/stores/memory-state.js'

/** The round that shard 2 begins, where shards 0 and 1 have finished the first of this run. */
async function begun(first?: number, replaces = false): Promise<number> {
  const state = memoryState()
  for (const shard of [0, 1]) state.space(REFRESH).put(`round ${shard}`, { round: 1, isDone: true })
  let round = 0
  const rounds = new Rounds(
    state,
    { rounds: 1, complete: false },
    {
      shard: 2,
      replaces,
      isMine: () => true,
      add: () => {},
      roundStarted: (started) => {
        round = started
      },
      failed: () => {},
      changed: () => {},
    },
  )
  await rounds.open(first)
  rounds.close()
  return round
}

test('a shard that opens after others have finished a round does not skip it', async () => {
  expect(await begun(1)).toBe(1)
  expect(await begun()).toBe(2)
})

test('a replacement continues the round of the others', async () => {
  expect(await begun(1, true)).toBe(1)
  expect(await begun(5, true)).toBe(1)
})

test('a run begins with the round after the last one, or with the interrupted one', async () => {
  const space = memoryState().space(REFRESH)
  expect(await nextRoundOf(space)).toBe(1)
  space.put('round 0', { round: 3, isDone: true })
  expect(await nextRoundOf(space)).toBe(4)
  space.put('round 1', { round: 3, isDone: false })
  expect(await nextRoundOf(space)).toBe(3)
})

test('a complete round does not continue one that was not', async () => {
  const space = memoryState().space(REFRESH)
  space.put('round 0', { round: 3, isDone: false })
  expect(await nextRoundOf(space, true)).toBe(4)
  space.put('round 0', { round: 4, isDone: false, isComplete: true })
  expect(await nextRoundOf(space, true)).toBe(4)
  expect(await nextRoundOf(space)).toBe(4)
})

test('shards of a run with more of them do not keep the rounds from going on', async () => {
  const space = memoryState().space(REFRESH)
  space.put('round 0', { round: 3, isDone: true })
  space.put('round 1', { round: 2, isDone: true })
  expect(await nextRoundOf(space, false, 1)).toBe(3)
  space.put('round 0', { round: 3, isDone: true })
  expect(await nextRoundOf(space, false, 1)).toBe(4)
})
