/** The door: what gets in, what is sent away and what is reported, with parts that write everything down. */

import { describe, expect, test } from 'vitest'
import { Admission } from '../../src/engine/admit.js'
import type { Parts } from '../../src/engine/parts.js'
import type { WrittenLinks } from '../../src/extract/contract.js'
import type { CrawlRequest, Link } from '../../src/types.js'
import { fingerprint } from '../../src/url/fingerprint.js'
import { predicate, sameHost } from '../../src/url/rules.js'
import type { ScopeRule } from '../../src/url/scope.js'

const HOME = 'https://site.example/dir/page'

interface Circumstances {
  scope?: ScopeRule
  maxDepth?: number
  full?: string[]
  /** Hosts of another shard. */
  foreign?: string[]
  async?: boolean
}

function setUp({
  scope = sameHost(),
  maxDepth = 9,
  full = [],
  foreign = [],
  async = false,
}: Circumstances = {}) {
  const log = {
    added: [] as CrawlRequest[],
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
        return async ? Promise.resolve() : undefined
      },
    },
    partitioner: { partitions: 2, partition: (host: string) => (foreign.includes(host) ? 1 : 0) },
    ownership: { version: 0, self: 0, ownerOf: (partition: number) => partition },
    exchange: {
      send: (shard: number, requests: CrawlRequest[]) =>
        log.sent.push(...requests.map((r) => [shard, r] as [number, CrawlRequest])),
    },
  } as unknown as Parts
  const admission = new Admission(parts, maxDepth, {
    skipped: (url, reason) => log.skipped.push(`${reason} ${url}`),
    scopeFailed: (url, message) => void log.failed.push(`${url}: ${message}`),
    hostFull: (host) => full.includes(host),
  })
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
    const found = hrefs.map((link) => (typeof link === 'string' ? { href: link, tag: 'a' } : link))
    return admission.links(
      { links: asWritten(found), base: base ?? request.url, problem: undefined },
      request,
    )
  }
  return { log, admission, links, urls: () => log.added.map(({ url }) => url) }
}

/** Links as a page holds them, each with the fingerprint of its spelling. */
function asWritten(links: Link[]): WrittenLinks {
  return {
    length: links.length,
    at: (index) => links[index]!,
    fingerprint: (index, into) => {
      fingerprint(links[index]!.href, into)
      return true
    },
    [Symbol.iterator]: () => links.values(),
  }
}

describe.each([[false], [true]])('with stores that answer later: %s', (async) => {
  test('links are resolved, spelled canonically and admitted once', async () => {
    const { admission, links, log, urls } = setUp({ async })
    await admission.seeds([HOME])
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

  test('a request says where it came from', async () => {
    const { admission, links, log } = setUp({ async })
    await admission.seeds([HOME])
    await links(['/a', { href: '/b', tag: 'link', priority: 7 }], { depth: 3 })
    expect(log.added).toEqual([
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
    await admission.seeds([HOME])
    await links([href], from)
    expect(log.skipped).toEqual(skipped)
    expect(log.added).toHaveLength(skipped.length === 0 ? 2 : 1)
  })

  test('a scope that throws is reported for that link alone', async () => {
    const scope = predicate(({ url }) => {
      if (url.endsWith('/bad')) throw new Error('oh')
      return true
    })
    const { admission, links, log, urls } = setUp({ scope })
    await admission.seeds([HOME])
    await links(['/a', '/bad', '/b'])
    expect(urls()).toEqual([HOME, 'https://site.example/a', 'https://site.example/b'])
    expect(log.failed).toEqual(['https://site.example/bad: the scope threw: oh'])
  })
})

describe('an origin', () => {
  test('is judged once if the scope asks for no more', async () => {
    const { admission, links, log } = setUp()
    await admission.seeds([HOME])
    await links(['/a', '/b', 'https://other.example/a', 'https://other.example/b'])
    expect(log.asked).toEqual(['https://site.example/', 'https://other.example/'])
    expect(log.skipped).toHaveLength(2)
  })

  test('is judged anew after a seed has widened the scope', async () => {
    const { admission, links, log, urls } = setUp()
    await admission.seeds([HOME])
    await links(['https://other.example/a'])
    expect(log.skipped).toHaveLength(1)
    await admission.seeds(['https://other.example/'])
    await links(['https://other.example/a'])
    expect(urls()).toContain('https://other.example/a')
  })

  test('of another shard: its links go to their owner and not to the frontier', async () => {
    const { admission, links, log, urls } = setUp({ foreign: ['far.example'], scope: predicate(() => true) })
    await admission.seeds([HOME, 'https://far.example/seed'])
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
    await admission.seeds([HOME])
    const { url, ...rest } = log.added[0]!
    await admission.arrivals([
      { ...rest, url },
      { ...rest, url: 'https://site.example/new' },
    ])
    expect(urls()).toEqual([HOME, 'https://site.example/new'])
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
    await admission.seeds([HOME])
    await links(hrefs)
    await links(hrefs, { url: 'https://site.example/else/page' })
    expect(urls().slice(1)).toEqual(expected)
  })

  test('the same path on another origin is another link', async () => {
    const { admission, links, urls } = setUp({ scope: predicate(() => true) })
    await admission.seeds([HOME])
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
    await admission.seeds([HOME])
    await links(['/x'])
    full.pop()
    await links(['/x'])
    expect(log.skipped).toHaveLength(1)
    expect(urls()).toContain('https://site.example/x')
  })
})

describe('a redirect', () => {
  test('keeps depth, priority and parent, and counts', async () => {
    const { admission, log } = setUp()
    await admission.seeds([HOME])
    const from = {
      ...log.added[0]!,
      depth: 4,
      priority: 3,
      redirects: 2,
      parent: 'https://site.example/parent',
    }
    await admission.redirect('https://site.example/to', from)
    await admission.redirect('https://site.example/to', from)
    await admission.redirect('https://other.example/to', from)
    expect(log.added.slice(1)).toEqual([
      {
        url: 'https://site.example/to',
        host: 'site.example',
        depth: 4,
        priority: 3,
        attempt: 0,
        redirects: 3,
        parent: 'https://site.example/parent',
      },
    ])
    expect(log.skipped).toEqual(['scope https://other.example/to'])
  })
})
