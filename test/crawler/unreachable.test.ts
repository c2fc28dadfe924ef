import { createServer } from 'node:net'
import { Crawler, type Failure } from 'kumo'
import { cachingResolver, type Resolver } from 'kumo/adapters'
import { virtualClock } from 'kumo/sim'
import { describe, expect, it, onTestFinished } from 'vitest'
import { dnsServer, type Reply } from '../fetch/dns/dns-server.js'
import { startSite } from '../loopback/site.js'
import { crawl, linksTo, quick, site } from './support.js'

async function closedPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as { port: number }
  await new Promise((resolve) => server.close(resolve))
  return port
}

describe('a host that cannot be reached', () => {
  it('fails with its code, not as if robots.txt had closed it, and holds nobody up', async () => {
    const site = await startSite({ '/': '<a href="/b">b</a>', '/b': 'b' })
    const dead = `http://127.0.0.1:${await closedPort()}/`
    const failures: Failure[] = []
    const summary = await new Crawler()
      .seeds(dead, site.url('/'))
      .delay('1ms')
      .on('failure', (failure) => failures.push(failure))
      .run()
    await site.close()
    expect(summary.pages).toBe(2)
    expect(summary.skips).toEqual({})
    expect(summary.failures).toEqual({ 'connect-failed': 1 })
    expect(failures.map(({ url, code, final }) => ({ url, code, final }))).toEqual([
      { url: dead, code: 'connect-failed', final: true },
    ])
  })

  it('fails for each of its pages, after robots.txt was asked for three times only', async () => {
    const asked: string[] = []
    const clock = virtualClock()
    const run = new Crawler()
      .seeds('https://dead.example/a', 'https://dead.example/b', 'https://dead.example/c')
      .clock(clock)
      .fetcher(({ url }) => {
        asked.push(url)
        return { ok: false, code: 'dns-failed', message: 'dead.example has no address.' }
      })
      .run()
    const summary = await clock.run(run)
    expect(summary.failures).toEqual({ 'dns-failed': 3 })
    expect(asked).toEqual(Array(3).fill('https://dead.example/robots.txt'))
  })
})

describe('a name that is not found at first', () => {
  it.each<[reply: Reply, robots: boolean]>([
    ['servfail', false],
    ['servfail', true],
    ['nxdomain', false],
    ['nxdomain', true],
    ['silent', false],
  ])('is asked for again by the retry: %s, robots.txt: %s', async (reply, robots) => {
    const { url } = await site({ '/': linksTo('/a'), '/a': 'a' })
    const failed = new Set<string>()
    const server = await dnsServer(({ name }) => (failed.has(name) ? { addresses: ['127.0.0.1'] } : reply))
    const asked = cachingResolver({ servers: [server.server], hostsFile: false, timeoutMs: 100 })
    onTestFinished(() => asked.close())
    // A server that knows the name once it has failed, however often c-ares asks by itself.
    const resolver: Resolver = {
      resolve: (host, how) =>
        asked.resolve(host, how).catch((error) => {
          failed.add(host)
          throw error
        }),
    }
    const names = Array.from({ length: 5 }, (_, i) => `n${i}.test`)
    const seeds = names.map((name) => `http://${name}:${new URL(url()).port}/`)
    const { summary } = await crawl(
      quick.robots(robots).dns(resolver).allowPrivate('all').retries({ backoff: 100 }).seeds(seeds),
    )
    expect(summary.failures).toEqual({})
    expect(summary.pages).toBe(10)
  })
})
