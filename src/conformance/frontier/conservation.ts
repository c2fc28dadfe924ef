/** Cases of the frontier's suite: nothing is lost or duplicated, counts are exact, settlements count once. */

import assert from 'node:assert/strict'
import type { Settlement } from '../../frontier/contract.js'
import type { CrawlRequest } from '../../types.js'
import {
  A_DAY_MS,
  assertCounts,
  byUrl,
  type Check,
  DELAY_MS,
  done,
  drain,
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

/** Nothing is lost, nothing is duplicated, counts are exact. */
export function conservationCases(check: Check): void {
  check('an empty frontier has nothing to hand out', ORDINARY, async (frontier) => {
    await frontier.add([])
    await frontier.settle([])
    assert.deepEqual(await frontier.lease(10, START), [])
    assert.equal(frontier.nextDue(), Number.POSITIVE_INFINITY)
    assertCounts(frontier, 0, 0, 0)
  })

  check('a request is handed out unchanged', ORDINARY, async (frontier) => {
    const url = 'https://example.com:8443/a?q=%C3%A9&r=1'
    const parent = 'https://example.com:8443/'
    const whole = {
      url,
      host: 'example.com:8443',
      depth: 3,
      priority: -1.5,
      attempt: 2,
      redirects: 1,
      parent,
    }
    const seed = { ...request('b.example', 'seed'), parent: undefined }
    await frontier.add([whole, seed])
    const leases = await frontier.lease(10, START)
    assert.deepEqual(new Map(leases.map((lease) => [lease.url, fieldsOf(lease)])), byUrl([whole, seed]))
  })

  check(
    'optional fields of a request are handed out unchanged, also after a retry',
    ORDINARY,
    async (frontier) => {
      const rare = {
        ...request('a.example', 'rare'),
        purpose: { kind: 'sitemap' as const, nested: 2, of: 'c.example' },
        via: ['https://b.example/1', 'https://c.example/2'],
        hint: { lastmod: START, changefreq: 'daily', priority: 0.25 },
        revisit: true,
      }
      await frontier.add([rare])
      const [first] = await expectLeases(frontier, START, ['rare'])
      assert.deepEqual(rareFieldsOf(first!), rareFieldsOf(rare))
      await frontier.settle([{ ...done(first!, START), again: { at: START, attempt: 1 } }])
      const [second] = await expectLeases(frontier, START + DELAY_MS, ['rare'])
      assert.deepEqual(rareFieldsOf(second!), rareFieldsOf(rare))
    },
  )

  check(
    'a request with again.revisit is marked as a revisit when it is handed out',
    ORDINARY,
    async (frontier) => {
      await frontier.add([request('a.example', 'page')])
      const [first] = await expectLeases(frontier, START, ['page'])
      assert.equal(first!.revisit, undefined)
      const later = START + 10 * DELAY_MS
      await frontier.settle([{ ...done(first!, START), again: { at: later, attempt: 0, revisit: true } }])
      assert.deepEqual(await frontier.lease(10, later - 1), [])
      const [second] = await expectLeases(frontier, later, ['page'])
      assert.equal(second!.revisit, true)
      // It is retried after a failure, and still known.
      await frontier.settle([{ ...done(second!, later), again: { at: later, attempt: 1 } }])
      const [third] = await expectLeases(frontier, later + DELAY_MS, ['page'])
      assert.deepEqual([third!.revisit, third!.attempt], [true, 1])
    },
  )

  check('leases carry the trouble of their host until it is over', HURRIED, async (frontier) => {
    await frontier.add([...paths('a.example', 4), request('b.example', 'other')])
    const trouble = { incidents: 2, since: START }
    const leases = await expectLeases(frontier, START, ['1', 'other'])
    const [first, other] = ['a.example', 'b.example'].map((name) => leases.find(({ host }) => host === name)!)
    assert.deepEqual([first!.hostTrouble, other!.hostTrouble], [undefined, undefined])
    await frontier.settle([{ ...done(first!, START), hostTrouble: trouble }, done(other!, START)])
    const [second] = await expectLeases(frontier, START + 1, ['2'])
    assert.deepEqual(second!.hostTrouble, trouble)
    await frontier.settle([done(second!, START + 1)])
    const [third] = await expectLeases(frontier, START + 2, ['3'])
    assert.deepEqual(third!.hostTrouble, trouble)
    await frontier.settle([{ ...done(third!, START + 2), hostTrouble: { incidents: 0, since: START + 2 } }])
    const [fourth] = await expectLeases(frontier, START + 3, ['4'])
    assert.equal(fourth!.hostTrouble, undefined)
  })

  check('no request is lost and none is handed out twice', HURRIED, async (frontier) => {
    const added = Array.from({ length: 700 }, (_, i) => request(`h${i % 7}.example`, i))
    for (let i = 0; i < added.length; i += 100) await frontier.add(added.slice(i, i + 100))
    const met: string[] = []
    for (let now = START; met.length < added.length; now++) {
      const leases = await frontier.lease(5, now)
      assert.ok(leases.length > 0, `nothing was handed out after ${met.length} of ${added.length}`)
      met.push(...leases.map(({ url }) => url))
      await frontier.settle(leases.map((lease) => done(lease, now)))
    }
    assert.deepEqual(met.toSorted(), added.map(({ url }) => url).toSorted())
    assertCounts(frontier, 0, 0, 0)
    assert.deepEqual(await frontier.lease(10, START + A_DAY_MS), [])
  })

  check('a lease returns no more requests than asked for', HURRIED, async (frontier) => {
    await frontier.add(Array.from({ length: 20 }, (_, i) => request(`h${i}.example`, 1)))
    assert.equal((await frontier.lease(0, START)).length, 0)
    assert.equal((await frontier.lease(1, START)).length, 1)
    assert.equal((await frontier.lease(7, START)).length, 7)
    assert.equal((await frontier.lease(100, START)).length, 12)
  })

  check('requests and hosts are counted exactly', ORDINARY, async (frontier) => {
    await frontier.add([request('a.example', 1), request('a.example', 2), request('b.example', 1)])
    assertCounts(frontier, 3, 0, 2)
    const leases = await frontier.lease(10, START)
    assertCounts(frontier, 1, 2, 2)
    const [a, b] = ['a.example', 'b.example'].map((name) => leases.find(({ host }) => host === name)!)
    await frontier.settle([done(b!, START)])
    assertCounts(frontier, 1, 1, 1)
    await frontier.settle([{ ...done(a!, START), again: { at: START + A_DAY_MS, attempt: 1 } }])
    assertCounts(frontier, 2, 0, 1)
    await frontier.add([request('b.example', 2)])
    assertCounts(frontier, 3, 0, 2)
    const later = await frontier.lease(10, START + DELAY_MS)
    assertCounts(frontier, 1, 2, 2)
    await frontier.settle(later.map((lease) => done(lease, START + DELAY_MS)))
    await frontier.lease(10, START + 2 * A_DAY_MS)
    assertCounts(frontier, 0, 1, 1)
  })

  check('requests may be added and settled while a lease is pending', HURRIED, async (frontier) => {
    await frontier.add([request('a.example', 1), request('b.example', 1)])
    const first = await frontier.lease(1, START)
    const pending = frontier.lease(10, START + 1)
    const adding = frontier.add([request('c.example', 1), request('a.example', 2)])
    const settling = frontier.settle(first.map((lease) => done(lease, START + 1)))
    const second = await pending
    await adding
    await settling
    await frontier.settle(second.map((lease) => done(lease, START + 2)))
    const third = await drain(frontier, START + 3)
    const met = [...first, ...second].map(({ url }) => url)
    const all = ['a.example/1', 'a.example/2', 'b.example/1', 'c.example/1'].map((path) => `https://${path}`)
    assert.deepEqual([...met, ...third].toSorted(), all)
  })

  check('closing twice is allowed', ORDINARY, async (frontier) => {
    await frontier.add([request('a.example', 1), request('b.example', 1)])
    await frontier.lease(1, START)
    await frontier.close()
    await frontier.close()
  })
}

/** What may be settled. */
export function settlementCases(check: Check): void {
  check('settling a request that is not leased has no effect', ORDINARY, async (frontier) => {
    const waiting = request('a.example', 2)
    await frontier.add([request('a.example', 1), waiting])
    const [lease] = await expectLeases(frontier, START, ['1'])
    const about = (stranger: CrawlRequest): Settlement => ({
      ...done(stranger, START),
      again: { at: START, attempt: 9 },
      hostNotBefore: START + A_DAY_MS,
      hostDelayMs: A_DAY_MS,
    })
    await frontier.settle([
      about(waiting),
      about(request('a.example', 'unknown')),
      about(request('c.example', 1)),
    ])
    assertCounts(frontier, 1, 1, 1)
    await expectLeases(frontier, START + A_DAY_MS, [])
    await frontier.settle([done(lease!, START)])
    assertCounts(frontier, 1, 0, 1)
    await frontier.settle([about(lease!), about(lease!)])
    assertCounts(frontier, 1, 0, 1)
    const [second] = await expectLeases(frontier, START + DELAY_MS, ['2'])
    await frontier.settle([done(second!, START + DELAY_MS), about(second!)])
    assertCounts(frontier, 0, 0, 0)
  })

  check(
    'several settlements in one call have the same effect as several calls',
    GENEROUS,
    async (frontier) => {
      await frontier.add([...paths('a.example', 60), ...paths('b.example', 60)])
      const leases = await frontier.lease(100, START)
      assert.equal(leases.length, 8)
      await frontier.settle(leases.map((lease) => done(lease, START)))
      assertCounts(frontier, 112, 0, 2)
      await expectNothingDueBefore(frontier, START + DELAY_MS)
      assert.equal((await frontier.lease(100, START + DELAY_MS)).length, 8)
    },
  )
}
