/** Pages behind a login form: one login, another when the session is over, and a clear end when none works. */

import { readdir, readFile } from 'node:fs/promises'
import type { ServerResponse } from 'node:http'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from 'esbuild'
import { Crawler, fromModule, type KumoError, level, session } from 'kumo'
import { byHost } from 'kumo/adapters'
import { describe, expect, test } from 'vitest'
import { runProgram } from '../run-program.js'
import { folder } from '../stores/level/folders.js'
import { type LoginSite, loginSite, PASSWORD, shortestPause } from './login-site.js'
import {
  crawl,
  hastyClock,
  linksTo,
  pathsOf,
  quick,
  rejectionOf,
  site,
  sleep,
  until,
  WORKERS,
} from './support.js'

const ALL = ['/', '/1', '/2', '/3', '/4', '/5', '/6', '/7']

const account = ({ url }: LoginSite, more: Partial<Parameters<typeof session>[0]> = {}) =>
  session({
    login: url('/login'),
    fields: { user: 'alice', password: PASSWORD },
    interval: 100,
    ...more,
  })

/** A program that waits for none of the failures. */
const patient = quick.retries(2)

/** Workers of older versions of Node.js load no TypeScript. The module has a copy of Kumo of its own. */
async function compiled(path: string): Promise<URL> {
  const outfile = join(await folder(), 'session.mjs')
  const options = { bundle: true, platform: 'node', format: 'esm' } as const
  await build({ entryPoints: [path], outfile, packages: 'external', ...options })
  return pathToFileURL(outfile)
}

describe('a login', () => {
  test('happens once, with the hidden fields of the form, at the pace of the host', async () => {
    const app = await loginSite()
    const { pages, failures, redirects } = await crawl(
      quick.delay(30).perHost({ connections: 1 }).seeds(app.url()).use(account(app)),
    )
    expect(pathsOf(pages)).toEqual(ALL)
    expect([failures, redirects]).toEqual([[], []])
    expect(app.logins.map(({ accepted }) => accepted)).toEqual([true])
    expect(app.visits.slice(0, 4).map(({ path }) => path)).toEqual(['/robots.txt', '/login', '/login', '/'])
    expect(shortestPause(app)).toBeGreaterThanOrEqual(29)
  })

  test('is waited for by parallel connections', async () => {
    const app = await loginSite()
    const crawler = quick.perHost({ connections: 4, growAt: 1 }).use(account(app))
    const { pages } = await crawl(crawler.seeds(ALL.map((path) => app.url(path))))
    expect(pathsOf(pages)).toEqual(ALL)
    expect(app.logins).toHaveLength(1)
  })

  test('sends cookies to no other host, and not without cookies()', async () => {
    const other = await site({ '/': { headers: { 'set-cookie': 'own=1' }, body: linksTo('/b') }, '/b': 'b' })
    const app = await loginSite()
    await crawl(quick.scope('all').seeds(app.url(), other.url()).use(account(app)))
    expect(other.requests.map(({ headers }) => headers.cookie).filter(Boolean)).toEqual([])
  })

  test.each<[string, Partial<Parameters<typeof session>[0]>]>([
    ['an element of the page after it', { success: { selector: 'title' } }],
    ['where it redirects to', { success: { redirect: '/' } }],
    ['a status', { success: { statuses: [303] } }],
    ['a form by its selector', { form: 'form[method=post]' }],
  ])('is checked by %s', async (_, more) => {
    const app = await loginSite()
    const { pages } = await crawl(quick.seeds(app.url()).use(account(app, more)))
    expect(pathsOf(pages)).toEqual(ALL)
    expect(app.logins).toHaveLength(1)
  })
})

describe('a session that is over', () => {
  test('is followed by another login, and its pages are fetched again', async () => {
    const app = await loginSite({ pagesPerSession: 5 })
    const { pages, failures } = await crawl(patient.seeds(app.url()).use(account(app)))
    expect(pathsOf(pages)).toEqual(ALL)
    expect(new Set(pages.map(({ title }) => title))).toEqual(new Set(['in']))
    expect(new Set(failures.map(({ code, final }) => `${code} ${final}`))).toEqual(
      new Set(['session-over false']),
    )
    expect(app.logins.length).toBe(2)
    const [first, second] = app.logins
    expect(second!.at - first!.at).toBeGreaterThanOrEqual(99)
  })

  test.each<[string, Partial<Parameters<typeof session>[0]>, number]>([
    ['a status', { over: { statuses: [403] } }, 403],
    ['an element', { over: { selector: 'form' } }, 200],
  ])('is told by %s', async (_, more, status) => {
    const stranger = (response: ServerResponse) =>
      response.writeHead(status, { 'content-type': 'text/html' }).end('<form></form>')
    const app = await loginSite({ pagesPerSession: 5, stranger })
    const { pages } = await crawl(patient.seeds(app.url()).use(account(app, more)))
    expect(pathsOf(pages)).toEqual(ALL)
    expect(app.logins).toHaveLength(2)
  })

  test('is followed by a login a minute later at the earliest', async () => {
    const app = await loginSite({ pagesPerSession: 5 })
    const { pages } = await crawl(
      patient
        .clock(hastyClock(200))
        .seeds(app.url())
        .use(account(app, { interval: undefined })),
    )
    expect(pathsOf(pages)).toEqual(ALL)
    expect(app.logins[1]!.at - app.logins[0]!.at).toBeGreaterThanOrEqual(60_000 / 200)
  })

  test('does not keep a page that always says so in circles', async () => {
    const app = await loginSite({ more: { '/admin': (_, response) => void response.writeHead(401).end() } })
    const { pages, failures } = await crawl(patient.seeds(app.url(), app.url('/admin')).use(account(app)))
    expect(pathsOf(pages)).toEqual(ALL)
    expect(failures.at(-1)).toMatchObject({ url: app.url('/admin'), code: 'session-over', final: true })
    expect(failures).toHaveLength(3)
    // The first, and one after each failure: pages may still be waiting after the last.
    expect(app.logins.length).toBeLessThanOrEqual(1 + failures.length)
  })
})

test('a page that sets a cookie and redirects to itself is fetched with the cookie', async () => {
  const app = await loginSite({
    more: {
      '/consent': (request, response) => {
        if (request.headers.cookie?.includes('consent=1'))
          return void response.writeHead(200, { 'content-type': 'text/html' }).end('yes')
        response.writeHead(302, { location: '/consent', 'set-cookie': 'consent=1; Path=/' }).end()
      },
    },
  })
  const { pages, failures } = await crawl(quick.seeds(app.url('/consent')).use(account(app)))
  expect(failures).toEqual([])
  expect(pathsOf(pages)).toEqual(['/consent'])
})

test('a page that had other trouble before is fetched again after a login', async () => {
  const statuses = [503, 503, 401]
  const app = await loginSite({
    more: {
      '/late': (_, response) =>
        void response.writeHead(statuses.shift() ?? 200, { 'content-type': 'text/html' }).end(),
    },
  })
  const crawler = quick.retries({ times: 2, backoff: '1ms' }).use(account(app))
  const { pages, failures } = await crawl(crawler.seeds(app.url('/late')))
  expect(pathsOf(pages)).toEqual(['/late'])
  expect(failures.map(({ code, final }) => `${code} ${final}`)).toEqual([
    'http-status false',
    'http-status false',
    'session-over false',
  ])
})

test('a page that failed because the session was over is visited again by refresh()', async () => {
  let asked = 0
  const app = await loginSite({
    more: {
      '/right': (_, response) =>
        void response.writeHead(asked++ < 3 ? 401 : 200, { 'content-type': 'text/html' }).end(),
    },
  })
  const crawler = quick.refresh({ min: 50, first: 50, max: 100, until: 600_000 }).use(account(app))
  const { pages, failures } = await crawl(crawler.seeds(app.url('/right')).limit({ pages: 1 }))
  expect(failures.map(({ code, final }) => `${code} ${final}`)).toEqual([
    'session-over false',
    'session-over false',
    'session-over true',
  ])
  expect(pathsOf(pages)).toEqual(['/right'])
})

describe('a form that is sent when the session is over', () => {
  const answers: [string, (response: ServerResponse) => void, number][] = [
    ['by a status 401', (response) => void response.writeHead(401).end(), 2],
    ['by the login page', (response) => void response.writeHead(302, { location: '/login' }).end(), 2],
    ['by a page that may come after the work', (response) => void response.writeHead(403).end(), 1],
  ]

  test.each(answers)('and is answered %s', async (_, refuse, times) => {
    let isFirst = true
    const app = await loginSite({
      more: {
        '/order': (_request, response) => {
          if (!isFirst) return void response.writeHead(200, { 'content-type': 'text/html' }).end('done')
          isFirst = false
          refuse(response)
        },
      },
    })
    const over = { statuses: [401, 403], redirect: '/login' }
    const { pages, failures } = await crawl(
      patient.seeds({ url: app.url('/order'), body: 'n=1' }).use(account(app, { over })),
    )
    expect(app.visits.filter(({ path }) => path === '/order')).toHaveLength(times)
    expect(failures).toMatchObject([{ code: 'session-over', final: times === 1 }])
    expect(pathsOf(pages)).toEqual(times === 1 ? [] : ['/order'])
  })
})

describe('a login that fails', () => {
  const quickly = { interval: 20 }

  test.each<[string, Parameters<typeof loginSite>[0], Partial<Parameters<typeof session>[0]>, RegExp]>([
    [
      'a wrong password',
      {},
      { fields: { user: 'alice', password: 'not the secret' } },
      /refused: the login form is shown again$/,
    ],
    [
      'a misspelt field',
      {},
      { fields: { usr: 'alice', password: PASSWORD } },
      /no field usr, it has token, user,/,
    ],
    ['no form', { form: () => 'We moved.' }, {}, /login page \S+\/login has no form with a password field/],
    ['no such form', {}, { form: '#login' }, /has no form that matches '#login'/],
    [
      'files in the form',
      { form: () => '<form method=post enctype="multipart/form-data"><input type=password name=p></form>' },
      {},
      /multipart\/form-data, which session\(\) cannot send/,
    ],
    [
      'a form for another origin',
      { form: () => '<form method=post action="https://sso.example/"><input type=password name=p></form>' },
      {},
      /sent to https:\/\/sso\.example; a session must stay on its origin/,
    ],
  ])('because of %s fails the pages of its origin, and no others', async (_, options, more, message) => {
    const app = await loginSite(options)
    const other = await site({ '/': linksTo('/b'), '/b': 'b' })
    const { pages, failures } = await crawl(
      quick.seeds(app.url(), app.url('/1'), other.url()).use(account(app, { ...quickly, ...more })),
    )
    expect(pathsOf(pages)).toEqual(['/', '/b'])
    expect(failures.map(({ code, final }) => [code, final])).toEqual([
      ['session-failed', true],
      ['session-failed', true],
    ])
    for (const failure of failures) {
      expect(failure.message).toMatch(message)
      expect(JSON.stringify(failure)).not.toMatch(/not the secret|sesame/)
    }
    expect(app.visits.filter(({ path }) => path === '/login').length).toBeLessThanOrEqual(6)
    if (message.source.startsWith('refused'))
      expect(app.visits.filter(({ path }) => path === '/login')).toHaveLength(2)
    expect(app.logins.length).toBeLessThanOrEqual(3)
  })

  test('because a function of the program hangs does not hold an abort up', async () => {
    const app = await loginSite()
    const fields = () => new Promise<never>(() => {})
    const stopping = new AbortController()
    const crawler = quick.workers(0).seeds(app.url()).use(account(app, { fields }))
    const run = crawler.run({ signal: stopping.signal })
    await until(() => app.visits.some(({ path }) => path === '/login'), 'the login page is fetched')
    await sleep(50)
    const started = performance.now()
    stopping.abort()
    expect(await run).toMatchObject({ pending: 1, pages: 0 })
    expect(performance.now() - started).toBeLessThan(60_000)
  })

  test('because the server has trouble is tried again', async () => {
    let troubles = 1
    const app = await loginSite({
      form: (token) => `<form method=post action=/enter><input type=password name=password>${token}</form>`,
      more: {
        '/enter': (_, response) => {
          if (troubles-- > 0) response.writeHead(503, { 'retry-after': '0' }).end()
          else response.writeHead(302, { location: '/done' }).end()
        },
        '/done': 'done',
      },
    })
    const fields = { password: 'x'.repeat(8) }
    const crawler = patient.retries({ backoff: '1ms' }).use(account(app, { ...quickly, fields }))
    const { pages, failures } = await crawl(crawler.seeds(app.url('/done')))
    expect(pathsOf(pages)).toEqual(['/done'])
    expect(failures).toEqual([])
  })
})

describe('a stored session', () => {
  const stored = (path: string) => patient.store(level(path)).workers(WORKERS)

  test('goes on in the next run, and no password is stored', async () => {
    const app = await loginSite()
    const path = await folder()
    await stored(path).seeds(app.url()).use(account(app)).limit({ pages: 3 }).run()
    await stored(path).seeds(app.url()).use(account(app)).run()
    expect(app.logins).toHaveLength(1)
    const bytes = await Promise.all((await readdir(path)).map((name) => readFile(join(path, name), 'latin1')))
    expect(bytes.join('')).not.toContain('sesame')
  })

  test('that ended meanwhile is followed by a login', async () => {
    const app = await loginSite()
    const path = await folder()
    await stored(path).seeds(app.url()).use(account(app)).limit({ pages: 3 }).run()
    app.expire()
    const { pages } = await stored(path).seeds(app.url()).use(account(app)).run()
    expect(pages).toBe(ALL.length)
    expect(app.logins).toHaveLength(2)
  })

  test('survives a kill', async () => {
    const app = await loginSite()
    const path = await folder()
    await runProgram('test/crawler/programs/with-session.ts', [path, String(WORKERS), app.url(), PASSWORD], {
      onStart(child) {
        const watching = setInterval(() => {
          if (app.visits.length < 6) return
          clearInterval(watching)
          child.kill('SIGKILL')
        }, 2)
        child.once('close', () => clearInterval(watching))
      },
    })
    const before = app.visits.length
    expect(before).toBeGreaterThanOrEqual(6)
    expect(before).toBeLessThan(11)
    const { pages } = await stored(path).seeds(app.url()).use(account(app)).run()
    expect(pages).toBe(ALL.length)
    expect(app.visits.length).toBeGreaterThan(before)
    expect(app.logins.length).toBeLessThanOrEqual(2)
  })
})

test.runIf(WORKERS > 0)('a session follows its host to another worker', async () => {
  const app = await loginSite({ pages: 40, ms: 25 })
  const { partition } = byHost()
  const names = Array.from({ length: 250 }, (_, i) => `127.0.9.${i + 1}`)
  // All of them belong to the first of two workers.
  const hosts = names.filter((name) => partition(`${name}:${app.port}`) % 2 === 0).slice(0, 10)
  const fields = { user: 'alice', password: PASSWORD }
  const crawler = hosts.reduce(
    (made, host) => made.seeds(app.url('/', host)).use(session({ login: app.url('/login', host), fields })),
    new Crawler().delay(20).concurrency(6).workers(2),
  )
  const summary = await crawler.run()
  expect(summary).toMatchObject({ reason: 'done', pages: hosts.length * 40, failed: 0 })
  expect(summary.workers[1]!.partitions).toBeGreaterThan(512)
  expect(summary.workers[1]!.pages).toBeGreaterThan(hosts.length)
  expect(app.logins).toHaveLength(hosts.length)
})

describe('the options', () => {
  const login = 'https://app.example/login'
  test.each<[unknown, RegExp]>([
    [undefined, /^session: got undefined; allowed: \{ login, form/],
    [{ login: '/login', fields: { a: 'hidden!' } }, /^session\.login: got '\/login'; allowed: the URL/],
    [{ login, fields: { a: 7 } }, /^session\.fields: got object that is not a form; allowed: texts/],
    [{ login, fields: 'hidden!' }, /^session\.fields: got string that is not a form/],
    [{ login, fields: { a: 'hidden!' }, over: {} }, /^session\.over: got no condition/],
    [{ login, fields: { a: 'hidden!' }, over: { statuses: [42] } }, /^session\.over\.statuses: got \[42\]/],
    [{ login, fields: { a: 'hidden!' }, form: 3 }, /^session\.form: got 3/],
    [{ login, fields: { a: 'hidden!' }, intervall: 3 }, /^session: got 'intervall'; allowed: the keys/],
    [{ login, fields: { a: 'hidden!' }, interval: 'soon' }, /^session\.interval: got 'soon'/],
  ])('%j are refused', (options, message) => {
    const make = () => session(options as never)
    expect(make).toThrow(message)
    expect(make).not.toThrow(/hidden!/)
  })

  test('for one origin can be given once', async () => {
    const app = await loginSite()
    const error = await rejectionOf(quick.seeds(app.url()).use(account(app)).use(account(app)).run())
    expect((error as KumoError).message).toMatch(/two sessions for http:\/\/127\.0\.0\.1/)
  })

  test('with functions are called here, or come from a module with workers', async () => {
    const app = await loginSite({ pagesPerSession: 5 })
    const fields = async () => ({ user: 'alice', password: PASSWORD })
    const over = (page: { headers: { get(name: string): string | undefined } }) =>
      page.headers.get('location')?.startsWith('/login') === true
    const own = patient.seeds(app.url()).use(account(app, { fields, over }))
    if (WORKERS > 0) {
      expect(((await rejectionOf(own.run())) as KumoError).code).toBe('KUMO_NOT_PORTABLE')
      const module = fromModule(await compiled('test/crawler/programs/session-module.ts'), {
        with: { login: app.url('/login'), user: 'alice', password: PASSWORD },
      })
      expect((await patient.seeds(app.url()).use(module).run()).pages).toBe(ALL.length)
    } else expect((await own.run()).pages).toBe(ALL.length)
    expect(app.logins).toHaveLength(2)
  })
})
