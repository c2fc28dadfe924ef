/** Cases about what a program asks for with a request: extras come back unchanged, and `notBefore` is kept. */

import assert from 'node:assert/strict'
import type { CrawlRequest } from '../../types.js'
import { knownAs } from '../../url/known-as.js'
import {
  A_DAY_MS,
  assertCounts,
  type Check,
  DELAY_MS,
  done,
  drain,
  EXTRAS,
  expectLeases,
  expectNothingDueBefore,
  fieldsOf,
  GENEROUS,
  HURRIED,
  ORDINARY,
  paths,
  rareFieldsOf,
  request,
  START,
} from './fixtures.js'

export function extrasCases(check: Check): void {
  const requests = EXTRAS.map((extras, i) => ({ ...request(`h${i}.example`, i), priority: i - 2.5, extras }))
  const assertUnchanged = (leases: readonly CrawlRequest[], attempt: number) => {
    assert.equal(leases.length, requests.length, 'number of requests that were handed out')
    for (const lease of leases) {
      const expected = requests.find(({ url }) => url === lease.url)!
      assert.deepEqual(fieldsOf(lease), { ...fieldsOf(expected), attempt })
      assert.deepEqual(lease.extras, expected.extras)
    }
  }

  check(
    'method, headers, body, label, data and priority come back with every lease',
    ORDINARY,
    async (frontier) => {
      await frontier.add(requests)
      const first = await frontier.lease(100, START)
      assertUnchanged(first, 0)
      await frontier.settle(first.map((each) => ({ ...done(each, START), again: { at: START, attempt: 1 } })))
      const second = await frontier.lease(100, START + DELAY_MS)
      assertUnchanged(second, 1)
      const again = { at: START + A_DAY_MS, attempt: 0, revisit: true }
      await frontier.settle(second.map((each) => ({ ...done(each, START + DELAY_MS), again })))
      assertUnchanged(await frontier.lease(100, START + A_DAY_MS), 0)
    },
  )

  check('so they do for requests that a visit found', HURRIED, async (frontier) => {
    await frontier.add([request('a.example', 'page')])
    const [page] = await expectLeases(frontier, START, ['page'])
    await frontier.settle([{ ...done(page!, START), found: requests }])
    assertUnchanged(await frontier.lease(100, START), 0)
  })

  check(
    'requests of one URL with different methods or bodies are different requests',
    HURRIED,
    async (frontier) => {
      const get = request('a.example', 'form')
      const all: CrawlRequest[] = [
        get,
        { ...get, extras: { method: 'POST', body: 'q=1' } },
        { ...get, extras: { method: 'POST', body: 'q=2' } },
        { ...get, extras: { method: 'DELETE' } },
      ]
      await frontier.add(all)
      assertCounts(frontier, all.length, 0, 1)
      for (const expected of all) {
        const [lease, ...more] = await frontier.lease(10, START)
        assert.deepEqual(more, [])
        assert.equal(knownAs(lease!), knownAs(expected))
        assert.deepEqual(rareFieldsOf(lease!), rareFieldsOf(expected))
        await frontier.settle([done(lease!, START)])
      }
      assertCounts(frontier, 0, 0, 0)
    },
  )
}

/** Requests that are added for later. */
export function laterCases(check: Check): void {
  const later = (host: string, path: string, notBefore: number, priority = 0): CrawlRequest => ({
    ...request(host, path),
    notBefore,
    priority,
  })

  check(
    'a request with notBefore is handed out then, and others do not wait for it',
    HURRIED,
    async (frontier) => {
      const due = START + 7 * DELAY_MS
      await frontier.add([
        later('a.example', 'later', due, 5),
        request('a.example', 1),
        later('b.example', 'b', due),
      ])
      assertCounts(frontier, 3, 0, 2)
      const [first] = await expectLeases(frontier, START, ['1'])
      await frontier.settle([done(first!, START)])
      await expectNothingDueBefore(frontier, due)
      await frontier.add(paths('a.example', 2))
      await expectLeases(frontier, due, ['later', 'b'])
    },
  )

  check(
    'a found request with notBefore waits too, and does not block its host',
    ORDINARY,
    async (frontier) => {
      const due = START + 5 * DELAY_MS
      await frontier.add([request('a.example', 'page')])
      const [page] = await expectLeases(frontier, START, ['page'])
      const found = [
        later('a.example', 'later', due),
        later('b.example', 'elsewhere', due),
        request('a.example', 2),
      ]
      await frontier.settle([{ ...done(page!, START), found }])
      const [second] = await expectLeases(frontier, START + DELAY_MS, ['2'])
      await frontier.settle([done(second!, START + DELAY_MS)])
      await expectNothingDueBefore(frontier, due)
      await expectLeases(frontier, due, ['later', 'elsewhere'])
    },
  )

  check('a request whose notBefore is over is handed out at once', HURRIED, async (frontier) => {
    await expectLeases(frontier, START, [])
    await frontier.add([later('a.example', 'past', START - A_DAY_MS), later('b.example', 'now', START)])
    await expectLeases(frontier, START, ['past', 'now'])
  })

  check('once its time has come, priority decides', HURRIED, async (frontier) => {
    await frontier.add([
      later('a.example', 'first', START + 1, 2),
      later('a.example', 'last', START + 1, -1),
      { ...request('a.example', 'second'), priority: 1 },
      request('a.example', 'fourth'),
      later('a.example', 'third', START + 2),
      later('a.example', 'never', START + A_DAY_MS, 9),
    ])
    const expected = ['first', 'second', 'third', 'fourth', 'last'].map((name) => `https://a.example/${name}`)
    assert.deepEqual(await drain(frontier, START + 2), expected)
    assertCounts(frontier, 1, 0, 1)
  })

  check('after its first lease only again.at counts', HURRIED, async (frontier) => {
    const due = START + 5 * DELAY_MS
    await frontier.add([later('a.example', 'later', due)])
    const [first] = await expectLeases(frontier, due, ['later'])
    await frontier.settle([{ ...done(first!, due), again: { at: due + DELAY_MS, attempt: 1 } }])
    await expectNothingDueBefore(frontier, due + DELAY_MS)
    const [second] = await expectLeases(frontier, due + DELAY_MS, ['later'])
    assert.equal(second!.attempt, 1)
  })

  check('notBefore shortens neither a pause nor hostNotBefore', ORDINARY, async (frontier) => {
    await frontier.add([request('a.example', 1), later('a.example', 'later', START + 1)])
    const [first] = await expectLeases(frontier, START, ['1'])
    await frontier.settle([done(first!, START)])
    await expectNothingDueBefore(frontier, START + DELAY_MS)
    const [second] = await expectLeases(frontier, START + DELAY_MS, ['later'])
    const hostNotBefore = START + 9 * DELAY_MS
    await frontier.settle([{ ...done(second!, START + DELAY_MS), hostNotBefore }])
    await frontier.add([later('a.example', 'third', START + 3 * DELAY_MS)])
    await expectNothingDueBefore(frontier, hostNotBefore)
    await expectLeases(frontier, hostNotBefore, ['third'])
  })

  check(
    'requests for later do not allow more connections before they are due',
    GENEROUS,
    async (frontier) => {
      const due = START + A_DAY_MS
      await frontier.add(paths('a.example', 50).map((each) => ({ ...each, notBefore: due })))
      await frontier.add(Array.from({ length: 6 }, (_, i) => request('a.example', `now${i}`)))
      const leases = await frontier.lease(100, START)
      assert.equal(leases.length, 1, 'number of connections for six requests that are due')
      await frontier.settle(leases.map((lease) => done(lease, START)))
      assert.equal((await frontier.lease(100, due)).length, 4, 'number of connections once all are due')
    },
  )
}
