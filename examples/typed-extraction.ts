/**
 * Functions that compute the fields of `page.data`. Their return types become its type: hover over `data` in an editor,
 * or misspell a field and see the error.
 *
 *     npx tsx examples/typed-extraction.ts https://example.com/
 */

import { Crawler, type Page } from 'kumo'

const start = process.argv[2] ?? 'https://example.com/'

/** Cheap, because it needs no DOM. */
function wordCount(page: Page): number {
  return page.text.split(/\s+/).filter(Boolean).length
}

const crawler = new Crawler()
  .seeds(start)
  .limit({ pages: 5 })
  .extract({
    words: wordCount,
    // The DOM is built on the first access to `document`, for this page only.
    heading: (page) => page.document.querySelector('h1')?.textContent?.trim(),
    images: (page) => page.document.querySelectorAll('img').length,
  })

for await (const { url, data } of crawler) {
  const heading: string | undefined = data.heading
  console.log(`${url}: "${heading ?? '(no heading)'}", ${data.words} words, ${data.images} images`)
}
