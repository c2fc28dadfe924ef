/** The door: what gets in, what is sent away and what is reported, with parts that write everything down. */

import { describe, expect, test } from 'vitest'
import { Admission, type AdmissionRules } from '../../../src/engine/admission/admission.js'
import type { EngineParts } from '../../../src/engine/parts.js'
import type { WrittenLinks } from '../../../src/extract/contract.js'
import type { CrawlRequest, Link } from '../../../src/types.js'
import { predicate, sameHost } from '../../../src/url/scope/rules.js'
import type { ScopeRule } from '../../../src/url/scope/scope.js'
import { parameterFilter } from '../../../src/url/tracking.js'
import { readLinkText } from '../../../src/url/written-link.js'

const SITE = 'https://site.example'
const HOME = `${SITE}/dir/page`

interface Circumstances {
  scope?: ScopeRule
  maxDepth?: number
  full?: string[]
  /** Hosts of another shard. */
  foreign?: string[]
  async?: boolean
  block?: ScopeRule
  trap?: EngineParts['trap']
  drop?: string[]
  rules?: Partial<AdmissionRules>
}

function setUp({
  scope = sameHost(),
  maxDepth = 9,
  full = [],
  foreign = [],
  async = false,
  block,
  trap,
  drop,
  rules = {},
}: Circumstances = {}) {
  const log = {
    /** Added to the frontier. */
    added: [] as CrawlRequest[],
    /** What got in, in order: added to the frontier, or returned for a settlement to bring. */
    taken: [] as CrawlRequest[],
    sent: [] as [number, CrawlRequest][],
    skipped: [] as string[],
    failed: [] as string[],
    asked: [] as string[],
  }
  const known = new Set<string>()
  const test = scope.start()
  const parts = {
    scope: {
      perOrigin: test.perOrigin,
      addSeed: (url: string) => test.addSeed?.(url),
      test(target: Parameters<typeof test.test>[0]) {
        log.asked.push(target.url)
        return test.test(target)
      },
    },
    seen: {
      addAll(urls: readonly string[]) {
        const fresh = urls.map((url) => !known.has(url) && known.add(url) !== undefined)
        return async ? Promise.resolve(fresh) : fresh
      },
    },
    frontier: {
      add(requests: readonly CrawlRequest[]) {
        log.added.push(...requests)
        log.taken.push(...requests)
        return async ? Promise.resolve() : undefined
      },
    },
    partitioner: { partitions: 2, partition: (host: string) => (foreign.includes(host) ? 1 : 0) },
    ownership: { version: 0, self: 0, ownerOf: (partition: number) => partition },
    exchange: {
      send: (shard: number, requests: CrawlRequest[]) =>
        log.sent.push(...requests.map((r) => [shard, r] as [number, CrawlRequest])),
    },
    blocked: block?.start(),
    trap,
    withoutParameters: drop && parameterFilter(drop),
  } as unknown as EngineParts
  const defaults = {
    maxLinksPerPage: 1000,
    nofollow: true,
    followCanonical: false,
    sitemapEntriesPerHost: 5,
    followsLoops: true,
  }
  const admission = new Admission(
    parts,
    { maxDepth, ...defaults, ...rules },
    {
      skippedAgain: () => false,
      skipped: (url, reason) => log.skipped.push(`${reason} ${url}`),
      scopeFailed: (url, message) => void log.failed.push(`${url}: ${message}`),
      rewriteFailed: (url, message) => void log.failed.push(`${url}: ${message}`),
      isFull: (host) => (full.includes(host) ? 'host-limit' : undefined),
    },
  )
  const links = (hrefs: (string | Link)[], from: Partial<CrawlRequest> = {}, base?: string) => {
    const request = {
      url: HOME,
      host: 'site.example',
      depth: 0,
      priority: 0,
      attempt: 0,
      redirects: 0,
      parent: undefined,
      ...from,
    }
    const written = hrefs.map((link) => (typeof link === 'string' ? { href: link, tag: 'a' } : link))
    return returned(
      admission.admitLinks(
        { links: asWritten(written), base: base ?? request.url, problem: undefined },
        request,
      ),
    )
  }
  const redirect = (target: string, from: CrawlRequest) => returned(admission.admitRedirect(target, from))
  const returned = async (answer: ReturnType<Admission['admitLinks']>) => {
    const found = await answer
    log.taken.push(...(found ?? []))
    return found
  }
  return { log, admission, links, redirect, urls: () => log.taken.map(({ url }) => url) }
}

function seeds(...urls: string[]) {
  return urls.map((url) => ({ url, depth: 0, priority: 0 }))
}

/** Links as a page holds them, each with the fingerprint of its spelling. */
function asWritten(links: Link[]): WrittenLinks {
  return {
    length: links.length,
    at: (index) => links[index]!,
    fingerprint: (index, into) => readLinkText(links[index]!.href, into),
    [Symbol.iterator]: () => links.values(),
  }
}

describe.each([[false], [true]])('with stores that answer later: %s', (async) => {
  test('links are resolved, spelled canonically and admitted once', async () => {
    const { admission, links, log, urls } = setUp({ async })
    await admission.admitSeeds(seeds(HOME))
    await links([
      'other',
      '/root#x',
      '/root',
      './other',
      '//site.example/%7euser',
      'HTTPS://SITE.example:443/root',
      '',
      '#top',
    ])
    expect(urls()).toEqual([
      HOME,
      'https://site.example/dir/other',
      'https://site.example/root',
      'https://site.example/~user',
    ])
    expect(log.skipped).toEqual([])
    await links(['other', '/root', '/new'])
    expect(urls().slice(4)).toEqual(['https://site.example/new'])
  })

  test('what a visit led to is left for its settlement to bring', async () => {
    const { admission, links, redirect, log } = setUp({ async })
    await admission.admitSeeds(seeds(HOME))
    expect(await links(['/a', '/b'])).toMatchObject([{ url: `${SITE}/a` }, { url: `${SITE}/b` }])
    expect(await redirect(`${SITE}/c`, log.added[0]!)).toMatchObject([{ url: `${SITE}/c`, redirects: 1 }])
    expect(log.added.map(({ url }) => url)).toEqual([HOME])
    expect((await links(['/a', '/b'])) ?? []).toEqual([])
    expect(await redirect(`${SITE}/c`, log.added[0]!)).toEqual([])
  })

  test('a request says where it came from', async () => {
    const { admission, links, log } = setUp({ async })
    await admission.admitSeeds(seeds(HOME))
    await links(['/a', { href: '/b', tag: 'a', priority: 7 }], { depth: 3 })
    expect(log.taken).toEqual([
      { url: HOME, host: 'site.example', depth: 0, priority: 0, attempt: 0, redirects: 0, parent: undefined },
      {
        url: 'https://site.example/a',
        host: 'site.example',
        depth: 4,
        priority: 0,
        attempt: 0,
        redirects: 0,
        parent: HOME,
      },
      {
        url: 'https://site.example/b',
        host: 'site.example',
        depth: 4,
        priority: 7,
        attempt: 0,
        redirects: 0,
        parent: HOME,
      },
    ])
  })
})

describe('what does not get in', () => {
  test.each<[string, Circumstances, string, Partial<CrawlRequest>, string[]]>([
    ['not http', {}, 'mailto:x', {}, ['not-http mailto:x']],
    ['malformed', {}, 'http://[/', {}, ['not-http http://[/']],
    ['out of scope', {}, 'https://other.example/', {}, ['scope https://other.example/']],
    ['too deep', { maxDepth: 2 }, '/x', { depth: 2 }, ['depth https://site.example/x']],
    ['just deep enough', { maxDepth: 2 }, '/x', { depth: 1 }, []],
    ['a full host', { full: ['site.example'] }, '/x', {}, ['host-limit https://site.example/x']],
    [
      'scope comes before depth',
      { maxDepth: 0 },
      'https://other.example/',
      {},
      ['scope https://other.example/'],
    ],
  ])('%s', async (_, options, href, from, skipped) => {
    const { admission, links, log } = setUp(options)
    await admission.admitSeeds(seeds(HOME))
    await links([href], from)
    expect(log.skipped).toEqual(skipped)
    expect(log.taken).toHaveLength(skipped.length === 0 ? 2 : 1)
  })

  test('a scope that throws is reported for that link alone', async () => {
    const scope = predicate(({ url }) => {
      if (url.endsWith('/bad')) throw new Error('oh')
      return true
    })
    const { admission, links, log, urls } = setUp({ scope })
    await admission.admitSeeds(seeds(HOME))
    await links(['/a', '/bad', '/b'])
    expect(urls()).toEqual([HOME, 'https://site.example/a', 'https://site.example/b'])
    expect(log.failed).toEqual(['https://site.example/bad: a scope rule threw: oh'])
  })
})

describe('an origin', () => {
  test('is judged once if the scope asks for no more', async () => {
    const { admission, links, log } = setUp()
    await admission.admitSeeds(seeds(HOME))
    await links(['/a', '/b', 'https://other.example/a', 'https://other.example/b'])
    expect(log.asked).toEqual(['https://site.example/', 'https://other.example/'])
    expect(log.skipped).toHaveLength(2)
  })

  test('is judged anew after a seed has widened the scope', async () => {
    const { admission, links, log, urls } = setUp()
    await admission.admitSeeds(seeds(HOME))
    await links(['https://other.example/a'])
    expect(log.skipped).toHaveLength(1)
    await admission.admitSeeds(seeds('https://other.example/'))
    await links(['https://other.example/a'])
    expect(urls()).toContain('https://other.example/a')
  })

  test('of another shard: its links go to their owner and not to the frontier', async () => {
    const { admission, links, log, urls } = setUp({ foreign: ['far.example'], scope: predicate(() => true) })
    await admission.admitSeeds(seeds(HOME, 'https://far.example/seed'))
    await links(['/a', 'https://far.example/b', '//far.example/c'])
    expect(urls()).toEqual([HOME, 'https://site.example/a'])
    expect(log.sent.map(([shard, { url, host, depth }]) => [shard, url, host, depth])).toEqual([
      [1, 'https://far.example/seed', 'far.example', 0],
      [1, 'https://far.example/b', 'far.example', 1],
      [1, 'https://far.example/c', 'far.example', 1],
    ])
  })

  test('arrivals from other shards are checked against the seen-set', async () => {
    const { admission, log, urls } = setUp()
    await admission.admitSeeds(seeds(HOME))
    const { url, ...rest } = log.taken[0]!
    await admission.arrivals.admit([
      { ...rest, url },
      { ...rest, url: 'https://site.example/new' },
    ])
    expect(urls()).toEqual([HOME, 'https://site.example/new'])
  })

  test('a trap is not asked about seeds that arrive from other shards', async () => {
    const { admission, urls } = setUp({ trap: () => 'path-repeats' })
    await admission.arrivals.admit([
      page('https://site.example/seed', { parent: undefined }),
      page('https://site.example/link', { parent: HOME }),
    ])
    expect(urls()).toEqual(['https://site.example/seed'])
  })
})

describe('links met before', () => {
  test.each<[string, string[], string[]]>([
    [
      'relative paths differ from page to page',
      ['x'],
      ['https://site.example/dir/x', 'https://site.example/else/x'],
    ],
    [
      'so do those that begin like a URL',
      ['httpd'],
      ['https://site.example/dir/httpd', 'https://site.example/else/httpd'],
    ],
    ['and queries', ['?q'], ['https://site.example/dir/page?q', 'https://site.example/else/page?q']],
    ['absolute paths do not', ['/x'], ['https://site.example/x']],
    ['nor whole URLs', ['https://site.example/x'], ['https://site.example/x']],
    ['the bare origin is a link like any other', ['https://site.example'], ['https://site.example/']],
  ])('%s', async (_, hrefs, expected) => {
    const { admission, links, urls } = setUp()
    await admission.admitSeeds(seeds(HOME))
    await links(hrefs)
    await links(hrefs, { url: 'https://site.example/else/page' })
    expect(urls().slice(1)).toEqual(expected)
  })

  test('the same path on another origin is another link', async () => {
    const { admission, links, urls } = setUp({ scope: predicate(() => true) })
    await admission.admitSeeds(seeds(HOME))
    await links(['/x'])
    await links(['/x'], { url: 'http://site.example/' })
    await links(['/x'], {}, 'https://base.example/')
    expect(urls().slice(1)).toEqual([
      'https://site.example/x',
      'http://site.example/x',
      'https://base.example/x',
    ])
  })

  test('one that was refused is asked about again', async () => {
    const full: string[] = ['site.example']
    const { admission, links, log, urls } = setUp({ full })
    await admission.admitSeeds(seeds(HOME))
    await links(['/x'])
    full.pop()
    await links(['/x'])
    expect(log.skipped).toHaveLength(1)
    expect(urls()).toContain('https://site.example/x')
  })
})

describe('a redirect', () => {
  test('keeps depth, priority and parent, and counts', async () => {
    const { admission, redirect, log } = setUp()
    await admission.admitSeeds(seeds(HOME))
    const from = {
      ...log.taken[0]!,
      depth: 4,
      priority: 3,
      redirects: 2,
      parent: 'https://site.example/parent',
    }
    await redirect('https://site.example/to', from)
    await redirect('https://site.example/to', from)
    await redirect('https://other.example/to', from)
    expect(log.taken.slice(1)).toEqual([
      {
        url: 'https://site.example/to',
        host: 'site.example',
        depth: 4,
        priority: 3,
        attempt: 0,
        redirects: 3,
        parent: 'https://site.example/parent',
        via: [HOME],
      },
    ])
    expect(log.skipped).toEqual(['scope https://other.example/to'])
  })
})

const page = (url: string, more: Partial<CrawlRequest> = {}): CrawlRequest => ({
  url,
  host: new URL(url).host,
  depth: 0,
  priority: 0,
  attempt: 0,
  redirects: 0,
  parent: undefined,
  ...more,
})

describe('the block-list', () => {
  test('closes seeds, links, redirects and errands, before the scope is asked', async () => {
    const { admission, links, redirect, log, urls } = setUp({
      block: predicate(({ url }) => url.includes('/secret')),
    })
    await admission.admitSeeds(seeds(HOME, 'https://site.example/secret/seed'))
    log.asked.length = 0
    await links(['/secret/link', '/open'])
    await redirect('https://site.example/secret/target', page(HOME))
    expect(await admission.queueRobots('https://site.example/secret/robots.txt', page(HOME), ROBOTS)).toBe(
      false,
    )
    expect(urls()).toEqual([HOME, 'https://site.example/open'])
    expect(log.skipped).toEqual([
      'blocked https://site.example/secret/seed',
      'blocked https://site.example/secret/link',
      'blocked https://site.example/secret/target',
      'blocked https://site.example/secret/robots.txt',
    ])
    expect(log.asked.every((url) => !url.includes('secret'))).toBe(true)
    expect(admission.isBlocked(page('https://site.example/secret/'))).toBe(true)
  })

  test('that throws closes what it was asked about', async () => {
    const block = predicate(({ url }) => {
      if (url.endsWith('/bad')) throw new Error('oops')
      return false
    })
    const { admission, links, log, urls } = setUp({ block })
    await admission.admitSeeds(seeds(HOME))
    await links(['/bad', '/good'])
    expect(urls()).toEqual([HOME, 'https://site.example/good'])
    expect(log.failed).toEqual(['https://site.example/bad: a scope rule threw: oops'])
  })
})

const ROBOTS = { kind: 'robots', origin: 'https://a.example' } as const

describe('redirects', () => {
  test('remember the way, the purpose and the hint', async () => {
    const { admission, redirect, log } = setUp()
    await admission.admitSeeds(seeds(HOME))
    const hint = { lastmod: 5 }
    await redirect('https://site.example/2', page(HOME, { hint }))
    const second = log.taken.at(-1)!
    expect(second).toMatchObject({ url: 'https://site.example/2', via: [HOME], redirects: 1, hint })
    await redirect('https://site.example/3', second)
    expect(log.taken.at(-1)).toMatchObject({ via: [HOME, 'https://site.example/2'], redirects: 2, hint })
  })

  test('back to where they came from are taken in although they are known', async () => {
    const { admission, redirect, urls } = setUp()
    await admission.admitSeeds(seeds(HOME))
    await redirect(HOME, page(HOME))
    expect(urls()).toEqual([HOME, HOME])
  })

  test('in a circle are refused where the second answer cannot differ', async () => {
    const { admission, redirect, urls } = setUp({ rules: { followsLoops: false }, drop: ['sid'] })
    await admission.admitSeeds(seeds(HOME))
    expect(await redirect(`${HOME}?sid=1`, page(HOME))).toBeUndefined()
    expect(urls()).toEqual([HOME])
  })

  test('of a sitemap do not ask the scope', async () => {
    const { admission, redirect, log } = setUp()
    await admission.admitSeeds(seeds(HOME))
    const purpose = { kind: 'sitemap', nested: 0, of: 'site.example' } as const
    await redirect('https://cdn.example/map.xml', page(HOME, { purpose }))
    expect(log.taken.at(-1)).toMatchObject({ url: 'https://cdn.example/map.xml', purpose })
  })
})

describe('links that ask for something', () => {
  test('not to be followed are not, unless that is ignored', async () => {
    const links: Link[] = [
      { href: '/yes', tag: 'a' },
      { href: '/no', tag: 'a', rel: 'external nofollow' },
    ]
    const heeding = setUp()
    await heeding.admission.admitSeeds(seeds(HOME))
    await heeding.links(links)
    expect(heeding.urls()).toEqual([HOME, 'https://site.example/yes'])
    expect(heeding.log.skipped).toEqual(['nofollow https://site.example/no'])
    const ignoring = setUp({ rules: { nofollow: false } })
    await ignoring.admission.admitSeeds(seeds(HOME))
    await ignoring.links(links)
    expect(ignoring.urls()).toEqual([HOME, 'https://site.example/yes', 'https://site.example/no'])
  })

  test('and is met later without that wish is followed then', async () => {
    const { admission, links, urls } = setUp()
    await admission.admitSeeds(seeds(HOME))
    await links([{ href: '/x', tag: 'a', rel: 'nofollow' }])
    await links([{ href: '/x', tag: 'a' }])
    expect(urls()).toEqual([HOME, 'https://site.example/x'])
  })
})

describe('bounds', () => {
  test('links beyond those read of a page are reported once', async () => {
    const { admission, links, log, urls } = setUp({ rules: { maxLinksPerPage: 2 } })
    await admission.admitSeeds(seeds(HOME))
    await links(['/1', '/2', '/3', '/4'])
    expect(urls()).toEqual([HOME, 'https://site.example/1', 'https://site.example/2'])
    expect(log.skipped).toEqual([`too-many-links ${HOME}`])
  })

  test('a trap is asked about what is new, and never about seeds', async () => {
    const asked: string[] = []
    const trap = (url: string) => {
      asked.push(url)
      return url.endsWith('/trap') ? ('path-repeats' as const) : undefined
    }
    const { admission, links, log, urls } = setUp({ trap })
    await admission.admitSeeds(seeds('https://site.example/trap'))
    await links(['/trap', '/a', 'b/trap', 'b/trap'])
    expect(urls()).toEqual(['https://site.example/trap', 'https://site.example/a'])
    expect(asked).toEqual(['https://site.example/a', 'https://site.example/dir/b/trap'])
    expect(log.skipped).toEqual(['path-repeats https://site.example/dir/b/trap'])
  })

  test('parameters that choose nothing are dropped everywhere', async () => {
    const { admission, links, redirect, urls } = setUp({ drop: ['utm_*'] })
    await admission.admitSeeds(seeds(`${HOME}?utm_source=x`))
    await links(['/a?utm_medium=y&id=1', '/a?id=1'])
    await redirect('https://site.example/b?utm_campaign=z', page(HOME))
    expect(urls()).toEqual([HOME, 'https://site.example/a?id=1', 'https://site.example/b'])
  })
})

describe('sitemaps', () => {
  const purpose = { kind: 'sitemap', nested: 0, of: 'site.example' } as const

  test('are fetched once, whatever pages link to them', async () => {
    const { admission, links, log } = setUp()
    await admission.admitSeeds(seeds(HOME))
    await links(['/map.xml'])
    await admission.queueSitemaps(['/map.xml', 'https://site.example/map.xml', 'ftp://x/'], HOME)
    expect(log.taken.slice(1)).toMatchObject([
      { url: 'https://site.example/map.xml', depth: 1, priority: 0 },
      { url: 'https://site.example/map.xml', priority: -1, purpose },
    ])
  })

  test('give pages within the scope, after those that links lead to, with what was said of them', async () => {
    const { admission, log } = setUp()
    await admission.admitSeeds(seeds(HOME))
    const from = page('https://site.example/map.xml', { purpose })
    await admission.admitSitemapEntries(
      [
        { kind: 'page', url: 'https://site.example/a', lastmod: 7, priority: 0.5 },
        { kind: 'page', url: 'https://other.example/b' },
        { kind: 'page', url: '/c' },
        { kind: 'sitemap', url: 'https://site.example/more.xml' },
      ],
      from,
      purpose,
    )
    expect(log.taken.slice(1)).toMatchObject([
      { url: 'https://site.example/a', depth: 1, priority: -1, hint: { lastmod: 7, priority: 0.5 } },
      { url: 'https://site.example/c', depth: 1 },
      { url: 'https://site.example/more.xml', purpose: { kind: 'sitemap', nested: 1, of: 'site.example' } },
    ])
    expect(log.taken[2]).not.toHaveProperty('hint')
  })

  test('end at the number of entries, and do not nest for ever', async () => {
    const { admission, log } = setUp()
    await admission.admitSeeds(seeds(HOME))
    const entries = Array.from({ length: 9 }, (_, i) => ({ kind: 'page' as const, url: `/p${i}` }))
    await admission.admitSitemapEntries(entries, page('https://site.example/map.xml', { purpose }), purpose)
    expect(log.taken).toHaveLength(1 + 5)
    expect(admission.wantsSitemap(purpose)).toBe(false)
    const deepest = { kind: 'sitemap', nested: 3, of: 'other.example' } as const
    expect(admission.wantsSitemap(deepest)).toBe(true)
    const deep = page('https://other.example/map.xml', { purpose: deepest })
    await admission.admitSitemapEntries([{ kind: 'sitemap', url: '/deeper.xml' }], deep, deepest)
    expect(log.taken).toHaveLength(1 + 5)
  })

  test('are not read where they are not wanted', async () => {
    const { admission, log } = setUp({ rules: { sitemapEntriesPerHost: 0 } })
    await admission.queueSitemaps(['/map.xml'], HOME)
    expect(log.taken).toEqual([])
  })
})
