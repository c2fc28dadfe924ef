import { describe, expect, it } from 'vitest'
import { ownershipSuite } from '../../src/conformance/partitioner.js'
import { assignInTurn, OwnershipTable, soleOwner } from '../../src/partition/ownership.js'

const PARTITIONS = 1024

describe('soleOwner', () => {
  ownershipSuite({ it, create: () => [soleOwner()] })

  it('owns everything from the start', () => {
    expect(soleOwner()).toMatchObject({ version: 0, self: 0 })
    expect([0, 1, 1023, 65_535].map(soleOwner().ownerOf)).toEqual([0, 0, 0, 0])
  })
})

/** The tables of all shards, with partitions dealt out among them. */
function tables(shards: number): OwnershipTable[] {
  const owners = assignInTurn(PARTITIONS, shards)
  return Array.from({ length: shards }, (_, shard) => new OwnershipTable(shard, owners))
}

describe.for([1, 2, 3, 16, 1024, 2000])('the tables of %i shards', (shards) => {
  ownershipSuite({ it, create: () => tables(shards), partitions: PARTITIONS })
})

describe('the tables of shards that moved partitions', () => {
  const create = () => {
    const moved = tables(3)
    for (const table of moved) {
      table.move([0, 3, 6], 1)
      table.move([1, 2], 0)
    }
    return moved
  }
  ownershipSuite({ it, create, partitions: PARTITIONS })

  it('have another version after every move, and their new owners', () => {
    const table = create()[2]!
    expect(table.version).toBe(2)
    expect([0, 1, 2, 3, 4, 5].map((partition) => table.ownerOf(partition))).toEqual([1, 0, 0, 1, 1, 2])
  })
})

it('deals partitions out in turn, the same to every shard', () => {
  const [, table] = tables(3)
  expect([0, 1, 2, 3, 4].map((partition) => table!.ownerOf(partition))).toEqual([0, 1, 2, 0, 1])
  expect([table!.version, table!.self]).toEqual([0, 1])
})
