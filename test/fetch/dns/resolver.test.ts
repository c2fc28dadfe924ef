import { createHook } from 'node:async_hooks'
import { lookup } from 'node:dns/promises'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { KumoError } from '../../../src/errors.js'
import { ExpiringCache } from '../../../src/fetch/dns/cache.js'
import { parseHosts } from '../../../src/fetch/dns/hosts-file.js'
import {
  type CachingResolverOptions,
  cachingResolver,
  type Resolver,
} from '../../../src/fetch/dns/resolver.js'
import { failureKind } from '../../../src/fetch/http/failures.js'
import { ManualClock } from '../../engine/manual-clock.js'
import { type DnsServer, dnsServer, type Question, type Reply } from './dns-server.js'

/** A server, a resolver that asks only it, and a clock that stands still. */
async function setUp(answer: (question: Question) => Reply, options: CachingResolverOptions = {}) {
  const clock = new ManualClock()
  const server = await dnsServer(answer)
  const resolver = cachingResolver({ servers: [server.server], hostsFile: false, clock, ...options })
  onTestFinished(() => resolver.close())
  return { clock, server, resolver }
}

const addressesOf = async (resolver: Resolver, name: string) =>
  (await resolver.resolve(name)).map(({ address }) => address)

const codeOf = (resolver: Resolver, name: string) =>
  resolver.resolve(name).then(
    () => 'resolved',
    (error: { code: string }) => error.code,
  )

/** Only what hangs comes to it. */
const PATIENCE = { timeout: 300_000 }

const asked = ({ questions }: DnsServer, type = 'A') => questions.filter((each) => each.type === type).length

const always = (...addresses: string[]) => {
  return () => ({ addresses })
}

describe('cachingResolver', () => {
  it('asks for both families and gives IPv4 first, then in turns', async () => {
    const { resolver } = await setUp(always('192.0.2.1', '2001:db8::1', '192.0.2.2', '192.0.2.3'))
    expect(await resolver.resolve('two.test')).toEqual([
      { address: '192.0.2.1', family: 4 },
      { address: '2001:db8::1', family: 6 },
      { address: '192.0.2.2', family: 4 },
      { address: '192.0.2.3', family: 4 },
    ])
  })

  it.each<[name: string, addresses: string[]]>([
    ['192.0.2.7', ['192.0.2.7']],
    ['2001:db8::7', ['2001:db8::7']],
    ['[2001:db8::7]', ['2001:db8::7']],
    ['localhost', ['127.0.0.1', '::1']],
    ['LocalHost.', ['127.0.0.1', '::1']],
    ['any.thing.localhost', ['127.0.0.1', '::1']],
  ])('%s is known without asking', async (name, addresses) => {
    const { resolver, server } = await setUp(() => 'servfail')
    expect(await addressesOf(resolver, name)).toEqual(addresses)
    expect(server.questions).toEqual([])
  })

  it('takes a name with a trailing dot, or in capitals, for the same name', async () => {
    const { resolver, server } = await setUp(always('192.0.2.1'))
    for (const name of ['same.test', 'same.test.', 'Same.TEST']) {
      expect(await addressesOf(resolver, name)).toEqual(['192.0.2.1'])
    }
    expect(server.questions.map(({ name, type }) => `${name} ${type}`).sort()).toEqual([
      'same.test A',
      'same.test AAAA',
    ])
  })

  it.each<[what: string, ttl: number, goodForMs: number]>([
    ['the record says', 300, 300_000],
    ['the floor says', 1, 60_000],
    ['the ceiling says', 1_000_000, 3_600_000],
  ])('believes an answer for as long as %s', async (_, ttl, goodForMs) => {
    const { resolver, server, clock } = await setUp(() => ({ addresses: ['192.0.2.1'], ttl }))
    await resolver.resolve('ttl.test')
    clock.advance(goodForMs - 1)
    await resolver.resolve('ttl.test')
    expect(asked(server)).toBe(1)
    clock.advance(1)
    await resolver.resolve('ttl.test')
    expect(asked(server)).toBe(2)
  })

  it('takes the shortest time of all records', async () => {
    const { resolver, server, clock } = await setUp(({ type }) =>
      type === 'A' ? { addresses: ['192.0.2.1'], ttl: 600 } : { addresses: ['2001:db8::1'], ttl: 120 },
    )
    await resolver.resolve('short.test')
    clock.advance(120_000)
    await resolver.resolve('short.test')
    expect(asked(server)).toBe(2)
  })

  it.each<[what: string, reply: Reply, code: string, goodForMs: number]>([
    ['a name that does not exist', 'nxdomain', 'ENOTFOUND', 300_000],
    ['a name without address', { addresses: [] }, 'ENOTFOUND', 300_000],
    ['a server that fails', 'servfail', 'EAI_FAIL', 5000],
  ])('remembers %s', async (_, reply, code, goodForMs) => {
    const { resolver, server, clock } = await setUp(() => reply)
    expect(await codeOf(resolver, 'no.test')).toBe(code)
    const questions = asked(server)
    clock.advance(goodForMs - 1)
    expect(await codeOf(resolver, 'no.test')).toBe(code)
    expect(asked(server)).toBe(questions)
    clock.advance(1)
    expect(await codeOf(resolver, 'no.test')).toBe(code)
    expect(asked(server)).toBeGreaterThan(questions)
  })

  it.each<Reply>(['nxdomain', { addresses: [] }, 'servfail', 'silent'])(
    'a retry asks again after %j',
    async (reply) => {
      let now = reply
      const { resolver, server } = await setUp(() => now, { timeoutMs: 50, tries: 1 })
      await expect(resolver.resolve('no.test')).rejects.toThrow()
      now = { addresses: ['192.0.2.1'] }
      await expect(resolver.resolve('no.test')).rejects.toThrow()
      expect(await resolver.resolve('no.test', { isRetry: true })).toEqual([
        { address: '192.0.2.1', family: 4 },
      ])
      const questions = server.questions.length
      // An address that is known is as good as a new one.
      await resolver.resolve('no.test', { isRetry: true })
      expect(server.questions).toHaveLength(questions)
    },
  )

  it('gives a slow name its time, however fast the others were', async () => {
    let answers = 0
    const { resolver } = await setUp(
      () => ({
        addresses: ['192.0.2.1'],
        // Much longer than five times what the first ones took, much shorter than the limit.
        ...(++answers > 60 && { after: new Promise((resolve) => setTimeout(resolve, 1500)) }),
      }),
      { timeoutMs: 10_000, tries: 1 },
    )
    for (let i = 0; i < 30; i++) await resolver.resolve(`fast${i}.test`)
    expect(await Promise.all(['a', 'b', 'c'].map((name) => codeOf(resolver, `${name}.test`)))).toEqual([
      'resolved',
      'resolved',
      'resolved',
    ])
  })

  it('close ends what is asked with patience', async () => {
    let isSilent = false
    const { resolver, server } = await setUp(() => (isSilent ? 'silent' : { addresses: ['192.0.2.1'] }), {
      timeoutMs: 60_000,
      tries: 1,
    })
    for (let i = 0; i < 30; i++) await resolver.resolve(`fast${i}.test`)
    isSilent = true
    const code = codeOf(resolver, 'slow.test')
    const asking = () =>
      server.questions.filter(({ name, type }) => name === 'slow.test' && type === 'A').length
    await vi.waitFor(() => expect(asking()).toBe(2), PATIENCE)
    resolver.close()
    expect(await code).toBe('ECANCELLED')
  })

  it('says of every failure what failures.ts calls dns-failed', async () => {
    const replies: Record<string, Reply> = {
      'a.test': 'nxdomain',
      'b.test': { addresses: [] },
      'c.test': 'servfail',
      'd.test': 'silent',
      'e.test': 'garbage',
    }
    const { resolver } = await setUp(({ name }) => replies[name]!, { timeoutMs: 50, tries: 1 })
    const names = [
      ...Object.keys(replies),
      'x'.repeat(64),
      `${'y.'.repeat(200)}test`,
      '',
      'a..test',
      'sp ace',
    ]
    for (const name of names) {
      const error = await resolver.resolve(name).then(
        () => undefined,
        (reason: unknown) => reason,
      )
      expect([name, failureKind(error, 'connecting').code]).toEqual([name, 'dns-failed'])
      expect((error as Error).message).toContain(name)
    }
  })

  it.each<[what: string, a: Reply, aaaa: Reply, expected: string[]]>([
    ['A fails', 'servfail', { addresses: ['2001:db8::1'] }, ['2001:db8::1']],
    ['AAAA fails', { addresses: ['192.0.2.1'] }, 'servfail', ['192.0.2.1']],
    ['AAAA does not exist, says a broken server', { addresses: ['192.0.2.1'] }, 'nxdomain', ['192.0.2.1']],
  ])('makes do with one family when %s', async (_, a, aaaa, expected) => {
    const { resolver } = await setUp(({ type }) => (type === 'A' ? a : aaaa))
    expect(await addressesOf(resolver, 'half.test')).toEqual(expected)
  })

  it('does not believe for long that there is no address when one family could not be asked', async () => {
    const { resolver } = await setUp(({ type }) => (type === 'A' ? { addresses: [] } : 'servfail'))
    expect(await codeOf(resolver, 'unsure.test')).toBe('EAI_FAIL')
  })

  it('does not wait for a server that never answers AAAA', async () => {
    const server = await dnsServer(({ type }) => (type === 'A' ? { addresses: ['192.0.2.1'] } : 'silent'))
    const resolver = cachingResolver({ servers: [server.server], hostsFile: false, timeoutMs: 60_000 })
    expect(await addressesOf(resolver, 'old.test')).toEqual(['192.0.2.1'])
    resolver.close()
  })

  it('says so when no server answers, or none is there', async () => {
    const { resolver } = await setUp(() => 'silent', { timeoutMs: 50, tries: 2 })
    expect(await codeOf(resolver, 'silent.test')).toBe('EAI_AGAIN')
    // Port 1 of loopback: nobody listens.
    const alone = cachingResolver({ servers: ['127.0.0.1:1'], hostsFile: false, timeoutMs: 50, tries: 1 })
    expect(await codeOf(alone, 'alone.test')).toBe('EAI_AGAIN')
  })

  it('asks over TCP what does not fit a packet, and keeps eight addresses of a family', async () => {
    const addresses = Array.from({ length: 200 }, (_, i) => `192.0.2.${i}`)
    const { resolver, server } = await setUp(({ transport }) =>
      transport === 'udp' ? 'truncated' : { addresses },
    )
    expect(await addressesOf(resolver, 'large.test')).toEqual(addresses.slice(0, 8))
    expect(server.questions.map(({ transport }) => transport)).toContain('tcp')
  })

  it('asks once for a name that many want at once', async () => {
    const { resolver, server } = await setUp(always('192.0.2.1'))
    await Promise.all(Array.from({ length: 100 }, () => resolver.resolve('popular.test')))
    expect(server.questions).toHaveLength(2)
  })

  it('asks for no more names at a time than it may', async () => {
    let answer = () => {}
    const after = new Promise<void>((resolve) => {
      answer = resolve
    })
    const { resolver, server } = await setUp(() => ({ addresses: ['192.0.2.1'], after }), { concurrency: 5 })
    const names = Array.from({ length: 50 }, (_, i) => `n${i}.test`)
    const resolving = Promise.all(names.map((name) => resolver.resolve(name)))
    // An A and an AAAA question for each name.
    await vi.waitFor(() => expect(server.mostOpen).toBe(10), PATIENCE)
    await new Promise((resolve) => setTimeout(resolve, 50))
    answer()
    await resolving
    expect(asked(server)).toBe(50)
    expect(server.mostOpen).toBe(10)
  })

  it('forgets the names asked longest ago, not those in use', async () => {
    const { resolver, server } = await setUp(always('192.0.2.1'), { maxEntries: 10 })
    for (let i = 0; i < 30; i++) {
      await resolver.resolve(`n${i}.test`)
      await resolver.resolve('used.test')
    }
    expect(asked(server)).toBe(31)
    await resolver.resolve('n0.test')
    expect(asked(server)).toBe(32)
  })

  it('close ends what is asked and what waits, and what comes later', async () => {
    const { resolver, server } = await setUp(() => 'silent', { concurrency: 2, timeoutMs: 60_000 })
    const codes = ['a.test', 'b.test', 'c.test', 'd.test'].map((name) => codeOf(resolver, name))
    await vi.waitFor(() => expect(asked(server)).toBe(2), PATIENCE)
    resolver.close()
    expect(await Promise.all(codes)).toEqual(['ECANCELLED', 'ECANCELLED', 'ECANCELLED', 'ECANCELLED'])
    expect(await codeOf(resolver, 'e.test')).toBe('ECANCELLED')
    expect(asked(server)).toBe(2)
    const error = await resolver.resolve('f.test').catch((reason: unknown) => reason)
    expect(failureKind(error, 'connecting').code).toBe('aborted')
  })

  it.each<CachingResolverOptions>([
    { concurrency: 0 },
    { tries: 0 },
    { maxEntries: Number.NaN },
    { minTtlMs: -1 },
  ])('refuses %j', (options) => {
    expect(() => cachingResolver(options)).toThrow(KumoError)
    expect(() => cachingResolver(options)).toThrow(Object.keys(options)[0])
  })
})

describe('the hosts file', () => {
  it.each<[text: string, names: Record<string, string[]>]>([
    ['127.0.0.1 a b # c', { a: ['127.0.0.1'], b: ['127.0.0.1'] }],
    ['10.0.0.1\tA.Example.\r\n::1 a.example', { 'a.example': ['10.0.0.1', '::1'] }],
    ['# 10.0.0.1 a\n\nnonsense here\n10.0.0.256 b\n10.0.0.1', {}],
    ['10.0.0.1 constructor', { constructor: ['10.0.0.1'] }],
  ])('%j', (text, names) => {
    const parsed = [...parseHosts(text)].map(([name, addresses]) => [
      name,
      addresses.map((each) => each.address),
    ])
    expect(Object.fromEntries(parsed)).toEqual(names)
  })

  it('comes before DNS, and is read again when it has changed', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'kumo-hosts-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    const hostsFile = join(folder, 'hosts')
    await writeFile(hostsFile, '10.0.0.1 wiki.test\n')
    const { resolver, server, clock } = await setUp(always('192.0.2.1'), { hostsFile, hostsCheckMs: 1000 })
    expect(await addressesOf(resolver, 'Wiki.test.')).toEqual(['10.0.0.1'])
    expect(await addressesOf(resolver, 'other.test')).toEqual(['192.0.2.1'])
    await writeFile(hostsFile, '10.0.0.22 wiki.test\n')
    clock.advance(999)
    expect(await addressesOf(resolver, 'wiki.test')).toEqual(['10.0.0.1'])
    clock.advance(1)
    await vi.waitFor(
      async () => expect(await addressesOf(resolver, 'wiki.test')).toEqual(['10.0.0.22']),
      PATIENCE,
    )
    await rm(hostsFile)
    clock.advance(1000)
    await vi.waitFor(
      async () => expect(await addressesOf(resolver, 'wiki.test')).toEqual(['192.0.2.1']),
      PATIENCE,
    )
    expect(asked(server)).toBe(2)
  })

  it('need not be there', async () => {
    const { resolver } = await setUp(always('192.0.2.1'), { hostsFile: '/no/such/file' })
    expect(await addressesOf(resolver, 'a.test')).toEqual(['192.0.2.1'])
  })
})

describe('ExpiringCache', () => {
  it('never holds more than it may', () => {
    const cache = new ExpiringCache<number>(100)
    for (let i = 0; i < 10_000; i++) {
      cache.set(`k${i}`, i, 1)
      cache.get(`k${i - 60}`, 0)
      expect(cache.size).toBeLessThanOrEqual(100)
    }
  })

  it('does not bring back an older value', () => {
    const cache = new ExpiringCache<string>(4)
    cache.set('a', 'old', 100)
    cache.set('b', '', 100)
    cache.set('c', '', 100)
    cache.set('a', 'new', 50)
    expect(cache.get('a', 10)).toBe('new')
    expect(cache.get('a', 60)).toBeUndefined()
  })
})

describe('at the pace of a crawl', () => {
  it('2,000 names a second, none lost, beside other work and without the thread pool', async () => {
    const NAMES = 4000
    // Two thousand a second is two seconds; the rest is for machines that are busy with something else.
    const LONGEST_MS = 20_000
    const kinds = new Map<string, number>()
    const hook = createHook({ init: (_, kind) => void kinds.set(kind, (kinds.get(kind) ?? 0) + 1) }).enable()
    onTestFinished(() => void hook.disable())
    const addressOf = (i: number) => `198.18.${i >> 8}.${i & 255}`
    const server = await dnsServer(({ name }) => ({ addresses: [addressOf(Number(/\d+/.exec(name)![0]))] }))
    const resolver = cachingResolver({ servers: [server.server] })
    onTestFinished(() => resolver.close())

    let working = true
    let turns = 0
    const work = (async () => {
      for (; working; turns++) await turn()
    })()
    const cpu = process.cpuUsage()
    const start = performance.now()
    const found = await Promise.all(
      Array.from({ length: NAMES }, (_, i) => addressesOf(resolver, `host${i}.test`)),
    )
    const ms = performance.now() - start
    const { user, system } = process.cpuUsage(cpu)
    working = false
    await work

    expect(found).toEqual(Array.from({ length: NAMES }, (_, i) => [addressOf(i)]))
    expect(ms).toBeLessThan(LONGEST_MS)
    expect(turns).toBeGreaterThan(10)
    const rate = `${Math.round((NAMES / ms) * 1000)} names/s`
    console.log(
      `dns: ${NAMES} names, ${rate}, ${Math.round((user + system) / NAMES)} µs CPU each, loop included`,
    )
    expect(kinds.get('GETADDRINFOREQWRAP')).toBeUndefined()
    // What the hook would have seen otherwise.
    await lookup('localhost')
    expect(kinds.get('GETADDRINFOREQWRAP')).toBe(1)
  })
})
