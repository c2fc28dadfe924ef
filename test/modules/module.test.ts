/** User code in modules: references, packages, loading, and the errors for each. */

import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Crawler, fromModule, KumoError, pathPrefix } from 'kumo'
import type { ModuleRef } from 'kumo/adapters'
import { afterAll, describe, expect, test } from 'vitest'
import { loadModules, loadShared } from '../../src/modules/load.js'
import { isModule, loadModule, moduleRule } from '../../src/modules/module.js'
import { packageUrl } from '../../src/modules/packages.js'
import type { CrawlOptions, GivenOptions } from '../../src/options/options.js'
import { scopeTarget } from '../../src/url/scope/scope.js'

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'kumo-module-')))
afterAll(() => rmSync(folder, { recursive: true }))

/** Writes a file and returns its URL. */
function file(path: string, source: string): URL {
  mkdirSync(dirname(join(folder, path)), { recursive: true })
  writeFileSync(join(folder, path), source)
  return pathToFileURL(join(folder, path))
}

let files = 0

/** The URL of a module with that source. */
function holding(source: string): URL {
  return file(`module-${files++}.mjs`, source)
}

/** The options of a crawler, which are protected. */
function optionsOf(crawler: unknown): GivenOptions {
  return (crawler as { options: GivenOptions }).options
}

// biome-ignore lint/suspicious/noExplicitAny: mistakes are the subject.
type Loose = any

const crawler: Loose = new Crawler().seeds('https://example.com/')

async function thrownBy(act: () => unknown): Promise<KumoError> {
  try {
    await act()
  } catch (error) {
    expect(error).toBeInstanceOf(KumoError)
    return error as KumoError
  }
  throw new Error('expected an error')
}

describe('fromModule()', () => {
  test('is plain data: a URL, an export, what it is called with', () => {
    const url = new URL('file:///app/plugin.js')
    expect(fromModule(url)).toEqual({ module: 'file:///app/plugin.js', export: 'default', with: undefined })
    expect(fromModule('file:///app/./plugin.js').module).toBe('file:///app/plugin.js')
    const ref = fromModule('data:text/javascript,export const a = 1', {
      export: 'a',
      with: { b: [/c/, new Map()] },
    })
    expect(structuredClone(ref)).toEqual(ref)
    expect(Object.isFrozen(ref)).toBe(true)
  })

  test('copies what it is given', () => {
    const given = { currency: 'EUR' }
    const ref = fromModule('file:///a.js', { with: given })
    given.currency = 'USD'
    expect(ref.with).toEqual({ currency: 'EUR' })
  })

  test.each<[string, () => unknown, string[]]>([
    [
      'a relative path',
      () => fromModule('./a.js'),
      ["fromModule: got './a.js';", 'new URL(', 'import.meta.url'],
    ],
    ['an absolute path', () => fromModule('/app/a.js'), ["fromModule: got '/app/a.js';", 'new URL(']],
    [
      'a path of Windows',
      () => fromModule('C:\\app\\a.js'),
      ["fromModule: got 'C:\\app\\a.js';", 'new URL('],
    ],
    ['the web', () => fromModule('https://example.com/a.js'), ["got 'https://example.com/a.js';"]],
    ['a module of Node.js', () => fromModule('node:fs'), ["got 'node:fs';"]],
    ['nothing', () => fromModule(''), ["got '';"]],
    ['a function', () => (fromModule as Loose)(() => {}), ['fromModule: got a function;', 'new URL(']],
    [
      'a function to be called with',
      () => fromModule('file:///a.js', { with: () => 1 }),
      ['fromModule.with: got a f'],
    ],
    [
      'a function in it',
      () => fromModule('file:///a.js', { with: { a() {} } }),
      ['fromModule.with: got', 'posted'],
    ],
    [
      'another key',
      () => (fromModule as Loose)('file:///a.js', { name: 'a' }),
      ["got 'name';", 'export, with'],
    ],
    [
      'an export without a name',
      () => fromModule('file:///a.js', { export: '' }),
      ["fromModule.export: got '';"],
    ],
    ['extract(relative)', () => crawler.extract('./a.js'), ["extract: got './a.js';", 'new URL(']],
    ['extract(web)', () => crawler.extract(new URL('https://a.example/')), ['extract: got', 'new URL(']],
    ['use(relative)', () => crawler.use('./a.js'), ["use: got './a.js';", 'new URL(']],
    [
      'use(web)',
      () => crawler.use(new URL('https://a.example/')),
      ['use: got "https://a.example/"', 'a hook'],
    ],
    ['scope(web)', () => crawler.scope(new URL('https://a.example/')), ['scope: got a URL', 'url.href']],
    ['store(web)', () => crawler.store(new URL('https://a.example/')), ['store: got', 'memory()']],
  ])('refuses %s', async (_, make, parts) => {
    const error = await thrownBy(make)
    expect(error.code).toBe('KUMO_INVALID_OPTION')
    for (const part of parts) expect(error.message).toContain(part)
  })

  test('a module inside a combination is an error that says what to do instead', async () => {
    const { any } = await import('kumo')
    const error = await thrownBy(() => any('host', new URL('file:///a.js') as Loose))
    expect(error.message).toContain('any(): got a module (let the module export the combination')
  })

  test('is distinguished from code', () => {
    expect(isModule(fromModule('file:///a.js'))).toBe(true)
    expect(isModule(new URL('file:///a.js'))).toBe(true)
    for (const other of [
      new URL('http://proxy.example/'),
      { module: () => 1, export: () => 2 },
      null,
      'a',
      {},
    ])
      expect(isModule(other)).toBe(false)
  })
})

describe('a package', () => {
  const packages: Record<string, [manifest: object, files: string[]]> = {
    plain: [{ main: 'lib/main.js' }, ['lib/main.js', 'lib/other.js']],
    'without-ending': [{ main: 'lib/main' }, ['lib/main.js']],
    'main-folder': [{ main: 'lib' }, ['lib/index.js']],
    'no-main': [{}, ['index.js']],
    'one-export': [{ exports: './a.js', main: 'b.js' }, ['a.js', 'b.js']],
    dual: [
      { exports: { '.': { types: './a.d.ts', require: './a.cjs', import: './a.mjs' } } },
      ['a.cjs', 'a.mjs'],
    ],
    'import-only': [{ exports: { import: './a.mjs' } }, ['a.mjs']],
    nested: [{ exports: { browser: './b.js', node: { import: './n.mjs' }, default: './d.js' } }, ['n.mjs']],
    list: [{ exports: [{ browser: './b.js' }, './a.js'] }, ['a.js']],
    patterns: [
      {
        exports: {
          './*': './all/*.js',
          './deep/*': './deep/*.js',
          './deep/x/*.js': './x/*.js',
          './no/*': null,
        },
      },
      ['all/a.js', 'deep/a.js', 'x/a.js'],
    ],
    '@scope/of': [{ exports: { '.': './a.js', './sub': './sub.js' } }, ['a.js', 'sub.js']],
  }
  for (const [name, [manifest, sources]] of Object.entries(packages)) {
    file(`app/node_modules/${name}/package.json`, JSON.stringify({ name, ...manifest }))
    for (const source of sources) file(`app/node_modules/${name}/${source}`, '')
  }
  file('app/package.json', JSON.stringify({ name: 'app', type: 'module', exports: { './own': './own.js' } }))
  file('app/own.js', '')
  file(
    'app/src/deep/main.mjs',
    'console.log(JSON.stringify(process.argv.slice(2).map(resolve)))\n' +
      'function resolve(name) { try { return import.meta.resolve(name) } catch { return null } }',
  )

  const names = [
    'plain',
    'plain/lib/other.js',
    'without-ending',
    'main-folder',
    'no-main',
    'one-export',
    'dual',
    'import-only',
    'nested',
    'list',
    'patterns/a',
    'patterns/deep/a',
    'patterns/deep/x/a.js',
    'patterns/no/a',
    'patterns',
    '@scope/of',
    '@scope/of/sub',
    '@scope/of/private',
    'app/own',
    'missing',
  ]

  test('resolves to the file that Node.js would import in the main program', () => {
    const home = join(folder, 'app/src/deep')
    const printed = execFileSync(process.execPath, [join(home, 'main.mjs'), ...names], { encoding: 'utf8' })
    const ours = names.map((name) => [name, packageUrl(name, [home]) ?? null])
    const theirs = (JSON.parse(printed) as (string | null)[]).map((url, at) => [names[at], url])
    expect(theirs.filter(([, url]) => url === null).map(([name]) => name)).toEqual([
      'patterns/no/a',
      'patterns',
      '@scope/of/private',
      'missing',
    ])
    expect(ours).toEqual(theirs)
  })

  test('is looked for in every folder', () => {
    expect(packageUrl('plain', [tmpdir(), join(folder, 'app')])).toMatch(/plain\/lib\/main\.js$/)
  })

  test('can be named where code is expected', () => {
    const [extractor] = optionsOf(crawler.extract('linkedom')).extractors as ModuleRef[]
    expect(extractor).toMatchObject({ module: expect.stringMatching(/^file:.*linkedom/), export: 'default' })
    const [hook] = optionsOf(crawler.use('undici')).hooks as ModuleRef[]
    expect(hook?.module).toMatch(/^file:.*undici\/index\.js$/)
    expect(fromModule('undici', { export: 'Client' }).export).toBe('Client')
  })

  test('that is not installed is an error at the line that names it', async () => {
    const error = await thrownBy(() => crawler.extract('kumo-plugin-that-nobody-wrote'))
    expect(error.code).toBe('KUMO_MODULE_FAILED')
    expect(error.message).toMatch(/^extract: package 'kumo-plugin-that-nobody-wrote' cannot be imported from/)
    expect(error.message).toContain(process.cwd())
    expect(error.message).toContain('install it')
    expect((await thrownBy(() => fromModule('@a/b'))).message).toMatch(
      /^fromModule: package '@a\/b' cannot be imported/,
    )
  })
})

describe('loadModule', () => {
  test('picks the default export, or the one that is named', async () => {
    const url = holding('export default 1; export const two = 2')
    expect(await loadModule('use', fromModule(url))).toBe(1)
    expect(await loadModule('use', fromModule(url, { export: 'two' }))).toBe(2)
    expect(await loadModule('use', fromModule(`data:text/javascript,export default 'three'`))).toBe('three')
  })

  test('loads CommonJS, compiled or not', async () => {
    const plain = file('plain.cjs', 'module.exports = { name: "plain" }')
    expect(await loadModule('use', fromModule(plain))).toEqual({ name: 'plain' })
    const compiled = file('compiled.cjs', 'exports.__esModule = true; exports.default = 1; exports.two = 2')
    expect(await loadModule('use', fromModule(compiled))).toBe(1)
    expect(await loadModule('use', fromModule(compiled, { export: 'two' }))).toBe(2)
  })

  test.each<[string, () => ModuleRef, string[]]>([
    [
      'a typo in the path',
      () => fromModule(new URL('./plugni.mjs', pathToFileURL(`${folder}/`))),
      ['/plugni.mjs: the file does not exist; check its name'],
    ],
    [
      'a module without default export',
      () => fromModule(holding('export const prices = 1, titles = 2')),
      [
        "it has no default export, but exports prices, titles; pick one, as in fromModule(url, { export: 'prices' })",
      ],
    ],
    [
      'a module without exports',
      () => fromModule(holding('globalThis.nothing = 1')),
      ['it has no default export and no other exports; write `export default …`'],
    ],
    [
      'an export that is not there',
      () => fromModule(holding('export default 1; export const prices = 1'), { export: 'price' }),
      ["it has no export 'price', but exports prices"],
    ],
    [
      'a module that throws',
      () => fromModule(holding('throw new TypeError("no key in the environment")')),
      ['importing it failed: no key in the environment'],
    ],
    [
      'a module that imports what is not there',
      () => fromModule(holding('import "nobody-wrote-this"')),
      ['importing it failed:', 'nobody-wrote-this'],
    ],
    [
      'TypeScript where it cannot be loaded',
      () =>
        fromModule(
          file('typed.ts', 'throw Object.assign(new Error(), { code: "ERR_UNKNOWN_FILE_EXTENSION" })'),
        ),
      [
        `Node.js ${process.version} cannot import TypeScript: pass the compiled .js file`,
        '22.18',
        'workers ignore',
      ],
    ],
    [
      'data',
      () => fromModule(`data:text/javascript,/*${'x'.repeat(500)}*/`),
      ["module 'data:text/javascript,/*xx", "…': it has no default export"],
    ],
  ])('reports %s', async (_, ref, parts) => {
    const error = await thrownBy(() => loadModule('extract', ref()))
    expect(error.code).toBe('KUMO_MODULE_FAILED')
    expect(error.message).toMatch(/^extract: module /)
    for (const part of parts) expect(error.message).toContain(part)
    expect(error.message.length).toBeLessThan(500)
  })

  test('keeps what was thrown as the cause', async () => {
    const error = await thrownBy(() => loadModule('use', fromModule(holding('throw new RangeError("deep")'))))
    expect(error.cause).toMatchObject({ name: 'RangeError', message: 'deep' })
  })
})

describe('loadModules', () => {
  const page = { url: 'https://example.com/' } as Loose
  const load = (crawler: unknown) => loadModules(optionsOf(crawler))

  test('returns the same options if there are no modules', async () => {
    const options = optionsOf(crawler.scope('host', () => true).extract({ a: () => 1 }))
    expect(await loadModules(options)).toBe(options)
  })

  const EXTRACTOR = '{ name: "mine", extract: () => ({ data: { a: 1 } }) }'
  const HOOK = '{ name: "mine", page() {} }'
  const STORE = '{ name: "mine", open() {} }'
  const SEEN = '{ addAll: () => [], close() {}, size: 7 }'
  const PARTITION = '{ partitions: 8, partition: () => 3 }'
  const RESOLVER = '{ resolve: async () => [] }'

  const accepts = (url: string) => (options: CrawlOptions) =>
    options.scope!.start().test(scopeTarget(url, 1, undefined))
  const blocks = (url: string) => (options: CrawlOptions) =>
    options.block[0]!.start().test(scopeTarget(url, 1, undefined))
  const chosen = (options: CrawlOptions) => (options.proxy as (url: string) => unknown)('x')
  const fetched = (options: CrawlOptions) => options.fetcher!.fetch('x' as Loose, {} as Loose)
  const extracted = async (options: CrawlOptions) => await options.extractors[0]!.extract(page)

  test.each<
    [method: string, source: string, given: unknown, look: (options: CrawlOptions) => unknown, seen: unknown]
  >([
    ['extract', `export default ${EXTRACTOR}`, undefined, extracted, { data: { a: 1 } }],
    ['extract', 'export default { b: (page) => page.url }', undefined, extracted, { data: { b: page.url } }],
    ['extract', `export default () => (${EXTRACTOR})`, undefined, extracted, { data: { a: 1 } }],
    ['extract', 'export default ({ c }) => ({ c: () => c })', { c: 3 }, extracted, { data: { c: 3 } }],
    ['extract', 'export default async (c) => ({ c: () => c })', 4, extracted, { data: { c: 4 } }],
    ['use', `export default ${HOOK}`, undefined, ({ hooks }) => hooks[0]!.name, 'mine'],
    ['use', 'export default (name) => ({ name, failure() {} })', 'his', ({ hooks }) => hooks[0]!.name, 'his'],
    ['scope', 'export default ({ host }) => host === "a"', undefined, accepts('http://a/'), true],
    ['scope', 'export default ({ host }) => host === "a"', undefined, accepts('http://b/'), false],
    ['scope', 'export default "/blog/**"', undefined, accepts('http://b/blog/c'), true],
    ['scope', 'export default /blog/', undefined, accepts('http://b/c'), false],
    ['scope', 'export default (most) => ({ depth }) => depth > most', 1, accepts('http://a/'), false],
    ['scope', 'export default (word) => "/" + word + "/*"', 'shop', accepts('http://a/shop/b'), true],
    ['block', 'export default "ads.example"', undefined, blocks('http://x.ads.example:81/'), true],
    ['proxy', 'export default () => "http://p.example"', undefined, chosen, 'http://p.example'],
    ['proxy', 'export default (proxy) => () => proxy', 'http://q.example', chosen, 'http://q.example'],
    ['proxy', 'export default "http://r.example"', undefined, ({ proxy }) => proxy, 'http://r.example'],
    ['dns', `export default ${RESOLVER}`, undefined, ({ resolver }) => resolver!.resolve('a'), []],
    ['dns', `export default () => (${RESOLVER})`, undefined, ({ resolver }) => resolver!.resolve('a'), []],
    ['store', `export default ${STORE}`, undefined, ({ store }) => store!.name, 'mine'],
    ['store', 'export default (name) => ({ name, open() {} })', 'x', ({ store }) => store!.name, 'x'],
    ['frontier', 'export default () => 5', undefined, ({ frontier }) => (frontier as () => unknown)(), 5],
    ['frontier', 'export default (n) => () => n', 6, ({ frontier }) => (frontier as () => unknown)(), 6],
    ['seenStore', `export default () => (${SEEN})`, undefined, ({ seenStore: seen }) => seen!.size, 7],
    [
      'partitioner',
      `export default ${PARTITION}`,
      undefined,
      ({ partitioner: partition }) => partition!.partition('a'),
      3,
    ],
    ['fetcher', 'export default (request) => [request]', undefined, fetched, ['x']],
    ['fetcher', 'export default { fetch: (request) => [request] }', undefined, fetched, ['x']],
    ['fetcher', 'export default (a) => (request) => [a, request]', 1, fetched, [1, 'x']],
  ])('%s: %s', async (method, source, given, look, seen) => {
    const ref = given === undefined ? holding(source) : fromModule(holding(source), { with: given })
    const options = await load(crawler[method](ref))
    expect(await look(options)).toEqual(seen)
  })

  test.each<[method: string, source: string, given: unknown, parts: string[]]>([
    ['extract', 'export default 5', undefined, ['its default export cannot be used: extract: got 5;']],
    ['extract', 'export default { a: 1 }', undefined, ['extract.a: got 1;', 'a function of the page']],
    [
      'extract',
      'export default () => { throw new Error("x") }',
      undefined,
      ['its exported function threw: x'],
    ],
    ['use', 'export default { name: "h" }', undefined, ['page(), failure() or feed()']],
    ['use', 'export default class Hook {}', undefined, ['Class constructor Hook']],
    ['use', `export default ${HOOK}`, 5, ['`with` is given, but its export is not a function']],
    ['scope', 'export default "sites"', undefined, ["scope: got 'sites'", "'site'"]],
    ['include', 'export default 5', undefined, ['include: got 5;']],
    ['exclude', 'export default ["/a"]', undefined, ['exclude: got an array']],
    ['block', 'export default null', undefined, ['block: got null']],
    ['proxy', 'export default "proxy:3128"', undefined, ['proxy: got']],
    ['dns', 'export default { look() {} }', undefined, ['a resolver (with resolve())']],
    ['store', 'export default {}', undefined, ["a store such as level('./crawl') or memory() (with open())"]],
    ['frontier', 'export default {}', undefined, ['must export a function, because each run in each thread']],
    ['frontier', 'export default () => ({})', 5, ['frontier: got {};', 'a function of the store context']],
    [
      'seenStore',
      `export default ${SEEN}`,
      undefined,
      ['must export a function, because each run in each thread'],
    ],
    [
      'seenStore',
      'export default () => new Set()',
      undefined,
      ['seenStore: got a Set;', 'addAll(), close()'],
    ],
    [
      'partitioner',
      'export default { partition() {} }',
      undefined,
      ['partitioner.partitions: got undefined;'],
    ],
    ['fetcher', 'export default { get() {} }', undefined, ['a Fetcher (with fetch())']],
  ])('%s does not take %s', async (method, source, given, parts) => {
    const ref = given === undefined ? holding(source) : fromModule(holding(source), { with: given })
    const loading = load(crawler[method](ref))
    const error = await thrownBy(() => loading)
    expect(error.code).toBe('KUMO_MODULE_FAILED')
    expect(error.message.startsWith(`${method}: module file://`)).toBe(true)
    for (const part of parts) expect(error.message).toContain(part)
  })

  test('keeps the order among modules and values', async () => {
    const hook = (name: string) => ({ name, page() {} })
    const inModule = holding('export default { name: "b", page() {} }')
    const { hooks } = await load(crawler.use(hook('a')).use(inModule).use(hook('c')))
    expect(hooks.map(({ name }) => name)).toEqual(['a', 'b', 'c'])
  })

  test('a module among several rules, also beside a function', async () => {
    const shallow = holding('export default ({ depth }) => depth < 3')
    const own = ({ url }: { url: string }) => !url.includes('no')
    const { scope } = await load(crawler.scope(own, pathPrefix('/a'), shallow))
    const test = scope!.start()
    const ask = (path: string, depth: number) =>
      test.test(scopeTarget(`https://e.com${path}`, depth, undefined))
    expect([ask('/a', 1), ask('/a', 3), ask('/b', 1), ask('/a/no', 1)]).toEqual([true, false, false, false])
  })

  test('calls a factory once for each load, each time with its own copy', async () => {
    const source = 'let made = 0; export default (given) => ({ name: ++made + " " + given.n++, page() {} })'
    const counting = crawler.use(fromModule(holding(source), { with: { n: 0 } }))
    expect((await load(counting)).hooks[0]!.name).toBe('1 0')
    expect((await load(counting)).hooks[0]!.name).toBe('2 0')
  })

  test('the thread that starts workers loads only what it shares with them', async () => {
    const broken = holding('throw new Error("not here")')
    const options = optionsOf(crawler.use(broken).partitioner(holding(`export default ${PARTITION}`)))
    expect((await loadShared(options)).partitioner?.partitions).toBe(8)
    expect((await loadShared(options)).store).toBeUndefined()
  })
})

describe('a crawl with modules, in one thread', () => {
  const web = holding(`export default ({ url }) => ({
    ok: true,
    status: 200,
    headers: new Map([['content-type', 'text/html']]),
    body: Buffer.from('<title>x</title><a href="/a">a</a><a href="/b/c">b</a>' + url),
    wireBytes: 0,
    skippedBody: false,
  })`)
  const polite = new Crawler().seeds('http://one.example/').delay(0).robots(false).fetcher(web)

  test('works like any other crawl', async () => {
    const seen: object[] = []
    const summary = await polite
      .exclude(holding('export default ({ url }) => url.endsWith("/c")'))
      .extract({ here: (page) => page.title })
      .extract<{ there: string }>(
        fromModule(holding('export const where = (n) => ({ there: ({ url }) => url + n })'), {
          export: 'where',
          with: 7,
        }),
      )
      .on('page', ({ data }) => void seen.push(data))
      .run()
    expect(summary).toMatchObject({ pages: 2, skips: { scope: 2 } })
    expect(seen).toEqual([
      { here: 'x', there: 'http://one.example/7' },
      { here: 'x', there: 'http://one.example/a7' },
    ])
  })

  test('can be run again', async () => {
    const again = polite.seenStore(
      holding(`export default () => {
        const urls = new Set()
        return {
          addAll: (batch) => batch.map((url) => urls.size < urls.add(url).size),
          get size() { return urls.size },
          close: () => { urls.add = () => { throw new Error('closed') } },
        }
      }`),
    )
    expect(await again.run()).toMatchObject({ pages: 3 })
    expect(await again.run()).toMatchObject({ pages: 3 })
  })

  test('rejects before the first fetch if one cannot be loaded', async () => {
    const broken = polite.use(new URL('./nobody.mjs', web)).on('page', () => expect.unreachable())
    await expect(broken.run()).rejects.toMatchObject({
      code: 'KUMO_MODULE_FAILED',
      message: expect.stringMatching(/^use: module .*nobody\.mjs: the file does not exist/),
    })
  })
})

test('a rule of a module that was not loaded throws', async () => {
  const error = await thrownBy(() => moduleRule(fromModule('file:///scope.js')).start())
  expect(error).toMatchObject({ code: 'KUMO_CONTRACT_BROKEN', message: expect.stringContaining('scope.js') })
})
