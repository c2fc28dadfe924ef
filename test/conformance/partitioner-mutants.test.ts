import { describe, expect, it } from 'vitest'
import { ownershipSuite, partitionerSuite } from '../../src/conformance/partitioner.js'
import { byHost } from '../../src/partition/by-host.js'
import type { HostPartitioner, Ownership } from '../../src/partition/contract.js'
import { failuresOf } from './collect.js'

const sound = byHost(64)
const of64 = (partition: (host: string) => number): HostPartitioner => ({ partitions: 64, partition })
let instances = 0

const PARTITIONERS: Record<string, () => HostPartitioner> = {
  'counts from 1': () => of64((host) => sound.partition(host) + 1),
  'returns fractions': () => of64((host) => sound.partition(host) + 0.5),
  'goes below zero': () => of64((host) => sound.partition(host) - 32),
  'returns NaN for a host without a name': () => of64((host) => (host ? sound.partition(host) : Number.NaN)),
  'deals hosts out as they come': () => {
    const given = new Map<string, number>()
    return of64((host) => {
      if (!given.has(host)) given.set(host, given.size % 64)
      return given.get(host)!
    })
  },
  'differs from instance to instance': () => {
    const salt = instances++
    return of64((host) => sound.partition(`${salt}${host}`))
  },
  'changes its mind': () => {
    let calls = 0
    return of64((host) => (sound.partition(host) + (calls++ > 30_000 ? 1 : 0)) % 64)
  },
  'grows more partitions': () => {
    let partitions = 64
    return {
      get partitions() {
        return partitions
      },
      partition(host) {
        partitions++
        return sound.partition(host)
      },
    }
  },
  'puts all hosts into one': () => of64(() => 7),
  'uses half of the partitions': () => of64((host) => sound.partition(host) & ~1),
  'goes by the length of the name': () => of64((host) => host.length % 64),
  'has no partitions': () => ({ partitions: 0, partition: () => 0 }),
}

const views = (change: (view: Ownership) => Partial<Ownership>) => () =>
  [0, 1, 2].map((shard) => {
    const view: Ownership = { version: 0, self: shard, ownerOf: (partition) => partition % 3 }
    return { ...view, ...change(view) }
  })

const OWNERSHIPS: Record<string, () => Ownership[]> = {
  'thinks that each shard owns everything': views(({ self }) => ({ ownerOf: () => self })),
  'names a shard that does not exist': views(({ ownerOf }) => ({ ownerOf: (p) => ownerOf(p) + 1 })),
  'gives all to one': views(() => ({ ownerOf: () => 1 })),
  'does not know who asks': views(() => ({ self: 0 })),
  'moves without a new version': views(({ ownerOf }) => {
    let asked = 0
    return { ownerOf: (p) => ownerOf(p + (asked++ >= 1024 ? 1 : 0)) }
  }),
  'has no version': views(() => ({ version: Number.NaN })),
}

describe('the suite of partitioners', () => {
  it('passes a sound one', async () => {
    expect(await failuresOf((it) => partitionerSuite({ it, create: () => byHost(64) }))).toEqual([])
  })

  it('does not ask for an even spread where that is not the aim', async () => {
    const create = () => of64(() => 7)
    expect(await failuresOf((it) => partitionerSuite({ it, create, even: false }))).toEqual([])
  })

  it.for(Object.entries(PARTITIONERS))('notices one that %s', async ([, create]) => {
    expect(await failuresOf((it) => partitionerSuite({ it, create }))).not.toEqual([])
  })
})

describe('the suite of ownerships', () => {
  it('passes a sound one', async () => {
    expect(await failuresOf((it) => ownershipSuite({ it, create: views(() => ({})) }))).toEqual([])
  })

  it.for(Object.entries(OWNERSHIPS))('notices one that %s', async ([, create]) => {
    expect(await failuresOf((it) => ownershipSuite({ it, create }))).not.toEqual([])
  })
})
