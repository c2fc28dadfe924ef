/** Cases of the suite for durable stores: flushed requests survive a crash, unchanged and in order. */

import assert from 'node:assert/strict'
import type { CrawlRequest } from '../../types.js'
import { knownAs } from '../../url/known-as.js'
import {
  A_DAY_MS,
  assertCounts,
  byUrl,
  DELAY_MS,
  done,
  EXTRAS,
  fieldsOf,
  HURRIED,
  ORDINARY,
  paths,
  rareFieldsOf,
  request,
} from '../frontier/fixtures.js'
import {
  assertKnown,
  type CheckLives,
  notBefore as notHandedOutBefore,
  SLACK_MS,
  takeIn,
} from './fixtures.js'
import { clock, EVERYTHING, everything, leaseSoon } from './lives.js'

/** Requests: their fields, their order, their names. */
export function requestCases(check: CheckLives): void {
  check('a crash before the first write leaves an empty store', async (lives) => {
    await lives.open(ORDINARY)
    const opened = await lives.crash(ORDINARY)
    assertCounts(opened.frontier, 0, 0, 0)
    assert.deepEqual(await opened.seen.addAll(['https://a.example/1']), [true])
    await opened.flush()
    await opened.flush()
  })

  check('requests are unchanged after a crash', async (lives) => {
    const opened = await lives.open(ORDINARY)
    const plain = request('a.example', 1)
    const requests: CrawlRequest[] = [
      { ...plain, parent: undefined },
      { ...request('b.example:8443', 'a?q=%C3%A9&r=1'), depth: 7, priority: -1.5, attempt: 2, redirects: 3 },
      {
        ...request('c.example', 'sitemap.xml'),
        purpose: { kind: 'sitemap', nested: 2, of: 'd.example', guessed: true },
      },
      {
        ...request('d.example', 'robots.txt'),
        priority: Number.MAX_SAFE_INTEGER,
        purpose: { kind: 'robots', origin: 'https://e.example' },
      },
      {
        ...request('e.example', '蜘蛛'),
        via: ['https://b.example/1', 'https://c.example/2'],
        hint: { lastmod: 1_700_000_000_000.5, changefreq: 'daily', priority: 0.25 },
        revisit: true,
      },
      ...EXTRAS.map((extras, i) => ({ ...request(`x${i}.example`, i), priority: i, extras })),
    ]
    await takeIn(opened, requests)
    await opened.flush()
    const { frontier } = await lives.crash(ORDINARY)
    assertCounts(frontier, requests.length, 0, requests.length)
    const leases = byUrl(await leaseSoon(frontier, requests.length, clock.now()))
    for (const each of requests) {
      const lease = leases.get(each.url)
      assert.ok(lease, `${each.url} was not handed out`)
      assert.deepEqual(fieldsOf(lease), fieldsOf(each))
      assert.deepEqual(rareFieldsOf(lease), rareFieldsOf(each))
    }
  })

  check('requests found by a visit survive together with its settlement', async (lives) => {
    const opened = await lives.open(ORDINARY)
    const now = clock.now()
    await takeIn(opened, [request('a.example', 1)])
    const [lease] = await leaseSoon(opened.frontier, 1, now)
    const found = [request('a.example', 2), request('b.example', 1)]
    await opened.seen.addAll(found.map(knownAs))
    await opened.frontier.settle([{ ...done(lease!, now), found }])
    await opened.flush()
    const { frontier, seen } = await lives.crash(EVERYTHING)
    assertCounts(frontier, 2, 0, 2)
    const urls = (await everything(frontier, now + A_DAY_MS)).map(({ url }) => url)
    assert.deepEqual(urls.toSorted(), ['https://a.example/2', 'https://b.example/1'])
    await assertKnown(seen, ['https://a.example/1', ...urls])
  })

  check('attempts and retry times survive a crash', async (lives) => {
    const opened = await lives.open(HURRIED)
    const now = clock.now()
    await takeIn(opened, paths('a.example', 2))
    const [first] = await leaseSoon(opened.frontier, 1, now)
    const again = { at: now + 5 * DELAY_MS, attempt: 3 }
    await opened.frontier.settle([{ ...done(first!, now), again }])
    await opened.flush()
    const { frontier } = await lives.crash(HURRIED)
    assertCounts(frontier, 2, 0, 1)
    const [second] = await leaseSoon(frontier, 1, now + 1)
    assert.equal(second?.url, 'https://a.example/2', 'it does not wait for the other')
    await frontier.settle([done(second, now + 1)])
    await notHandedOutBefore(frontier, again.at)
    const [third] = await leaseSoon(frontier, 1, again.at + SLACK_MS)
    assert.deepEqual(fieldsOf(third!), { ...request('a.example', 1), attempt: 3 })
  })

  check('extras survive a retry and a crash, together with those of what was found', async (lives) => {
    const opened = await lives.open(HURRIED)
    const now = clock.now()
    const asked = EXTRAS.map((extras, i) => ({ ...request(`x${i}.example`, i), extras }))
    const found = EXTRAS.map((extras, i) => ({ ...request(`y${i}.example`, i), priority: i - 3, extras }))
    await takeIn(opened, [...asked, request('a.example', 'page')])
    const leases = await leaseSoon(opened.frontier, asked.length + 1, now)
    await opened.seen.addAll(found.map(knownAs))
    await opened.frontier.settle(
      leases.map((lease) =>
        lease.host === 'a.example'
          ? { ...done(lease, now), found }
          : { ...done(lease, now), again: { at: now + DELAY_MS, attempt: 1 } },
      ),
    )
    await opened.flush()
    const { frontier, seen } = await lives.crash(HURRIED)
    const met = byUrl(await leaseSoon(frontier, 2 * EXTRAS.length, now + 2 * DELAY_MS))
    for (const each of [...asked, ...found]) {
      assert.deepEqual(met.get(each.url)?.extras, each.extras, `the extras of ${each.url}`)
      assert.equal(met.get(each.url)?.priority, each.priority, `the priority of ${each.url}`)
    }
    await assertKnown(seen, [...asked, ...found].map(knownAs))
  })

  check('requests for later survive a crash, and wait until then', async (lives) => {
    const opened = await lives.open(HURRIED)
    const now = clock.now()
    const notBefore = now + 5 * DELAY_MS
    const found = [{ ...request('b.example', 'found'), notBefore, extras: { label: 'later' } }]
    await takeIn(opened, [{ ...request('a.example', 'added'), notBefore }, request('a.example', 'now')])
    const [page] = await leaseSoon(opened.frontier, 1, now)
    assert.equal(page?.url, 'https://a.example/now')
    await opened.seen.addAll(found.map(knownAs))
    await opened.frontier.settle([{ ...done(page, now), found }])
    await opened.flush()
    const { frontier } = await lives.crash(HURRIED)
    assertCounts(frontier, 2, 0, 2)
    await notHandedOutBefore(frontier, notBefore)
    const leases = await leaseSoon(frontier, 2, notBefore + SLACK_MS)
    const met = byUrl(leases)
    assert.deepEqual([...met.keys()].toSorted(), ['https://a.example/added', 'https://b.example/found'])
    assert.deepEqual(met.get('https://b.example/found')!.extras, { label: 'later' })
    // Their time is over: from now on, only `again.at` counts.
    await frontier.settle(leases.map((each) => ({ ...done(each, notBefore), again: { at: 0, attempt: 1 } })))
    assert.equal((await leaseSoon(frontier, 2, notBefore + 2 * SLACK_MS)).length, 2)
  })

  check('the order of a host’s requests survives a crash', async (lives) => {
    const opened = await lives.open(HURRIED)
    const now = clock.now()
    const named = (name: string, priority: number) => ({ ...request('a.example', name), priority })
    await takeIn(opened, [named('again', 1)])
    const [lease] = await leaseSoon(opened.frontier, 1, now)
    await takeIn(opened, [named('d', 0), named('b', 1), named('e', 0), named('last', -1)])
    await takeIn(opened, [named('a', 2), named('c', 1)])
    await opened.frontier.settle([{ ...done(lease!, now), again: { at: now + 1, attempt: 1 } }])
    await opened.flush()
    const { frontier } = await lives.crash(HURRIED)
    const met: string[] = []
    while (frontier.pending > 0) {
      const [next] = await leaseSoon(frontier, 1, now + A_DAY_MS)
      assert.ok(next, `${frontier.pending} requests are pending, but nothing is handed out`)
      met.push(next.url.slice('https://a.example/'.length))
      await frontier.settle([done(next, now + A_DAY_MS)])
    }
    assert.deepEqual(met, ['a', 'again', 'b', 'c', 'd', 'e', 'last'])
  })

  check('equal requests survive a crash in the same number', async (lives) => {
    const opened = await lives.open(HURRIED)
    const now = clock.now()
    const rules = {
      ...request('a.example', 1),
      purpose: { kind: 'robots' as const, origin: 'https://b.example' },
    }
    await opened.frontier.add([rules, request('a.example', 1), rules])
    await opened.flush()
    let next = await lives.crash(HURRIED)
    for (let left = 3; left > 0; left--) {
      assertCounts(next.frontier, left, 0, 1)
      const [lease] = await leaseSoon(next.frontier, 1, now + A_DAY_MS)
      assert.ok(lease, 'nothing was handed out')
      await next.frontier.settle([{ request: lease, visitedAt: undefined }])
      await next.flush()
      next = await lives.crash(HURRIED)
    }
    assertCounts(next.frontier, 0, 0, 0)
  })

  check('pages and sitemaps with the same URL have different names', async (lives) => {
    const opened = await lives.open(ORDINARY)
    const page = request('a.example', 'page')
    const sitemap = {
      ...request('a.example', 'map'),
      purpose: { kind: 'sitemap' as const, nested: 0, of: 'a.example' },
    }
    await takeIn(opened, [page, sitemap])
    await opened.seen.addAll(['https://a.example/never'])
    await opened.flush()
    const next = await lives.crash(ORDINARY)
    await assertKnown(next.seen, [page, sitemap].map(knownAs))
    assert.deepEqual(
      await next.seen.addAll([sitemap.url]),
      [true],
      'a sitemap that is visited as a page has another name',
    )
    const lost = 'a name whose request was never added is known: its URL would be lost'
    assert.deepEqual(await next.seen.addAll(['https://a.example/never']), [true], lost)
    const closed = await lives.reopen(ORDINARY)
    assert.deepEqual(await closed.seen.addAll(['https://a.example/never']), [true], lost)
  })

  check('requests of one URL with different methods or bodies have different names', async (lives) => {
    const opened = await lives.open(EVERYTHING)
    const get = request('a.example', 'form')
    const posted = (body: string): CrawlRequest => ({ ...get, extras: { method: 'POST', body } })
    const all = [get, posted('q=1'), posted('q=2\n'), { ...get, extras: { method: 'PUT' } }]
    await takeIn(opened, all)
    await opened.flush()
    const next = await lives.crash(EVERYTHING)
    const leases = await everything(next.frontier, clock.now() + A_DAY_MS)
    assert.deepEqual(leases.map(knownAs).toSorted(), all.map(knownAs).toSorted())
    await assertKnown(next.seen, all.map(knownAs))
    const others = [posted('q=3'), { ...get, extras: { method: 'DELETE' } }].map(knownAs)
    assert.deepEqual(await next.seen.addAll(others), [true, true], 'another body or method is another name')
    const labelled = knownAs({ ...get, extras: { label: 'a', data: '1', headers: { accept: '*/*' } } })
    assert.deepEqual(await next.seen.addAll([labelled]), [false], 'a label is no part of the name')
  })
}
