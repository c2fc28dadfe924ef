/** Rules that never matched are named in the summary, and rules give links priorities. */

import { any, type Crawler, domain, not } from 'kumo'
import { describe, expect, test } from 'vitest'
import { crawl, direct, linksTo, site } from './support.js'

describe('unusedRules', () => {
  async function unusedOf(change: (crawler: Crawler) => Crawler): Promise<readonly string[]> {
    const { url } = await site({
      '/': linksTo('/blog/a', '/blog/b', '/login', '/other', 'http://elsewhere.example/'),
      '/blog/a': linksTo('/blog/c', '/blog/b'),
      '/blog/b': '',
      '/blog/c': '',
      '/other': '',
    })
    const { unusedRules } = await change(direct.seeds(url('/'))).run()
    return unusedRules
  }

  test('is empty without rules', async () => {
    expect(await unusedOf((crawler) => crawler)).toEqual([])
  })

  test('is empty if all have matched', async () => {
    const rules = (crawler: Crawler) => crawler.scope('host').exclude('/login').block('elsewhere.example')
    expect(await unusedOf(rules)).toEqual([])
  })

  test('names those that have not, with their option', async () => {
    const rules = (crawler: Crawler) =>
      crawler
        .scope(any('host', domain('exmaple.com')))
        .include('/blog/**', '/blogg/**')
        .exclude('/logn', /\/blog\/c/)
        .block('/cgi-bin/**', 'elsewhere.example')
    expect(await unusedOf(rules)).toEqual([
      'scope: domain exmaple.com',
      'include: glob /blogg/**',
      'exclude: glob /logn',
      'block: glob /cgi-bin/**',
    ])
  })

  test('does not name rules because others decided before them', async () => {
    const rules = (crawler: Crawler) =>
      crawler.scope(any('all', '/blog/**', '/nope')).exclude('/**', '/login')
    expect(await unusedOf(rules)).toEqual(['scope: glob /nope'])
    // A function is not called more often than needed.
    const called: string[] = []
    const never = ({ url }: { url: string }) => called.push(url) < 0
    expect(await unusedOf((crawler) => crawler.workers(0).scope(any('all', never)))).toEqual([])
    expect(called).toEqual([])
    expect(await unusedOf((crawler) => crawler.workers(0).exclude(never))).toEqual(['exclude: never'])
    expect(called.length).toBeGreaterThan(0)
  })

  test('sees through not()', async () => {
    expect(await unusedOf((crawler) => crawler.scope('host', not('/lgoin')))).toEqual(['scope: glob /lgoin'])
  })
})

describe('prioritize()', () => {
  const routes = {
    '/': linksTo('/low/1', '/a', '/high/1', '/b', '/high/2'),
    ...Object.fromEntries(['/low/1', '/a', '/high/1', '/b', '/high/2'].map((path) => [path, 'x'])),
  }

  async function orderOf(change: (crawler: Crawler) => Crawler): Promise<string[]> {
    const { url } = await site(routes)
    const { pages } = await crawl(change(direct.concurrency(1).seeds(url('/'))))
    return pages.map((page) => new URL(page.url).pathname)
  }

  test('orders the links of a host by rules', async () => {
    const order = await orderOf((crawler) => crawler.prioritize('/high/**', 10).prioritize(/\/low\//, -10))
    expect(order.slice(0, 3).sort()).toEqual(['/', '/high/1', '/high/2'])
    expect(order.at(-1)).toBe('/low/1')
  })

  test('takes the first rule that matches, and the priority of an extractor before any rule', async () => {
    const order = await orderOf((crawler) =>
      crawler
        .prioritize('/high/2', -20)
        .prioritize('/high/**', 10)
        .extract({
          name: 'links',
          extract: ({ depth }) => ({ links: depth === 0 ? [{ href: '/b', tag: 'x', priority: 99 }] : [] }),
        })
        .extract({ x: () => 1 }),
    )
    expect(order.at(-1)).toBe('/high/2')
    expect(order.indexOf('/high/1')).toBeLessThan(order.indexOf('/a'))
  })

  test('follows the link although a rule throws, and warns', async () => {
    const warnings: Error[] = []
    const collect = (warning: Error) => void warnings.push(warning)
    process.on('warning', collect)
    const oops = () => {
      throw new Error('oops')
    }
    const order = await orderOf((crawler) => crawler.workers(0).prioritize(oops, 5))
    expect(order).toHaveLength(6)
    await new Promise((resolve) => setImmediate(resolve))
    process.off('warning', collect)
    expect(warnings.map(({ message }) => message)).toEqual([
      expect.stringMatching(/^prioritize: a rule threw for .*: oops\.$/),
    ])
  })
})
