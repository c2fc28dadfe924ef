/** Requests with a method and a body, as servers see them: sent once, redirected and retried by the rules. */

import { mkdtempSync, rmSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type KumoError, level } from 'kumo'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { Route } from '../loopback/site.js'
import { crawl, direct, pathsOf, rawServer, reply, site, WORKERS } from './support.js'

const FAST = { backoff: '10ms', maxBackoff: '20ms', cooldownAfter: 1000 } as const

/** A route that keeps the body of each request, and answers. */
function receiving(bodies: string[], answer: Route): Route {
  return async (request, response) => {
    bodies.push(await textOf(request))
    if (typeof answer === 'function') answer(request, response)
    else if (typeof answer === 'string') response.writeHead(200, { 'content-type': 'text/html' }).end(answer)
    else response.writeHead(answer.status ?? 200, answer.headers).end(answer.body)
  }
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}

const lines = (requests: readonly { method: string; path: string }[]) =>
  requests.map(({ method, path }) => `${method} ${path}`)

describe('a POST', () => {
  test('is sent with its body, and is another page than the GET of its URL', async () => {
    const bodies: string[] = []
    const started = await site({ '/search': receiving(bodies, '<title>found</title>') })
    const url = started.url('/search')
    const { pages } = await crawl(
      direct.seeds(
        url,
        { url, body: new URLSearchParams({ q: '蜘蛛' }), label: 'search', data: { page: 1 } },
        { url, body: new URLSearchParams({ q: 'kumo' }), headers: { 'x-own': 'yes' } },
        { url, body: new URLSearchParams({ q: 'kumo' }) },
      ),
    )
    expect(pages).toHaveLength(3)
    expect(new Set(pages.map(({ id }) => id)).size).toBe(3)
    expect(bodies.sort()).toEqual(['', 'q=%E8%9C%98%E8%9B%9B', 'q=kumo'])
    expect(pages.find(({ request }) => request.label === 'search')?.request).toEqual({
      method: 'POST',
      label: 'search',
      data: { page: 1 },
      priority: 0,
    })
    const posts = started.requests.filter(({ method }) => method === 'POST')
    expect(posts.map(({ headers }) => headers['content-type'])).toEqual(
      Array(2).fill('application/x-www-form-urlencoded;charset=UTF-8'),
    )
    expect(posts.map(({ headers }) => headers['x-own']).sort()).toEqual(['yes', undefined])
  })

  test.each([
    [301, ['POST /form', 'GET /next'], ['a=1', '']],
    [302, ['POST /form', 'GET /next'], ['a=1', '']],
    [303, ['POST /form', 'GET /next'], ['a=1', '']],
    [307, ['POST /form', 'POST /next'], ['a=1', 'a=1']],
    [308, ['POST /form', 'POST /next'], ['a=1', 'a=1']],
  ])('is redirected by %i', async (status, asked, expected) => {
    const bodies: string[] = []
    const started = await site({
      '/form': receiving(bodies, { status, headers: { location: '/next' } }),
      '/next': receiving(bodies, 'end'),
    })
    const seed = {
      url: started.url('/form'),
      body: 'a=1',
      label: 'form',
      data: { n: 1 },
      headers: { 'x-own': 'yes' },
    }
    const { pages, redirects } = await crawl(direct.seeds(seed))
    expect(lines(started.requests)).toEqual(asked)
    expect(bodies).toEqual(expected)
    const method = asked[1]!.split(' ')[0]
    expect(pages).toMatchObject([
      {
        url: started.url('/next'),
        redirectedFrom: [started.url('/form')],
        request: { method, label: 'form', data: { n: 1 } },
      },
    ])
    expect(redirects).toMatchObject([
      { to: started.url('/next'), request: { method: 'POST', label: 'form' } },
    ])
    const next = started.requests[1]!.headers
    expect(next['x-own'], 'the origin is the same').toBe('yes')
    expect(next['content-type']).toBe(method === 'GET' ? undefined : 'text/plain;charset=UTF-8')
  })

  test('may redirect to its own URL, and the way back to it is no loop', async () => {
    const started = await site({
      '/login': (request, response) =>
        request.method === 'POST'
          ? response.writeHead(303, { location: '/home' }).end()
          : response.writeHead(200, { 'content-type': 'text/html' }).end('welcome'),
      '/home': { status: 302, headers: { location: '/login' } },
    })
    const { pages, failures } = await crawl(direct.seeds({ url: started.url('/login'), body: 'user=a' }))
    expect(failures).toEqual([])
    expect(lines(started.requests)).toEqual(['POST /login', 'GET /home', 'GET /login'])
    expect(pages[0]!.redirectedFrom).toEqual([started.url('/login'), started.url('/home')])
  })

  test.each([302, 307])('takes no header of its own to another origin after %i', async (status) => {
    const elsewhere = await site({ '/next': 'end' })
    const started = await site({
      '/form': { status, headers: { location: elsewhere.url('/next', '127.0.0.2') } },
    })
    const secret = { authorization: 'Bearer secret', cookie: 'sid=secret', 'x-token': 'secret' }
    const seed = { url: started.url('/form'), body: 'a=1', headers: secret, label: 'form' }
    const crawler = direct.scope('all').allowPrivate('127.0.0.2').headers({ 'x-crawl': 'secret' })
    const { pages } = await crawl(crawler.seeds(seed))
    expect(pages).toMatchObject([{ request: { label: 'form' } }])
    expect(started.requests[0]!.headers).toMatchObject({ ...secret, 'x-crawl': 'secret' })
    expect(JSON.stringify(elsewhere.requests)).not.toContain('secret')
  })
})

describe('a request that failed', () => {
  const failing = (status: number): Route => ({ status })

  test('is retried if it is idempotent, and if retries({ when }) allows it', async () => {
    const started = await site({ '/503': failing(503), '/500': failing(500) })
    const when = new URL('./programs/retry-when.mjs', import.meta.url)
    const seeds = (['GET', 'PUT', 'POST', 'PATCH'] as const).flatMap((method) => [
      { url: started.url(`/503?${method}`), method },
      { url: started.url(`/500?${method}`), method },
    ])
    const asked = async (rules: object) => {
      started.requests.length = 0
      await crawl(direct.retries({ times: 1, ...FAST, ...rules }).seeds(seeds))
      return seeds.map(({ url }) => started.requests.filter(({ path }) => url.endsWith(path)).length)
    }
    //                              GET   PUT   POST  PATCH: 503, 500
    expect(await asked({})).toEqual([2, 2, 2, 2, 1, 1, 1, 1])
    expect(await asked({ when })).toEqual([2, 1, 2, 1, 2, 1, 1, 1])
    expect(await asked({ statuses: [500] })).toEqual([1, 2, 1, 2, 1, 1, 1, 1])
  })

  test('with a status that only the user wants to retry does not trouble its host', async () => {
    let asked = 0
    const started = await site({
      '/': (_, response) =>
        response.writeHead(++asked > 3 ? 200 : 404, { 'content-type': 'text/html' }).end('here'),
    })
    const rules = {
      times: 5,
      statuses: [404],
      backoff: '10ms',
      maxBackoff: '20ms',
      cooldownAfter: 1,
    } as const
    const { pages, failures } = await crawl(direct.retries(rules).seeds(started.url()))
    expect(pages).toHaveLength(1)
    expect(failures.map(({ final }) => final)).toEqual([false, false, false])
  })

  test('is given up if the function throws, and the crawl goes on', async () => {
    const started = await site({ '/bad': { status: 503 }, '/good': 'fine' })
    const when = new URL(`data:text/javascript,export default () => { throw new Error('oh no') }`)
    const crawler = direct.retries({ ...FAST, when }).seeds(started.url('/bad'), started.url('/good'))
    const { pages, failures } = await crawl(crawler)
    expect(pathsOf(pages)).toEqual(['/good'])
    expect(failures).toMatchObject([{ code: 'http-status', status: 503, final: true }])
    expect(failures[0]!.message).toMatch(/retries\(\{ when \}\) failed: oh no/)
  })

  test('is not sent again, although the connection broke', async () => {
    const server = await rawServer(({ socket, path }) =>
      path === '/first' ? void socket.write(reply('fine')) : void socket.destroy(),
    )
    const crawler = direct.retries({ times: 3, ...FAST })
    const { failures } = await crawl(
      crawler.seeds(server.url('/first'), { url: server.url('/post'), method: 'POST', priority: -1 }),
    )
    expect(failures).toMatchObject([{ code: 'connection-lost', final: true, request: { method: 'POST' } }])
    expect(server.requests.filter((line) => line.startsWith('POST'))).toHaveLength(1)
  })

  test.runIf(WORKERS > 0)('a function for workers must be in a module', async () => {
    const error = await direct
      .retries({ when: () => true })
      .seeds('http://127.0.0.1:1/')
      .run()
      .catch((reason: KumoError) => reason)
    expect(error).toMatchObject({ code: 'KUMO_NOT_PORTABLE' })
    expect((error as KumoError).message).toContain('.retries({ when: new URL(')
  })
})

describe('HEAD', () => {
  test('is a page without a body, whatever its media type and its length, also after redirects', async () => {
    const started = await site({
      '/moved': { status: 303, headers: { location: '/film.mp4' } },
      '/film.mp4': { headers: { 'content-type': 'video/mp4', 'content-length': '99999999999' } },
    })
    const { pages, skips, failures } = await crawl(
      direct.seeds({ url: started.url('/moved'), method: 'HEAD' }, started.url('/film.mp4')),
    )
    expect(failures).toEqual([])
    expect(pages).toMatchObject([{ url: started.url('/film.mp4'), status: 200, request: { method: 'HEAD' } }])
    expect(pages[0]!.body).toHaveLength(0)
    expect(skips).toMatchObject([{ reason: 'media-type', request: { method: 'GET' } }])
    expect(lines(started.requests).sort()).toEqual(['GET /film.mp4', 'HEAD /film.mp4', 'HEAD /moved'])
  })
})

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), 'kumo-methods-'))
  onTestFinished(() => rmSync(made, { recursive: true }))
  return made
}

test('retryFailed() sends what was given up as it was', async () => {
  const bodies: string[] = []
  let status = 404
  const started = await site({
    '/form': receiving(bodies, (_, response) =>
      response.writeHead(status, { 'content-type': 'text/html' }).end('<title>done</title>'),
    ),
  })
  const url = started.url('/form')
  const crawler = direct
    .store(level(folder()))
    .seeds(url, { url, body: 'a=1', label: 'form', data: [1], priority: 3 })
  expect((await crawl(crawler)).summary.failed).toBe(2)
  status = 200
  const { pages } = await crawl(crawler.retryFailed())
  expect(bodies.sort()).toEqual(['', '', 'a=1', 'a=1'])
  expect(pages.map(({ request }) => request.label).sort()).toEqual(['form', undefined])
  expect(pages.find(({ request }) => request.label === 'form')!.request).toEqual({
    method: 'POST',
    label: 'form',
    data: [1],
    priority: 3,
  })
})

describe('revisits', () => {
  test('repeat requests that only read, with label and headers, and no others', async () => {
    const started = await site({
      '/': (_, response) => response.writeHead(200, { 'content-type': 'text/html', etag: '"1"' }).end('same'),
    })
    const url = started.url()
    const crawler = direct
      .store(level(folder()))
      .refresh({ rounds: 2, unchanged: true })
      .seeds(
        { url, label: 'get', data: { n: 1 }, headers: { 'x-own': 'yes' } },
        { url, method: 'HEAD', label: 'head' },
        { url, method: 'POST', body: 'a', label: 'post' },
      )
    const { pages } = await crawl(crawler)
    const asked = started.requests.map(({ method }) => method).sort()
    expect(asked).toEqual(['GET', 'GET', 'HEAD', 'HEAD', 'POST'])
    expect(pages.map(({ request }) => request.label).sort()).toEqual(['get', 'get', 'head', 'head', 'post'])
    for (const { method, headers } of started.requests)
      if (method === 'GET') expect(headers['x-own']).toBe('yes')
    expect(pages.filter(({ request }) => request.label === 'get').map(({ request }) => request.data)).toEqual(
      [{ n: 1 }, { n: 1 }],
    )
  })
})
