/** What shards take from a budget that they share comes back exactly once, whoever dies. */

import { describe, expect, test } from 'vitest'
import { budgetMemory, isUsedUp, returnClaims, SharedBudget } from '../../src/workers/shared-budget.js'

const ENDLESS = Number.POSITIVE_INFINITY

/** Commits that come when the test says so. */
class Disk {
  #waiting: (() => void)[] = []
  readonly whenKept = (then: () => void) => void this.#waiting.push(then)
  commit(): void {
    for (const then of this.#waiting.splice(0)) then()
  }
}

function shard(memory: SharedArrayBuffer, index: number, pages: number, disk?: Disk) {
  let told = 0
  const budget = new SharedBudget(memory, index, () => told++, disk !== undefined)
  budget.whenDurable = disk?.whenKept
  budget.watch(() => {}, pages)
  return { budget, told: () => told }
}

describe('a shard whose store dies with it', () => {
  test('has used what became pages, and gives back the rest', () => {
    const memory = budgetMemory(10, ENDLESS, 2)
    const { budget } = shard(memory, 0, 0)
    expect(budget.claim(7)).toBe(7)
    budget.spend(3, 0)
    returnClaims(memory, 0, false)
    returnClaims(memory, 0, false)
    const successor = shard(memory, 0, 0)
    expect(successor.budget.claim(100)).toBe(7)
    successor.budget.spend(7, 0)
    expect(isUsedUp(memory)).toBe(true)
  })
})

test('a request that a dead shard had sent is used, although its visit was not settled', () => {
  const memory = budgetMemory(10, ENDLESS, 2)
  // Five requests are of an earlier run.
  const { budget } = shard(memory, 0, 5)
  const other = shard(memory, 1, 0)
  expect(budget.claim(6)).toBe(6)
  budget.spend(2, 0)
  returnClaims(memory, 0, false, 5 + 2 + 3)
  returnClaims(memory, 0, false, 5 + 2 + 3)
  expect(other.budget.claim(100)).toBe(10 - 5)
  other.budget.spend(5, 0)
  expect(isUsedUp(memory)).toBe(true)
})

test('a budget without a limit stays without one, whatever a dead shard had sent', () => {
  const memory = budgetMemory(ENDLESS, ENDLESS, 2)
  shard(memory, 0, 0).budget.claim(6)
  returnClaims(memory, 0, false, 1000)
  expect(isUsedUp(memory)).toBe(false)
  expect(shard(memory, 0, 0).budget.claim(6)).toBe(6)
})

describe('a shard whose store outlives it', () => {
  test('has used what is on disk; the rest comes back when its successor knows what is', () => {
    const memory = budgetMemory(10, ENDLESS, 2)
    const disk = new Disk()
    // Five pages are of an earlier run.
    const { budget } = shard(memory, 0, 5, disk)
    const other = shard(memory, 1, 0, new Disk())
    expect(budget.claim(10)).toBe(10)
    budget.spend(2, 0)
    disk.commit()
    budget.spend(4, 0)
    expect(budget.isSettling).toBe(true)
    returnClaims(memory, 0, true)
    expect(other.budget.claim(1)).toBe(0)
    // It dies before the second commit.
    const successor = shard(memory, 0, 5 + 2, disk)
    expect(successor.told()).toBe(1)
    expect(other.budget.claim(100)).toBe(8)
  })

  test('has also used what it did not live to hear of', () => {
    const memory = budgetMemory(10, ENDLESS, 1)
    const { budget } = shard(memory, 0, 0, new Disk())
    expect(budget.claim(8)).toBe(8)
    budget.spend(6, 0)
    returnClaims(memory, 0, true)
    const disk = new Disk()
    const successor = shard(memory, 0, 6, disk)
    expect(successor.budget.claim(100)).toBe(4)
    successor.budget.spend(4, 0)
    expect(isUsedUp(memory)).toBe(false)
    disk.commit()
    expect(isUsedUp(memory)).toBe(true)
  })

  test('that dies again before it has opened gives back once', () => {
    const memory = budgetMemory(10, ENDLESS, 1)
    shard(memory, 0, 0, new Disk()).budget.claim(9)
    returnClaims(memory, 0, true)
    returnClaims(memory, 0, true)
    shard(memory, 0, 0, new Disk())
    const successor = shard(memory, 0, 0, new Disk())
    expect(successor.budget.claim(100)).toBe(10)
  })
})
