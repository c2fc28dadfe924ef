/**
 * The sitemaps that crawler-commons tests itself with, and what it made of each. It was asked to be strict in
 * some of them; what a lenient reader should find there is said here.
 */

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import type { SitemapEntry } from '../../../src/extract/contract.js'
import { parseSitemap } from '../../../src/extract/sitemap/sitemap.js'

const SUITES = fileURLToPath(new URL('../../../../shared/suites/', import.meta.url))
const present = existsSync(SUITES)
if (!present) console.log('sitemaps: skipped, because the published suites are not here')

interface Case {
  readonly test: string
  readonly url: string
  readonly strict: boolean
  readonly strictNamespace: boolean
  readonly content_b64: string
  readonly error?: string
  readonly result?: { readonly index: boolean; readonly entries: readonly Expected[] }
}

interface Expected {
  readonly loc: string
  readonly lastmod?: string | null
  readonly changefreq?: string | null
  readonly priority?: number
}

const page = (loc: string): Expected => ({ loc })

/** Entries that crawler-commons rejects in strict mode but the file contains. */
const LENIENT: Readonly<Record<string, { readonly reason: string; readonly entries: readonly Expected[] }>> =
  {
    'SiteMapParserTest.lambda$testSitemapParserBrokenXml$2': {
      reason: 'an end tag too many made it refuse the file',
      entries: [page('http://cs.harding.edu/fmccown/sitemaps/something.html')],
    },
    'SiteMapParserTest.lambda$testSitemapXXE$0': {
      reason: 'a DOCTYPE made it refuse the file; where it may stand, its answer is this',
      entries: [{ loc: 'http://www.example.com/visit-here', lastmod: '2019-06-19T00:00:00Z' }],
    },
    'SiteMapParserTest.testSitemapWithWrongNamespace': {
      reason: 'a wrong namespace made it refuse the file; where it may stand, its answer is this',
      entries: [
        { loc: 'http://www.example.com/1', changefreq: 'DAILY' },
        { loc: 'http://www.example.com/2', changefreq: 'DAILY' },
      ],
    },
    'SiteMapParserTest.testLenientParser': {
      reason: 'it left out a URL above the folder of the sitemap; the scope of a crawl decides that here',
      entries: [page('http://www.example.com/')],
    },
    'SiteMapParserExtensionTest.parse http://www.example.org/sitemap-mobile.xml': {
      reason: 'it left out URLs of another host; the scope of a crawl decides that here',
      entries: [
        page('http://www.example.com/mobile-friendly-1/'),
        page('http://www.example.com/mobile-friendly-2/'),
        page('http://www.example.com/no-mobile/'),
      ],
    },
  }

/** Where we answer otherwise, and mean to. */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  'SiteMapParserTest.testSitemapXMLfilterUrls':
    'a filter of that test writes "http://" before "www.example.com/"; the reader gives what is written',
  'SiteMapParserTest.testSitemapTXTfilterUrls':
    'a filter of that test writes "http://" before such lines; one without a scheme is no URL here',
}

const DEFAULT_PRIORITY = 0.5

/** Both sides in one form: canonical URLs, and the protocol's defaults for absent fields. */
function seen(entry: SitemapEntry, base: string): object {
  const url = new URL(entry.url, base)
  url.hash = ''
  return {
    kind: entry.kind,
    url: url.href,
    lastmod: entry.lastmod === undefined ? undefined : new Date(entry.lastmod).toISOString(),
    changefreq: entry.changefreq,
    priority: entry.priority ?? DEFAULT_PRIORITY,
  }
}

function expected(entry: Expected, kind: SitemapEntry['kind']): object {
  return {
    kind,
    url: new URL(entry.loc).href,
    lastmod: entry.lastmod ? new Date(entry.lastmod).toISOString() : undefined,
    changefreq: entry.changefreq?.toLowerCase(),
    priority: entry.priority ?? DEFAULT_PRIORITY,
  }
}

describe.skipIf(!present)('the sitemaps of crawler-commons', () => {
  it('are read leniently, 52 of 54', async () => {
    const cases: Case[] = JSON.parse(readFileSync(`${SUITES}sitemaps/crawler_commons_sitemaps.json`, 'utf8'))
    const differing: string[] = []
    let asPublished = 0
    let leniently = 0
    for (const { test, url, content_b64, result } of cases) {
      const { entries } = await parseSitemap(Buffer.from(content_b64, 'base64'))
      const ours = entries.map((entry) => seen(entry, url))
      const kind = result?.index ? 'sitemap' : 'page'
      const published = (result?.entries ?? []).map((entry) => expected(entry, kind))
      const lenient = (LENIENT[test] ?? LENIENT[`${test} ${url}`])?.entries.map((each) =>
        expected(each, 'page'),
      )
      if (same(ours, published)) asPublished++
      else if (lenient !== undefined && same(ours, lenient)) leniently++
      else differing.push(test)
    }
    console.log(
      `sitemaps: ${asPublished + leniently} of ${cases.length} read leniently ` +
        `(${asPublished} as crawler-commons does, ${leniently} where it was strict); ` +
        `not: ${differing.join(', ')}`,
    )
    expect(cases).toHaveLength(54)
    expect(asPublished + leniently).toBeGreaterThanOrEqual(50)
    expect(differing.sort()).toEqual(Object.keys(EXCEPTIONS).sort())
  })

  it('give the same whatever the size of the pieces', async () => {
    const cases: Case[] = JSON.parse(readFileSync(`${SUITES}sitemaps/crawler_commons_sitemaps.json`, 'utf8'))
    const { sitemapReader } = await import('../../../src/extract/sitemap/sitemap.js')
    for (const { test, content_b64 } of cases) {
      const body = Buffer.from(content_b64, 'base64')
      const whole = await parseSitemap(body)
      for (const size of [1, 7, 1000]) {
        const reader = sitemapReader()
        const entries: SitemapEntry[] = []
        for (let at = 0; at < body.length; at += size) {
          entries.push(...(await reader.push(body.subarray(at, at + size))))
        }
        entries.push(...(await reader.end()))
        expect({ test, size, entries, problems: reader.problems }).toEqual({ test, size, ...whole })
      }
    }
  })
})

describe.skipIf(!present)('XML attacks', () => {
  it('are neither expanded nor fetched, and no sitemaps', async () => {
    const folder = `${SUITES}security/xml/xmltestdata/`
    const files = readdirSync(folder)
    const answers = await Promise.all(files.map((file) => parseSitemap(readFileSync(folder + file))))
    expect(answers.flatMap(({ entries }) => entries)).toEqual([])
    expect(answers.map(({ problems }) => problems.map(({ code }) => code))).toEqual(
      files.map(() => ['not-a-sitemap']),
    )
    console.log(`XML attacks: ${files.length} of ${files.length} bounded`)
    expect(files).toHaveLength(13)
  })

  it('are bounded in a sitemap too', async () => {
    const folder = `${SUITES}security/xml/xmltestdata/`
    for (const file of ['xmlbomb.xml', 'quadratic.xml', 'cyclic.xml', 'external.xml', 'external_file.xml']) {
      const attack = readFileSync(folder + file, 'utf8').replace(
        /<(bomb|root)>([\s\S]*?)<\/\1>/,
        '<urlset><url><loc>$2</loc></url><url><loc>http://a.example/</loc></url></urlset>',
      )
      const { entries, problems } = await parseSitemap(attack)
      expect({ file, urls: entries.map(({ url }) => url) }).toEqual({ file, urls: ['http://a.example/'] })
      expect(problems).toMatchObject([{ code: 'no-url', count: 1 }])
    }
  })
})

function same(a: readonly object[], b: readonly object[]): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}
