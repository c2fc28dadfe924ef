/**
 * An extractor with its own media types, links and life cycle. It reads plain-text lists of links, one per line, which
 * a crawl does not download by default.
 *
 *     npx tsx examples/extractor-plugin.ts https://example.com/links.txt
 */

import { Crawler, type Extractor } from 'kumo'

const start = process.argv[2] ?? 'https://example.com/'

function linkLists(): Extractor<{ listed: number }> {
  let lists = 0
  return {
    name: 'link lists',
    mediaTypes: ['text/plain'],
    /** Runs before the first page: open files and load models here. */
    open() {
      lists = 0
    },
    extract(page) {
      lists++
      const lines = page.content.split('\n').map((line) => line.trim())
      const links = lines.filter((line) => line !== '' && !line.startsWith('#'))
      // Links may be relative to the page. The scope decides which of them are followed.
      return { links, data: { listed: links.length } }
    },
    /** Runs after the last page, even if the crawl was aborted. */
    close() {
      console.log(`${lists} lists were read`)
    },
  }
}

const crawler = new Crawler().seeds(start).limit({ pages: 10 }).extract(linkLists())

for await (const page of crawler) {
  // This extractor does not run on other media types, so the field may be missing there.
  const listed = page.mediaType === 'text/plain' ? `lists ${page.data.listed} links` : page.title
  console.log(page.url, listed)
}
