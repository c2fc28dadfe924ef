/** Real sites, archived and read by others' tools, and crawled again from the archive. The thorough run takes all. */

import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { Crawler, type Page } from 'kumo'
import { warc, warcReplay } from 'kumo/warc'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type FileSites, SITE_NAMES, startFileSites } from '../loopback/files.js'
import { isThorough } from '../thorough.js'
import { base32Sha1, newFolder } from './archived-site.js'
import { readWithNodeWarc, readWithWarcio, type SeenRecord } from './other-readers.js'

const seen = ({ url, status, title, links, data, body }: Page) =>
  JSON.stringify([url, status, title, links.map((link) => link.url), data, body.length])

describe.skipIf(SITE_NAMES.length === 0)('of ../shared/sites (skipped where it is absent)', () => {
  let sites: FileSites
  let folder: string
  const live: string[] = []

  const crawlerOf = () =>
    new Crawler()
      .seeds(...sites.seeds)
      .scope('origin')
      .perHost({ connections: 8, growAt: 1 })
      .traps(false)
      .retries({ times: 0 })
      .extract({ words: (page) => page.text.split(/\s+/).length })

  beforeAll(async () => {
    sites = await startFileSites(isThorough ? SITE_NAMES : ['japanese'])
    folder = newFolder()
    await crawlerOf()
      .delay(0)
      .use(warc(folder))
      .on('page', (page) => void live.push(seen(page)))
      .run()
  })
  afterAll(() => sites.close())

  it('has every page', () => {
    expect(live.length).toBe(sites.pages + sites.seeds.length)
  })

  it.each([
    ['warcio', readWithWarcio],
    ['node-warc', readWithNodeWarc],
  ] as const)(
    '%s reads every record, with the bytes of the server and the right digest',
    async (name, read) => {
      const files = readdirSync(folder).filter((each) => each.endsWith('.warc.gz'))
      const counts = { response: 0, request: 0, revisit: 0, warcinfo: 0, identical: 0 }
      const payloads = new Map<string | undefined, string | undefined>()
      for (const file of files) {
        for await (const { type, url, payload, digest } of read(
          join(folder, file),
        ) as AsyncIterable<SeenRecord>) {
          counts[type as 'response']++
          payloads.set(digest, url)
          if (type === 'response') expect(digest, url).toBe(`sha1:${base32Sha1(payload)}`)
          const sent = type === 'request' || type === 'warcinfo' ? undefined : sites.bytesOf(url!)
          if (sent === undefined) continue
          // A revisit has the digest of the payload that it does not repeat.
          expect(digest, url).toBe(`sha1:${base32Sha1(sent)}`)
          if (type === 'response') expect(payload.equals(sent), url).toBe(true)
          counts.identical++
        }
      }
      console.log(`${name}: ${JSON.stringify(counts)}`)
      expect(counts.identical).toBe(sites.pages)
      expect(counts.request).toBe(counts.response + counts.revisit)
    },
  )

  it('is crawled again with the same pages, links, titles and data', async () => {
    const replayed: string[] = []
    await crawlerOf()
      .delay('1h')
      .fetcher(warcReplay(folder))
      .on('page', (page) => void replayed.push(seen(page)))
      .run()
    expect(replayed.sort()).toEqual(live.sort())
  })
})
