/** What a crawl on Redis refuses at its start: clearly, and without writing anything. */

import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { Crawler, type KumoError } from 'kumo'
import { byHost, systemClock } from 'kumo/adapters'
import { redis } from 'kumo/redis'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { RedisServer, whyNoRedis } from './server.js'
import { newCrawl, useServer } from './support.js'

const refusal = async (crawl: () => Promise<unknown>): Promise<KumoError> => {
  try {
    await crawl()
  } catch (error) {
    return error as KumoError
  }
  throw new Error('it was not refused')
}
const crawlOn = (store: ReturnType<typeof redis>) =>
  new Crawler().seeds('http://127.0.0.1:1/').retries(0).store(store)

describe('options', () => {
  test.each<[string, unknown, RegExp]>([
    ['not a url', { crawl: 'a' }, /redis: url: got a text that is not a URL/],
    ['http://localhost', { crawl: 'a' }, /starts with http:/],
    ['redis://localhost/x', { crawl: 'a' }, /the database 'x'/],
    ['redis://localhost', {}, /redis: crawl/],
    ['redis://localhost', { crawl: 'a b' }, /redis: crawl/],
    ['redis://localhost', { crawl: 'a', ttl: '10ms' }, /redis: ttl/],
    ['redis://localhost', { crawl: 'a', ttl: '1s', commitEvery: '1s' }, /redis: commitEvery/],
    ['redis://localhost', { crawl: 'a', lease: 1 }, /the key 'lease'/],
  ])('%s %j', (url, options, message) => {
    expect(() => redis(url, options as never)).toThrow(message)
  })

  test('an address as an object', () => {
    expect(() => redis({ port: -1 }, { crawl: 'a' })).toThrow(/redis: port/)
    expect(() => redis({ sentinels: [] }, { crawl: 'a' })).toThrow(/sentinels together with name/)
    expect(() => redis({ hots: 'x' } as never, { crawl: 'a' })).toThrow(/the key 'hots'/)
  })

  test('a message does not show the password', () => {
    expect(() => redis('http://me:secret@localhost', { crawl: 'a' })).not.toThrow(/secret/)
  })

  test('options that cannot be sent to worker threads', async () => {
    const tls = { checkServerIdentity: () => undefined }
    const crawler = crawlOn(redis({ port: 1, tls }, { crawl: 'a' }))
    const { code, message } = await refusal(() => crawler.workers(2).run())
    expect(code).toBe('KUMO_NOT_PORTABLE')
    expect(message).toMatch(/redis: tls.*start a process for each core/)
  })

  test.each([0, 2])('a server that is not there, with %i workers', async (workers) => {
    const { code, message } = await refusal(() =>
      crawlOn(redis('redis://127.0.0.1:1', { crawl: 'a' }))
        .workers(workers)
        .run(),
    )
    expect(code).toBe('KUMO_STORE_FAILED')
    expect(message).toMatch(/could not connect to redis:\/\/127.0.0.1:1/)
  })
})

describe.skipIf(whyNoRedis())(`servers${whyNoRedis() ? `: ${whyNoRedis()}` : ''}`, () => {
  const server = useServer()
  const withServer = async (args: readonly string[], use: (server: RedisServer) => Promise<void>) => {
    const other = await RedisServer.start({ args })
    try {
      await use(other)
    } finally {
      await other.stop()
    }
  }
  const cli = (port: number, ...args: string[]) =>
    execFileSync('redis-cli', ['-p', String(port), ...args], { encoding: 'utf8' }).trim()

  test('nobody listens there', async () => {
    const { code, message } = await refusal(() =>
      crawlOn(redis('redis://me:secret@127.0.0.1:1', { crawl: 'a' })).run(),
    )
    expect(code).toBe('KUMO_STORE_FAILED')
    expect(message).toMatch(/could not connect to redis:\/\/127\.0\.0\.1:1\/0.*ECONNREFUSED/)
    expect(message).not.toMatch(/secret/)
  })

  test('a wrong password, and none', async () => {
    await withServer(['--requirepass', 'secret'], async ({ port }) => {
      for (const url of [`redis://:wrong@127.0.0.1:${port}`, `redis://127.0.0.1:${port}`]) {
        const { code, message } = await refusal(() => crawlOn(redis(url, { crawl: 'a' })).run())
        expect(code).toBe('KUMO_STORE_FAILED')
        expect(message).toMatch(/check user and password/)
      }
      expect(cli(port, '-a', 'secret', '--no-auth-warning', 'dbsize')).toBe('0')
    })
  })

  test('TLS to a server without it', async () => {
    const { code, message } = await refusal(() =>
      crawlOn(redis(server.url.replace('redis:', 'rediss:'), { crawl: newCrawl() })).run(),
    )
    expect(code).toBe('KUMO_STORE_FAILED')
    expect(message).toMatch(/could not connect to rediss:.*does not speak TLS, give its address as redis:/)
  })

  test('a server that is too old', async () => {
    const asked: string[] = []
    const old = createServer((socket) => {
      socket.on('data', (chunk) => {
        for (const [, name] of chunk.toString().matchAll(/\*\d+\r\n\$\d+\r\n(\w+)/g)) {
          asked.push(name!.toLowerCase())
          const info = '# Server\r\nredis_version:6.2.14\r\nredis_mode:standalone\r\nrole:master\r\n'
          socket.write(`$${info.length}\r\n${info}\r\n`)
        }
      })
      socket.on('error', () => {})
    }).listen(0, '127.0.0.1')
    onTestFinished(() => void old.close())
    await once(old, 'listening')
    const { port } = old.address() as AddressInfo
    const { code, message } = await refusal(() =>
      crawlOn(redis(`redis://127.0.0.1:${port}`, { crawl: 'a' })).run(),
    )
    expect(code).toBe('KUMO_STORE_FAILED')
    expect(message).toMatch(/has version 6\.2\.14; use Redis 7\.0 or later/)
    expect(asked.filter((name) => name !== 'hello')).toEqual(asked.filter((name) => name === 'info'))
  })

  test('a machine whose clock is wrong', async () => {
    const clock = systemClock()
    const crawl = newCrawl()
    for (const [stepMs, what] of [
      [3_600_000, /3600 s ahead of .*NTP/],
      [-3_600_000, /3600 s behind .*NTP/],
    ] as const) {
      const skewed = { ...clock, now: () => clock.now() + stepMs }
      const { code, message } = await refusal(() => crawlOn(redis(server.url, { crawl })).clock(skewed).run())
      expect(code).toBe('KUMO_STORE_FAILED')
      expect(message).toMatch(what)
    }
    expect(await server.redis.keys(`{kumo:${crawl}}*`)).toEqual([])
    const almost = { ...clock, now: () => clock.now() + 2000 }
    expect((await crawlOn(redis(server.url, { crawl })).clock(almost).run()).reason).toBe('done')
  })

  test('keys of another program', async () => {
    const crawl = newCrawl()
    await server.redis.set(`{kumo:${crawl}}:n`, 'mine')
    const { code, message } = await refusal(() => crawlOn(redis(server.url, { crawl })).run())
    expect(code).toBe('KUMO_STORE_MISMATCH')
    expect(message).toMatch(/another program.*another name/)
    expect(await server.redis.keys(`{kumo:${crawl}}*`)).toEqual([`{kumo:${crawl}}:n`])
    expect(await server.redis.get(`{kumo:${crawl}}:n`)).toBe('mine')
  })

  test('another program with other options on a crawl that is under way', async () => {
    const crawl = newCrawl()
    const key = `{kumo:${crawl}}`
    const store = redis(server.url, { crawl })
    const run = crawlOn(store).keepOpen().start()
    try {
      await vi.waitFor(async () => expect(await server.redis.hlen(`${key}:nodes`)).toBe(1), 10_000)
      const others: Crawler[] = [
        crawlOn(store).limit({ pagesPerSite: 5 }),
        crawlOn(store).partitioner(byHost(64)),
      ]
      for (const other of others) {
        const { code, message } = await refusal(() => other.run())
        expect(code).toBe('KUMO_STORE_MISMATCH')
        expect(message).toMatch(/created with other options: .* was '.*' and is '.*'/)
      }
      const [joined, nodes] = [await server.redis.hget(`${key}:n`, 'joined'), `${key}:nodes`]
      expect(joined).toBe('1')
      expect(await server.redis.hlen(nodes)).toBe(1)
    } finally {
      run.finish()
      expect((await run.done).reason).toBe('done')
    }
  })

  test('a replica, and one that drops keys', async () => {
    await withServer([], async ({ port, url }) => {
      cli(port, 'config', 'set', 'maxmemory-policy', 'allkeys-lru')
      const evicting = await refusal(() => crawlOn(redis(url, { crawl: 'a' })).run())
      expect(evicting.message).toMatch(/maxmemory-policy allkeys-lru.*set it to noeviction/)
      cli(port, 'config', 'set', 'maxmemory-policy', 'noeviction')
      cli(port, 'replicaof', '127.0.0.1', '1')
      const replica = await refusal(() => crawlOn(redis(url, { crawl: 'a' })).run())
      expect(replica.message).toMatch(/is a replica/)
      expect(cli(port, 'dbsize')).toBe('0')
    })
  })

  test('a node of a Redis Cluster', async () => {
    await withServer(['--cluster-enabled', 'yes'], async ({ port, url }) => {
      const { message } = await refusal(() => crawlOn(redis(url, { crawl: 'a' })).run())
      expect(message).toMatch(/Redis Cluster/)
      expect(cli(port, 'dbsize')).toBe('0')
    })
  })

  test('a crawl with other options, or of another version', async () => {
    const crawl = newCrawl()
    const store = redis(server.url, { crawl })
    await crawlOn(store).run()
    const before = await server.redis.hgetall(`{kumo:${crawl}}:n`)
    const other = await refusal(() => crawlOn(store).partitioner(byHost(64)).run())
    expect(other.code).toBe('KUMO_STORE_MISMATCH')
    expect(other.message).toMatch(/number of partitions\) was '1024' and is '64'/)
    expect(await server.redis.hgetall(`{kumo:${crawl}}:n`)).toEqual(before)
    await server.redis.hset(`{kumo:${crawl}}:n`, 'version', '99')
    const newer = await refusal(() => crawlOn(store).run())
    expect(newer.code).toBe('KUMO_STORE_MISMATCH')
    expect(newer.message).toMatch(/format 99/)
    expect(await server.redis.hgetall(`{kumo:${crawl}}:n`)).toEqual({ ...before, version: '99' })
  })

  test('ioredis is not installed', () => {
    const program = `
      const Module = require('node:module')
      const resolve = Module._resolveFilename
      Module._resolveFilename = (name, ...rest) => {
        if (name === 'ioredis') throw new Error("Cannot find module 'ioredis'")
        return resolve(name, ...rest)
      }
      require('tsx/cjs')
      const { redis } = require('${join(import.meta.dirname, '../../../src/stores/redis/index.ts')}')
      redis('redis://localhost', { crawl: 'a' }).open({ partitions: 1, clock: { now: () => 0 } })
        .catch(({ code, message }) => console.log(code, message))`
    const output = execFileSync(process.execPath, ['-e', program], {
      encoding: 'utf8',
      cwd: join(import.meta.dirname, '../../..'),
    })
    expect(output).toMatch(/KUMO_NOT_INSTALLED.*npm install ioredis/)
  })
})
