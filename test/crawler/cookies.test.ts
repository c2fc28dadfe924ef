/** Cookies stay with their host: over a restart, after a kill, and when the host moves to another worker. */

import { chmod, stat } from 'node:fs/promises'
import { Crawler, inspectCrawl, level } from 'kumo'
import { byHost } from 'kumo/adapters'
import { describe, expect, test } from 'vitest'
import type { LoopbackSite, Route } from '../loopback/site.js'
import { runProgram } from '../run-program.js'
import { folder } from '../stores/level/folders.js'
import { direct, linksTo, site, WORKERS } from './support.js'

const PAGES = 12

const pathsOf = (pages: number) => Array.from({ length: pages }, (_, i) => (i === 0 ? '/' : `/${i}`))

/** Pages that give each visitor without a session a new one, and count those that they gave, by host. */
async function shop(
  more = '',
  pages = PAGES,
  ms = 0,
): Promise<LoopbackSite & { readonly given: Map<string, number>; answers: number }> {
  const given = new Map<string, number>()
  const paths = pathsOf(pages)
  const page: Route = (request, response) => {
    const host = request.headers.host!
    const visitor = /sid=([^;]+)/.exec(request.headers.cookie ?? '')?.[1]
    if (visitor === undefined) {
      given.set(host, (given.get(host) ?? 0) + 1)
      response.setHeader('set-cookie', [
        `sid=secret-${host}-${given.get(host)}; Path=/`,
        ...(more ? [more] : []),
      ])
    }
    if (shop.answers-- <= 0) return
    const answer = () => response.writeHead(200, { 'content-type': 'text/html' }).end(linksTo(...paths))
    if (ms > 0) setTimeout(answer, ms)
    else answer()
  }
  const started = await site(Object.fromEntries(paths.map((path) => [path, page])))
  const shop = Object.assign(started, { given, answers: Number.POSITIVE_INFINITY })
  return shop
}

const cookiesOf = ({ requests }: LoopbackSite) => requests.map(({ headers }) => headers.cookie)

describe('a stored crawl', () => {
  const stored = (path: string) => direct.store(level(path)).workers(WORKERS).cookies()

  test('has its cookies again in the next run, those of the session too', async () => {
    const host = await shop('lang=ja; Path=/; Max-Age=3600')
    const path = await folder()
    await stored(path).seeds(host.url()).limit({ pages: 3 }).run()
    const before = host.requests.length
    const { pages } = await stored(path).seeds(host.url()).run()
    expect(pages).toBe(PAGES)
    expect([...host.given.values()]).toEqual([1])
    expect(new Set(cookiesOf(host).slice(before))).toEqual(
      new Set([`sid=secret-127.0.0.1:${host.port}-1; lang=ja`]),
    )
  })

  test('does not send a cookie that expired in the meantime', async () => {
    const host = await shop('brief=1; Path=/; Max-Age=1')
    const path = await folder()
    await stored(path).seeds(host.url()).limit({ pages: 3 }).run()
    expect(cookiesOf(host)[1]).toContain('brief=1')
    await new Promise((resolve) => setTimeout(resolve, 1100))
    const before = host.requests.length
    await stored(path).seeds(host.url()).run()
    for (const cookie of cookiesOf(host).slice(before)) expect(cookie).toMatch(/^sid=secret-[^;]+$/)
  })

  test.skipIf(process.platform === 'win32')('is for its owner only, and does not show cookies', async () => {
    const host = await shop()
    const path = await folder()
    await chmod(path, 0o755)
    await direct.store(level(path)).workers(WORKERS).seeds(host.url()).limit({ pages: 1 }).run()
    expect((await stat(path)).mode & 0o777).toBe(0o755)
    await stored(path).seeds(host.url()).limit({ pages: 4 }).run()
    expect((await stat(path)).mode & 0o777).toBe(0o700)
    expect(JSON.stringify(await inspectCrawl(path))).not.toContain('secret-')
  })

  test('has them after a kill', async () => {
    const host = await shop()
    const path = await folder()
    const args = [path, String(WORKERS), host.url()]
    host.answers = 5
    await runProgram('test/crawler/programs/with-cookies.ts', args, {
      onStart(child) {
        const watching = setInterval(() => {
          if (host.requests.length < 6) return
          clearInterval(watching)
          // A commit takes a few milliseconds.
          setTimeout(() => child.kill('SIGKILL'), 150)
        }, 2)
        child.once('close', () => clearInterval(watching))
      },
    })
    host.answers = Number.POSITIVE_INFINITY
    const killedAt = host.requests.length
    expect(killedAt).toBe(6)
    await stored(path).seeds(host.url()).run()
    expect(host.requests.length).toBeGreaterThan(killedAt)
    expect([...host.given.values()]).toEqual([1])
  })
})

describe.runIf(WORKERS > 0).each(['memory', 'level'])('with the %s store', (kind) => {
  test('cookies follow their hosts to another worker', async () => {
    const shops = await shop('', 40, 25)
    const { partition } = byHost()
    const names = Array.from({ length: 250 }, (_, i) => `127.0.9.${i + 1}`)
    // All of them belong to the first of two workers.
    const hosts = names.filter((name) => partition(`${name}:${shops.port}`) % 2 === 0).slice(0, 10)
    const crawler = new Crawler().robots(false).cookies().delay(20).concurrency(6).workers(2)
    const all = crawler.seeds(hosts.map((host) => shops.url('/', host)))
    const summary = await (kind === 'level' ? all.store(level(await folder())) : all).run()
    expect(summary).toMatchObject({ reason: 'done', pages: hosts.length * 40 })
    expect(summary.workers[1]!.partitions).toBeGreaterThan(512)
    expect(summary.workers[1]!.pages).toBeGreaterThan(0)
    expect([...shops.given.values()]).toEqual(hosts.map(() => 1))
  })
})
