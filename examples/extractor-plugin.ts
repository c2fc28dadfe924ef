/**
 * An extractor with media types, links and a life cycle of its own: it reads plain-text lists of links, one a line,
 * which a crawl would otherwise not even download.
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
    /** Before the first page: the place for opening files, loading models. */
    open() {
      lists = 0
    },
    extract(page) {
      lists++
      const lines = page.content.split('\n').map((line) => line.trim())
      const links = lines.filter((line) => line !== '' && !line.startsWith('#'))
      // Links may be relative to the page; the scope decides which of them are followed.
      return { links, data: { listed: links.length } }
    },
    /** After the last page, also if the crawl was aborted. */
    close() {
      console.log(`${lists} lists were read`)
    },
  }
}

const crawler = new Crawler().seeds(start).limit({ pages: 10 }).extract(linkLists())

for await (const page of crawler) {
  // Pages of other types do not pass this extractor, so the field may be missing there.
  const listed = page.mediaType === 'text/plain' ? `lists ${page.data.listed} links` : page.title
  console.log(page.url, listed)
}
