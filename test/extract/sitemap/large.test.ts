/** The largest sitemap that the protocol allows, read in slices and forgotten. */

import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { gzipSync } from 'node:zlib'
import { beforeAll, describe, expect, it } from 'vitest'
import type { SitemapEntry } from '../../../src/extract/contract.js'
import { parseSitemap, sitemapReader, sitemapSlices } from '../../../src/extract/sitemap/sitemap.js'
import { cpuMs } from '../../cpu-time.js'

const URLS = 50_000
const MB = 1_000_000
const SLICE = 65_536
/** Of one URL's entry, so that all of them have 40 MB. */
const ENTRY_BYTES = 800

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

function heapBytes(): number {
  collect()
  return process.memoryUsage().heapUsed
}

function sitemap(): Buffer {
  const body = Buffer.alloc(URLS * ENTRY_BYTES + 100, '\n')
  let at = body.write('<?xml version="1.0" encoding="UTF-8"?><urlset>')
  for (let n = 0; n < URLS; n++) {
    const entry =
      `<url><loc>https://www.example.com/path/to/page/${n}?a=1</loc>` +
      '<lastmod>2024-05-06T07:08:09+00:00</lastmod><changefreq>daily</changefreq><priority>0.5</priority><image:image>' +
      `<image:loc>https://images.example.com/${n}.jpg</image:loc><image:caption>`
    const end = '</image:caption></image:image></url>'
    const caption = 'x'.repeat(ENTRY_BYTES - entry.length - end.length)
    at += body.write(entry + caption + end, at)
  }
  body.write('</urlset>', at)
  return body
}

describe('a sitemap of 50,000 URLs and 40 MB', () => {
  let body: Buffer
  beforeAll(() => {
    body = sitemap()
  })

  it('is read in slices of a few milliseconds, and what was given is not kept', () => {
    const reader = sitemapReader()
    const before = heapBytes()
    const took: number[] = []
    let count = 0
    for (let at = 0; at < body.length; at += SLICE) {
      const start = cpuMs()
      const entries = reader.push(body.subarray(at, at + SLICE)) as SitemapEntry[]
      took.push(cpuMs() - start)
      count += entries.length
    }
    const grown = heapBytes() - before
    expect(reader.end()).toEqual([])
    took.sort((a, b) => a - b)
    const all = took.reduce((sum, ms) => sum + ms)
    console.log(
      `sitemap of 40 MB: ${Math.round(body.length / all / 1000)} MB/s, ` +
        `a slice of 64 KB ${took[took.length >> 1]!.toFixed(2)} ms, ` +
        `the longest ${took.at(-1)!.toFixed(1)} ms, ${(grown / MB).toFixed(1)} MB of heap kept`,
    )
    expect(count).toBe(URLS)
    expect(reader.problems).toEqual([])
    expect(took[took.length >> 1]).toBeLessThan(20)
    expect(grown).toBeLessThan(3 * MB)
  })

  it('is not kept by the URLs that were read from it', async () => {
    const before = heapBytes()
    const urls: string[] = []
    for await (const entries of sitemapSlices(body)) for (const { url } of entries) urls.push(url)
    const grown = heapBytes() - before
    expect(urls).toHaveLength(URLS)
    // 50,000 URLs of 49 characters, and what V8 needs to hold a string.
    expect(grown).toBeLessThan(10 * MB)
  })

  it('is read from gzip too', async () => {
    const { entries, problems } = await parseSitemap(gzipSync(body))
    expect(entries).toHaveLength(URLS)
    expect(problems).toEqual([])
  })

  it('lets other work through', async () => {
    let turns = 0
    const other = setInterval(() => turns++, 1)
    await parseSitemap(body)
    clearInterval(other)
    expect(turns).toBeGreaterThan(20)
  })
})
