/** Cases of the frontier's suite: a visit may end while its request stays leased. For frontiers with `canHold`. */

import assert from 'node:assert/strict'
import type { Frontier, Politeness } from '../../frontier/contract.js'
import {
  assertCounts,
  type Check,
  DELAY_MS,
  done,
  expectLeases,
  expectNothingDueBefore,
  ORDINARY,
  paths,
  request,
  START,
} from './fixtures.js'

export function heldCases(check: Check): void {
  const checkHolding = (
    name: string,
    politeness: Politeness,
    run: (frontier: Frontier) => Promise<void>,
  ): void =>
    check(name, politeness, async (frontier) => {
      if (frontier.canHold === true) await run(frontier)
    })

  checkHolding('a held settlement releases the host and keeps the lease', ORDINARY, async (frontier) => {
    await frontier.add(paths('a.example', 2))
    const [first] = await expectLeases(frontier, START, ['1'])
    await frontier.settle([{ ...done(first!, START), held: true }])
    assertCounts(frontier, 1, 1, 1)
    await expectNothingDueBefore(frontier, START + DELAY_MS)
    const [second] = await expectLeases(frontier, START + DELAY_MS, ['2'])
    await frontier.settle([done(second!, START + DELAY_MS)])
    assertCounts(frontier, 0, 1, 1)
    await frontier.settle([done(first!, START)])
    assertCounts(frontier, 0, 0, 0)
  })

  checkHolding('what the second settlement says about the host is ignored', ORDINARY, async (frontier) => {
    await frontier.add(paths('a.example', 3))
    const [first] = await expectLeases(frontier, START, ['1'])
    await frontier.settle([{ ...done(first!, START), held: true }])
    const [second] = await expectLeases(frontier, START + DELAY_MS, ['2'])
    const late = START + 100 * DELAY_MS
    await frontier.settle([{ ...done(first!, late), hostNotBefore: late, hostDelayMs: late }])
    await expectLeases(frontier, START + 2 * DELAY_MS, [])
    await frontier.settle([done(second!, START + DELAY_MS)])
    await expectLeases(frontier, START + 2 * DELAY_MS, ['3'])
  })

  checkHolding('both settlements add what they found', ORDINARY, async (frontier) => {
    await frontier.add([request('a.example', 'page')])
    const [page] = await expectLeases(frontier, START, ['page'])
    await frontier.settle([{ ...done(page!, START), held: true, found: [request('b.example', 'early')] }])
    assertCounts(frontier, 1, 1, 2)
    await expectLeases(frontier, START, ['early'])
    await frontier.settle([{ ...done(page!, START), found: [request('c.example', 'late')] }])
    await expectLeases(frontier, START, ['late'])
  })

  checkHolding('a held request can be tried again', ORDINARY, async (frontier) => {
    await frontier.add([request('a.example', 'page')])
    const [page] = await expectLeases(frontier, START, ['page'])
    await frontier.settle([{ ...done(page!, START), held: true }])
    // Long enough for a host without requests to be forgotten.
    const later = START + 10 * DELAY_MS
    await expectLeases(frontier, later, [])
    await frontier.settle([{ ...done(page!, START), again: { at: later, attempt: 1 } }])
    assertCounts(frontier, 1, 0, 1)
    const [again] = await expectLeases(frontier, later, ['page'])
    assert.equal(again!.attempt, 1)
  })
}
