/** Options as data: another thread rebuilds the same crawl from them. */

import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import {
  all,
  any,
  anywhere,
  Crawler,
  domain,
  fromModule,
  glob,
  type KumoError,
  level,
  matching,
  memory,
  not,
  pathPrefix,
  predicate,
  type ScopeRule,
  sameHost,
  sameOrigin,
  sameSite,
} from 'kumo'
import { byDomain, byHost, httpFetcher, memoryFrontier, seededRandom, systemClock } from 'kumo/adapters'
import { describe, expect, onTestFinished, test } from 'vitest'
import { closuresOf, fromPortable, type PortableOptions, toPortable } from '../../src/modules/portable.js'
import { recipeOf } from '../../src/modules/recipe.js'
import { DEFAULTS, type GivenOptions } from '../../src/options/options.js'
import { scopeTarget } from '../../src/url/scope/scope.js'

const SEEDS = ['https://www.example.com/docs/intro.html?a=b', 'http://other.example:8080/']
const crawler = new Crawler().seeds(SEEDS)
const HERE = 'data:text/javascript,export default () => {}'
const elsewhere = fromModule(HERE, { with: 5 })

/** The options of a crawler, which are protected. */
function optionsOf(crawler: unknown): GivenOptions {
  return (crawler as { options: GivenOptions }).options
}

const proxies: Parameters<typeof fromPortable>[1] = {
  extractor: ({ closure, name, mediaTypes }) => ({
    name: `${closure} ${name}`,
    ...(mediaTypes && { mediaTypes }),
    extract: () => {},
  }),
  hook: ({ closure, name, calls }) => ({
    name: `${closure} ${name}`,
    ...(calls.includes('page') && { page: () => {} }),
    ...(calls.includes('failure') && { failure: () => {} }),
  }),
}

const port = (crawler: unknown): PortableOptions => structuredClone(toPortable(optionsOf(crawler)))
const there = (crawler: unknown): GivenOptions => fromPortable(port(crawler), proxies)

describe('ready-made rules', () => {
  const HOSTS = ['https://www.example.com', 'http://www.example.com', 'https://blog.example.com']
  const MORE_HOSTS = ['http://other.example:8080', 'http://other.example', 'https://example.org:444']
  const PATHS = ['/', '/docs/', '/docs/a', '/docs2', '/blog/a.html', '/blog/a/b?page=2', '/2024/x', '/login']
  const TARGETS = [...HOSTS, ...MORE_HOSTS].flatMap((host) => PATHS.map((path) => host + path))

  async function answersOf(rule: ScopeRule): Promise<unknown[]> {
    const test = rule.start()
    await test.open?.()
    for (const seed of SEEDS) test.addSeed?.(seed)
    return TARGETS.map((url) => test.test(scopeTarget(url, 1, undefined)))
  }

  test.each<[string, ScopeRule]>([
    ['sameSite', sameSite()],
    ['sameHost', sameHost()],
    ['sameOrigin', sameOrigin()],
    ['pathPrefix of seeds', pathPrefix()],
    ['pathPrefix of URLs and paths', pathPrefix('https://www.example.com/docs', '/blog/')],
    ['anywhere', anywhere()],
    ['domain', domain('example.com')],
    ['glob', glob('/blog/**')],
    ['glob of a host', glob('*.example.com')],
    ['matching', matching(/\/20\d\d\/|BLOG/gi)],
    ['all', all('site', not('/login'))],
    ['any', any('host', '/blog/**', /2024/)],
    ['not', not('/docs/**', sameOrigin())],
    [
      'rules of rules of rules',
      all(any(not(glob('/a')), sameHost()), not(any(/blog/, domain('other.example')))),
    ],
  ])('%s', async (_, rule) => {
    const again = there(crawler.scope(rule)).scope!
    expect(again.name).toBe(rule.name)
    expect(again.start().perOrigin).toBe(rule.start().perOrigin)
    const answers = await answersOf(rule)
    expect(await answersOf(again)).toEqual(answers)
    expect(await answersOf(there(crawler.scope(again)).scope!)).toEqual(answers)
  })

  test('in every place', () => {
    const given = crawler.scope('host', '/a/**').include('/b', /c/).exclude('site').block('ads.example', '/d')
    const { scope, include, exclude, block } = there(given)
    const names = [scope!, ...include, ...exclude, ...block].map(({ name }) => name)
    expect(names).toEqual([
      'all(same host, glob /a/**)',
      'glob /b',
      'matching /c/',
      'same site',
      'domain ads.example',
      'glob /d',
    ])
  })

  test('modules stay references, also among others', () => {
    const { scope, block } = there(crawler.scope('host', elsewhere).block(new URL(HERE)))
    expect(scope!.name).toBe(`all(same host, module ${HERE})`)
    expect(recipeOf(block[0]!)).toEqual(['module', { ...elsewhere, with: undefined }])
  })
})

/** A value as its recipe, with the recipes of the rules in it. */
function describeAll(given: unknown): unknown {
  if (Array.isArray(given)) return given.map(describeAll)
  const recipe = typeof given === 'object' && given !== null ? recipeOf(given) : undefined
  return recipe === undefined ? given : recipe.map(describeAll)
}

/** Every option, with modules for the code. */
const everything = crawler
  .workers(3, { watchdog: '5s', balance: false })
  .concurrency(7)
  .delay('2s', { adaptive: 3, max: '1m' })
  .perHost({ connections: 2, growAt: 10 })
  .host('*.example.org', { delay: '5s', headers: { 'x-own': 'a' }, auth: { bearer: 't' }, proxy: false })
  .userAgent('MyBot/1.0')
  .headers({ accept: 'text/html', 'x-key': 'secret' })
  .from('bot@example.com')
  .auth('https://example.com', { username: 'a', password: 'b' })
  .cookies()
  .proxy(new URL('http://proxy.example:3128'))
  .http2()
  .tls({ ca: Buffer.from('-----BEGIN CERTIFICATE-----'), rejectUnauthorized: false })
  .dns(elsewhere)
  .allowPrivate('10.0.0.7')
  .scope('site', elsewhere)
  .include('/a/**', elsewhere)
  .exclude(/b/, elsewhere)
  .block('ads.example', elsewhere)
  .prioritize('/a/**', 5)
  .prioritize(elsewhere, -5)
  .urls({ drop: ['utm_*'], canonical: 'follow', rewrite: [elsewhere, elsewhere] })
  .connections({ most: 50, keepFor: '2s' })
  .cache('./http', { mode: 'refresh' })
  .traps({ pathDepth: 5, identifiers: ['id'], sameContent: Number.POSITIVE_INFINITY })
  .sitemaps({ wellKnown: true, urlsPerHost: 5 })
  .depth(4)
  .limit({ pages: 5, bytes: 6, time: '1h', pagesPerHost: 7, pagesPerSite: 8, requests: 9 })
  .timeout({ fetch: '1s', extract: '2s', hook: '3s' })
  .maxBodyBytes(1000, { truncate: true })
  .retries({ times: 1, cooldown: '1m', statuses: [503], when: elsewhere })
  .retryFailed()
  .keepOpen()
  .redirects(3)
  .robots({ nofollow: false, maxDelay: '5s' })
  .refresh({ min: '1m', rounds: 2, digest: elsewhere })
  .feeds({ budget: '10/day', discover: true, articles: 'fetch', once: true })
  .store(level('./crawl', { commitEvery: '1s', resume: 'must' }))
  .frontier(elsewhere)
  .seenStore(elsewhere)
  .partitioner(byHost(64))
  .fetcher(elsewhere)
  .extract({ title: (page) => page.title })
  .extract<{ price: number }>(elsewhere)
  .extract({ name: 'mine', mediaTypes: ['image/*'], extract: () => {} })
  .use({ name: 'first', page: () => {} })
  .use(elsewhere)
  .use({ name: 'third', failure: () => {} })
  .on('page', () => {})
  .on('page', () => {})
  .on('end', () => {})

describe('toPortable and fromPortable', () => {
  test('this test sets every option except those that cannot travel', () => {
    const given = optionsOf(everything)
    const unset = Object.keys(DEFAULTS).filter(
      (key) => given[key as keyof GivenOptions] === DEFAULTS[key as keyof GivenOptions],
    )
    expect(unset).toEqual(['line', 'clock', 'random'])
  })

  test('data arrives unchanged', () => {
    const given = optionsOf(everything)
    const { scope, include, exclude, block, prioritize, store, partitioner, access, ...rest } =
      there(everything)
    const { seeds, fields, extractors, hooks, listeners, ...data } = rest
    expect(data.proxy).toBe('http://proxy.example:3128/')
    expect(data).toEqual(Object.fromEntries(Object.keys(data).map((key) => [key, given[key as never]])))
    expect(access).toEqual({
      ...given.access,
      tls: { ca: new Uint8Array(Buffer.from('-----BEGIN CERTIFICATE-----')), rejectUnauthorized: false },
    })
    for (const key of ['scope', 'include', 'exclude', 'block', 'prioritize', 'store', 'partitioner'] as const)
      expect(describeAll(there(everything)[key])).toEqual(describeAll(given[key]))
    expect([seeds, fields, listeners]).toEqual([SEEDS.map((seed) => new URL(seed).href), {}, []])
    expect(Object.keys(there(everything)).sort()).toEqual(Object.keys(given).sort())
    expect(extractors.length + hooks.length).toBe(6)
  })

  test('the defaults arrive unchanged', () => {
    const { seeds, ...rest } = there(new Crawler())
    const { seeds: none, ...defaults } = DEFAULTS
    expect(rest).toEqual(defaults)
    expect([seeds, none]).toEqual([[], []])
  })

  test('known seeds travel, and sources are not read', () => {
    let wasRead = false
    function* many() {
      wasRead = true
      yield 'https://late.example/'
    }
    const given = new Crawler().seeds('https://a.example', [new URL('https://b.example/')], many())
    expect(port(given).knownSeeds).toEqual(['https://a.example/', 'https://b.example/'])
    expect(wasRead).toBe(false)
  })

  test('extractors and hooks of this thread keep their place among the modules', () => {
    const { extractors, hooks } = port(everything)
    const fields = { closure: 0, name: 'fields title', mediaTypes: undefined }
    const mine = { closure: 1, name: 'mine', mediaTypes: ['image/*'] }
    expect(extractors).toEqual([fields, elsewhere, mine])
    expect(hooks).toEqual([
      { closure: 0, name: 'first', calls: ['page'], queue: undefined },
      elsewhere,
      { closure: 1, name: 'third', calls: ['failure'], queue: undefined },
    ])
    const closures = closuresOf(optionsOf(everything))
    expect(closures.extractors.map(({ name }) => name)).toEqual(['fields title', 'mine'])
    expect(closures.hooks.map(({ name }) => name)).toEqual(['first', 'third'])
    const again = there(everything)
    expect(again.extractors).toMatchObject([{ name: '0 fields title' }, elsewhere, { name: '1 mine' }])
    expect(again.hooks).toMatchObject([{ name: '0 first' }, elsewhere, { name: '1 third' }])
  })

  test('ready-made stores and partitioners are made again', () => {
    expect(there(crawler.store(memory())).store).toMatchObject({ name: 'memory' })
    const { store } = there(crawler.store(level('./crawl', { repair: true })))
    expect(recipeOf(store!)).toEqual(['level', `${process.cwd()}/crawl`, { repair: true }])
    const partition = there(crawler.partitioner(byHost(16))).partitioner as ReturnType<typeof byHost>
    expect(partition.partition('example.com')).toBe(byHost(16).partition('example.com'))
    expect(there(crawler.store(elsewhere).partitioner(elsewhere))).toMatchObject({
      store: elsewhere,
      partitioner: elsewhere,
    })
  })

  test.each<[string, () => unknown, string[]]>([
    [
      'scope',
      () => crawler.scope(() => true),
      ['scope: a function cannot be sent', '`export default (target) => …`'],
    ],
    [
      'scope',
      () => crawler.scope('host', not(any(function short() {} as never))),
      ["scope: the rule 'short' cannot"],
    ],
    ['scope', () => crawler.scope(predicate(() => true, 'mine')), ["scope: the rule 'mine' cannot"]],
    ['scope', () => crawler.scope({ ...sameSite(), name: 'changed' }), ["scope: the rule 'changed' cannot"]],
    ['include', () => crawler.include('/a', () => true), ['include: a function', '.include(new URL(']],
    ['exclude', () => crawler.exclude(() => true), ['exclude: a function', '.exclude(new URL(']],
    ['block', () => crawler.block('a.example', () => true), ['block: a function', "'./block.js'"]],
    [
      'prioritize',
      () => crawler.prioritize(() => true, 5),
      ['prioritize: a function', "new URL('./prioritize.js', import.meta.url), priority)"],
    ],
    [
      'fetch',
      () => crawler.fetcher(httpFetcher({ userAgent: 'x' })),
      ['fetcher: an object', 'async (request, context) => …'],
    ],
    [
      'store',
      () => crawler.store({ ...memory() }),
      ['store: an object', "new URL('./store.js', import.meta.url)"],
    ],
    ['frontier', () => crawler.frontier((context) => memoryFrontier(context)), ['frontier: a function']],
    [
      'seenStore',
      () => crawler.seenStore({ addAll: () => [], size: 0, close() {} }),
      ['seenStore: an object', '() => …'],
    ],
    [
      'partitioner',
      () => crawler.partitioner(byDomain((host) => host)),
      ['partitioner: an object', 'partitions: 1024'],
    ],
    [
      'dns',
      () => crawler.dns({ resolve: async () => [] }),
      ['dns: an object', '{ resolve: async (host) => … }'],
    ],
    ['proxy', () => crawler.proxy(() => undefined), ['proxy: a function', '(url) => …']],
    [
      'refresh.digest',
      () => crawler.refresh({ digest: () => '' }),
      ['refresh.digest: a function', ".refresh({ digest: new URL('./digest.js', import.meta.url) })"],
    ],
    ['clock', () => crawler.clock(systemClock()), ['clock: your own clock', '.workers(0)']],
    ['random', () => crawler.random(seededRandom(1)), ['random: your own random', '.workers(0)']],
  ])('%s of this thread cannot travel, and the error shows the module', (_, make, parts) => {
    let error: unknown
    try {
      toPortable(optionsOf(make()))
    } catch (thrown) {
      error = thrown
    }
    expect(error).toMatchObject({ code: 'KUMO_NOT_PORTABLE' })
    for (const part of parts) expect((error as KumoError).message).toContain(part)
  })

  test('the complete message', () => {
    expect(() => toPortable(optionsOf(crawler.scope(() => true)))).toThrow(
      'scope: a function cannot be sent to worker threads; move it to a module, e.g. scope.js with ' +
        "`export default (target) => …`, and pass .scope(new URL('./scope.js', import.meta.url))",
    )
  })
})

test('a worker thread rebuilds the crawl', async () => {
  const program = JSON.stringify(new URL('./portable-thread.ts', import.meta.url).href)
  // In Node.js 20 a worker thread cannot load TypeScript without registering a loader.
  const start = `import('tsx/esm/api').then(({ register }) => (register(), import(${program})))`
  const worker = new Worker(start, { eval: true })
  onTestFinished(async () => void (await worker.terminate()))
  const code = (text: string) => new URL(`data:text/javascript,${encodeURIComponent(text)}`)
  const given = crawler
    .scope('site', code('export default ({ url }) => !url.includes("private")'))
    .store(memory())
    .partitioner(code('export default { partitions: 8, partition: () => 0 }'))
    .extract({ title: (page) => page.title })
    .use({ name: 'here', page: () => {} })
    .use(
      fromModule(code('export const hook = (name) => ({ name, page() {} })'), {
        export: 'hook',
        with: 'there',
      }),
    )
  const urls = ['https://a.example.com/', 'https://a.example.com/private', 'https://example.net/']
  worker.postMessage({ portable: toPortable(optionsOf(given)), urls })
  const [said] = await once(worker, 'message')
  expect(said).toEqual({
    answers: [true, false, false],
    extractors: ['0 fields title'],
    hooks: ['0 here', 'there'],
    store: 'memory',
    partitions: 8,
  })
})
