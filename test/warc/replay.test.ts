import { readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Crawler, type Failure, type Page } from 'kumo'
import { warcReplay } from 'kumo/warc'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { LoopbackSite } from '../loopback/site.js'
import { archive, crawlerOf, newFolder, startArchivedSite } from './archived-site.js'

let site: LoopbackSite
let folder: string

beforeAll(async () => {
  site = await startArchivedSite()
  folder = await archive(site)
})
afterAll(() => site.close())

type Seen = ReturnType<typeof seen>

const seen = (page: Page<{ heading: string | undefined }>) => ({
  url: page.url,
  status: page.status,
  title: page.title,
  text: page.text,
  type: page.headers.get('content-type'),
  odd: page.headers.get('x-odd-case'),
  bytes: page.body.length,
  from: page.redirectedFrom,
  links: page.links.map(({ url }) => url),
  data: page.data,
})

async function crawl(crawler: Crawler): Promise<{ pages: Seen[]; failures: (readonly [string, string])[] }> {
  const pages: Seen[] = []
  const failures: (readonly [string, string])[] = []
  await crawler
    .extract({ heading: (page) => page.document.querySelector('title')?.textContent ?? undefined })
    .on('page', (page) => void pages.push(seen(page)))
    .on('failure', ({ url, code }: Failure) => void failures.push([url, code]))
    .run()
  return { pages: pages.sort((a, b) => (a.url < b.url ? -1 : 1)), failures }
}

describe('a replay', () => {
  it.each([0, 2])('is like the crawl, sends nothing and waits for nothing (%i workers)', async (workers) => {
    const live = await crawl(crawlerOf(site))
    const before = site.requests.length
    const replayed = await crawl(crawlerOf(site).delay('1h').workers(workers).fetcher(warcReplay(folder)))
    expect(site.requests.length).toBe(before)
    expect(replayed).toEqual(live)
    expect(live.pages.length).toBe(9)
  })

  it('needs no index', async () => {
    const copy = await archive(site)
    for (const name of readdirSync(copy)) if (name.endsWith('.cdxj')) rmSync(join(copy, name))
    const { pages } = await crawl(crawlerOf(site).fetcher(warcReplay(copy)))
    expect(pages.length).toBe(9)
  })

  it('obeys the archived robots.txt', async () => {
    const { pages, failures } = await crawl(
      new Crawler().seeds(site.url('/private/a')).fetcher(warcReplay(folder)),
    )
    expect([pages, failures]).toEqual([[], []])
  })

  it('says what the archive does not have', async () => {
    const { failures } = await crawl(
      new Crawler()
        .seeds(site.url('/other'), { url: site.url('/plain'), method: 'POST', body: 'x' })
        .depth(0)
        .fetcher(warcReplay(folder)),
    )
    expect(failures).toEqual([
      [site.url('/other'), 'not-archived'],
      [site.url('/plain'), 'not-archived'],
    ])
  })

  it('answers with what was there at a time', async () => {
    const place = newFolder()
    const capture = (date: string, title: string) => {
      const block = `HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<title>${title}</title>`
      return `WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://a.example/\r\nWARC-Date: ${date}\r\nContent-Type: application/http\r\nContent-Length: ${block.length}\r\n\r\n${block}\r\n\r\n`
    }
    writeFileSync(
      join(place, 'a.warc'),
      capture('2021-01-01T00:00:00Z', 'first') + capture('2023-01-01T00:00:00Z', 'third'),
    )
    writeFileSync(join(place, 'b.warc'), capture('2022-01-01T00:00:00Z', 'second'))
    const titles = await Promise.all(
      [undefined, '2022-06-01', '2022-01-01', '2019', new Date('2021-07-01')].map(async (at) => {
        const { pages } = await crawl(
          new Crawler().seeds('http://a.example/').fetcher(warcReplay(place, { at })),
        )
        return pages[0]?.title
      }),
    )
    expect(titles).toEqual(['third', 'second', 'second', 'first', 'first'])
  })

  it('fails if there is no archive', async () => {
    const { failures } = await crawl(
      new Crawler()
        .seeds('http://a.example/')
        .robots(false)
        .retries({ times: 0 })
        .fetcher(warcReplay('./nowhere')),
    )
    expect(failures).toEqual([['http://a.example/', 'fetcher-failed']])
    expect(() => warcReplay('')).toThrow(/^warcReplay/)
    expect(() => warcReplay('./a', { at: 'yesterday' })).toThrow(/^warcReplay\.at/)
  })
})
