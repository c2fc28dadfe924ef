import { describe, expect, it } from 'vitest'
import { handoverSuite } from '../../src/conformance/handover/handover.js'
import { storeSuite } from '../../src/conformance/store.js'
import { firstCome } from '../../src/frontier/selection.js'
import type { OpenStore } from '../../src/stores/contract.js'
import { memory } from '../../src/stores/memory.js'
import { systemClock } from '../../src/time.js'
import { WALKS } from '../thorough.js'

describe('memory', () => {
  storeSuite({ ...WALKS, it, create: memory })

  it('opens without a promise, with the policy of the crawl', () => {
    const politeness = { delayMs: 0, connections: 1, growAt: 1 }
    const asked: string[] = []
    const policy = ({ host }: { host: string }) => asked.push(host)
    const opened = memory().open({ politeness, policy, clock: systemClock(), partitions: 1 })
    if (opened instanceof Promise) throw new Error('a promise')
    const url = 'https://a.example/'
    opened.frontier.add([
      { url, host: 'a.example', depth: 0, priority: 0, attempt: 0, redirects: 0, parent: undefined },
    ])
    expect(asked).toEqual(['a.example'])
  })
})

describe('memory, opened for shards', () => {
  handoverSuite({ ...WALKS, it, create: memory })
})

describe('memory, opened for a shard', () => {
  const politeness = { delayMs: 100, connections: 1, growAt: 1 }
  const context = { politeness, policy: firstCome, clock: systemClock(), partitions: 4 }
  const shard = { index: 0, partitions: [0, 1], replaces: false }
  const opened = (more: object = {}) =>
    memory().open({ ...context, partitionOf: (host) => host.length % 4, ...more }) as OpenStore

  storeSuite({
    ...WALKS,
    it,
    create: () => ({ name: 'shard', open: (given) => memory().open({ ...given, shard }) }),
  })

  it('can hand over, and keeps facts; alone it neither can nor does', () => {
    expect(Object.keys(opened()).sort()).toEqual(['close', 'frontier', 'seen'])
    expect(Object.keys(opened({ shard })).sort()).toEqual(['close', 'frontier', 'handover', 'seen', 'state'])
  })

  it('has one partition if nobody tells', async () => {
    const [from, to] = [opened({ shard, partitionOf: undefined }), opened({ shard, partitionOf: undefined })]
    from.seen.addAll(['https://a.example/'])
    to.handover!.adopt(await from.handover!.release([0]))
    expect([from.seen.size, to.seen.size]).toEqual([0, 1])
  })

  it('says that partitions have left in the same step in which they do', async () => {
    const { handover, seen, frontier } = opened({ shard })
    seen.addAll(['https://a.example/'])
    const url = 'https://a.example/'
    frontier.add([
      { url, host: 'a.example', depth: 0, priority: 0, attempt: 0, redirects: 0, parent: undefined },
    ])
    let left: unknown
    await handover!.release([1], () => {
      left = [seen.size, frontier.pending]
    })
    expect(left).toEqual([0, 0])
  })
})
