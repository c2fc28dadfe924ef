import { describe, expect, it } from 'vitest'
import type { Outcome } from '../../src/fetch/contract.js'
import { RawHeaders } from '../../src/fetch/headers.js'
import { productName, type RobotsOptions, robotsGate } from '../../src/fetch/robots.js'
import { requestFor } from './support.js'

const NOW = 1_700_000_000_000
const HOUR = 3_600_000
const PAGE = requestFor('https://example.com/page')
const ROBOTS = 'https://example.com/robots.txt'

const gateWith = (options: Partial<RobotsOptions> = {}) =>
  robotsGate({ userAgent: 'Kumo/0.1 (+https://example.com/bot)', random: { next: () => 0 }, ...options })

function answer(
  status: number,
  body: string | Uint8Array = '',
  headers: Record<string, string> = {},
): Outcome {
  const raw = Object.entries(headers).flatMap((pair) => pair.map((part) => Buffer.from(part)))
  const bytes = Buffer.from(body as string)
  const wireBytes = bytes.length
  return { ok: true, status, headers: new RawHeaders(raw), body: bytes, wireBytes, skippedBody: false }
}
const LOST: Outcome = { ok: false, code: 'connection-lost', message: 'example.com reset the connection.' }

/** The verdict on a path of example.com under these rules. */
async function verdict(rules: string, path: string) {
  const gate = await gateWith()
  gate.learn(PAGE, ROBOTS, answer(200, rules), NOW)
  return gate.check(requestFor(`https://example.com${path}`), NOW)
}

it.each([
  ['Kumo/0.1 (+https://example.com/bot)', 'Kumo'],
  ['Kumo', 'Kumo'],
  ['my-bot/2 extra', 'my-bot'],
  ['Mozilla/5.0 (compatible; Kumo/0.1; +https://example.com)', 'Kumo'],
  ['Mozilla/5.0 (X11; Linux x86_64)', 'Mozilla'],
])('the product name of %j is %j', (userAgent, name) => {
  expect(productName(userAgent)).toBe(name)
})

describe('rules', () => {
  it('are asked for once, before the first page', async () => {
    const gate = await gateWith()
    expect(gate.check(PAGE, NOW)).toEqual({ fetch: ROBOTS })
    gate.learn(PAGE, ROBOTS, answer(200, 'User-agent: *\nDisallow: /private'), NOW)
    expect(gate.check(PAGE, NOW)).toBe('allow')
    expect(gate.check(requestFor('https://example.com/private/x'), NOW)).toBe('deny')
  })

  it.each([
    ['User-agent: *\nDisallow: /', '/x', 'deny'],
    ['User-agent: *\nDisallow:', '/x', 'allow'],
    ['User-agent: kumo\nDisallow: /a\n\nUser-agent: *\nDisallow: /', '/b', 'allow'],
    ['User-agent: kumo\nDisallow: /a\n\nUser-agent: *\nDisallow: /', '/a', 'deny'],
    ['User-agent: other\nDisallow: /', '/a', 'allow'],
    ['User-agent: *\nDisallow: /a\nAllow: /a/b', '/a/b', 'allow'],
    ['User-agent: *\nDisallow: /*.pdf$', '/x.pdf', 'deny'],
    ['\ufeffUser-agent: *\nDisallow: /', '/x', 'deny'],
    ['User-agent: *\nDisallow: /', '/robots.txt', 'allow'],
    ['<html>not rules</html>', '/x', 'allow'],
    ['', '/x', 'allow'],
  ])('%j say for %s: %s', async (rules, path, expected) => {
    expect(await verdict(rules, path)).toBe(expected)
  })

  it('belong to scheme, host and port', async () => {
    const gate = await gateWith()
    gate.learn(PAGE, ROBOTS, answer(200, 'User-agent: *\nDisallow: /'), NOW)
    for (const origin of ['http://example.com', 'https://example.com:8443', 'https://www.example.com']) {
      expect(gate.check(requestFor(`${origin}/page`), NOW)).toEqual({ fetch: `${origin}/robots.txt` })
    }
    expect(gate.check(PAGE, NOW)).toBe('deny')
  })

  it('are asked for again after the cache time, a day at most', async () => {
    const gate = await gateWith({ cacheMs: HOUR })
    gate.learn(PAGE, ROBOTS, answer(404), NOW)
    expect(gate.check(PAGE, NOW + HOUR - 1)).toBe('allow')
    expect(gate.check(PAGE, NOW + HOUR)).toEqual({ fetch: ROBOTS })
    const patient = await gateWith({ cacheMs: 1000 * HOUR })
    patient.learn(PAGE, ROBOTS, answer(404), NOW)
    expect(patient.check(PAGE, NOW + 24 * HOUR)).toEqual({ fetch: ROBOTS })
  })

  it('beyond 500 KiB are not read, and no line is read by half', async () => {
    const filler = `${'#'.repeat(99)}\n`
    const head = filler.repeat(5119)
    const early = `${head}User-agent: *\nDisallow: /late-path/`
    expect(head.length).toBeLessThan(500 * 1024)
    expect(await verdict(`User-agent: *\nDisallow: /first\n${early}${filler.repeat(10)}`, '/first')).toBe(
      'deny',
    )
    expect(await verdict(`${filler.repeat(6000)}User-agent: *\nDisallow: /`, '/x')).toBe('allow')
    // The limit falls into the last line, after "Disallow: /".
    const text = `User-agent: *\n${'#'.repeat(500 * 1024 - 14 - 1 - 11)}\nDisallow: /private`
    expect(
      Buffer.from(text)
        .subarray(0, 500 * 1024)
        .toString()
        .endsWith('\nDisallow: /'),
    ).toBe(true)
    expect(await verdict(text, '/x')).toBe('allow')
  })
})

describe('answers other than rules', () => {
  it.each([400, 401, 403, 404, 410, 451])('%i allows all', async (status) => {
    const gate = await gateWith()
    gate.learn(PAGE, ROBOTS, answer(status, 'User-agent: *\nDisallow: /'), NOW)
    expect(gate.check(PAGE, NOW)).toBe('allow')
  })

  it.each([
    ['500', answer(500)],
    ['503', answer(503)],
    ['429', answer(429)],
    ['a lost connection', LOST],
    ['a timeout', { ok: false, code: 'timeout', message: 'late' } as Outcome],
    ['a body that was not read', { ...answer(200), skippedBody: true } as Outcome],
  ])('after %s it is tried again, then nothing is fetched for the cache time', async (_, outcome) => {
    const gate = await gateWith()
    gate.learn(PAGE, ROBOTS, outcome, NOW)
    expect(gate.check(PAGE, NOW)).toEqual({ retryAt: NOW + 1000 })
    expect(gate.check(PAGE, NOW + 1000)).toEqual({ fetch: ROBOTS })
    gate.learn(PAGE, ROBOTS, outcome, NOW + 1000)
    expect(gate.check(PAGE, NOW + 1000)).toEqual({ retryAt: NOW + 5000 })
    gate.learn(PAGE, ROBOTS, outcome, NOW + 5000)
    // A host that answers with trouble is closed; one that cannot be reached fails, and says why.
    expect(gate.check(PAGE, NOW + 5000)).toEqual(outcome.ok ? 'deny' : { failed: outcome })
    expect(gate.check(PAGE, NOW + 5000 + 24 * HOUR)).toEqual({ fetch: ROBOTS })
  })

  it('a host that recovers is believed', async () => {
    const gate = await gateWith()
    gate.learn(PAGE, ROBOTS, LOST, NOW)
    gate.learn(PAGE, ROBOTS, answer(200, ''), NOW + 2000)
    expect(gate.check(PAGE, NOW + 2000)).toBe('allow')
  })

  it('retries are scattered, never early', async () => {
    const gate = await gateWith({ random: { next: () => 0.5 } })
    gate.learn(PAGE, ROBOTS, LOST, NOW)
    expect(gate.check(PAGE, NOW)).toEqual({ retryAt: NOW + 1125 })
  })

  it('the number of tries is an option', async () => {
    const gate = await gateWith({ maxTries: 1 })
    gate.learn(PAGE, ROBOTS, LOST, NOW)
    expect(gate.check(PAGE, NOW)).toEqual({ failed: LOST })
  })

  it('an abort teaches nothing', async () => {
    const gate = await gateWith({ maxTries: 1 })
    gate.learn(PAGE, ROBOTS, { ok: false, code: 'aborted', message: 'x' }, NOW)
    expect(gate.check(PAGE, NOW)).toEqual({ fetch: ROBOTS })
  })

  it('two answers to one question count once', async () => {
    const gate = await gateWith({ maxTries: 2 })
    gate.learn(PAGE, ROBOTS, LOST, NOW)
    gate.learn(PAGE, ROBOTS, LOST, NOW)
    expect(gate.check(PAGE, NOW)).toEqual({ retryAt: NOW + 1000 })
  })
})

describe('redirects', () => {
  const to = (location: string) => answer(301, '', { location })

  it('within the host are followed, from http to https too', async () => {
    const gate = await gateWith()
    const page = requestFor('http://example.com/page')
    gate.learn(page, 'http://example.com/robots.txt', to('https://example.com/robots.txt'), NOW)
    expect(gate.check(page, NOW)).toEqual({ fetch: 'https://example.com/robots.txt' })
    gate.learn(page, 'https://example.com/robots.txt', to('/rules.txt#x'), NOW)
    expect(gate.check(page, NOW)).toEqual({ fetch: 'https://example.com/rules.txt' })
    gate.learn(page, 'https://example.com/rules.txt', answer(200, 'User-agent: *\nDisallow: /'), NOW)
    expect(gate.check(page, NOW)).toBe('deny')
  })

  it.each([
    'https://other.example/robots.txt',
    'https://example.com:8443/robots.txt',
    'ftp://example.com/',
    'http://[',
  ])('to %s allow all for now', async (location) => {
    const gate = await gateWith()
    gate.learn(PAGE, ROBOTS, to(location), NOW)
    expect(gate.check(PAGE, NOW)).toBe('allow')
  })

  it('without a target allow all', async () => {
    const gate = await gateWith()
    gate.learn(PAGE, ROBOTS, answer(302), NOW)
    expect(gate.check(PAGE, NOW)).toBe('allow')
  })

  it('are followed five times', async () => {
    const gate = await gateWith()
    let asked = 0
    for (let verdict = gate.check(PAGE, NOW); typeof verdict === 'object'; verdict = gate.check(PAGE, NOW)) {
      if (!('fetch' in verdict)) throw new Error('unexpected')
      gate.learn(PAGE, verdict.fetch, to(`/robots.txt?${asked++}`), NOW)
    }
    expect(asked).toBe(6)
    expect(gate.check(PAGE, NOW)).toBe('allow')
  })
})

describe('Crawl-delay', () => {
  it.each([
    ['User-agent: *\nCrawl-delay: 2.5', 2500],
    ['User-agent: *\nCrawl-delay: 86400', 60_000],
    ['User-agent: *\nCrawl-delay: 1\n\nUser-agent: Kumo\nCrawl-delay: 3', 3000],
    ['User-agent: *\nCrawl-delay: soon', undefined],
    ['User-agent: *\nCrawl-delay: -1', undefined],
    ['User-agent: *\nDisallow:', undefined],
  ])('%j is %j ms', async (rules, expected) => {
    const gate = await gateWith()
    expect(gate.delayMs(PAGE)).toBeUndefined()
    gate.learn(PAGE, ROBOTS, answer(200, rules), NOW)
    expect(gate.delayMs(PAGE)).toBe(expected)
  })
})

describe('memory', () => {
  it('holds the hosts that were asked about last', async () => {
    const gate = await gateWith({ maxHosts: 3 })
    const page = (i: number) => requestFor(`https://h${i}.example/`)
    const learn = (i: number) => gate.learn(page(i), `https://h${i}.example/robots.txt`, answer(404), NOW)
    for (const i of [1, 2, 3]) learn(i)
    expect(gate.check(page(1), NOW)).toBe('allow')
    learn(4)
    expect([3, 1, 4].map((i) => gate.check(page(i), NOW))).toEqual(['allow', 'allow', 'allow'])
    expect(gate.check(page(2), NOW)).toEqual({ fetch: 'https://h2.example/robots.txt' })
  })

  it('is bounded for large files too', async () => {
    const gate = await gateWith()
    const large = answer(200, `User-agent: x\n#${'x'.repeat(499_000)}\n`)
    for (let i = 0; i < 100; i++) {
      gate.learn(requestFor(`https://h${i}.example/`), `https://h${i}.example/robots.txt`, large, NOW)
    }
    expect(gate.check(requestFor('https://h99.example/'), NOW)).toBe('allow')
    expect(gate.check(requestFor('https://h0.example/'), NOW)).toEqual({
      fetch: 'https://h0.example/robots.txt',
    })
  })
})
