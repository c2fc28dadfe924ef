import { describe, expect, test } from 'vitest'
import { loadsOf, type PartitionWork, plannedMove, workOf } from '../../src/partition/balance.js'
import { seededRandom } from '../../src/time.js'

const RULES = { visitCycleMs: 10, pagesPerSecond: 100 }

/** A partition of one host. */
function host(partition: number, pending: number): PartitionWork {
  return { partition, pending, hosts: 1, longest: pending }
}

describe('the work of a partition', () => {
  test('is what politeness allows within ten seconds', () => {
    expect(workOf(host(0, 50), 1000)).toBe(10)
    expect(workOf(host(0, 5), 1000)).toBe(5)
    expect(workOf({ partition: 0, pending: 1000, hosts: 20, longest: 300 }, 1000)).toBe(200)
    expect(workOf({ partition: 0, pending: 25, hosts: 20, longest: 3 }, 1000)).toBe(25)
    expect(workOf(host(0, 100_000), 100_000)).toBe(1)
    expect(workOf({ partition: 0, pending: 0, hosts: 0, longest: 0 }, 10)).toBe(0)
  })
})

describe('known pages', () => {
  const resting = (scheduled: number) => ({ partition: 0, pending: 0, hosts: 0, longest: 0, scheduled })

  test('are work as far as the schedule asks for visits within ten seconds', () => {
    expect(workOf(resting(0.5), 1000)).toBe(5)
    expect(workOf({ ...host(0, 5), scheduled: 0.5 }, 1000)).toBe(10)
    // 1,600 pages once a month.
    expect(workOf(resting(1600 / (30 * 86_400)), 1000)).toBeLessThan(0.01)
  })

  test('that wait for a month draw work to where they are', () => {
    const idle = [resting(1600 / (30 * 86_400))]
    const busy = Array.from({ length: 8 }, (_, i) => host(i + 1, 100))
    expect(plannedMove([idle, busy], RULES)).toMatchObject({ from: 1, to: 0 })
  })

  test('that are visited often move as other work does', () => {
    const often = Array.from({ length: 8 }, (_, i) => ({ ...resting(10), partition: i }))
    expect(plannedMove([often, []], RULES)).toMatchObject({ from: 0, to: 1, partitions: [0, 1, 2, 3] })
  })
})

describe('a move', () => {
  test('goes from the one with most to the one with least, and takes half of the difference', () => {
    const many = Array.from({ length: 8 }, (_, i) => host(i, 100))
    expect(plannedMove([many, [host(9, 100)], [host(10, 300)]], RULES)).toEqual({
      partitions: [0, 1, 2],
      from: 0,
      to: 1,
    })
  })

  test.each<[string, PartitionWork[][]]>([
    ['nobody has anything', [[], [], []]],
    ['all have about the same', [[host(0, 500)], [host(1, 450)], [host(2, 550)]]],
    ['the difference is done before a move would be', [[host(0, 40)], [host(1, 1)]]],
    ['one host is all there is to move', [[host(0, 900)], []]],
    ['hosts are only resting', [Array.from({ length: 3 }, (_, i) => host(i, 90_000)), [host(9, 90_000)]]],
  ])('is not made if %s', (what, shards) => {
    const rules = what.startsWith('hosts') ? { visitCycleMs: 1000, pagesPerSecond: 100 } : RULES
    expect(plannedMove(shards, rules)).toBeUndefined()
  })

  test('of two large hosts one goes', () => {
    expect(plannedMove([[host(0, 900), host(1, 800)], []], RULES)).toEqual({
      partitions: [1],
      from: 0,
      to: 1,
    })
  })

  test('after move upon move, loads are close, and the largest never grew', () => {
    for (let seed = 0; seed < 200; seed++) {
      const random = seededRandom(seed)
      const shards: PartitionWork[][] = Array.from({ length: 2 + Math.floor(random.next() * 5) }, () => [])
      for (let partition = 0; partition < 200; partition++) {
        // A few large, many small, and all of the large on one side.
        const isLarge = random.next() < 0.05
        const shard = isLarge ? 0 : Math.floor(random.next() * shards.length)
        shards[shard]!.push(host(partition, Math.floor(random.next() * (isLarge ? 900 : 40))))
      }
      let largest = Math.max(...loadsOf(shards, RULES))
      let moves = 0
      for (let move = plannedMove(shards, RULES); move !== undefined; move = plannedMove(shards, RULES)) {
        expect(move.partitions.length).toBeGreaterThan(0)
        const going = new Set(move.partitions)
        shards[move.to]!.push(...shards[move.from]!.filter(({ partition }) => going.has(partition)))
        shards[move.from] = shards[move.from]!.filter(({ partition }) => !going.has(partition))
        const now = Math.max(...loadsOf(shards, RULES))
        expect(now, `seed ${seed}`).toBeLessThanOrEqual(largest)
        largest = now
        expect(++moves, `seed ${seed}`).toBeLessThan(100)
      }
      const loads = loadsOf(shards, RULES)
      const mean = loads.reduce((sum, load) => sum + load, 0) / loads.length
      const biggest = Math.max(...shards.flat().map((part) => workOf(part, RULES.visitCycleMs))) / 100
      expect(Math.max(...loads), `seed ${seed}`).toBeLessThanOrEqual(
        Math.max(1.25 * mean, mean + biggest, 0.5 + mean),
      )
    }
  })
})
