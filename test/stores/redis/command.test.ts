/** The command line and `inspectCrawl` with a crawl in Redis. */

import { get } from 'node:http'
import { createServer } from 'node:net'
import { Crawler, type Inspection, inspectCrawl } from 'kumo'
import { redis } from 'kumo/redis'
import { describe, expect, test } from 'vitest'
import { askedPaths, linkedPages, rejectionOf, site, until } from '../../crawler/support.js'
import { runProgram } from '../../run-program.js'
import { whyNoRedis } from './server.js'
import { newCrawl, useServer } from './support.js'

const COUNT = 8

describe.skipIf(whyNoRedis())(`commands${whyNoRedis() ? `: ${whyNoRedis()}` : ''}`, () => {
  const server = useServer()
  const kumo = (...args: string[]) => runProgram('src/cli/main.ts', args)

  test('a crawl that is stopped, looked at, continued from the command line and inspected there', async () => {
    const web = await site(linkedPages(COUNT))
    const where = `${server.url}?crawl=${newCrawl()}`
    const run = new Crawler()
      .seeds(web.url('/'), web.url('/gone'))
      .robots(false)
      .delay(0)
      .store(redis(where))
      .limit({ pages: 3 })
      .start()
    await until(() => run.health() !== undefined, 'it runs')
    const { pages } = await run.done
    expect(pages).toBe(3)
    const before = Object.keys(await server.redis.hgetall(`{kumo:${where.split('=')[1]}}:n`)).length
    const stopped = await inspectCrawl(where, { hosts: 1 })
    expect(stopped).toMatchObject({
      path: where.replace('?', '/0?'),
      ...{ format: 1, state: 'limit', inUse: false, runs: 1, pages: 3, known: COUNT + 1 },
      hosts: { total: 1, withMostPending: [{ host: `127.0.0.1:${web.port}`, pending: stopped.pending }] },
    })
    expect(stopped.pending).toBeGreaterThanOrEqual(COUNT - 3)
    expect(stopped.bytesOnDisk).toBeGreaterThan(1000)
    expect(Math.abs(stopped.lastCommitAt - Date.now())).toBeLessThan(60_000)
    expect(Object.keys(await server.redis.hgetall(`{kumo:${where.split('=')[1]}}:n`))).toHaveLength(before)

    const args = [web.url('/'), '--no-robots', '--delay', '0', '--retries', '0', '--store', where]
    const crawled = await kumo('crawl', ...args)
    expect(crawled.code).toBe(0)
    expect(crawled.stderr).toMatch(/Done: /)
    expect(askedPaths(web).filter((path) => path !== '/gone')).toHaveLength(COUNT)
    const { stdout, code } = await kumo('inspect', where, '--json')
    expect(code).toBe(0)
    expect(JSON.parse(stdout) as Inspection).toMatchObject({
      state: 'done',
      pages: COUNT,
      pending: 0,
      failed: 1,
    })
    const report = await kumo('inspect', where)
    expect(report.stdout).toMatch(/^in Redis +\d/m)
    expect(report.stdout).toMatch(/http-status 404/)
  })

  test('what is wrong with an address', async () => {
    const messages = [
      [`${server.url}?crawl=none`, /there is no crawl 'none'/],
      [server.url, /\?crawl=news at the end/],
      [`${server.url}?carwl=news`, /the parameter 'carwl'/],
      ['redis://me:secret@127.0.0.1:1?crawl=a', /could not connect to redis:\/\/127\.0\.0\.1:1/],
    ] as const
    for (const [where, message] of messages) {
      const error = (await rejectionOf(inspectCrawl(where))) as Error
      expect(error.message).toMatch(message)
      expect(error.message).not.toMatch(/secret/)
    }
    const wrong = await kumo('crawl', 'http://a.example/', '--store', `${server.url}?crawl=a`, '--repair')
    expect(wrong.stderr).toMatch(/--repair is about a folder/)
  })

  test('--health answers while the crawl runs, and a port that is taken is an error', async () => {
    const web = await site({ '/': 'home', '/late': (_, response) => void held.push(() => response.end()) })
    const held: (() => void)[] = []
    const port = await freePort()
    const args = ['crawl', web.url('/late'), '--no-robots', '--store', `${server.url}?crawl=${newCrawl()}`]
    const crawl = kumo(...args, '--health', String(port))
    await until(() => held.length > 0, 'a visit')
    const { status, text } = await answer(port)
    expect(status).toBe(200)
    expect(JSON.parse(text)).toMatchObject({ ok: true, inFlight: 1, store: { isReachable: true, nodes: 1 } })
    const other = await kumo('crawl', web.url('/'), '--no-robots', '--health', String(port))
    expect(other.code).not.toBe(0)
    expect(other.stderr).toMatch(/--health: cannot listen on 127\.0\.0\.1:\d+: .*EADDRINUSE/)
    for (const release of held) release()
    await crawl
    const invalid = await kumo('crawl', web.url('/'), '--health', 'x')
    expect(invalid.stderr).toMatch(/--health: got 'x'; allowed: a port/)
  })
})

function answer(port: number): Promise<{ status: number | undefined; text: string }> {
  return new Promise((resolve, reject) => {
    get({ port, host: '127.0.0.1' }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (part: string) => {
        text += part
      })
      response.on('end', () => resolve({ status: response.statusCode, text }))
    }).on('error', reject)
  })
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number }
      server.close(() => resolve(port))
    })
  })
}
