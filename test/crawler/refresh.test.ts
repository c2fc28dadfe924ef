/** Known pages are visited again: over real sockets, seen from the server's side. */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Change, type Feasibility, KumoError, level, type Page } from 'kumo'
import { describe, expect, onTestFinished, test } from 'vitest'
import { LoopTime } from '../loop-time.js'
import { isThorough } from '../thorough.js'
import { direct, site, until, WORKERS } from './support.js'

/** Everything happens within a second or two. */
const HASTY = { min: 100, max: '1s', first: 150 } as const

interface Changing {
  content: string
  etag?: string | undefined
  modified?: string | undefined
  status?: number
}

/** Pages that a test can change while they are crawled; with validators they answer 304 as they should. */
async function changing(pages: Record<string, Changing>) {
  const routes = Object.fromEntries(
    Object.keys(pages).map((path) => [
      path,
      (request: { headers: Record<string, unknown> }, response: import('node:http').ServerResponse) => {
        const { content, etag, modified, status = 200 } = pages[path]!
        const headers = {
          'content-type': 'text/html',
          ...(etag && { etag }),
          ...(modified && { 'last-modified': modified }),
        }
        if (status !== 200) return void response.writeHead(status, headers).end()
        const isKnown =
          (etag && request.headers['if-none-match'] === etag) ||
          (!etag && modified && request.headers['if-modified-since'] === modified)
        if (isKnown) return void response.writeHead(304, headers).end()
        response.writeHead(200, headers).end(content)
      },
    ]),
  )
  return site(routes as never)
}

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'kumo-refresh-'))
  onTestFinished(() => rmSync(path, { recursive: true, force: true }))
  return path
}

/** A store can be given with workers as well. */
const stored = (path: string) => direct.store(level(path)).workers(WORKERS)

const visits = (requests: readonly { path: string }[], path: string) =>
  requests.filter((request) => request.path === path).length

/** What a worker does alone is tested with workers in the thorough run only. */
const inOneThread = test.skipIf(WORKERS > 0 && !isThorough)

describe('a schedule', () => {
  test('visits pages again until it is stopped, and tells what became of them', async () => {
    const pages: Record<string, Changing> = {
      '/': { content: '<a href="/a">a</a> <a href="/b">b</a>' },
      '/a': { content: 'first', etag: '"1"' },
      '/b': { content: 'always the same' },
    }
    const { url, requests } = await changing(pages)
    const seen: [string, Change][] = []
    const crawler = direct
      .seeds(url())
      .refresh(HASTY)
      .on('page', (page) => {
        seen.push([new URL(page.url).pathname, page.change])
      })
    const run = crawler.start()
    await until(() => visits(requests, '/b') >= 2, 'a second visit')
    // Now and then a page is read as a whole to see whether the server tells the truth.
    await until(() => (run.stats()!.statuses[304] ?? 0) > 0, 'an answer that nothing has changed')
    pages['/a'] = { content: 'second', etag: '"2"' }
    await until(() => seen.some(([path, change]) => path === '/a' && change === 'changed'), 'the change')
    run.stop()
    const summary = await run.done
    expect(summary.reason).toBe('stopped')
    expect(seen.filter(([, change]) => change === 'new').sort()).toEqual([
      ['/', 'new'],
      ['/a', 'new'],
      ['/b', 'new'],
    ])
    expect(seen.filter(([, change]) => change !== 'new')).toEqual([['/a', 'changed']])
    expect(summary.changes).toMatchObject({ new: 3, changed: 1 })
    expect(summary.changes.unchanged).toBeGreaterThanOrEqual(3)
    expect(summary.pages).toBe(4)
  })

  inOneThread('ends by itself when its time is up', async () => {
    // On a busy machine the first tries may be over before the second visit.
    for (let ms = 700; ; ms *= 2) {
      const { url, requests } = await changing({ '/': { content: 'x' } })
      const summary = await direct
        .seeds(url())
        .refresh({ ...HASTY, until: ms })
        .run()
      expect(summary.reason).toBe('limit')
      if (visits(requests, '/') < 2) continue
      expect(summary.bottleneck).toBe('schedule')
      break
    }
  })

  test('links that a changed page leads to are followed', async () => {
    const pages: Record<string, Changing> = { '/': { content: 'nothing yet' }, '/new': { content: 'here' } }
    const { url, requests } = await changing(pages)
    const crawler = direct.seeds(url()).refresh({ ...HASTY, max: 500 })
    const run = crawler.start()
    await until(() => visits(requests, '/') >= 2, 'a second visit')
    pages['/'] = { content: '<a href="/new">look</a>' }
    await until(() => visits(requests, '/new') >= 2, 'visits to the new page')
    run.stop()
    await run.done
  })

  inOneThread('a page that is not there twice is gone, is tried more rarely, and may come back', async () => {
    const pages: Record<string, Changing> = {
      '/': { content: '<a href="/a">a</a>' },
      '/a': { content: 'here' },
    }
    const { url, requests } = await changing(pages)
    const seen: Page[] = []
    const crawler = direct
      .seeds(url())
      .refresh({ ...HASTY, max: 400 })
      .on('page', (page) => {
        if (page.url.endsWith('/a')) seen.push(page)
      })
    const run = crawler.start()
    await until(() => visits(requests, '/a') >= 2, 'a second visit')
    pages['/a'] = { content: '', status: 404 }
    await until(() => seen.at(-1)?.change === 'gone', 'the page to be gone')
    expect(seen.at(-1)).toMatchObject({ status: 404, body: new Uint8Array(0) })
    pages['/a'] = { content: 'here again' }
    await until(() => seen.at(-1)?.change === 'new', 'the page to be back')
    run.stop()
    const summary = await run.done
    expect(seen.map(({ change }) => change)).toEqual(['new', 'gone', 'new'])
    expect(summary.changes.gone).toBe(1)
  })

  inOneThread('unchanged pages are delivered to who asks for them', async () => {
    const { url } = await changing({ '/': { content: 'x', etag: '"1"' } })
    const seen: Page[] = []
    const crawler = direct
      .seeds(url())
      .refresh({ ...HASTY, unchanged: true })
      .on('page', (page) => {
        seen.push(page)
      })
    const run = crawler.start()
    await until(() => seen.length >= 3, 'three pages')
    run.stop()
    await run.done
    expect(seen.map(({ change }) => change).slice(0, 3)).toEqual(['new', 'unchanged', 'unchanged'])
  })

  test('every page that is delivered counts, for limits too: new, unchanged by a 304, and gone', async () => {
    // So many that not all of them are among those that are read as a whole now and then.
    const paths = Array.from({ length: 20 }, (_, i) => `/${i}`)
    const pages: Record<string, Changing> = {
      '/': { content: paths.map((path) => `<a href="${path}">x</a>`).join('') },
      '/leaves': { content: 'x' },
      ...Object.fromEntries(paths.map((path) => [path, { content: path, etag: '"1"' }])),
    }
    const { url } = await changing(pages)
    let told: Page[] = []
    const crawler = stored(folder())
      .seeds(url(), url('/leaves'))
      .refresh({ rounds: 1, unchanged: true })
      .on('page', (page) => {
        told.push(page)
      })
    expect(await crawler.run()).toMatchObject({ pages: 22 })
    pages['/leaves'] = { content: '', status: 410 }
    told = []
    const second = await crawler.run()
    expect(second).toMatchObject({ pages: 44, changes: { unchanged: 21, gone: 1 } })
    expect(told).toHaveLength(22)
    expect(told.filter(({ status }) => status === 304).length).toBeGreaterThan(0)
    told = []
    expect(await crawler.limit({ pages: 50 }).run()).toMatchObject({ pages: 50, reason: 'limit' })
    expect(told).toHaveLength(6)
  })

  inOneThread('a URL whose first visit failed is asked for again, and is new when it comes', async () => {
    const pages: Record<string, Changing> = {
      '/': { content: '<a href="/busy">a</a> <a href="/missing">b</a>' },
      '/busy': { content: 'busy', status: 503 },
      '/missing': { content: 'missing', status: 404 },
    }
    const { url, requests } = await changing(pages)
    const seen: [string, Change][] = []
    const crawler = direct
      .seeds(url())
      .retries({ times: 0, backoff: '1ms' })
      .refresh({ ...HASTY, max: 400 })
      .on('page', (page) => {
        seen.push([new URL(page.url).pathname, page.change])
      })
    const run = crawler.start()
    for (const path of ['/busy', '/missing'])
      await until(() => visits(requests, path) >= 3, `visits to ${path}`)
    expect(seen).toEqual([['/', 'new']])
    for (const path of ['/busy', '/missing']) pages[path] = { content: 'here' }
    await until(() => seen.length === 3, 'both pages')
    run.stop()
    await run.done
    expect(seen.slice(1).sort()).toEqual([
      ['/busy', 'new'],
      ['/missing', 'new'],
    ])
  })

  inOneThread('a server that lies about changes is found out', async () => {
    const pages: Record<string, Changing> = { '/': { content: 'version 0', etag: '"always"' } }
    const { url } = await changing(pages)
    let changes = 0
    const crawler = direct
      .seeds(url())
      .refresh({ ...HASTY, max: 150 })
      .on('page', ({ change }) => {
        if (change === 'changed') changes++
      })
    const run = crawler.start()
    let version = 0
    const ticking = setInterval(() => {
      pages['/'] = { content: `version ${++version}`, etag: '"always"' }
    }, 50)
    onTestFinished(() => clearInterval(ticking))
    await until(() => changes >= 5, 'changes that the server denies')
    run.stop()
    await run.done
  })

  test('pauses are kept', async () => {
    const paths = Array.from({ length: 10 }, (_, i) => `/${i}`)
    const pages = Object.fromEntries(paths.map((path) => [path, { content: path }]))
    const { url, requests } = await changing({
      ...pages,
      '/': { content: paths.map((path) => `<a href="${path}">x</a>`).join('') },
    })
    const counts = () => paths.map((path) => visits(requests, path))
    const crawler = direct
      .seeds(url())
      .delay(100)
      .refresh({ ...HASTY, max: 300, share: 0.5 })
    const run = crawler.start()
    // All are visited, none is starved.
    await until(() => Math.min(...counts()) >= 2, 'visits to all pages')
    await until(() => run.stats()?.feasibility?.feasible === false, 'what is feasible is known')
    run.stop()
    const summary = await run.done
    const gaps = requests.slice(1).map((request, i) => request.at - requests[i]!.at)
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(99)
    // Eleven pages wish a visit every 300 ms or less, and the host allows ten a second, half of them for known pages.
    expect(summary.feasibility).toMatchObject({ feasible: false, infeasibleServers: 1 })
    const { worst } = summary.feasibility!
    expect(worst[0]!.stretch).toBeGreaterThan(1)
    expect(worst[0]!.why).toContain('11 pages')
    expect(Math.max(...counts()) - Math.min(...counts())).toBeLessThanOrEqual(2)
  })

  test('an infeasible schedule is told', async () => {
    const { url } = await changing({
      '/': { content: '<a href="/a">a</a> <a href="/b">b</a> <a href="/c">c</a>' },
      '/a': { content: 'a' },
      '/b': { content: 'b' },
      '/c': { content: 'c' },
    })
    const told: Feasibility[] = []
    const crawler = direct
      .seeds(url())
      .delay(300)
      .refresh({ min: 50, max: 60, first: 50 })
      .on('feasibility', (feasibility) => {
        told.push(feasibility)
      })
    const run = crawler.start()
    await until(() => told.length > 0, 'word of it')
    expect(run.stats()!.feasibility!.feasible).toBe(false)
    run.stop()
    await run.done
    expect(told[0]).toMatchObject({ feasible: false, infeasibleServers: 1 })
  })
})

describe('passes', () => {
  test('a pass asks once for each known page, and ends', async () => {
    const pages: Record<string, Changing> = {
      '/': { content: '<a href="/a">a</a> <a href="/b">b</a>' },
      '/a': { content: 'a', modified: 'Mon, 01 Jan 2024 00:00:00 GMT' },
      '/b': { content: 'b' },
    }
    const { url, requests } = await changing(pages)
    const crawler = stored(folder()).seeds(url()).refresh({ rounds: 1 })
    expect(await crawler.run()).toMatchObject({ reason: 'done', pages: 3, changes: { new: 3 } })
    pages['/b'] = { content: 'b, with news' }
    const seen: [string, Change][] = []
    const second = await crawler
      .on('page', (page) => {
        seen.push([new URL(page.url).pathname, page.change])
      })
      .run()
    expect(seen).toEqual([['/b', 'changed']])
    expect(second.changes).toEqual({ unchanged: 2, changed: 1 })
    expect(visits(requests, '/a')).toBe(2)
    expect(visits(requests, '/b')).toBe(2)
    const third = await crawler.run()
    expect(third.changes).toEqual({ unchanged: 3 })
  })

  test('a complete pass fetches and delivers everything again, without conditions', async () => {
    const pages: Record<string, Changing> = {
      '/': { content: '<a href="/a">a</a> <a href="/b">b</a> <a href="/gone">c</a>', etag: '"1"' },
      '/a': { content: 'a', modified: 'Mon, 01 Jan 2024 00:00:00 GMT' },
      '/b': { content: 'b' },
      '/gone': { content: 'c' },
    }
    const { url, requests } = await changing(pages)
    const crawler = stored(folder()).seeds(url()).refresh({ rounds: 1 })
    await crawler.run()
    pages['/b'] = { content: 'b, with news' }
    pages['/gone'] = { content: '', status: 410 }
    requests.length = 0
    const seen: [string, Change, string][] = []
    const second = await crawler
      .refresh({ rounds: 1, complete: true })
      .on('page', (page) => {
        seen.push([new URL(page.url).pathname, page.change, page.content])
      })
      .run()
    expect(seen.sort()).toEqual([
      ['/', 'changed', pages['/']!.content],
      ['/a', 'changed', 'a'],
      ['/b', 'changed', 'b, with news'],
      ['/gone', 'gone', ''],
    ])
    for (const { headers } of requests) {
      expect(headers['if-none-match']).toBeUndefined()
      expect(headers['if-modified-since']).toBeUndefined()
    }
    // The counts say what really happened, and so does the history of each page.
    expect(second.changes).toEqual({ unchanged: 2, changed: 1, gone: 1 })
    expect((await crawler.run()).changes).toEqual({ unchanged: 3 })
    // A page that is gone is otherwise left out of most passes.
    requests.length = 0
    await crawler.refresh({ rounds: 1, complete: true }).run()
    expect(visits(requests, '/gone')).toBe(1)
  })

  test('a complete pass needs passes', () => {
    expect(() => direct.refresh({ complete: true })).toThrow(
      expect.objectContaining({ code: 'KUMO_INVALID_OPTION' }),
    )
  })

  inOneThread('the next pass asks for what failed at first, later ones ever more rarely', async () => {
    const pages: Record<string, Changing> = {
      '/': { content: '<a href="/back">a</a> <a href="/never">b</a>' },
      '/back': { content: 'back', status: 404 },
      '/never': { content: 'never', status: 404 },
    }
    const { url, requests } = await changing(pages)
    const crawler = stored(folder()).seeds(url()).refresh({ rounds: 1 })
    expect((await crawler.run()).changes).toEqual({ new: 1 })
    pages['/back'] = { content: 'well again' }
    expect((await crawler.run()).changes).toEqual({ unchanged: 1, new: 1 })
    for (let pass = 3; pass <= 8; pass++) expect((await crawler.run()).changes).toEqual({ unchanged: 2 })
    expect(visits(requests, '/back')).toBe(8)
    // In passes 1, 2, 4 and 8.
    expect(visits(requests, '/never')).toBe(4)
  })

  inOneThread('what failed at first takes a place of its host when it comes', async () => {
    const pages: Record<string, Changing> = {
      '/': { content: '<a href="/a">a</a> <a href="/b">b</a>' },
      '/a': { content: 'a', status: 503 },
      '/b': { content: 'b', status: 503 },
    }
    const { url } = await changing(pages)
    const crawler = stored(folder())
      .seeds(url())
      .retries({ times: 0, backoff: '1ms' })
      .limit({ pagesPerHost: 2 })
      .refresh({ rounds: 1 })
    expect((await crawler.run()).changes).toEqual({ new: 1 })
    for (const path of ['/a', '/b']) pages[path] = { content: path }
    expect((await crawler.run()).changes).toEqual({ unchanged: 1, new: 1 })
    expect((await crawler.run()).changes).toEqual({ unchanged: 2 })
  })

  test('several passes follow one another', async () => {
    const { url, requests } = await changing({
      '/': { content: '<a href="/a">a</a>' },
      '/a': { content: 'a' },
    })
    const summary = await direct.seeds(url()).refresh({ rounds: 3 }).run()
    expect(summary.changes).toEqual({ new: 2, unchanged: 4 })
    expect([visits(requests, '/'), visits(requests, '/a')]).toEqual([3, 3])
  })

  test('a pass that was stopped goes on with the pages that it had not reached', async () => {
    const paths = Array.from({ length: 12 }, (_, i) => `/${i}`)
    const { url, requests } = await changing({
      '/': { content: paths.map((path) => `<a href="${path}">x</a>`).join('') },
      ...Object.fromEntries(paths.map((path) => [path, { content: path }])),
    })
    const crawler = stored(folder()).concurrency(1).seeds(url()).refresh({ rounds: 1, unchanged: true })
    await crawler.run()
    let pages = 0
    const run = crawler.start()
    run.on('page', () => {
      if (++pages === 5) run.stop()
    })
    expect(await run.done).toMatchObject({ reason: 'stopped' })
    expect(await crawler.run()).toMatchObject({ reason: 'done' })
    for (const path of ['/', ...paths]) expect([path, visits(requests, path)]).toEqual([path, 2])
  })
})

describe('what a store remembers', () => {
  test('a schedule goes on after a restart', async () => {
    const pages: Record<string, Changing> = {
      '/': { content: '<a href="/a">a</a>' },
      '/a': { content: 'a', etag: '"1"' },
    }
    const { url, requests } = await changing(pages)
    const path = folder()
    const crawler = stored(path).seeds(url()).refresh({ min: 300, max: '10s', first: '1s' })
    const first = crawler.start()
    await until(() => first.stats()?.pages === 2, 'both pages')
    first.stop()
    expect(await first.done).toMatchObject({ pages: 2, pending: 2 })
    pages['/a'] = { content: 'another', etag: '"2"' }
    const seen: [string, Change][] = []
    const again = crawler.on('page', (page) => {
      seen.push([new URL(page.url).pathname, page.change])
    })
    const run = again.start()
    await until(() => seen.length > 0, 'the change')
    run.stop()
    await run.done
    expect(seen).toEqual([['/a', 'changed']])
    const second = requests.filter((request) => request.path === '/a')[1]!
    expect(second.headers['if-none-match'] ?? 'plain').toMatch(/"1"|plain/)
  })

  test('a crawl that would not refresh it is refused, and passes as well', async () => {
    const { url } = await changing({ '/': { content: 'x' } })
    const path = folder()
    const run = stored(path).seeds(url()).refresh(HASTY).start()
    run.on('page', () => run.stop())
    await run.done
    const refused = { code: 'KUMO_STORE_MISMATCH' }
    await expect(stored(path).seeds(url()).run()).rejects.toMatchObject(refused)
    await expect(stored(path).seeds(url()).refresh({ rounds: 1 }).run()).rejects.toMatchObject(refused)
  })

  test('a schedule that begins after passes and is stopped at once loses no page', async () => {
    const paths = Array.from({ length: 40 }, (_, i) => `/${i}`)
    const { url, requests } = await changing({
      '/': { content: paths.map((path) => `<a href="${path}">x</a>`).join('') },
      ...Object.fromEntries(paths.map((path) => [path, { content: path }])),
    })
    const path = folder()
    await stored(path).seeds(url()).refresh({ rounds: 1 }).run()
    const crawler = stored(path).delay(20).seeds(url()).refresh({ first: '1h', min: '1h', until: 120 })
    await crawler.run()
    const before = requests.length
    expect(before).toBeLessThan(2 * (paths.length + 1))
    const rest = crawler.refresh({ first: '1h', min: '1h' })
    const run = rest.start()
    await until(() => requests.length >= 2 * (paths.length + 1), 'the rest')
    run.stop()
    expect(await run.done).toMatchObject({ pending: paths.length + 1 })
    for (const each of ['/', ...paths]) expect([each, visits(requests, each)]).toEqual([each, 2])
  })

  test('after passes a schedule can begin', async () => {
    const { url, requests } = await changing({
      '/': { content: '<a href="/a">a</a>' },
      '/a': { content: 'a' },
    })
    const path = folder()
    await stored(path).seeds(url()).refresh({ rounds: 1 }).run()
    const crawler = stored(path).seeds(url()).refresh(HASTY)
    const run = crawler.start()
    await until(() => visits(requests, '/a') >= 4, 'visits by the schedule')
    run.stop()
    await run.done
  })
})

describe('what is brought in', () => {
  test('seeds are read as they are needed, and none is forgotten because known pages wait', async () => {
    const hosts = 1500
    const { url, requests } = await site({ '/': 'x' })
    const seeds = Array.from({ length: hosts }, (_, i) => url('/', `127.0.${10 + (i >> 7)}.${(i & 127) + 1}`))
    let read = 0
    function* reading() {
      for (const seed of seeds) {
        read++
        yield seed
      }
    }
    const crawler = direct.concurrency(20).seeds(reading()).refresh({ first: '1d' })
    const run = crawler.start()
    await until(() => (run.stats()?.pages ?? 0) > 0, 'the first page')
    await until(() => run.stats()!.pages === hosts, 'all pages')
    expect(read).toBe(hosts)
    expect(run.stats()).toMatchObject({ pending: hosts, bottleneck: expect.any(String) })
    run.stop()
    await run.done
    expect(requests).toHaveLength(hosts)
  })

  test('the time of a run ends passes as well', async () => {
    const { url } = await changing({ '/': { content: '<a href="/a">a</a>' }, '/a': { content: 'a' } })
    const time = new LoopTime()
    const summary = await direct.delay(50).seeds(url()).refresh({ rounds: 100_000, until: 600 }).run()
    expect(summary.reason).toBe('limit')
    expect(time.stop()).toBeLessThan(5000)
  })

  test('known pages take no place of new ones', async () => {
    const pages: Record<string, Changing> = {
      '/': { content: '<a href="/a">a</a>' },
      '/a': { content: 'a' },
      '/b': { content: 'b' },
    }
    const { url } = await changing(pages)
    const path = folder()
    const pass = () => stored(path).seeds(url()).limit({ pagesPerHost: 3 }).refresh({ rounds: 1 }).run()
    expect((await pass()).changes).toEqual({ new: 2 })
    for (const version of ['second', 'third']) {
      pages['/'] = { content: `<a href="/a">a</a> ${version}` }
      pages['/a'] = { content: `a, the ${version}` }
      expect((await pass()).changes).toEqual({ changed: 2 })
    }
    pages['/'] = { content: '<a href="/b">b</a>' }
    expect((await pass()).changes).toEqual({ changed: 1, unchanged: 1, new: 1 })
  })
})

describe('a page that has become something else', () => {
  inOneThread('is gone when it is no page any more', async () => {
    let isFilm = false
    const { url } = await site({
      '/': (_, response) => {
        response.writeHead(200, { 'content-type': isFilm ? 'video/mp4' : 'text/html' }).end('x')
      },
    })
    const seen: Change[] = []
    const crawler = direct
      .seeds(url())
      .refresh({ ...HASTY, max: 300 })
      .on('page', ({ change }) => {
        seen.push(change)
      })
    const run = crawler.start()
    await until(() => seen.length === 1, 'the page')
    isFilm = true
    await until(() => seen.length === 2, 'its end')
    run.stop()
    await run.done
    expect(seen).toEqual(['new', 'gone'])
  })
})

describe('a digest of one’s own', () => {
  inOneThread('decides what is a change', async () => {
    const pages: Record<string, Changing> = { '/': { content: '<p>count 1</p><b>stays</b>' } }
    const { url, requests } = await changing(pages)
    const changes: Change[] = []
    const crawler = direct
      .workers(0)
      .seeds(url())
      .refresh({ ...HASTY, max: 400, digest: ({ content }) => /<b>(.*?)<\/b>/.exec(content)?.[1] ?? '' })
      .on('page', ({ change }) => {
        changes.push(change)
      })
    const run = crawler.start()
    await until(() => visits(requests, '/') >= 2, 'a second visit')
    pages['/'] = { content: '<p>count 2</p><b>stays</b>' }
    const before = visits(requests, '/')
    await until(() => visits(requests, '/') >= before + 2, 'visits after the first change')
    expect(changes).toEqual(['new'])
    pages['/'] = { content: '<p>count 2</p><b>moves</b>' }
    await until(() => changes.length === 2, 'the change that counts')
    run.stop()
    await run.done
    expect(changes).toEqual(['new', 'changed'])
  })

  inOneThread('that throws harms nobody', async () => {
    const { url } = await changing({ '/': { content: 'x' } })
    const summary = await direct
      .workers(0)
      .seeds(url())
      .refresh({
        rounds: 2,
        digest() {
          throw new Error('no')
        },
      })
      .run()
    expect(summary.changes).toMatchObject({ new: 1 })
  })
})

test('typos are told by name', () => {
  const typo = (rules: object) => () => direct.refresh(rules as never)
  expect(typo({ mni: '1h' })).toThrow(/refresh.*mni/)
  expect(typo({ min: '2h', max: '1h' })).toThrow(/refresh\.min/)
  expect(typo({ target: 1 })).toThrow(/refresh\.target/)
  expect(typo({ policy: 'edt' })).toThrow(/refresh\.policy.*'edf'/)
  expect(typo({ rounds: 0 })).toThrow(/refresh\.rounds/)
  expect(typo({ until: new Date(Number.NaN) })).toThrow(/refresh\.until/)
  expect(typo({ share: 0 })).toThrow(KumoError)
})
