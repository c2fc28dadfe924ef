/** The seen-set with next to no memory: nearly all fingerprints are on disk, and the answers are the same. */

import { level } from 'kumo'
import { byHost } from 'kumo/adapters'
import { seenStoreSuite } from 'kumo/conformance'
import { expect, it, test } from 'vitest'
import { request } from '../../../../src/conformance/frontier/fixtures.js'
import { firstCome } from '../../../../src/frontier/selection.js'
import { seededRandom, systemClock } from '../../../../src/time.js'
import { folder } from '../folders.js'

const PARTITIONS = 8

async function open(path: string, seenInMemory: number) {
  const partitioner = byHost(PARTITIONS)
  return await level(path, { seenInMemory, commitEvery: 1 }).open({
    politeness: { delayMs: 0, connections: 1, growAt: 100 },
    policy: firstCome,
    clock: systemClock(),
    partitions: PARTITIONS,
    partitionOf: (host) => partitioner.partition(host),
  })
}

seenStoreSuite({
  it: (title, run) => it(`with room for 100 in memory: ${title}`, run),
  urls: 20_000,
  async create() {
    const opened = await open(await folder(), 100)
    return {
      addAll: (urls) => opened.seen.addAll(urls),
      get size() {
        return opened.seen.size
      },
      close: () => opened.close(),
    }
  },
})

test('names of requests are known, in memory or on disk, whatever is asked and however often it is opened', async () => {
  const path = await folder()
  const random = seededRandom(5)
  const known = new Set<string>()
  for (let life = 0; life < 4; life++) {
    const opened = await open(path, 1000)
    for (let turn = 0; turn < 60; turn++) {
      const urls = Array.from({ length: 100 }, () => {
        const host = `h${Math.floor(random.next() * 20)}.example`
        return request(host, Math.floor(random.next() * 2000))
      })
      const expected: boolean[] = []
      for (const { url } of urls) {
        expected.push(!known.has(url))
        known.add(url)
      }
      const fresh = await opened.seen.addAll(urls.map(({ url }) => url))
      expect(fresh).toEqual(expected)
      await opened.frontier.add(urls.filter((_, i) => fresh[i]))
    }
    expect(opened.seen.size).toBe(known.size)
    await opened.close()
  }
  expect(known.size).toBeGreaterThan(10_000)
})
