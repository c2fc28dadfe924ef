/** Hosts that fail: how long they are left alone, and that nothing of theirs is lost. The server's log is the proof. */

import { describe, expect, test } from 'vitest'
import type { Route } from '../loopback/site.js'
import { askedPaths, crawl, direct, linksTo, pathsOf, site } from './support.js'

/** Fails `times` times, then answers. */
function failing(times: number, status = 503, headers: Record<string, string> = {}): Route {
  let asked = 0
  return (_, response) => {
    if (++asked > times) response.writeHead(200, { 'content-type': 'text/html' }).end('well again')
    else response.writeHead(status, headers).end()
  }
}

const patient = direct.retries({ times: 2, backoff: 20, maxBackoff: 100, cooldown: 300 })

describe('Retry-After', () => {
  test.each([429, 503])('in seconds is waited for after %i', async (status) => {
    const started = await site({ '/': failing(1, status, { 'retry-after': '1' }) })
    const { pages, failures } = await crawl(patient.seeds(started.url()))
    expect([pages.length, failures.map(({ final }) => final)]).toEqual([1, [false]])
    const [first, second] = started.requests.map(({ at }) => at)
    expect(second! - first!).toBeGreaterThanOrEqual(999)
  })

  test('as a date is waited for', async () => {
    const started = await site({
      '/': (() => {
        let asked = 0
        return (_, response) => {
          if (++asked > 1) return void response.writeHead(200, { 'content-type': 'text/html' }).end('x')
          const date = new Date(Date.now() + 2500).toUTCString()
          response.writeHead(503, { 'retry-after': date }).end()
        }
      })(),
    })
    expect((await crawl(patient.seeds(started.url()))).pages).toHaveLength(1)
    const [first, second] = started.requests.map(({ at }) => at)
    // A date has whole seconds.
    expect(second! - first!).toBeGreaterThanOrEqual(1400)
  })

  test('is waited for no longer than allowed', async () => {
    const started = await site({ '/': failing(1, 503, { 'retry-after': '86400' }) })
    const { pages } = await crawl(patient.retries({ maxRetryAfter: '200ms' }).seeds(started.url()))
    expect(pages).toHaveLength(1)
    const [first, second] = started.requests.map(({ at }) => at)
    expect(second! - first!).toBeGreaterThanOrEqual(200)
  })

  test('holds the whole host back', async () => {
    const busy = failing(1, 503, { 'retry-after': '1' })
    const started = await site({ '/': linksTo('/busy', '/a', '/b'), '/busy': busy, '/a': 'a', '/b': 'b' })
    const { pages } = await crawl(patient.seeds(started.url()))
    expect(pathsOf(pages)).toEqual(['/', '/a', '/b', '/busy'])
    const failedAt = started.requests.find(({ path }) => path === '/busy')!.at
    const later = started.requests.filter(({ at }) => at > failedAt)
    expect(later).toHaveLength(3)
    for (const { at } of later) expect(at - failedAt).toBeGreaterThanOrEqual(999)
  })
})

describe('a host that is down for a while', () => {
  test('is set aside, and all its URLs come through when it is back', async () => {
    let up = true
    const paths = Array.from({ length: 12 }, (_, i) => `/${i}`)
    const page: Route = (_, response) => {
      if (up) response.writeHead(200, { 'content-type': 'text/html' }).end('x')
      else response.writeHead(503).end()
    }
    const routes: Record<string, Route> = Object.fromEntries(paths.map((path) => [path, page]))
    const started = await site({ ...routes, '/': linksTo(...paths) })
    let failures = 0
    const { pages, summary } = await crawl(
      patient
        // On a busy machine all four failures may be of one URL.
        .retries({ times: 4 })
        .seeds(started.url())
        .on('page', ({ url }) => {
          if (url === started.url('/')) up = false
        })
        .on('failure', () => {
          // Four in a row set it aside; the operator wakes up then.
          if (++failures === 4) up = true
        }),
    )
    expect(pathsOf(pages)).toEqual(['/', ...paths].sort())
    expect(summary).toMatchObject({ failed: 0, retries: 4 })
    const [, , , , lastFailure, back] = started.requests.map(({ at }) => at)
    expect(back! - lastFailure!).toBeGreaterThanOrEqual(150)
  })

  test('and never comes back is given up in the end, with a failure for each URL', async () => {
    const paths = Array.from({ length: 40 }, (_, i) => `/${i}`)
    const dead: Route = (_, response) => void response.writeHead(503).end()
    const routes: Record<string, Route> = Object.fromEntries(paths.map((path) => [path, dead]))
    const started = await site({ ...routes, '/': linksTo(...paths) })
    const { failures, summary } = await crawl(
      patient.retries({ backoff: '5ms', cooldown: 20, cooldowns: 2 }).seeds(started.url()),
    )
    const given = failures.filter(({ final }) => final)
    expect(new Set(given.map(({ url }) => url)).size).toBe(40)
    expect(given.filter(({ code }) => code === 'host-down').length).toBeGreaterThanOrEqual(34)
    expect(given.find(({ code }) => code === 'host-down')!.message).toMatch(/127\.0\.0\.1.* 6 times in a row/)
    expect(summary).toMatchObject({ reason: 'done', pending: 0, pages: 1 })
    expect(askedPaths(started)).toHaveLength(1 + 6)
  })

  test('with several connections has one incident and not one for each', async () => {
    let down = true
    const paths = Array.from({ length: 16 }, (_, i) => `/${i}`)
    const page: Route = (_, response) => {
      if (down) return void setTimeout(() => response.destroy(), 50)
      response.writeHead(200, { 'content-type': 'text/html' }).end('x')
    }
    const routes: Record<string, Route> = Object.fromEntries(paths.map((path) => [path, page]))
    const started = await site({ ...routes, '/': linksTo(...paths) })
    const eight = patient.perHost({ connections: 8, growAt: 1 })
    const { pages, summary } = await crawl(
      eight
        .retries({ backoff: 50, cooldownAfter: 2, cooldown: '10m' })
        .seeds(started.url())
        .on('failure', () => {
          down = false
        }),
    )
    // Two incidents would have set it aside for longer than this test may take.
    expect(pages).toHaveLength(17)
    expect(summary.retries).toBeGreaterThan(1)
  })
})

test('one bad page does not make a bad host', async () => {
  const bad: Route = (_, response) => void response.writeHead(500).end()
  const started = await site({
    '/': linksTo('/bad', '/a', '/b', '/c'),
    '/bad': bad,
    '/a': 'a',
    '/b': 'b',
    '/c': 'c',
  })
  const { pages, failures } = await crawl(patient.seeds(started.url()))
  expect(pathsOf(pages)).toEqual(['/', '/a', '/b', '/c'])
  expect(failures.filter(({ final }) => final)).toMatchObject([
    { code: 'http-status', status: 500, attempt: 2 },
  ])
})

test('an adaptive delay grows with the time that a visit takes', async () => {
  const slow: Route = (_, response) =>
    void setTimeout(() => response.writeHead(200, { 'content-type': 'text/html' }).end('x'), 100)
  const started = await site({ '/': linksTo('/slow', '/next'), '/slow': slow, '/next': 'n' })
  await crawl(direct.delay(10, { adaptive: 4 }).seeds(started.url()))
  const [, slowAt, nextAt] = started.requests.map(({ at }) => at)
  expect(nextAt! - slowAt!).toBeGreaterThanOrEqual(100 + 400 - 2)
})

test('trouble is not over because an address or a certificate was refused', async () => {
  const codes = [
    'connect-failed',
    'tls-failed',
    'connect-failed',
    'address-refused',
    'connect-failed',
    'tls-failed',
  ] as const
  let visits = 0
  const { failures } = await crawl(
    patient
      .retries({ times: 0, backoff: '1ms', cooldownAfter: 2, cooldown: '1ms', cooldowns: 1 })
      .fetcher(() => ({ ok: false, code: codes[visits++ % codes.length]!, message: 'no' }))
      .seeds(Array.from({ length: 20 }, (_, i) => `http://a.example/${i}`)),
  )
  expect(failures.filter(({ code }) => code === 'host-down')).toHaveLength(20 - 5)
})
