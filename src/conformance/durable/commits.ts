/** Cases of the suite for durable stores: what a commit waits for, and requests that something still works on. */

import assert from 'node:assert/strict'
import { assertCounts, done, ORDINARY, request } from '../frontier/fixtures.js'
import { pause } from '../suite.js'
import { type CheckLives, takeIn } from './fixtures.js'
import { clock, leaseSoon } from './lives.js'

/** Longer than a store takes to commit if it does not wait. */
const A_WHILE_MS = 30

export function commitCases(check: CheckLives): void {
  check('a commit waits for what was registered, and for what was done before', async (lives) => {
    const opened = await lives.open(ORDINARY)
    const { beforeCommit } = opened
    if (beforeCommit === undefined) return
    await opened.flush()
    let isPrepared = false
    beforeCommit.call(opened, async () => {
      await pause(A_WHILE_MS)
      isPrepared = true
    })
    await takeIn(opened, [request('a.example', 1)])
    await opened.flush()
    assert.ok(isPrepared, 'the commit was written before it was prepared')
    assertCounts((await lives.crash(ORDINARY)).frontier, 1, 0, 1)
  })

  check('a commit that cannot be prepared is not written', async (lives) => {
    const opened = await lives.open(ORDINARY)
    const { beforeCommit } = opened
    if (beforeCommit === undefined) return
    await takeIn(opened, [request('a.example', 1)])
    await opened.flush()
    const failure = new Error('the index has no room')
    beforeCommit.call(opened, async () => {
      await pause(A_WHILE_MS)
      throw failure
    })
    await takeIn(opened, [request('a.example', 2)])
    await assert.rejects(async () => opened.flush(), 'the flush is complete, although the commit failed')
    assert.ok(opened.condition?.().failure !== undefined, 'the condition of the store does not tell')
    assertCounts((await lives.crash(ORDINARY)).frontier, 1, 0, 1)
  })

  check('a request that is held is pending after a crash, and what it found is kept', async (lives) => {
    const opened = await lives.open(ORDINARY)
    if (opened.frontier.canHold !== true) return
    await takeIn(opened, [request('a.example', 'held'), request('b.example', 'ended')])
    const now = clock.now()
    const leases = await leaseSoon(opened.frontier, 2, now)
    await opened.frontier.settle(
      leases.map((lease) => ({
        ...done(lease, now),
        held: true,
        found: [request(`found-by-${lease.host}`, 1)],
      })),
    )
    await opened.frontier.settle([done(leases.find(({ host }) => host === 'b.example')!, now)])
    await opened.flush()
    const next = await lives.crash(ORDINARY)
    assertCounts(next.frontier, 3, 0, 3)
  })
}
