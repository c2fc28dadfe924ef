/** Each route misbehaves as its name says, seen by a client that only moves bytes. */

import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { CREDENTIALS } from './access.js'
import { askRaw, type RawAnswer, type RawOptions } from './raw-client.js'
import { OTHER_HOST } from './redirects.js'
import { ROUTES } from './routes.js'
import { type HostileWeb, startHostileWeb } from './server.js'
import { FAILURES } from './trouble.js'

let web: HostileWeb

beforeAll(async () => {
  web = await startHostileWeb()
})
beforeEach(() => web.reset())
afterAll(() => web.close())

const ask = (name: string, rest?: string, options?: RawOptions) => askRaw(web.urlOf(name, rest), options)
const text = ({ body }: RawAnswer) => body.toString()
const pathOf = (url: string | undefined) => new URL(url!, web.url()).pathname
const count = (body: string, what: string) => body.split(what).length - 1

async function leadsTo(name: string, location: string): Promise<void> {
  const answer = await ask(name)
  expect([answer.status, answer.headers.location]).toEqual([302, location])
}

/** By name of a route. */
const CHECKS: Readonly<Record<string, () => Promise<void>>> = {
  async 'slow-drip'() {
    const answer = await ask('slow-drip', '', { maxMs: 500 })
    expect([answer.status, answer.end]).toEqual([200, 'late'])
    expect(answer.body.length).toBeGreaterThan(0)
    expect(answer.body.length).toBeLessThan(20)
  },
  async 'slow-headers'() {
    const answer = await ask('slow-headers', '', { maxMs: 500 })
    expect([answer.status, answer.end]).toEqual([undefined, 'late'])
    expect(answer.wire.length).toBeLessThan(20)
  },
  async 'endless-headers'() {
    const answer = await ask('endless-headers', '', { maxBytes: 2_000_000 })
    expect([answer.status, answer.end]).toEqual([undefined, 'enough'])
  },
  async 'endless-body'() {
    const answer = await ask('endless-body', '', { maxBytes: 20_000_000 })
    expect([answer.status, answer.end]).toEqual([200, 'enough'])
  },
  async silent() {
    expect(await ask('silent', '', { maxMs: 300 })).toMatchObject({ wire: '', end: 'late' })
  },
  async 'short-body'() {
    const answer = await ask('short-body')
    expect([answer.headers['content-length'], answer.body.length, answer.end]).toEqual(['1000', 10, 'ended'])
  },
  async 'long-body'() {
    const answer = await ask('long-body')
    expect([answer.headers['content-length'], answer.body.length]).toEqual(['10', 1000])
  },
  async 'two-lengths'() {
    expect(count((await ask('two-lengths')).wire, 'Content-Length:')).toBe(2)
  },
  async 'cut-chunks'() {
    const answer = await ask('cut-chunks')
    expect([text(answer).endsWith('ff\r\n0123456789'), answer.end]).toEqual([true, 'ended'])
  },
  async 'bad-chunks'() {
    expect(text(await ask('bad-chunks'))).toMatch(/^many\r\n/)
  },
  async 'reset-after-headers'() {
    expect((await ask('reset-after-headers')).end).toBe('reset')
  },
  async 'reset-at-once'() {
    expect(await ask('reset-at-once')).toMatchObject({ wire: '', end: 'reset' })
  },
  async 'hang-up'() {
    expect(await ask('hang-up')).toMatchObject({ wire: '', end: 'ended' })
  },
  async garbage() {
    const answer = await ask('garbage')
    expect([answer.status, answer.wire.length]).toEqual([undefined, 18])
  },

  async 'gzip-bomb'() {
    const { body, headers } = await ask('gzip-bomb')
    expect(headers['content-encoding']).toBe('gzip')
    expect(body.length).toBeLessThan(100_000)
    expect(gunzipSync(body).length).toBe(32 * 1024 * 1024)
  },
  async 'truncated-gzip'() {
    const { body } = await ask('truncated-gzip')
    expect(() => gunzipSync(body)).toThrow(/unexpected end/)
  },
  async 'broken-gzip'() {
    const { body } = await ask('broken-gzip')
    expect(() => gunzipSync(body)).toThrow()
  },
  async 'false-gzip'() {
    const answer = await ask('false-gzip')
    expect([answer.headers['content-encoding'], text(answer).startsWith('<title>')]).toEqual(['gzip', true])
  },
  async 'nested-gzip'() {
    const answer = await ask('nested-gzip')
    expect(answer.headers['content-encoding']).toBe('gzip, gzip')
    expect(gunzipSync(gunzipSync(answer.body)).toString()).toMatch(/^<title>/)
  },
  async 'deeply-nested-gzip'() {
    let { body, headers } = await ask('deeply-nested-gzip')
    expect(headers['content-encoding']!.split(', ')).toHaveLength(10)
    for (let n = 0; n < 10; n++) body = gunzipSync(body)
    expect(body.toString()).toMatch(/^<title>/)
  },
  async 'unknown-encoding'() {
    expect((await ask('unknown-encoding')).headers['content-encoding']).toBe('x-nobody')
  },
  async 'lying-charset'() {
    const answer = await ask('lying-charset')
    expect([answer.headers['content-type'], answer.body.includes(0xe9)]).toEqual([
      'text/html; charset=utf-8',
      true,
    ])
  },
  async 'undeclared-charset'() {
    const answer = await ask('undeclared-charset')
    expect(answer.headers['content-type']).toBe('text/html')
    expect(new TextDecoder('shift_jis').decode(answer.body)).toBe('<title>日本語</title>')
  },
  async 'lying-media-type'() {
    const answer = await ask('lying-media-type')
    expect([answer.headers['content-type'], answer.wire.includes('\x89PNG')]).toEqual([
      'text/html; charset=utf-8',
      true,
    ])
  },
  async 'page-as-octets'() {
    const answer = await ask('page-as-octets')
    expect(answer.headers['content-type']).toBe('application/octet-stream')
    expect(text(answer)).toMatch(/^<!DOCTYPE html>/)
  },

  async 'redirect-loop'() {
    expect((await ask('redirect-loop', 'a')).headers.location).toBe('b')
    expect((await ask('redirect-loop', 'b')).headers.location).toBe('a')
  },
  'redirect-to-itself': () => leadsTo('redirect-to-itself', '/redirect-to-itself'),
  async 'redirect-chain'() {
    expect((await ask('redirect-chain', '30')).headers.location).toBe('29')
    expect((await ask('redirect-chain', '0')).status).toBe(200)
  },
  async 'redirect-without-end'() {
    expect((await ask('redirect-without-end', '1000000')).headers.location).toBe('1000001')
  },
  async 'redirect-other-host'() {
    const target = web.url('/redirect-other-host', OTHER_HOST)
    await leadsTo('redirect-other-host', target)
    expect(text(await askRaw(target, { headers: { 'X-Secret': 'told' } }))).toContain('"x-secret":"told"')
  },
  'redirect-private': () => leadsTo('redirect-private', 'http://10.255.255.1/'),
  'redirect-metadata': () => leadsTo('redirect-metadata', 'http://169.254.169.254/latest/meta-data/'),
  'redirect-mapped': () => leadsTo('redirect-mapped', 'http://[::ffff:10.255.255.1]/'),
  'redirect-file': () => leadsTo('redirect-file', 'file:///etc/hostname'),
  'redirect-nonsense': () => leadsTo('redirect-nonsense', 'http://[nonsense'),
  async 'redirect-nowhere'() {
    const answer = await ask('redirect-nowhere')
    expect([answer.status, answer.headers.location]).toEqual([302, undefined])
  },
  async 'meta-refresh-loop'() {
    expect(text(await ask('meta-refresh-loop', 'a'))).toContain('url=b')
    expect(text(await ask('meta-refresh-loop', 'b'))).toContain('url=a')
  },

  async 'unavailable-seconds'() {
    const answer = await ask('unavailable-seconds')
    expect([answer.status, answer.headers['retry-after']]).toEqual([503, '1'])
    expect((await ask('unavailable-seconds')).status).toBe(200)
  },
  async 'unavailable-date'() {
    const answer = await ask('unavailable-date')
    const wait = Date.parse(answer.headers['retry-after']!) - web.requests[0]!.at
    expect([answer.status, wait > 0, wait <= 2000]).toEqual([503, true, true])
    expect((await ask('unavailable-date')).status).toBe(200)
  },
  async 'unavailable-for-a-year'() {
    const answer = await ask('unavailable-for-a-year')
    expect([answer.status, Number(answer.headers['retry-after'])]).toEqual([503, 365 * 24 * 3600])
  },
  async 'too-many-requests'() {
    const answer = await ask('too-many-requests')
    expect([answer.status, answer.headers['retry-after']]).toEqual([429, '1'])
    expect((await ask('too-many-requests')).status).toBe(200)
  },
  async 'server-error'() {
    expect((await ask('server-error')).status).toBe(500)
  },
  async recovers() {
    const statuses: (number | undefined)[] = []
    for (const path of ['a', 'robots.txt', 'b', 'a']) statuses.push((await ask('recovers', path)).status)
    expect(statuses).toEqual([...Array(FAILURES).fill(503), 200])
  },

  async 'robots-huge'() {
    const rules = text(await ask('robots-huge'))
    expect(rules.indexOf('Disallow: /before')).toBeLessThan(100)
    expect(rules.indexOf('Disallow: /after')).toBeGreaterThan(500 * 1024)
  },
  async 'robots-wildcards'() {
    const rules = text(await ask('robots-wildcards'))
    expect(rules.length).toBeGreaterThan(500 * 1024 - 200)
    expect(count(rules, '*')).toBeGreaterThan(100_000)
  },
  async 'robots-crawl-delay'() {
    expect(text(await ask('robots-crawl-delay'))).toMatch(/^Crawl-delay: 1\nSitemap: http:/m)
  },
  async 'robots-page'() {
    expect(text(await ask('robots-page'))).toMatch(/^<!DOCTYPE html>/)
  },
  async 'robots-5xx'() {
    expect((await ask('robots-5xx')).status).toBe(503)
  },
  async 'robots-4xx'() {
    expect((await ask('robots-4xx')).status).toBe(403)
  },
  async 'robots-silent'() {
    expect(await ask('robots-silent', '', { maxMs: 300 })).toMatchObject({ wire: '', end: 'late' })
  },
  async 'robots-redirect'() {
    const { status, headers } = await ask('robots-redirect')
    expect([status, headers.location]).toEqual([301, web.urlOf('robots-before')])
    expect(new URL(headers.location!).host).not.toBe(new URL(web.urlOf('robots-redirect')).host)
  },
  async 'robots-redirect-loop'() {
    expect((await ask('robots-redirect-loop')).headers.location).toBe('/robots.txt')
  },
  async 'robots-before'() {
    expect(text(await ask('robots-before'))).toContain('Disallow: /before')
  },

  async calendar() {
    const body = text(await ask('calendar', '2024-12'))
    expect(body).toContain('href="/calendar/2025-01"')
    expect(body).toContain('href="/calendar/2024-11"')
  },
  async 'session-ids'() {
    const links = async () => text(await ask('session-ids')).match(/sid=\w+(?=")/g) ?? []
    const met = [...(await links()), ...(await links())]
    expect([met.length, new Set(met).size]).toEqual([6, 6])
  },
  async mirror() {
    const body = text(await ask('mirror', 'left/right/left/'))
    expect(body).toContain('href="right/"')
    expect(body).toBe(text(await ask('mirror')))
  },
  async 'same-content'() {
    const body = text(await ask('same-content', '1'))
    expect(body).toBe(text(await ask('same-content', '999')))
    expect(count(body, '<a href')).toBe(1000)
  },
  async 'million-links'() {
    expect(count(text(await ask('million-links')), '<a href')).toBe(1_000_000)
  },
  async 'many-links'() {
    const { body } = await ask('many-links')
    expect(count(body.toString(), '<a href')).toBe(400_000)
    expect(body.length).toBeLessThan(8 * 1024 * 1024)
  },
  async 'nested-elements'() {
    expect(text(await ask('nested-elements'))).toBe('<div>'.repeat(100_000) + '</div>'.repeat(100_000))
  },
  async 'megabyte-attribute'() {
    expect(text(await ask('megabyte-attribute'))).toMatch(/^<a href="x{1048565}">$/)
  },
  async 'many-attributes'() {
    expect(count(text(await ask('many-attributes')), '=1')).toBeGreaterThan(95_000)
  },
  async 'entity-expansion'() {
    const answer = await ask('entity-expansion')
    expect(answer.headers['content-type']).toBe('application/xhtml+xml')
    expect(text(answer)).toContain('<!ENTITY a9 "&a8;&a8;')
  },

  async 'sitemap-loop'() {
    const body = text(await ask('sitemap-loop'))
    expect(body).toContain(`<loc>${web.urlOf('sitemap-loop')}</loc>`)
    expect(body).toContain(`<loc>${web.urlOf('sitemap-loop-back')}</loc>`)
  },
  async 'sitemap-loop-back'() {
    expect(text(await ask('sitemap-loop-back'))).toContain(`<loc>${web.urlOf('sitemap-loop')}</loc>`)
  },
  async 'sitemap-without-end'() {
    expect(text(await ask('sitemap-without-end', '7'))).toContain('/sitemap-without-end/8</loc>')
  },
  async 'huge-sitemap'() {
    expect(count(text(await ask('huge-sitemap')), '<loc>')).toBe(60_000)
  },
  async 'cut-sitemap'() {
    const body = text(await ask('cut-sitemap'))
    expect(count(body, '<url>') - count(body, '</url>')).toBe(1)
  },
  async 'sitemap-bomb'() {
    const { body } = await ask('sitemap-bomb')
    expect(body.length).toBeLessThan(100_000)
    expect(gunzipSync(body).length).toBe(64 * 1024 * 1024)
  },
  async 'sitemap-entities'() {
    expect(text(await ask('sitemap-entities'))).toMatch(/<!ENTITY file SYSTEM.*&a9;<\/loc>.*&file;<\/loc>/s)
  },

  async 'cookies-required'() {
    const answer = await ask('cookies-required')
    expect([answer.status, pathOf(answer.headers.location)]).toEqual([302, '/cookies-required'])
    const Cookie = answer.headers['set-cookie']!.split(';')[0]!
    expect((await ask('cookies-required', '', { headers: { Cookie } })).status).toBe(200)
  },
  async 'basic-auth'() {
    const answer = await ask('basic-auth')
    expect([answer.status, answer.headers['www-authenticate']]).toEqual([401, 'Basic realm="hostile"'])
    const { username, password } = CREDENTIALS
    const Authorization = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`
    expect((await ask('basic-auth', '', { headers: { Authorization } })).status).toBe(200)
  },
  async canonical() {
    const answer = await askRaw(`${web.urlOf('canonical')}?a=1`)
    expect(text(answer)).toContain(`<link rel=canonical href="${web.urlOf('canonical')}">`)
  },
  async 'canonical-header'() {
    const { headers } = await ask('canonical-header')
    expect(headers.link).toBe(`<${web.urlOf('canonical-header')}>; rel="canonical"`)
  },
  async 'x-robots-tag'() {
    expect((await ask('x-robots-tag')).headers['x-robots-tag']).toBe('noindex, nofollow')
  },
  async 'x-robots-tag-agent'() {
    expect((await ask('x-robots-tag-agent')).wire).toMatch(
      /x-robots-tag: otherbot: .*\r\nx-robots-tag: kumo: /,
    )
  },
  async 'robots-meta'() {
    expect(text(await ask('robots-meta'))).toContain('<meta name=robots content="noindex, nofollow">')
  },
  async 'rel-nofollow'() {
    expect(count(text(await ask('rel-nofollow')), 'nofollow')).toBe(1)
  },
  async page() {
    const answer = await ask('page', 'x')
    expect([answer.status, text(answer)]).toEqual([200, '<title>Page x</title>'])
  },
}

const isPagesOfRobots = (name: string) => /^robots-.*-pages$/.test(name)

describe('routes', () => {
  it('have a name of their own, one line that tells what they do, and a check', () => {
    expect(new Set(ROUTES.map(({ name }) => name)).size).toBe(ROUTES.length)
    expect(ROUTES.filter(({ does }) => does === '' || does.includes('\n'))).toEqual([])
    const names = ROUTES.map(({ name }) => name).filter((name) => !isPagesOfRobots(name))
    expect(Object.keys(CHECKS).sort()).toEqual(names.sort())
  })

  it.each(Object.keys(CHECKS))('%s', (name) => CHECKS[name]!())

  it.each(ROUTES.map(({ name }) => name).filter(isPagesOfRobots))('%s', async (name) => {
    const answer = await ask(name, 'any')
    expect([answer.status, count(text(answer), '<a href')]).toEqual([200, 3])
  })
})

describe('the hostile web', () => {
  it('leads from its start page to every route that all hosts have, and knows no others', async () => {
    const body = text(await askRaw(web.url()))
    for (const { path, host } of ROUTES) {
      if (host === undefined) expect(body).toContain(`href="${path.replace('*', '')}"`)
    }
    expect((await askRaw(web.url('/nothing'))).status).toBe(404)
    expect(() => web.urlOf('nothing')).toThrow('no route named nothing')
  })

  it('remembers who asked for what, from when to when', async () => {
    const before = Date.now()
    await ask('page', 'a?b=c')
    await askRaw(web.url('/silent', '127.9.9.9'), { maxMs: 200, headers: { 'X-Test': 'yes' } })
    expect(web.requests).toMatchObject([
      { method: 'GET', path: '/page/a?b=c', host: '127.0.0.1' },
      { path: '/silent', host: '127.9.9.9', headers: { 'x-test': 'yes' } },
    ])
    const [first, second] = web.requests
    expect(first!.at).toBeGreaterThan(before - 100)
    expect(first!.endedAt).toBeGreaterThanOrEqual(first!.at)
    expect(second!.at).toBeGreaterThanOrEqual(first!.endedAt!)
    await expect.poll(() => second!.endedAt, { timeout: 300_000 }).toBeGreaterThan(second!.at)
  })

  it('forgets when asked to', async () => {
    expect((await ask('too-many-requests')).status).toBe(429)
    web.reset()
    expect(web.requests).toEqual([])
    expect((await ask('too-many-requests')).status).toBe(429)
  })

  it('closes at once, whatever is open', async () => {
    const other = await startHostileWeb()
    const waiting = connect(other.port, '127.0.0.1')
    waiting.on('error', () => {})
    await once(waiting, 'connect')
    const endless = askRaw(other.urlOf('slow-drip'))
    await expect.poll(() => other.requests.length, { timeout: 300_000 }).toBe(1)
    await other.close()
    expect((await endless).end).not.toBe('late')
    expect((await askRaw(other.url())).end).toBe('reset')
  })
})

it('is listed in docs/security.md, every route of it', () => {
  const docs = readFileSync(new URL('../../docs/security.md', import.meta.url), 'utf8')
  const listed = [...docs.slice(docs.indexOf('## The hostile web')).matchAll(/^\| `([^`]+)`/gm)].map(
    ([, name]) => name,
  )
  expect(listed).toEqual(ROUTES.map(({ name }) => name))
})
