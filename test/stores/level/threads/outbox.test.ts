/** Batches on their way outlive a crash together with what led to them, and who waits for a commit is called back. */

import { level } from 'kumo'
import { expect, test } from 'vitest'
import type { Leftover } from '../../../../src/stores/contract.js'
import { copyOf } from '../../../../src/stores/level/db/copy.js'
import { folder, removeLater } from '../folders.js'
import { contextOf, openShards, partitionOf, requestsOf } from './shards-fixture.js'

async function textsOf(leftovers: AsyncIterable<Leftover>): Promise<string[]> {
  const texts: string[] = []
  for await (const { text } of leftovers) texts.push(text)
  return texts
}

test('a batch is kept in one commit with what was changed before it', async () => {
  const path = await folder()
  const { all, shared } = await openShards(path, 2, { commitEvery: '1m' })
  const [page] = requestsOf(100).filter(({ host }) => partitionOf(host) === 0)
  const { frontier, outbox } = all[0]!
  await frontier.add([page!])
  await all[0]!.flush()
  const [lease] = await frontier.lease(1, Date.now())
  await frontier.settle([{ request: lease!, visitedAt: undefined }])
  outbox.put(outbox.firstBatch, 'links')
  const before = removeLater((await copyOf(path)).path)
  await all[0]!.flush()
  const after = removeLater((await copyOf(path)).path)
  expect(await textsOf(shared.leftovers()), 'of this run').toEqual([])
  const seen = await Promise.all(
    [before, after].map(async (folder) => {
      const alone = await level(folder).open(contextOf())
      const found = [alone.frontier.pending, await textsOf(alone.leftovers!())]
      await alone.close()
      return found
    }),
  )
  expect(seen).toEqual([
    [1, []],
    [0, ['links']],
  ])
})

test('what earlier runs left is told in order until it is dropped, and numbers go on behind it', async () => {
  const path = await folder()
  const first = await openShards(path, 3)
  for (const [i, { outbox }] of first.all.entries()) {
    for (let batch = 0; batch < 12; batch++) outbox.put(outbox.firstBatch + batch, `${i} ${batch}`)
    outbox.remove(outbox.firstBatch + 3)
  }
  await first.close()
  const second = await openShards(path, 2)
  const expected = [0, 1, 2].flatMap((i) =>
    [0, 1, 2, 4, 5, 6, 7, 8, 9, 10, 11].map((batch) => `${i} ${batch}`),
  )
  expect(await textsOf(second.shared.leftovers())).toEqual(expected)
  for (const { outbox } of second.all) outbox.put(outbox.firstBatch, 'new')
  for (const shard of second.all) await shard.flush()
  expect(await textsOf(second.shared.leftovers())).toEqual(expected)
  for await (const { id, text } of second.shared.leftovers()) {
    if (text.startsWith('1') || text === '0 0') second.shared.dropLeftover(id)
  }
  const left = expected.filter((text) => !text.startsWith('1') && text !== '0 0')
  expect(await textsOf(second.shared.leftovers()), 'before it is committed').toEqual(left)
  await second.close()
  const alone = await level(path).open(contextOf())
  expect(await textsOf(alone.leftovers!())).toEqual([
    '0 1',
    ...left.slice(1, 10),
    'new',
    'new',
    ...left.slice(10),
  ])
  for await (const { id } of alone.leftovers!()) alone.dropLeftover!(id)
  await alone.close()
  const third = await openShards(path, 1)
  expect(await textsOf(third.shared.leftovers())).toEqual([])
  expect(third.all[0]!.outbox.firstBatch).toBeGreaterThanOrEqual(13)
})

test('of a shard that died, what it had sent is told, and nothing that its successor or others send', async () => {
  const path = await folder()
  const shards = await openShards(path, 2)
  const [dead, other] = [shards.all[0]!, shards.all[1]!]
  dead.outbox.put(dead.outbox.firstBatch, 'of the dead')
  other.outbox.put(other.outbox.firstBatch, 'of the other')
  await other.flush()
  await dead.close()
  const leftovers = shards.shared.leftovers(0)
  const successor = await shards.open({ index: 0, replaces: true })
  shards.all[0] = successor
  const { firstBatch } = successor.outbox
  expect(firstBatch).toBeGreaterThan(dead.outbox.firstBatch + 1000)
  successor.outbox.put(firstBatch, 'of the successor')
  await successor.flush()
  const told: string[] = []
  for await (const { id, text } of leftovers) {
    told.push(text)
    shards.shared.dropLeftover(id)
  }
  expect(told).toEqual(['of the dead'])
  expect(await textsOf(shards.shared.leftovers())).toEqual([])
  await shards.close()
  const alone = await level(path).open(contextOf())
  expect(await textsOf(alone.leftovers!())).toEqual(['of the successor', 'of the other'])
  await alone.close()
})

test('who waits is called back in order, when all before is on disk, and at once if all is', async () => {
  const { all } = await openShards(await folder(), 1, { commitEvery: 20 })
  const { outbox, frontier } = all[0]!
  await all[0]!.flush()
  const called: string[] = []
  outbox.whenDurable(() => called.push('nothing to wait for'))
  expect(called, 'not within the call').toEqual([])
  await Promise.resolve()
  expect(called).toEqual(['nothing to wait for'])
  const wait = (name: string) =>
    new Promise<void>((resolve) => outbox.whenDurable(() => resolve(void called.push(name))))
  const waits = [wait('a')]
  await frontier.add(requestsOf(1))
  waits.push(wait('b'))
  outbox.put(outbox.firstBatch, 'text')
  waits.push(wait('c'), wait('d'))
  await Promise.resolve()
  expect(called.slice(1)).toEqual(['a'])
  await Promise.all(waits)
  expect(called.slice(1)).toEqual(['a', 'b', 'c', 'd'])
  // While one commit is written, others wait for the next.
  outbox.put(outbox.firstBatch + 1, 'text')
  const flushing = all[0]!.flush()
  await Promise.resolve()
  const during = wait('during')
  outbox.put(outbox.firstBatch + 2, 'text')
  const next = wait('next')
  await flushing
  await Promise.all([during, next])
  expect(called.slice(5)).toEqual(['during', 'next'])
})

test('who waits when the store is closed is called back', async () => {
  const shards = await openShards(await folder(), 1, { commitEvery: '1m' })
  const { outbox } = shards.all[0]!
  outbox.put(outbox.firstBatch, 'text')
  let isKept = false
  outbox.whenDurable(() => {
    isKept = true
  })
  await shards.close()
  expect(isKept).toBe(true)
})
