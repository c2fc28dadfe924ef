import { gunzipSync } from 'node:zlib'
import robotsParser from 'robots-parser'
import { describe, expect, it } from 'vitest'
import type { Outcome } from '../../src/fetch/contract.js'
import { RawHeaders } from '../../src/fetch/headers.js'
import { productName, type RobotsOptions, robotsGate } from '../../src/fetch/robots.js'
import { relevantLines } from '../../src/fetch/robots-text.js'
import { requestFor, suiteFile } from './support.js'

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
  const page = (i: number, path = '/') => requestFor(`https://h${i}.example${path}`)
  const robotsOf = (i: number) => `https://h${i}.example/robots.txt`
  /** 19 million characters of the large file below, where room is made at 16. */
  const many = Array.from({ length: 40 }, (_, i) => i)
  const large = answer(
    200,
    `User-agent: *\n${'Disallow: /closed/of/forty-eight/characters/or-so\n'.repeat(10_000)}`,
  )

  it('holds at most so many hosts, and of those the ones asked about last', async () => {
    const gate = await gateWith({ maxHosts: 8 })
    for (const i of many) {
      gate.learn(page(i), robotsOf(i), answer(404), NOW)
      expect(gate.check(page(i), NOW)).toBe('allow')
      // Asked about again and again, it is never forgotten.
      expect(gate.check(page(0), NOW)).toBe('allow')
    }
    // From the oldest on, because a question makes its host one that was asked about last.
    const known = many.filter((i) => gate.check(page(i), NOW) === 'allow')
    expect(known).toEqual(expect.arrayContaining([0, 39]))
    expect(known.length).toBeLessThanOrEqual(8)
  })

  it('forgets none as long as there is room, however often they are asked about', async () => {
    const gate = await gateWith({ maxHosts: 8 })
    const hosts = many.slice(0, 8)
    for (const i of hosts) gate.learn(page(i), robotsOf(i), answer(404), NOW)
    for (let round = 0; round < 10; round++) {
      for (const i of hosts) expect(gate.check(page((i * 5) % 8), NOW)).toBe('allow')
    }
  })

  it('is bounded for large files too, once they were used', async () => {
    const gate = await gateWith()
    for (const i of many) {
      gate.learn(page(i), robotsOf(i), large, NOW)
      expect(gate.check(page(i), NOW)).toBe('allow')
    }
    expect(gate.check(page(39), NOW)).toBe('allow')
    expect(gate.check(page(0), NOW)).toEqual({ fetch: robotsOf(0) })
  })

  it('is not spent on what is said to others', async () => {
    const gate = await gateWith()
    const text = `User-agent: other\n${'Disallow: /closed/\n'.repeat(25_000)}\nUser-agent: *\nDisallow: /x`
    for (const i of many) {
      gate.learn(page(i), robotsOf(i), answer(200, text), NOW)
      expect(gate.check(page(i), NOW)).toBe('allow')
    }
    expect(many.map((i) => gate.check(page(i, '/x'), NOW))).toEqual(many.map(() => 'deny'))
  })

  it.each([
    ['hosts', { maxHosts: 2 }, [1, 2, 3], answer(200, 'User-agent: *\nDisallow: /closed')],
    ['characters', {}, many, large],
  ] as const)(
    'with too many %s, what was learned stays until it was used',
    async (_, options, hosts, rules) => {
      const gate = await gateWith(options)
      // All ask, all learn, and only then the first has its turn again.
      for (const i of hosts) expect(gate.check(page(i), NOW)).toEqual({ fetch: robotsOf(i) })
      for (const i of hosts) gate.learn(page(i), robotsOf(i), rules, NOW)
      expect(hosts.map((i) => gate.check(page(i, '/open'), NOW))).toEqual(hosts.map(() => 'allow'))
      // Used, the first may be forgotten.
      for (const i of hosts) gate.learn(page(i), robotsOf(i), rules, NOW)
      expect(hosts.map((i) => gate.check(page(i, '/closed/of/forty-eight/characters/or-so'), NOW))).toEqual(
        hosts.map(() => 'deny'),
      )
    },
  )

  it.each([
    ['a host in trouble', LOST, 3, { failed: LOST }],
    ['a redirect that never ends', answer(301, '', { location: '/robots.txt' }), 6, 'allow'],
  ])('with too many hosts, the tries of %s are counted on', async (_, outcome, tries, end) => {
    const gate = await gateWith({ maxHosts: 1 })
    const asked = new Map<number, number>()
    for (let turn = 0; turn < 20; turn++) {
      const now = NOW + turn * 60_000
      const told = [1, 2, 3].map((i) => [i, gate.check(page(i), now)] as const)
      for (const [i, verdict] of told) {
        if (typeof verdict !== 'object' || !('fetch' in verdict) || asked.get(i) === tries) continue
        asked.set(i, (asked.get(i) ?? 0) + 1)
        gate.learn(page(i), verdict.fetch, outcome, now)
        if (asked.get(i) === tries) expect(gate.check(page(i), now)).toEqual(end)
      }
    }
    expect([...asked.values()]).toEqual([tries, tries, tries])
  })
})

describe('the lines for one crawler', () => {
  it.each([
    ['nothing', '', ''],
    ['no rules at all', '<html>\n<a href="https://example.com">', ''],
    ['the group that names it', 'User-agent: a\nDisallow: /a\nUser-agent: Kumo\nDisallow: /b', 'kumo /b'],
    ['the group for all', 'User-agent: a\nDisallow: /a\nUser-agent: *\nDisallow: /b', '* /b'],
    [
      'its own group, not that for all',
      'User-agent: *\nDisallow: /a\nUser-agent: kumo\nDisallow: /b',
      'kumo /b',
    ],
    [
      'its own group before that for all',
      'User-agent: kumo\nDisallow: /b\nUser-agent: *\nDisallow: /',
      'kumo /b',
    ],
    ['agent lines in a row', 'User-agent: a\nUser-agent: kumo\nUser-agent: *\nDisallow: /a', 'kumo /a'],
    ['agent lines with a blank line between', 'User-agent: kumo\n\nUser-agent: a\nDisallow: /a', 'kumo /a'],
    ['an agent line without a name between', 'User-agent: kumo\nUser-agent:\nDisallow: /a', 'kumo /a'],
    [
      'two groups for it',
      'User-agent: kumo\nDisallow: /a\nUser-agent: b\nDisallow: /b\nUser-agent: kumo\nDisallow: /c',
      'kumo /a /c',
    ],
    ['an empty group for it', 'User-agent: kumo\nDisallow:\nUser-agent: *\nDisallow: /', ''],
    ['a name without rules', 'User-agent: kumo\nSitemap: x\nUser-agent: *\nDisallow: /', '* /'],
    ['mixed case', 'USER-AGENT: KuMo\ndisALLOW: /A', 'kumo /A'],
    ['a version', 'User-agent: Kumo/2.0 (x)\nDisallow: /a', 'kumo /a'],
    ['a longer name', 'User-agent: kumobot\nDisallow: /a', ''],
    ['words after the name', 'User-agent: kumo bot\nDisallow: /a', ''],
    ['a byte order mark', '\ufeffUser-agent: *\nDisallow: /a', '* /a'],
    ['comments', '# x\nUser-agent: * # all\n#User-agent: a\nDisallow: /a # b', '* /a'],
    ['spaces', '  User-agent :  *  \n\t Disallow :\t/a b ', '* /a b'],
    ['all line ends', 'User-agent: *\rDisallow: /a\r\nDisallow: /b\nDisallow: /c', '* /a /b /c'],
    ['rules before any agent', 'Disallow: /a\nUser-agent: *\nDisallow: /b', '* /b'],
    [
      'a sitemap amid rules',
      'User-agent: *\nDisallow: /a\nSitemap: https://x.example/\nDisallow: /b',
      '* /a /b',
    ],
    ['unknown fields', 'User-agent: *\nNoindex: /a\nHost: x\nDisallow: /b', '* /b'],
  ])('%s', (_, text, expected) => {
    const [name, ...paths] = expected.split(/ (?=\/)/)
    const lines = [`user-agent: ${name}`, ...paths.map((path) => `disallow: ${path}`)]
    expect(relevantLines(text, 'Kumo')).toBe(expected === '' ? '' : lines.join('\n'))
  })

  it('keep their kind and their order', () => {
    const text =
      'User-agent: *\nDisallow: /a\nAllow: /a/b\nCrawl-delay: 2\nCrawl-delay:\nAllow:\nDisallow: /c$'
    expect(relevantLines(text, 'kumo')).toBe(
      'user-agent: *\ndisallow: /a\nallow: /a/b\ncrawl-delay: 2\ncrawl-delay: \ndisallow: /c$',
    )
  })

  /** Small files made by chance from the lines at which groups begin and end: quirks live there. */
  function* scrambled(): Generator<string> {
    const parts = [
      'User-agent: kumo',
      'User-agent: *',
      'User-agent: b',
      'User-agent:',
      'Sitemap: /s',
      'Crawl-delay: 3',
    ]
    parts.push(
      'Crawl-delay:',
      'Disallow: /a',
      'Allow: /a/b',
      'Disallow:',
      'Disallow: /',
      '',
      'x',
      ': y',
      '#',
      'Host: h',
    )
    let state = 1
    const next = (below: number) => {
      state = (state * 48_271) % 2_147_483_647
      return state % below
    }
    for (let i = 0; i < 2000; i++) {
      yield Array.from({ length: 1 + next(9) }, () => parts[next(parts.length)]).join('\n')
    }
  }

  it('answer as the whole text does, whatever the order of lines', () => {
    let denied = 0
    for (const text of scrambled()) {
      const whole = robotsParser(ROBOTS, text)
      for (const agent of ['Kumo', 'b', 'other', '*']) {
        const lines = robotsParser(ROBOTS, relevantLines(text, agent))
        expect([text, lines.getCrawlDelay(agent)]).toEqual([text, whole.getCrawlDelay(agent)])
        for (const path of ['/', '/a', '/a/b']) {
          const url = `https://example.com${path}`
          const allowed = whole.isAllowed(url, agent)
          if (!allowed) denied++
          expect([text, url, lines.isAllowed(url, agent)]).toEqual([text, url, allowed])
        }
      }
    }
    expect(denied).toBeGreaterThan(1000)
  })

  const sample = suiteFile('robots/real_sample.jsonl.gz')

  it.skipIf(sample === undefined)('answer as the whole text does for real files', () => {
    let asked = 0
    let denied = 0
    let whole = 0
    let kept = 0
    const differing: string[] = []
    for (const row of gunzipSync(sample!).toString().trim().split('\n')) {
      const { robots_b64, questions } = JSON.parse(row) as {
        robots_b64: string
        questions: [string, string][]
      }
      const text = new TextDecoder().decode(Buffer.from(robots_b64, 'base64'))
      whole += text.length
      kept += relevantLines(text, 'kumo').length
      const origin = new URL(questions[0]?.[1] ?? 'https://example.com').origin
      const full = robotsParser(`${origin}/robots.txt`, text)
      const named = [...text.matchAll(/^\s*user-agent\s*:\s*([^\s/#]+)/gim)].map((match) => match[1]!)
      const urls = [...new Set(questions.map(([, url]) => url))].slice(0, 12)
      for (const agent of new Set(['kumo', ...named.slice(0, 6), ...questions.map(([agent]) => agent)])) {
        const cut = robotsParser(`${origin}/robots.txt`, relevantLines(text, agent))
        if (cut.getCrawlDelay(agent) !== full.getCrawlDelay(agent)) differing.push(`${origin} ${agent} delay`)
        for (const url of urls) {
          asked++
          const allowed = full.isAllowed(url, agent)
          if (allowed === false) denied++
          if (cut.isAllowed(url, agent) !== allowed) differing.push(`${agent} ${url}`)
        }
      }
    }
    expect(differing).toEqual([])
    expect(asked).toBeGreaterThan(5000)
    expect(denied).toBeGreaterThan(1000)
    expect(kept).toBeLessThan(whole / 2)
  })
})
