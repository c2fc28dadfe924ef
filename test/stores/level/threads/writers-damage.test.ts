/** A crawl that several shards have stored, and a disk that lost part of it: it is told, or refused, or mended. */

import { cpSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { requestFor } from '../../../fetch/support.js'
import { folder } from '../folders.js'
import { expectRefusal, filesOf, openStore, takeIn } from '../support.js'
import { allPending, openShards, partitionOf } from './shards-fixture.js'

const STEPS = 240
const PADDING = 'x'.repeat(300)
/** What opening is in commits: one of each shard, to take up its partitions, if there are any. */
let path: string
/** By step: what is pending after it. One step is one commit of one shard. */
const states: string[][] = [[]]

beforeAll(async () => {
  const original = await folder()
  const shards = await openShards(original, 3)
  const pending: string[] = []
  for (let step = 1; step <= STEPS; step++) {
    const url = `https://h${step % 20}.example/${step}?${PADDING}`
    const shard = shards.of(new URL(url).host)
    await takeIn(shard, [requestFor(url)])
    pending.push(url)
    await shard.flush()
    states.push([...pending].sort())
  }
  path = await folder()
  cpSync(original, path, { recursive: true })
  await shards.close()
})

/** A copy, to be damaged. */
async function damaged(damage: (path: string) => void): Promise<string> {
  const copy = await folder()
  cpSync(path, copy, { recursive: true })
  damage(copy)
  return copy
}

const logOf = (copy: string) => filesOf(copy, /\.log$/).at(-1)!

function flip(file: string, share: number): void {
  const bytes = readFileSync(file)
  const at = Math.floor(bytes.length * share)
  bytes[at] = bytes[at]! ^ 0xff
  writeFileSync(file, bytes)
}

test('it is whole before, whoever opens it', async () => {
  for (const shards of [1, 3, 4]) {
    const opened = await openShards(await damaged(() => {}), shards)
    expect(opened.events).toEqual([])
    expect(await allPending(opened.all)).toEqual(states.at(-1))
    await opened.close()
  }
})

describe('the end of the log is gone', () => {
  test.for([0.2, 0.4, 0.6, 0.8, 0.95, 0.999])(
    'from %f on: all shards are as they were at one moment',
    async (share) => {
      const copy = await damaged((copy) =>
        truncateSync(logOf(copy), Math.floor(readFileSync(logOf(copy)).length * share)),
      )
      const opened = await openShards(copy, 2)
      const pending = await allPending(opened.all)
      expect(states).toContainEqual(pending)
      const lost = STEPS - pending.length
      expect(lost).toBeGreaterThan(0)
      expect(opened.events.map(({ kind, message }) => `${kind}: ${message}`)).toEqual([
        expect.stringMatching(new RegExp(`^repaired: the last ${lost} commits? .*${copy}`)),
      ])
      await opened.close()
      const again = await openStore(copy, {}, { partitions: 16, partitionOf })
      expect([again.frontier.pending, again.events]).toEqual([pending.length, []])
      await again.close()
    },
  )

  test('and the count of one writer alone says so', async () => {
    const copy = await damaged((copy) => {
      const file = join(copy, 'kumo-commits-2')
      const told = readFileSync(file, 'latin1')
      writeFileSync(file, String(Number(told.slice(0, 16)) + 7).padStart(16, '0') + told.slice(16))
    })
    const opened = await openStore(copy, {}, { partitions: 16, partitionOf })
    expect(opened.events.map(({ message }) => message)).toEqual([
      expect.stringContaining('the last 7 commits'),
    ])
    await opened.close()
  })
})

describe('a commit in the middle is gone', () => {
  test.for([0.1, 0.3, 0.5, 0.7])('at %f of the log: refused, whoever opens it', async (share) => {
    const copy = await damaged((copy) => flip(logOf(copy), share))
    const told = /commits? .*cannot be read, so URLs may be missing/
    await expectRefusal(
      openStore(copy, {}, { partitions: 16, partitionOf }),
      'KUMO_STORE_DAMAGED',
      copy,
      told,
    )
    await expectRefusal(openShards(copy, 2), 'KUMO_STORE_DAMAGED', copy, told)
  })

  test('when asked, it is mended: what is left is counted, and the next who open it find nothing wrong', async () => {
    const copy = await damaged((copy) => flip(logOf(copy), 0.5))
    const mended = await openShards(copy, 3, { repair: true })
    expect(mended.events.map(({ kind }) => kind)).toEqual(['repaired'])
    const pending = await allPending(mended.all)
    expect(pending.length).toBeGreaterThan(STEPS / 2)
    expect(pending.length).toBeLessThan(STEPS)
    const more = Array.from({ length: 20 }, (_, i) => requestFor(`https://h${i}.example/more`))
    for (const each of more) await takeIn(mended.of(each.host), [each])
    await mended.close()
    for (const shards of [2, 5]) {
      const again = await openShards(copy, shards)
      expect(again.events).toEqual([])
      expect(await allPending(again.all)).toEqual([...pending, ...more.map(({ url }) => url)].sort())
      await again.close()
    }
  })
})

test('of a folder of which only the counts are left, no new crawl is made', async () => {
  const copy = await damaged((copy) => {
    for (const file of filesOf(copy, /^(?!kumo-commits-)/)) rmSync(file)
  })
  await expectRefusal(openShards(copy, 2), 'KUMO_STORE_DAMAGED', copy)
})

test('counts of writers that are gone or make no sense do not matter', async () => {
  const copy = await damaged((copy) => {
    rmSync(join(copy, 'kumo-commits-1'))
    writeFileSync(join(copy, 'kumo-commits-2'), '\0'.repeat(64))
  })
  const opened = await openShards(copy, 2)
  expect(opened.events).toEqual([])
  expect(await allPending(opened.all)).toEqual(states.at(-1))
})
