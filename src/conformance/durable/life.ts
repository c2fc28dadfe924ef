/** Cases of the suite for durable stores: leases, closing, and repeated crashes. */

import assert from 'node:assert/strict'
import { knownAs } from '../../url/known-as.js'
import { A_DAY_MS, assertCounts, DELAY_MS, done, ORDINARY, request } from '../frontier/fixtures.js'
import { assertKnown, type CheckLives, SLACK_MS, takeIn } from './fixtures.js'
import { clock, EVERYTHING, everything, leaseSoon } from './lives.js'

/** Leases, closing, and repeated crashes. */
export function lifeCases(check: CheckLives): void {
  const urls = ['a', 'b', 'c'].map((name) => `https://${name}.example/1`)
  const three = ['a', 'b', 'c'].map((name) => request(`${name}.example`, 1))

  check('a leased request is pending again after a crash, once', async (lives) => {
    const opened = await lives.open(ORDINARY)
    await takeIn(opened, three)
    await leaseSoon(opened.frontier, 3, clock.now())
    await opened.flush()
    for (let life = 0; life < 3; life++) {
      const { frontier } = await lives.crash(EVERYTHING)
      assertCounts(frontier, 3, 0, 3)
      const leases = await everything(frontier, clock.now() + A_DAY_MS)
      assert.deepEqual(leases.map(({ url }) => url).toSorted(), urls)
      assert.deepEqual(
        leases.map(({ attempt }) => attempt),
        [0, 0, 0],
      )
    }
  })

  check('a request that is done does not come back', async (lives) => {
    const opened = await lives.open(ORDINARY)
    const now = clock.now()
    await takeIn(opened, three)
    const leases = await leaseSoon(opened.frontier, 3, now)
    await opened.frontier.settle(leases.slice(0, 2).map((lease) => done(lease, now)))
    await opened.flush()
    const { frontier, seen } = await lives.crash(EVERYTHING)
    assertCounts(frontier, 1, 0, 1)
    const left = await everything(frontier, now + A_DAY_MS)
    assert.deepEqual(
      left.map(({ url }) => url),
      [leases[2]!.url],
    )
    await assertKnown(seen, urls)
  })

  for (const partsFirst of [false, true]) {
    const how = partsFirst ? 'closed, its parts first' : 'closed'
    check(`nothing is lost when the store is ${how}`, async (lives) => {
      const opened = await lives.open(ORDINARY)
      const now = clock.now()
      await takeIn(opened, three)
      const leases = await leaseSoon(opened.frontier, 3, now)
      const found = [request('a.example', 2)]
      await opened.seen.addAll(found.map(knownAs))
      const again = { at: now + DELAY_MS, attempt: 1 }
      await opened.frontier.settle([
        { ...done(leases.find(({ host }) => host === 'a.example')!, now), found },
        { ...done(leases.find(({ host }) => host === 'b.example')!, now), again },
      ])
      opened.state?.space('facts').put('a', 1)
      if (partsFirst) {
        await opened.frontier.close()
        await opened.seen.close()
      }
      const { frontier, seen, state } = await lives.reopen(ORDINARY)
      assertCounts(frontier, 3, 0, 3)
      await assertKnown(seen, [...urls, 'https://a.example/2'])
      assert.equal(await state?.space('facts').get('a'), state && 1)
      const [third] = await leaseSoon(frontier, 1, now + DELAY_MS - 2 * SLACK_MS)
      assert.equal(third?.url, urls[2], 'the host without a visit does not rest')
      const rest = await leaseSoon(frontier, 2, now + DELAY_MS + SLACK_MS)
      const told = rest.map(({ url, attempt }) => `${url} ${attempt}`)
      assert.deepEqual(told.toSorted(), ['https://a.example/2 0', 'https://b.example/1 1'])
    })
  }

  check('repeated crashes lose nothing', async (lives) => {
    const opened = await lives.open(ORDINARY)
    const now = clock.now()
    await takeIn(opened, three)
    const [lease] = await leaseSoon(opened.frontier, 3, now)
    await opened.frontier.settle([{ ...done(lease!, now), again: { at: now + DELAY_MS, attempt: 1 } }])
    await opened.flush()
    let { frontier, seen } = await lives.crash(ORDINARY)
    for (let crash = 0; crash < 5; crash++) ({ frontier, seen } = await lives.crash(ORDINARY))
    assertCounts(frontier, 3, 0, 3)
    await assertKnown(seen, urls)
    const due = await leaseSoon(frontier, 2, now + DELAY_MS - 2 * SLACK_MS)
    assert.deepEqual([...due.map(({ url }) => url), lease!.url].toSorted(), urls)
    const [again] = await leaseSoon(frontier, 1, now + DELAY_MS + SLACK_MS)
    assert.equal(again?.attempt, 1)
  })

  check('data of several runs adds up', async (lives) => {
    let opened = await lives.open(ORDINARY)
    for (let life = 1; life <= 5; life++) {
      await takeIn(opened, [request(`h${life}.example`, 1)])
      await opened.flush()
      opened = life % 2 === 0 ? await lives.reopen(ORDINARY) : await lives.crash(ORDINARY)
      assertCounts(opened.frontier, life, 0, life)
    }
  })
}
