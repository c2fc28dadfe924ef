import { describe, expect, it } from 'vitest'
import type { Outcome } from '../../../src/fetch/contract.js'
import { RawHeaders } from '../../../src/fetch/http/headers.js'
import { productName, type RobotsOptions, robotsGate } from '../../../src/fetch/robots/gate.js'
import type { RobotsRecord } from '../../../src/fetch/robots/state.js'
import { canonicalizeUrl } from '../../../src/url/canonicalize.js'
import { requestFor } from '../support.js'

const NOW = 1_700_000_000_000
const HOUR = 3_600_000
const PAGE = requestFor('https://example.com/page')
const ORIGIN = 'https://example.com'
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
const FAILED = { code: 'connection-lost', message: 'example.com reset the connection.' } as const
const LOST: Outcome = { ok: false, ...FAILED, cause: new Error('reset') }

/** The verdict on a path of example.com under these rules. */
function verdict(rules: string, path: string) {
  const gate = gateWith()
  gate.learn(ORIGIN, ROBOTS, answer(200, rules), NOW)
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
  it('are asked for once, before the first page', () => {
    const gate = gateWith()
    expect(gate.check(PAGE, NOW)).toEqual({ fetch: ROBOTS })
    gate.learn(ORIGIN, ROBOTS, answer(200, 'User-agent: *\nDisallow: /private'), NOW)
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
  ])('%j say for %s: %s', (rules, path, expected) => {
    expect(verdict(rules, path)).toBe(expected)
  })

  it('belong to scheme, host and port', () => {
    const gate = gateWith()
    gate.learn(ORIGIN, ROBOTS, answer(200, 'User-agent: *\nDisallow: /'), NOW)
    for (const origin of ['http://example.com', 'https://example.com:8443', 'https://www.example.com']) {
      expect(gate.check(requestFor(`${origin}/page`), NOW)).toEqual({ fetch: `${origin}/robots.txt` })
    }
    expect(gate.check(PAGE, NOW)).toBe('deny')
  })

  it('are asked for again after the cache time, a day at most', () => {
    const gate = gateWith({ cacheMs: HOUR })
    gate.learn(ORIGIN, ROBOTS, answer(404), NOW)
    expect(gate.check(PAGE, NOW + HOUR - 1)).toBe('allow')
    expect(gate.check(PAGE, NOW + HOUR)).toEqual({ fetch: ROBOTS })
    const patient = gateWith({ cacheMs: 1000 * HOUR })
    patient.learn(ORIGIN, ROBOTS, answer(404), NOW)
    expect(patient.check(PAGE, NOW)).toBe('allow')
    expect(patient.check(PAGE, NOW + 24 * HOUR)).toEqual({ fetch: ROBOTS })
  })

  it.each([
    ['rules', answer(200, 'User-agent: *\nDisallow: /page'), 1, 'deny'],
    ['no rules', answer(404), 1, 'allow'],
    ['silence', LOST, 3, { failed: FAILED }],
  ])('serve once, however long their host waits for its turn: %s', (_, outcome, tries, expected) => {
    const gate = gateWith()
    for (let i = 0; i < tries; i++) gate.learn(ORIGIN, ROBOTS, outcome, NOW + i * 60_000)
    expect(gate.check(PAGE, NOW + 100 * HOUR)).toEqual(expected)
    expect(gate.check(PAGE, NOW + 100 * HOUR)).toEqual({ fetch: ROBOTS })
  })

  it.each([
    ['Disallow: /%7Ejoe', '/~joe/x'],
    ['Disallow: /~joe', '/~joe/x'],
    ['Disallow: /a b', '/a%20b'],
    ['Disallow: /{id}', '/%7Bid%7D'],
    ['Disallow: /x?q={a}^', '/x?q={a}^'],
    ["Disallow: /x?q='", '/x?q=%27'],
    ['Disallow: /caf\u00e9', '/caf%C3%A9'],
    ['Disallow: /caf%c3%a9', '/caf%C3%A9'],
    ['Disallow: /a^b', '/a%5Eb'],
  ])('are spelled as canonical URLs are: %s closes %s', (rule, path) => {
    expect(requestFor(`https://example.com${path}`).url).toBe(canonicalizeUrl(`https://example.com${path}`))
    expect(verdict(`User-agent: *\n${rule}`, path)).toBe('deny')
  })

  it.each([
    ['/path/foo-%24', ['/path/foo-$', '/path/foo-%24', '/path/foo-$/x'], ['/path/foo-', '/path/foo-x']],
    ['/path/foo-%24$', ['/path/foo-$', '/path/foo-%24'], ['/path/foo-$x', '/path/foo-']],
    ['/a$b', ['/a$b', '/a%24b'], ['/a', '/ab']],
    ['/a$', ['/a'], ['/a$', '/a%24']],
    ['/b-%2a', ['/b-*', '/b-%2A', '/b-%2a/x'], ['/b-', '/b-x']],
    ['/c*%2A*%24', ['/c*$', '/cx%2ax%24x'], ['/c$*', '/cxx']],
  ])('compare $ and * as characters where they are escaped: %s', (rule, closed, open) => {
    const gate = gateWith()
    gate.learn(ORIGIN, ROBOTS, answer(200, `User-agent: *\nDisallow: ${rule}`), NOW)
    const restored = gateWith()
    restored.restore(JSON.parse(JSON.stringify(gate.record(ORIGIN))))
    for (const each of [gate, restored]) {
      const denied = [...closed, ...open].filter(
        (path) => each.check(requestFor(canonicalizeUrl(`${ORIGIN}${path}`)!), NOW) === 'deny',
      )
      expect(denied).toEqual(closed)
    }
  })

  it('that broke off are not heard: what is missing may be what forbids', () => {
    const gate = gateWith()
    const half: Outcome = { ...answer(200, 'User-agent: *\nAllow: /page\n'), truncated: true } as Outcome
    gate.learn(ORIGIN, ROBOTS, half, NOW)
    expect(gate.check(PAGE, NOW)).toEqual({ retryAt: NOW + 1000 })
    gate.learn(ORIGIN, ROBOTS, answer(200, 'User-agent: *\nDisallow: /\n'), NOW + 1000)
    expect(gate.check(PAGE, NOW + 1000)).toBe('deny')
    const never = gateWith()
    for (let i = 0; i < 3; i++) never.learn(ORIGIN, ROBOTS, half, NOW + i * 60_000)
    expect(never.check(PAGE, NOW + 180_000), 'nobody knows what it forbids').toBe('deny')
  })

  it('that were cut beyond what is read of any are heard', () => {
    const long = `User-agent: *\nDisallow: /first\n${`${'#'.repeat(99)}\n`.repeat(6000)}`
    const gate = gateWith()
    gate.learn(ORIGIN, ROBOTS, { ...answer(200, long), truncated: true } as Outcome, NOW)
    expect(gate.check(PAGE, NOW)).toBe('allow')
    expect(gate.check(requestFor('https://example.com/first'), NOW)).toBe('deny')
  })

  it('beyond 500 KiB are not read, and no line is read by half', () => {
    const filler = `${'#'.repeat(99)}\n`
    const head = filler.repeat(5119)
    const early = `${head}User-agent: *\nDisallow: /late-path/`
    expect(head.length).toBeLessThan(500 * 1024)
    expect(verdict(`User-agent: *\nDisallow: /first\n${early}${filler.repeat(10)}`, '/first')).toBe('deny')
    expect(verdict(`${filler.repeat(6000)}User-agent: *\nDisallow: /`, '/x')).toBe('allow')
    // The limit falls into the last line, after "Disallow: /".
    const text = `User-agent: *\n${'#'.repeat(500 * 1024 - 14 - 1 - 11)}\nDisallow: /private`
    expect(
      Buffer.from(text)
        .subarray(0, 500 * 1024)
        .toString()
        .endsWith('\nDisallow: /'),
    ).toBe(true)
    expect(verdict(text, '/x')).toBe('allow')
  })
})

describe('answers other than rules', () => {
  it.each([400, 401, 403, 404, 410, 451])('%i allows all', async (status) => {
    const gate = gateWith()
    gate.learn(ORIGIN, ROBOTS, answer(status, 'User-agent: *\nDisallow: /'), NOW)
    expect(gate.check(PAGE, NOW)).toBe('allow')
  })

  it.each([
    ['500', answer(500)],
    ['503', answer(503)],
    ['429', answer(429)],
    ['a lost connection', LOST],
    ['a timeout', { ok: false, code: 'timeout', message: 'late' } as Outcome],
    ['a body that was not read', { ...answer(200), skippedBody: true } as Outcome],
  ])('after %s it is tried again, then closed for an hour, then for longer', (_, outcome) => {
    const gate = gateWith()
    gate.learn(ORIGIN, ROBOTS, outcome, NOW)
    expect(gate.check(PAGE, NOW)).toEqual({ retryAt: NOW + 1000 })
    expect(gate.check(PAGE, NOW + 1000)).toEqual({ fetch: ROBOTS })
    gate.learn(ORIGIN, ROBOTS, outcome, NOW + 1000)
    expect(gate.check(PAGE, NOW + 1000)).toEqual({ retryAt: NOW + 5000 })
    // A host that answers with trouble is closed; one that cannot be reached fails, and says why.
    const closed = outcome.ok ? 'deny' : { failed: { code: outcome.code, message: outcome.message } }
    let at = NOW + 5000
    for (const hours of [1, 4, 16, 24, 24]) {
      gate.learn(ORIGIN, ROBOTS, outcome, at)
      expect(gate.check(PAGE, at)).toEqual(closed)
      expect(gate.check(PAGE, at + hours * HOUR - 1)).toEqual(closed)
      at += hours * HOUR
      expect(gate.check(PAGE, at)).toEqual({ fetch: ROBOTS })
    }
    gate.learn(ORIGIN, ROBOTS, answer(404), at)
    expect(gate.check(PAGE, at)).toBe('allow')
  })

  it.each([
    ['rules', answer(200, 'User-agent: *\nDisallow: /private\nCrawl-delay: 3'), 'deny', 3000],
    ['no rules', answer(404), 'allow', undefined],
  ])('what was known before serves until there is something newer: %s', (_, known, expected, delayMs) => {
    const gate = gateWith()
    const closed = requestFor('https://example.com/private')
    gate.learn(ORIGIN, ROBOTS, known, NOW)
    expect(gate.check(closed, NOW)).toBe(expected)
    let at = NOW + 24 * HOUR
    for (const waitMs of [1000, 4000, 16_000, 64_000]) {
      expect(gate.check(closed, at)).toEqual({ fetch: ROBOTS })
      gate.learn(ORIGIN, ROBOTS, waitMs % 3 === 0 ? LOST : answer(503), at)
      expect(gate.delayMs(closed)).toBe(delayMs)
      expect(gate.check(closed, at + waitMs - 1)).toBe(expected)
      expect(gate.check(PAGE, at + waitMs - 1)).toBe('allow')
      at += waitMs
    }
    gate.learn(ORIGIN, ROBOTS, answer(200, 'User-agent: *\nDisallow: /page'), at)
    expect([gate.check(closed, at), gate.check(PAGE, at)]).toEqual(['allow', 'deny'])
    expect(gate.check(PAGE, at + 24 * HOUR - 1)).toBe('deny')
  })

  it('a host that recovers is believed', () => {
    const gate = gateWith()
    gate.learn(ORIGIN, ROBOTS, LOST, NOW)
    gate.learn(ORIGIN, ROBOTS, answer(200, ''), NOW + 2000)
    expect(gate.check(PAGE, NOW + 2000)).toBe('allow')
  })

  it('retries are scattered, never early', () => {
    const gate = gateWith({ random: { next: () => 0.5 } })
    gate.learn(ORIGIN, ROBOTS, LOST, NOW)
    expect(gate.check(PAGE, NOW)).toEqual({ retryAt: NOW + 1125 })
  })

  it('the number of tries is an option', () => {
    const gate = gateWith({ maxTries: 1 })
    gate.learn(ORIGIN, ROBOTS, LOST, NOW)
    expect(gate.check(PAGE, NOW)).toEqual({ failed: FAILED })
  })

  it('an abort teaches nothing', () => {
    const gate = gateWith({ maxTries: 1 })
    gate.learn(ORIGIN, ROBOTS, { ok: false, code: 'aborted', message: 'x' }, NOW)
    expect(gate.check(PAGE, NOW)).toEqual({ fetch: ROBOTS })
  })

  it('two answers to one question count once', () => {
    const gate = gateWith({ maxTries: 2 })
    gate.learn(ORIGIN, ROBOTS, LOST, NOW)
    gate.learn(ORIGIN, ROBOTS, LOST, NOW)
    expect(gate.check(PAGE, NOW)).toEqual({ retryAt: NOW + 1000 })
  })
})

describe('redirects', () => {
  const to = (location: string) => answer(301, '', { location })

  it('within the host are followed, from http to https too', () => {
    const gate = gateWith()
    const page = requestFor('http://example.com/page')
    gate.learn(
      'http://example.com',
      'http://example.com/robots.txt',
      to('https://example.com/robots.txt'),
      NOW,
    )
    expect(gate.check(page, NOW)).toEqual({ fetch: 'https://example.com/robots.txt' })
    gate.learn('http://example.com', 'https://example.com/robots.txt', to('/rules.txt#x'), NOW)
    expect(gate.check(page, NOW)).toEqual({ fetch: 'https://example.com/rules.txt' })
    gate.learn(
      'http://example.com',
      'https://example.com/rules.txt',
      answer(200, 'User-agent: *\nDisallow: /'),
      NOW,
    )
    expect(gate.check(page, NOW)).toBe('deny')
  })

  it.each(['https://other.example/rules.txt', 'https://example.com:8443/robots.txt'])(
    'to %s are followed too, for the sake of the origin that sent us there',
    (location) => {
      const gate = gateWith()
      gate.learn(ORIGIN, ROBOTS, to(location), NOW)
      expect(gate.check(PAGE, NOW)).toEqual({ fetch: location })
      gate.learn(ORIGIN, location, answer(200, 'User-agent: *\nDisallow: /page\nSitemap: /map'), NOW)
      expect(gate.check(PAGE, NOW)).toBe('deny')
      expect(gate.takeSitemaps(ORIGIN)).toEqual([new URL('/map', location).href])
      // The other origin has rules of its own, which were not asked for.
      const there = requestFor(new URL('/page', location).href)
      expect(gate.check(there, NOW)).toEqual({ fetch: new URL('/robots.txt', location).href })
    },
  )

  it('are canonical, and carry no credentials', () => {
    const gate = gateWith()
    gate.learn(ORIGIN, ROBOTS, to('https://me:secret@Other.example:443/%7ejoe#x'), NOW)
    expect(gate.check(PAGE, NOW)).toEqual({ fetch: 'https://other.example/~joe' })
  })

  it.each(['ftp://example.com/', 'http://[', 'javascript:alert(1)'])('to %s allow all', (location) => {
    const gate = gateWith()
    gate.learn(ORIGIN, ROBOTS, to(location), NOW)
    expect(gate.check(PAGE, NOW)).toBe('allow')
  })

  it('that fail begin again at the origin', () => {
    const gate = gateWith()
    gate.learn(ORIGIN, ROBOTS, to('https://other.example/robots.txt'), NOW)
    gate.learn(ORIGIN, 'https://other.example/robots.txt', LOST, NOW)
    expect(gate.check(PAGE, NOW + 1000)).toEqual({ fetch: ROBOTS })
  })

  it('without a target allow all', () => {
    const gate = gateWith()
    gate.learn(ORIGIN, ROBOTS, answer(302), NOW)
    expect(gate.check(PAGE, NOW)).toBe('allow')
  })

  it('are followed five times', () => {
    const gate = gateWith()
    let asked = 0
    for (let verdict = gate.check(PAGE, NOW); typeof verdict === 'object'; verdict = gate.check(PAGE, NOW)) {
      if (!('fetch' in verdict)) throw new Error('unexpected')
      gate.learn(ORIGIN, verdict.fetch, to(`/robots.txt?${asked++}`), NOW)
    }
    expect(asked).toBe(6)
    expect(gate.check(PAGE, NOW)).toBe('allow')
  })
})

describe('Crawl-delay', () => {
  it.each([
    ['User-agent: *\nCrawl-delay: 2.5', 2500],
    ['User-agent: *\nCrawl-delay: .5 # half', 500],
    ['User-agent: *\nCrawl-delay: 0', undefined],
    ['User-agent: *\nCrawl-delay: Infinity', undefined],
    ['User-agent: *\nCrawl-delay: 86400', 60_000],
    ['User-agent: *\nCrawl-delay: 1\n\nUser-agent: Kumo\nCrawl-delay: 3', 3000],
    ['User-agent: *\nCrawl-delay: soon', undefined],
    ['User-agent: *\nCrawl-delay: -1', undefined],
    ['User-agent: *\nDisallow:', undefined],
  ])('%j is %j ms', (rules, expected) => {
    const gate = gateWith()
    expect(gate.delayMs(PAGE)).toBeUndefined()
    gate.learn(ORIGIN, ROBOTS, answer(200, rules), NOW)
    expect(gate.delayMs(PAGE)).toBe(expected)
  })
})

describe('memory', () => {
  const page = (i: number, path = '/') => requestFor(`https://h${i}.example${path}`)
  const originOf = (i: number) => `https://h${i}.example`
  const robotsOf = (i: number) => `https://h${i}.example/robots.txt`
  /** 19 million bytes of the large file below, where room is made at 16. */
  const many = Array.from({ length: 40 }, (_, i) => i)
  const lines = Array.from(
    { length: 8500 },
    (_, i) => `Disallow: /closed/of/forty-eight/characters/or-so/${i}`,
  )
  const large = answer(200, `User-agent: *\n${lines.join('\n')}`)
  const closedPath = '/closed/of/forty-eight/characters/or-so/8499'

  it('holds at most so many hosts, and of those the ones asked about last', () => {
    const gate = gateWith({ maxHosts: 8 })
    for (const i of many) {
      gate.learn(originOf(i), robotsOf(i), answer(404), NOW)
      expect(gate.check(page(i), NOW)).toBe('allow')
      // Asked about again and again, it is never forgotten.
      expect(gate.check(page(0), NOW)).toBe('allow')
    }
    // From the oldest on, because a question makes its host one that was asked about last.
    const known = many.filter((i) => gate.check(page(i), NOW) === 'allow')
    expect(known).toEqual(expect.arrayContaining([0, 39]))
    expect(known.length).toBeLessThanOrEqual(8)
  })

  it('forgets none as long as there is room, however often they are asked about', () => {
    const gate = gateWith({ maxHosts: 8 })
    const hosts = many.slice(0, 8)
    for (const i of hosts) gate.learn(originOf(i), robotsOf(i), answer(404), NOW)
    for (let round = 0; round < 10; round++) {
      for (const i of hosts) expect(gate.check(page((i * 5) % 8), NOW)).toBe('allow')
    }
  })

  it('is bounded for large files too, once they were used', () => {
    const gate = gateWith()
    for (const i of many) {
      gate.learn(originOf(i), robotsOf(i), large, NOW)
      expect(gate.check(page(i), NOW)).toBe('allow')
    }
    expect(gate.check(page(39), NOW)).toBe('allow')
    expect(gate.check(page(0), NOW)).toEqual({ fetch: robotsOf(0) })
  })

  it('is not spent on what is said to others', () => {
    const gate = gateWith()
    const text = `User-agent: other\n${'Disallow: /closed/\n'.repeat(25_000)}\nUser-agent: *\nDisallow: /x`
    for (const i of many) {
      gate.learn(originOf(i), robotsOf(i), answer(200, text), NOW)
      expect(gate.check(page(i), NOW)).toBe('allow')
    }
    expect(many.map((i) => gate.check(page(i, '/x'), NOW))).toEqual(many.map(() => 'deny'))
  })

  it.each([
    ['hosts', { maxHosts: 2 }, [1, 2, 3], answer(200, `User-agent: *\nDisallow: ${closedPath}`)],
    ['bytes', {}, many, large],
  ] as const)('with too many %s, what was learned stays until it was used', (_, options, hosts, rules) => {
    const gate = gateWith(options)
    // All ask, all learn, and only then the first has its turn again.
    for (const i of hosts) expect(gate.check(page(i), NOW)).toEqual({ fetch: robotsOf(i) })
    for (const i of hosts) gate.learn(originOf(i), robotsOf(i), rules, NOW)
    expect(hosts.map((i) => gate.check(page(i, closedPath), NOW))).toEqual(hosts.map(() => 'deny'))
    // Used, the first may be forgotten.
    expect(gate.check(page(hosts[0]), NOW)).toEqual({ fetch: robotsOf(hosts[0]) })
  })

  it('while too much waits for its first use, no new host is asked', () => {
    const gate = gateWith({ maxWaiting: 4 })
    for (const i of [1, 2, 3]) gate.learn(originOf(i), robotsOf(i), answer(404), NOW)
    gate.learn(originOf(4), robotsOf(4), LOST, NOW)
    expect(gate.check(page(5), NOW)).toEqual({ retryAt: NOW + 10_000 })
    // Those that wait go on, also with another try.
    expect(gate.check(page(1), NOW)).toBe('allow')
    expect(gate.check(page(4), NOW + 1000)).toEqual({ fetch: robotsOf(4) })
    expect(gate.check(page(5), NOW)).toEqual({ retryAt: NOW + 10_000 })
    expect(gate.check(page(2), NOW)).toBe('allow')
    expect(gate.check(page(5), NOW)).toEqual({ fetch: robotsOf(5) })
  })

  it('what waits for an hour while others are put off has no page left', () => {
    const gate = gateWith({ maxWaiting: 4 })
    for (const i of [1, 2, 3, 4]) gate.learn(originOf(i), robotsOf(i), i === 4 ? LOST : answer(404), NOW)
    expect(gate.check(page(5), NOW + HOUR - 1)).toEqual({ retryAt: NOW + HOUR - 1 + 10_000 })
    expect(gate.check(page(5), NOW + HOUR)).toEqual({ fetch: robotsOf(5) })
    // It is still known, as long as there is room.
    expect(gate.check(page(3), NOW + HOUR)).toBe('allow')
    expect(gate.check(page(4), NOW + HOUR)).toEqual({ fetch: robotsOf(4) })
  })

  it('however large the files are that come at once, what waits is bounded', () => {
    const gate = gateWith()
    const hosts = Array.from({ length: 80 }, (_, i) => i)
    for (const i of hosts) gate.learn(originOf(i), robotsOf(i), large, NOW)
    const weight = [...gate.records()].reduce((sum, { lines = '' }) => sum + lines.length, 0)
    expect(weight).toBeGreaterThan(16 * 1024 * 1024)
    expect(weight).toBeLessThan(48 * 1024 * 1024)
    const verdicts = hosts.map((i) => gate.check(page(i, closedPath), NOW))
    expect(verdicts[0]).toBe('deny')
    // Put off, or free to be asked again once half of the others was used.
    expect(verdicts[79]).not.toBe('deny')
  })

  it.each([
    ['a host in trouble', LOST, 3, { failed: FAILED }],
    ['a redirect that never ends', answer(301, '', { location: '/robots.txt' }), 6, 'allow'],
  ])('with too many hosts, the tries of %s are counted on', (_, outcome, tries, end) => {
    const gate = gateWith({ maxHosts: 1 })
    const asked = new Map<number, number>()
    for (let turn = 0; turn < 20; turn++) {
      const now = NOW + turn * 60_000
      const told = [1, 2, 3].map((i) => [i, gate.check(page(i), now)] as const)
      for (const [i, verdict] of told) {
        if (typeof verdict !== 'object' || !('fetch' in verdict) || asked.get(i) === tries) continue
        asked.set(i, (asked.get(i) ?? 0) + 1)
        gate.learn(originOf(i), verdict.fetch, outcome, now)
        if (asked.get(i) === tries) expect(gate.check(page(i), now)).toEqual(end)
      }
    }
    expect([...asked.values()]).toEqual([tries, tries, tries])
  })
})

describe('sitemaps', () => {
  const rules = [
    'Sitemap: https://example.com/a.xml # the first',
    'User-agent: other',
    'Disallow: /',
    'sitemap: /b.xml',
    'Site-map: https://cdn.example/c.xml',
    'Sitemap: https://example.com/a.xml',
    'Sitemap: ftp://example.com/d.xml',
    'Sitemap: http://[',
    'Sitemap:',
    `Sitemap: /${'x'.repeat(3000)}`,
  ].join('\n')

  it('are handed out once, absolute, each once', () => {
    const gate = gateWith()
    expect(gate.takeSitemaps(ORIGIN)).toEqual([])
    gate.learn(ORIGIN, ROBOTS, answer(200, rules), NOW)
    const expected = ['https://example.com/a.xml', 'https://example.com/b.xml', 'https://cdn.example/c.xml']
    expect(gate.takeSitemaps('https://other.example')).toEqual([])
    expect(gate.takeSitemaps(ORIGIN)).toEqual(expected)
    expect(gate.takeSitemaps(ORIGIN)).toEqual([])
    expect(gate.check(PAGE, NOW)).toBe('allow')
  })

  it('are at most a thousand', () => {
    const gate = gateWith()
    const many = Array.from({ length: 5000 }, (_, i) => `Sitemap: /${i}.xml`).join('\n')
    gate.learn(ORIGIN, ROBOTS, answer(200, many), NOW)
    expect(gate.takeSitemaps(ORIGIN)).toHaveLength(1000)
  })

  it('that nobody takes do not pile up', () => {
    const gate = gateWith()
    const many = Array.from({ length: 1000 }, (_, i) => `Sitemap: /${'x'.repeat(300)}${i}`).join('\n')
    const origins = Array.from({ length: 40 }, (_, i) => `https://h${i}.example`)
    for (const origin of origins) gate.learn(origin, `${origin}/robots.txt`, answer(200, many), NOW)
    const taken = origins.map((origin) => gate.takeSitemaps(origin).length)
    expect(taken[0]).toBe(1000)
    expect(taken[39]).toBe(0)
  })
})

describe('records', () => {
  const origins = ['rules', 'none', 'busy', 'gone', 'asking'].map((name) => `https://${name}.example`)
  const outcomes = [
    answer(200, 'User-agent: *\nDisallow: /a%7e*b$\nAllow: /a/index.html\nDisallow: /a\nCrawl-delay: 1.5'),
    answer(404),
    answer(503),
    LOST,
    answer(503),
  ]

  it('say the same when they are read again', () => {
    const gate = gateWith({ maxTries: 1 })
    const shy = gateWith()
    for (const [i, origin] of origins.entries()) {
      const asked = i === 4 ? shy : gate
      asked.learn(origin, `${origin}/robots.txt`, outcomes[i]!, NOW)
    }
    // One is in use, the others wait.
    gate.check(requestFor(`${origins[0]}/`), NOW)
    const written = JSON.stringify([...gate.records()])
    expect([...shy.records()]).toEqual([])

    const again = gateWith({ maxTries: 1 })
    for (const record of JSON.parse(written) as RobotsRecord[]) again.restore(record)
    for (const origin of origins.slice(0, 4)) {
      for (const path of ['/', '/a', '/a/', '/a/x', '/a~xb', '/a~xbc', '/robots.txt']) {
        const request = requestFor(origin + path)
        expect([request.url, again.check(request, NOW + 1)]).toEqual([
          request.url,
          gate.check(request, NOW + 1),
        ])
        expect(again.delayMs(request)).toBe(gate.delayMs(request))
      }
    }
    expect(JSON.stringify([...again.records()].sort(byOrigin))).toBe(
      JSON.stringify([...gate.records()].sort(byOrigin)),
    )
    const late = requestFor(`${origins[0]}/`)
    expect(again.check(late, NOW + 24 * HOUR)).toEqual({ fetch: `${origins[0]}/robots.txt` })
  })

  it('of another name, or of another time of this program, are passed over', () => {
    const [gate, other] = [gateWith({ maxTries: 1 }), gateWith({ userAgent: 'Other/1.0' })]
    for (const [i, origin] of origins.entries()) gate.learn(origin, `${origin}/robots.txt`, outcomes[i]!, NOW)
    for (const record of gate.records()) {
      other.restore(record)
      other.restore({ ...record, product: 'Other', lines: undefined, failed: undefined, until: Number.NaN })
      other.restore({ ...record, product: 'Other', kind: 'later' as 'allow' })
    }
    expect([...other.records()]).toEqual([])
  })

  const byOrigin = (a: RobotsRecord, b: RobotsRecord) => (a.origin < b.origin ? -1 : 1)
})
