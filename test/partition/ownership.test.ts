import { describe, expect, it } from 'vitest'
import { ownershipSuite } from '../../src/conformance/partitioner.js'
import { soleOwner, staticOwnership } from '../../src/partition/ownership.js'

describe('soleOwner', () => {
  ownershipSuite({ it, create: () => [soleOwner()] })

  it('owns everything from the start', () => {
    expect(soleOwner()).toMatchObject({ version: 0, self: 0 })
    expect([0, 1, 1023, 65_535].map(soleOwner().ownerOf)).toEqual([0, 0, 0, 0])
  })
})

describe.for([1, 2, 3, 16, 1024, 2000])('staticOwnership of %i shards', (shards) => {
  ownershipSuite({
    it,
    create: () => Array.from({ length: shards }, (_, shard) => staticOwnership(shard, shards)),
  })
})

describe('staticOwnership', () => {
  it('deals partitions out in turn, the same to every shard', () => {
    const owners = [0, 1, 2, 3, 4].map(staticOwnership(1, 3).ownerOf)
    expect(owners).toEqual([0, 1, 2, 0, 1])
    expect(staticOwnership(1, 3)).toMatchObject({ version: 0, self: 1 })
  })

  const wrong: [number, number][] = [
    [0, 0],
    [0, -1],
    [0, 1.5],
    [0, Number.NaN],
    [-1, 3],
    [3, 3],
    [0.5, 3],
    [Number.NaN, 3],
  ]
  it.for(wrong)('refuses shard %d of %d', ([self, shards]) => {
    expect(() => staticOwnership(self, shards)).toThrow(
      expect.objectContaining({ code: 'KUMO_INVALID_OPTION' }),
    )
  })
})
