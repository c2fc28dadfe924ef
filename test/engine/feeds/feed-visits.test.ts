/** Polls of feeds in virtual time: what they ask for, when, and what becomes of a feed that moves, fails or ends. */

import { expect, test } from 'vitest'
import { DAY, follow, gaps, HOUR, type Item, MINUTE, rss, type Web } from './feed-web.js'

const FEED = 'https://blog.example/feed'

/** A feed with a post every six hours and a window of ten. */
const posts = (at: number, everyMs = 6 * HOUR, window = 10): Item[] => {
  const last = Math.floor(at / everyMs)
  return Array.from({ length: window }, (_, i) => ({ id: String(last - i), at: (last - i) * everyMs }))
}

test('a seed that is a feed is followed: each entry comes once, oldest first', async () => {
  const { events, keys, asked, summary } = await follow(FEED, ({ at }) => ({ body: rss(posts(at)) }), {
    budget: '24/day',
    days: 4,
  })
  expect(events[0]!.poll).toMatchObject({ first: true, status: 200, window: 10, url: FEED })
  expect(events[0]!.feed).toMatchObject({
    url: FEED,
    kind: 'rss',
    title: 'Blog',
    link: 'https://blog.example/',
  })
  expect(events[0]!.new).toHaveLength(10)
  expect(new Set(keys).size).toBe(keys.length)
  expect(keys.map(Number)).toEqual([...keys].map(Number).sort((a, b) => a - b))
  // Nothing was missed: 10 at the start, then four a day.
  expect(keys.length).toBeGreaterThan(10 + 3 * 4)
  expect(summary.feeds!.total.polls).toBe(asked.length)
  expect(summary.feeds!.total.fresh).toBe(keys.length - 10)
  expect(summary.feeds!.listed[0]).toMatchObject({ url: FEED, title: 'Blog', window: 10, lost: 0 })
  expect(summary.feeds!.listed[0]!.perDay).toBeGreaterThan(2)
  expect(summary.pages).toBe(0)
})

test('no poll comes sooner than min, and none when the budget is spent', async () => {
  const { asked, summary } = await follow(FEED, ({ at }) => ({ body: rss(posts(at, 10 * MINUTE)) }), {
    budget: '1000/day',
    min: '2h',
    days: 2,
  })
  expect(Math.min(...gaps(asked, FEED))).toBeGreaterThanOrEqual(2 * HOUR)
  expect(summary.feeds!.total.lostByDates).toBeGreaterThan(0)
})

test('validators are those of the last response with a body, and a 304 is counted apart', async () => {
  let version = 1
  const web: Web = ({ at, etag }) => {
    version = 1 + Math.floor(at / (12 * HOUR))
    const tag = `"v${version}"`
    return etag === tag
      ? { status: 304, headers: { etag: tag } }
      : { headers: { etag: tag }, body: rss(posts(at, 12 * HOUR)) }
  }
  const { asked, summary } = await follow(FEED, web, { budget: '12/day', days: 4 })
  expect(asked[0]!.etag).toBeUndefined()
  expect(asked[1]!.etag).toMatch(/^"v\d+"$/)
  expect(asked[1]!.headers).toMatchObject({
    'a-im': 'feed',
    accept: expect.stringContaining('application/rss+xml'),
  })
  const { polls, notModified, futile } = summary.feeds!.total
  expect(notModified).toBeGreaterThan(0)
  expect(notModified + futile).toBeLessThan(polls)
})

test('an entity tag that the last response did not repeat is not sent again', async () => {
  let polls = 0
  const web: Web = ({ at }) => ({
    ...(++polls === 1 && { headers: { etag: '"old"' } }),
    body: rss(posts(at)),
  })
  const { asked } = await follow(FEED, web, { budget: '24/day', days: 2 })
  expect(asked.slice(0, 3).map(({ etag }) => etag)).toEqual([undefined, '"old"', undefined])
})

test('a server that answers 304 for ever is asked for the whole feed from time to time', async () => {
  const web: Web = ({ at, etag }) =>
    etag === undefined ? { headers: { etag: '"same"' }, body: rss(posts(at, 2 * HOUR)) } : { status: 304 }
  const { asked, keys } = await follow(FEED, web, { budget: '24/day', days: 6 })
  expect(asked.filter(({ etag }) => etag === undefined).length).toBeGreaterThan(1)
  expect(keys.length).toBeGreaterThan(12)
})

test('Cache-Control and Retry-After are least intervals', async () => {
  const cached = await follow(
    FEED,
    ({ at }) => ({ headers: { 'cache-control': 'public, max-age=14400' }, body: rss(posts(at, HOUR)) }),
    { budget: '100/day', days: 2 },
  )
  expect(Math.min(...gaps(cached.asked, FEED))).toBeGreaterThanOrEqual(4 * HOUR)
  expect(cached.asked.length).toBeGreaterThan(5)
  let failing = 0
  const busy = await follow(
    FEED,
    ({ at }) =>
      ++failing % 2 === 0
        ? { status: 429, headers: { 'retry-after': '50000' } }
        : { body: rss(posts(at, HOUR)) },
    { budget: '100/day', days: 3, with: (crawler) => crawler.retries({ times: 0, maxRetryAfter: '1d' }) },
  )
  const after429 = gaps(busy.asked, FEED).filter((_, index) => index % 2 === 1)
  expect(Math.min(...after429)).toBeGreaterThanOrEqual(50_000_000)
})

test('a delta is no window: what it leaves out is not missing, and nothing is lost', async () => {
  const web: Web = ({ at, etag, headers }) => {
    const tag = `"${Math.floor(at / HOUR)}"`
    if (etag === undefined || headers['a-im'] !== 'feed')
      return { headers: { etag: tag }, body: rss(posts(at, HOUR)) }
    const known = Number(etag.slice(1, -1))
    const fresh = posts(at, HOUR, 50).filter(({ id }) => Number(id) > known)
    return fresh.length === 0
      ? { status: 304 }
      : { status: 226, headers: { etag: tag, im: 'feed' }, body: rss(fresh) }
  }
  const { events, keys, summary } = await follow(FEED, web, { budget: '8/day', days: 4 })
  const deltas = events.filter(({ poll }) => poll.delta)
  expect(deltas.length).toBeGreaterThan(5)
  expect(deltas.every(({ missing, lost }) => missing.length === 0 && lost === 0)).toBe(true)
  expect(new Set(keys).size).toBe(keys.length)
  expect(summary.feeds!.total.lostByDates + summary.feeds!.total.lostByRate).toBe(0)
})

test('a permanent redirect moves the feed and what is known of it; a temporary one does not', async () => {
  let redirect: 0 | 301 | 302 = 0
  const web: Web = ({ url, at }) => {
    if (at > begin + DAY) redirect = permanent ? 301 : 302
    if (url === FEED && redirect !== 0)
      return { status: redirect, headers: { location: 'https://other.example/new' } }
    return { body: rss(posts(at)) }
  }
  let begin = Number.POSITIVE_INFINITY
  let permanent = true
  const run = () =>
    follow(
      FEED,
      (asked) => {
        begin = Math.min(begin, asked.at)
        return web(asked)
      },
      { budget: '12/day', days: 3 },
    )
  const moved = await run()
  expect(new Set(moved.keys).size).toBe(moved.keys.length)
  expect(moved.events.find(({ feed }) => feed.movedFrom !== undefined)).toMatchObject({
    feed: { url: 'https://other.example/new', movedFrom: FEED },
    poll: { first: false },
  })
  // Asked once after it moved.
  const last = moved.asked.filter(({ url }) => url === FEED).at(-1)!.at
  expect(moved.asked.filter(({ url, at }) => url !== FEED && at > last).length).toBeGreaterThan(5)
  expect(moved.summary.feeds!).toMatchObject({ feeds: 1 })
  permanent = false
  begin = Number.POSITIVE_INFINITY
  redirect = 0
  const away = await run()
  expect(new Set(away.keys).size).toBe(away.keys.length)
  expect(new Set(away.events.map(({ feed }) => feed.url))).toEqual(new Set([FEED]))
  const target = away.asked.filter(({ url }) => url !== FEED)
  expect(target.length).toBeGreaterThan(5)
  // Each poll asks the feed itself first.
  expect(away.asked.filter(({ url }) => url === FEED).length).toBeGreaterThanOrEqual(target.length)
  expect(away.summary.feeds!.total.polls).toBeGreaterThan(target.length)
})

test('a redirect to a page leaves the feed where it was', async () => {
  let begin = 0
  const web: Web = ({ url, at }) => {
    if (url !== FEED)
      return { headers: { 'content-type': 'text/html' }, body: '<html><body>Sign in</body></html>' }
    begin ||= at
    return Math.floor((at - begin) / DAY) % 2 === 1
      ? { status: 301, headers: { location: '/login' } }
      : { body: rss(posts(at)) }
  }
  const { keys, failures, summary, pages } = await follow(FEED, web, { budget: '12/day', days: 5 })
  expect(failures.some(({ code, final }) => code === 'not-a-feed' && !final)).toBe(true)
  expect(new Set(keys).size).toBe(keys.length)
  expect(keys.length).toBeGreaterThan(12)
  expect(summary.feeds).toMatchObject({ feeds: 1 })
  expect(pages).toEqual([])
})

test('410 ends a feed; other failures make it wait longer and longer, and it is never forgotten', async () => {
  let begin = 0
  const gone = await follow(
    FEED,
    ({ at }) => {
      begin ||= at
      return at > begin + DAY ? { status: 410 } : { body: rss(posts(at)) }
    },
    { budget: '12/day', days: 20 },
  )
  expect(gone.failures).toEqual([expect.objectContaining({ code: 'http-status', final: true })])
  expect(gone.summary).toMatchObject({ reason: 'done', feeds: { feeds: 0, ended: 1 } })

  begin = 0
  const down = await follow(
    FEED,
    ({ at }) => {
      begin ||= at
      const day = (at - begin) / DAY
      return day > 1 && day < 5 ? 'timeout' : { body: rss(posts(at)) }
    },
    { budget: '12/day', days: 8, with: (crawler) => crawler.retries(0) },
  )
  const during = down.asked.filter(({ at }) => at > begin + DAY && at < begin + 5 * DAY)
  expect(during.length).toBeGreaterThan(3)
  expect(during.length).toBeLessThan(60)
  expect(down.failures.every(({ final }) => !final)).toBe(true)
  expect(down.asked.at(-1)!.at).toBeGreaterThan(begin + 5 * DAY)
  expect(down.summary.feeds).toMatchObject({ feeds: 1, failing: 0 })
  expect(down.summary.feeds!.total.failed).toBeGreaterThan(3)
})

test('a seed that does not answer is kept, and one that does not exist is given up', async () => {
  let begin = 0
  const late = await follow(
    FEED,
    ({ at }) => {
      begin ||= at
      return at < begin + DAY ? 'timeout' : { body: rss(posts(at)) }
    },
    { budget: '12/day', days: 4 },
  )
  expect(late.keys.length).toBeGreaterThan(10)
  const missing = await follow(FEED, () => ({ status: 404 }), { budget: '12/day', days: 10 })
  expect(missing.summary).toMatchObject({ reason: 'done', failed: 1, feeds: { feeds: 0 } })
  expect(missing.asked).toHaveLength(1)
})

test('older pages are read before entries count as lost, each as a visit of its own', async () => {
  const paged = (at: number, page: number) => {
    const everyMs = 10 * MINUTE
    const last = Math.floor(at / everyMs) - (page - 1) * 10
    return Array.from({ length: 10 }, (_, i) => ({ id: String(last - i), at: (last - i) * everyMs }))
  }
  const web: Web = ({ url, at }) => {
    const page = Number(new URL(url).searchParams.get('page') ?? 1)
    const next = `<atom:link xmlns:atom="http://www.w3.org/2005/Atom" rel="next" href="${FEED}?page=${page + 1}"/>`
    return { body: rss(paged(at, page), next) }
  }
  const { events, keys, asked, summary } = await follow(FEED, web, { budget: '12/day', min: '3h', days: 2 })
  const recovered = events.filter(({ recovered }) => recovered > 0)
  expect(recovered.length).toBeGreaterThan(3)
  expect(recovered[0]!.poll.pages).toBeGreaterThan(0)
  expect(new Set(keys).size).toBe(keys.length)
  // Every ten minutes one, and none is missing.
  const numbers = keys.map(Number)
  expect(numbers).toEqual(numbers.map((_, index) => numbers[0]! + index))
  expect(summary.feeds!.total.lostByDates).toBe(0)
  // The host rests between the pages.
  const times = asked.map(({ at }) => at)
  expect(Math.min(...times.slice(1).map((at, index) => at - times[index]!))).toBeGreaterThanOrEqual(1000)
})
