/** Cases of the suite for durable stores: a crash neither shortens a pause nor loses the state of a host. */

import assert from 'node:assert/strict'
import type { Settlement } from '../../frontier/contract.js'
import {
  assertCounts,
  DELAY_MS,
  done,
  GENEROUS,
  HURRIED,
  ORDINARY,
  paths,
  request,
} from '../frontier/fixtures.js'
import { type CheckLives, dueExactly, notBefore, SLACK_MS, takeIn } from './fixtures.js'
import { clock, type Lives, leaseSoon } from './lives.js'

/** Hosts: their pauses and their trouble. */
export function hostCases(check: CheckLives): void {
  /** Visits the first of two requests of a host, flushes and crashes. */
  const afterVisit = async (lives: Lives, more: Partial<Settlement>, politeness = ORDINARY) => {
    const opened = await lives.open(politeness)
    const now = clock.now()
    await takeIn(opened, paths('a.example', 3))
    const [lease] = await leaseSoon(opened.frontier, 1, now)
    await opened.frontier.settle([{ ...done(lease!, now), ...more }])
    await opened.flush()
    return { now, opened: await lives.crash(politeness) }
  }

  check('the pause of a host survives a crash', async (lives) => {
    const { now, opened } = await afterVisit(lives, {})
    await dueExactly(opened.frontier, now + DELAY_MS)
  })

  check('the pause of an empty host survives a crash', async (lives) => {
    const opened = await lives.open(ORDINARY)
    const now = clock.now()
    await takeIn(opened, [request('a.example', 1)])
    const [lease] = await leaseSoon(opened.frontier, 1, now)
    await opened.frontier.settle([done(lease!, now)])
    await opened.flush()
    const next = await lives.crash(ORDINARY)
    assertCounts(next.frontier, 0, 0, 0)
    await takeIn(next, [request('a.example', 2)])
    await dueExactly(next.frontier, now + DELAY_MS)
  })

  check('the pause of each connection survives a crash', async (lives) => {
    const opened = await lives.open(GENEROUS)
    const now = clock.now()
    await takeIn(opened, paths('a.example', 60))
    const leases = await leaseSoon(opened.frontier, 4, now)
    await opened.frontier.settle(leases.map((lease) => done(lease, now)))
    await opened.flush()
    const { frontier } = await lives.crash(GENEROUS)
    await notBefore(frontier, now + DELAY_MS)
    assert.equal((await leaseSoon(frontier, 4, now + DELAY_MS + SLACK_MS)).length, 4)
  })

  check('hostNotBefore survives a crash', async (lives) => {
    const at = clock.now() + 9 * DELAY_MS
    const { opened } = await afterVisit(lives, { hostNotBefore: at })
    await dueExactly(opened.frontier, at)
  })

  check('hostDelayMs survives a crash', async (lives) => {
    const { now, opened } = await afterVisit(lives, { hostDelayMs: 5 * DELAY_MS })
    const { frontier } = opened
    const due = now + 5 * DELAY_MS
    const lease = await dueExactly(frontier, due)
    await frontier.settle([done(lease, due)])
    await dueExactly(frontier, due + 5 * DELAY_MS)
  })

  check('the trouble of a host survives a crash, until it is over', async (lives) => {
    const hostTrouble = { incidents: 2, since: clock.now() }
    const { now, opened } = await afterVisit(lives, { hostTrouble }, HURRIED)
    const [lease] = await leaseSoon(opened.frontier, 1, now + SLACK_MS)
    assert.equal(lease?.hostTrouble?.incidents, 2)
    const told = lease.hostTrouble.since
    assert.ok(
      Math.abs(told - hostTrouble.since) <= SLACK_MS,
      `since ${hostTrouble.since}, reported as ${told}`,
    )
    const over = { incidents: 0, since: now + SLACK_MS }
    await opened.frontier.settle([{ ...done(lease, now + SLACK_MS), hostTrouble: over }])
    await opened.flush()
    const { frontier } = await lives.crash(HURRIED)
    const [next] = await leaseSoon(frontier, 1, now + DELAY_MS)
    assert.ok(next, 'nothing was handed out')
    assert.equal(next.hostTrouble, undefined)
  })
}
