/** Cases of the frontier's suite: requests found by a visit are added with its settlement, as by `add`. */

import assert from 'node:assert/strict'
import type { CrawlRequest } from '../../types.js'
import {
  A_DAY_MS,
  assertCounts,
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

/** What settlements add. */
export function foundCases(check: Check): void {
  check('requests found by a visit are pending after its settlement', ORDINARY, async (frontier) => {
    await frontier.add([request('a.example', 1), request('b.example', 1)])
    const leases = await expectLeases(frontier, START, ['1', '1'])
    const [a, b] = ['a.example', 'b.example'].map((name) => leases.find(({ host }) => host === name)!)
    const found = [request('a.example', 2), request('b.example', 2), request('c.example', 3)]
    await frontier.settle([{ ...done(a!, START), found }])
    assertCounts(frontier, 3, 1, 3)
    assert.ok(frontier.nextDue() <= START, 'nextDue() ignores a host that was found')
    const [c] = await expectLeases(frontier, START, ['3'])
    await frontier.settle([done(b!, START), done(c!, START)])
    assertCounts(frontier, 2, 0, 2)
    await expectLeases(frontier, START + DELAY_MS, ['2', '2'])
    assertCounts(frontier, 0, 2, 2)
  })

  check('a request that was found is handed out unchanged', HURRIED, async (frontier) => {
    const whole: CrawlRequest = {
      url: 'https://b.example:8443/a?q=%C3%A9',
      host: 'b.example:8443',
      depth: 3,
      priority: -1.5,
      attempt: 2,
      redirects: 1,
      parent: 'https://a.example/1',
      purpose: { kind: 'sitemap', nested: 1, of: 'a.example' },
      via: ['https://a.example/1'],
      hint: { lastmod: START, changefreq: 'daily', priority: 0.25 },
    }
    await frontier.add([request('a.example', 1)])
    const [lease] = await expectLeases(frontier, START, ['1'])
    await frontier.settle([{ ...done(lease!, START), found: [whole] }])
    const [out] = await frontier.lease(10, START)
    assert.ok(out, 'nothing was handed out')
    assert.deepEqual(fieldsOf(out), fieldsOf(whole))
    assert.deepEqual(rareFieldsOf(out), rareFieldsOf(whole))
  })

  check('requests that were found are ordered like added ones', HURRIED, async (frontier) => {
    await frontier.add(paths('a.example', 2))
    const [lease] = await expectLeases(frontier, START, ['1'])
    const larger = { ...request('a.example', 'larger'), priority: 1 }
    await frontier.settle([{ ...done(lease!, START), found: [request('a.example', 3), larger] }])
    await frontier.add([request('a.example', 4)])
    const expected = ['larger', '2', '3', '4'].map((name) => `https://a.example/${name}`)
    assert.deepEqual(await drain(frontier, START), expected)
  })

  check('requests found on the visited host wait for its pause', ORDINARY, async (frontier) => {
    await frontier.add([request('a.example', 1)])
    const [first] = await expectLeases(frontier, START, ['1'])
    await frontier.settle([{ ...done(first!, START), found: [request('a.example', 2)] }])
    await expectNothingDueBefore(frontier, START + DELAY_MS)
    const [second] = await expectLeases(frontier, START + DELAY_MS, ['2'])
    const found = [request('a.example', 3)]
    const until = START + 9 * DELAY_MS
    await frontier.settle([{ ...done(second!, START + DELAY_MS), found, hostNotBefore: until }])
    await expectNothingDueBefore(frontier, until)
    await expectLeases(frontier, until, ['3'])
  })

  check('requests that were found allow more connections, like added ones', GENEROUS, async (frontier) => {
    await frontier.add([request('b.example', 'source')])
    const [lease] = await expectLeases(frontier, START, ['source'])
    await frontier.settle([{ ...done(lease!, START), found: paths('a.example', 33) }])
    assert.equal((await frontier.lease(100, START)).length, 4)
  })

  check('a settlement that is ignored adds nothing', ORDINARY, async (frontier) => {
    const waiting = request('a.example', 2)
    await frontier.add([request('a.example', 1), waiting])
    const [lease] = await expectLeases(frontier, START, ['1'])
    const bringing = (about: CrawlRequest, name: string) => ({
      ...done(about, START),
      found: [request('a.example', name), request(`${name}.example`, name)],
    })
    await frontier.settle([
      bringing(waiting, 'w'),
      bringing(request('a.example', 'unknown'), 'x'),
      bringing(request('c.example', 1), 'y'),
    ])
    assertCounts(frontier, 1, 1, 1)
    await frontier.settle([bringing(lease!, 'once'), bringing(lease!, 'twice')])
    assertCounts(frontier, 3, 0, 2)
    await frontier.settle([bringing(lease!, 'later')])
    assertCounts(frontier, 3, 0, 2)
    await expectLeases(frontier, START + A_DAY_MS, ['2', 'once'])
  })

  check('a visit may find requests and be retried', HURRIED, async (frontier) => {
    await frontier.add([request('a.example', 1)])
    const [first] = await expectLeases(frontier, START, ['1'])
    const again = { at: START + 10, attempt: 1 }
    const found = [request('a.example', 2), request('a.example', 3), request('b.example', 'x')]
    await frontier.settle([{ ...done(first!, START), again, found }])
    assertCounts(frontier, 4, 0, 2)
    const early = await expectLeases(frontier, START + 9, ['2', 'x'])
    await frontier.settle(early.map((lease) => done(lease, START + 9)))
    const [second] = await expectLeases(frontier, START + 10, ['1'])
    assert.equal(second!.attempt, 1)
    await frontier.settle([done(second!, START + 10)])
    await expectLeases(frontier, START + 10, ['3'])
  })

  // A page may redirect to itself, and answer with a page once its cookie is set.
  check('a visit may find its own URL', HURRIED, async (frontier) => {
    await frontier.add([request('a.example', 1)])
    const [lease] = await expectLeases(frontier, START, ['1'])
    const itself = { ...request('a.example', 1), redirects: 1, via: ['https://a.example/1'] }
    await frontier.settle([{ ...done(lease!, START), found: [itself] }])
    assertCounts(frontier, 1, 0, 1)
    const [next] = await expectLeases(frontier, START, ['1'])
    assert.deepEqual(fieldsOf(next!), fieldsOf(itself))
    await frontier.settle([done(next!, START)])
    assertCounts(frontier, 0, 0, 0)
  })

  // The frontier does not check whether a URL is new: a robots.txt that two pages wait for may be requested twice.
  check('the same URL may be pending several times', HURRIED, async (frontier) => {
    const page = request('a.example', 1)
    const sitemap = { ...page, purpose: { kind: 'sitemap' as const, nested: 0, of: 'a.example' } }
    const rules = { ...page, purpose: { kind: 'robots' as const, origin: 'https://b.example' } }
    await frontier.add([page, request('a.example', 'source')])
    const [first] = await expectLeases(frontier, START, ['1'])
    await frontier.settle([{ ...done(first!, START), found: [page, sitemap, rules, rules] }])
    assertCounts(frontier, 5, 0, 1)
    const url = 'https://a.example/1'
    assert.deepEqual(await drain(frontier, START), ['https://a.example/source', url, url, url, url])
    assertCounts(frontier, 0, 0, 0)
  })

  check('each settlement of a call adds its own requests', GENEROUS, async (frontier) => {
    const hosts = Array.from({ length: 8 }, (_, i) => `h${i}.example`)
    await frontier.add(hosts.map((host) => request(host, 'source')))
    const leases = await frontier.lease(100, START)
    await frontier.settle(
      leases.map((lease, i) => ({ ...done(lease, START), found: i % 2 === 0 ? paths(lease.host, 5) : [] })),
    )
    assertCounts(frontier, 20, 0, 4)
    assert.equal((await frontier.lease(100, START + DELAY_MS)).length, 4)
  })

  check('requests found while a lease is pending are kept', HURRIED, async (frontier) => {
    await frontier.add([request('a.example', 1), request('b.example', 1)])
    const first = await frontier.lease(1, START)
    const pending = frontier.lease(10, START + 1)
    const found = [request('c.example', 1), request('d.example', 1)]
    const settling = frontier.settle(first.map((lease) => ({ ...done(lease, START + 1), found })))
    const second = await pending
    await settling
    await frontier.settle(second.map((lease) => done(lease, START + 2)))
    const met = [...first, ...second].map(({ url }) => url)
    const all = ['a', 'b', 'c', 'd'].map((name) => `https://${name}.example/1`)
    assert.deepEqual([...met, ...(await drain(frontier, START + 3))].toSorted(), all)
  })
}
