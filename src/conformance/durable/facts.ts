/** Cases of the suite for durable stores: facts survive a crash, if the store keeps facts. */

import assert from 'node:assert/strict'
import { assertCounts, ORDINARY, request } from '../frontier/fixtures.js'
import { type CheckLives, takeIn } from './fixtures.js'

/** Facts, if the store keeps any. */
export function factCases(check: CheckLives): void {
  check('facts survive a crash', async (lives) => {
    const opened = await lives.open(ORDINARY)
    const { state } = opened
    if (state === undefined) return
    const [one, other] = [state.space('one'), state.space('other')]
    one.put('a', { deep: ['fact', 1, null] })
    one.put('a', 'of a host', 'a.example')
    one.put('gone', 1)
    other.put('a', 2)
    await opened.flush()
    one.delete('gone')
    other.put('a', 3)
    await opened.flush()
    const next = (await lives.crash(ORDINARY)).state!
    assert.deepEqual(await next.space('one').get('a'), { deep: ['fact', 1, null] })
    assert.equal(await next.space('one').get('a', 'a.example'), 'of a host')
    assert.equal(await next.space('one').get('gone'), undefined)
    assert.equal(await next.space('other').get('a'), 3)
    const listed: unknown[] = []
    for await (const [, value] of next.space('one').entries()) listed.push(value)
    assert.equal(listed.length, 2)
  })

  check('facts that are put before a commit are part of it', async (lives) => {
    const opened = await lives.open(ORDINARY)
    const { state, onCommit } = opened
    if (state === undefined || onCommit === undefined) return
    const space = state.space('counts')
    let added = 0
    onCommit.call(opened, () => space.put('added', added))
    for (added = 1; added <= 3; added++) {
      await takeIn(opened, [request('a.example', added)])
      await opened.flush()
    }
    added = 99
    const next = await lives.crash(ORDINARY)
    assertCounts(next.frontier, 3, 0, 1)
    assert.equal(await next.state!.space('counts').get('added'), 3)
  })
}
