/** One crawl over everything that servers do wrong, each on a host of its own: it ends, and tells what came of each. */

import { Crawler } from 'kumo'
import { expect, onTestFinished, test } from 'vitest'
import { ROUTES } from './routes.js'
import { startHostileWeb } from './server.js'

/** Pages that a host may give here; sites without end would otherwise take their time until a trap is noticed. */
const PAGES_PER_HOST = 60

test('a crawl of the whole hostile web ends by itself, with an outcome for every route', async () => {
  const web = await startHostileWeb()
  onTestFinished(() => web.close())
  const seeds = ROUTES.map(({ path, host }, i) => web.url(path.replace('*', '1'), host ?? `127.1.0.${i + 1}`))
  const told = new Set<string>()
  const codes = new Set<string>()
  const summary = await new Crawler()
    .seeds(seeds)
    .allowPrivate('all')
    .scope('host')
    .delay('1ms')
    .concurrency(200)
    .timeout({ fetch: '2s' })
    .maxBodyBytes(1_000_000)
    .retries({ times: 1, backoff: 10, maxRetryAfter: 50, cooldown: 20, cooldowns: 1 })
    .limit({ pagesPerHost: PAGES_PER_HOST, time: '5m' })
    .on('page', ({ url, links, title, text }) => {
      told.add(url)
      // Everything that is worked out on touch is touched.
      expect(links.length + title.length + text.length).toBeGreaterThanOrEqual(0)
    })
    .on('failure', ({ url, code, final, message }) => {
      expect(message).not.toBe('')
      codes.add(code)
      if (final) told.add(url)
    })
    .on('skip', ({ url }) => void told.add(url))
    .on('redirect', ({ url }) => void told.add(url))
    .run()
  expect(summary).toMatchObject({ reason: 'done', pending: 0, inFlight: 0 })
  expect(seeds.filter((url) => !told.has(url))).toEqual([])
  expect([...codes].sort()).toEqual(
    expect.arrayContaining(['bad-response', 'connection-lost', 'redirect-loop', 'timeout']),
  )
  expect(codes).not.toContain('fetcher-failed')
  console.log(
    `hostile web: ${ROUTES.length} routes, ${summary.pages} pages, failures ${[...codes].sort().join(', ')}`,
  )
})
