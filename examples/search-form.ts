/**
 * Sends a search form (POST) for several words. Requests with different bodies are different pages.
 *
 *     npx tsx examples/search-form.ts https://example.com/search lamp chair
 */

import { Crawler } from 'kumo'

const [, , url = 'https://example.com/search', ...words] = process.argv

await new Crawler()
  .seeds(words.map((q) => ({ url, body: new URLSearchParams({ q }), label: 'search', data: { q } })))
  .limit({ pages: 50 })
  .routes({
    search(page) {
      const results = Array.from(page.document.querySelectorAll('.result'))
      console.log(page.request.method, page.request.data, `${results.length} results`)
      for (const each of results) page.follow(each.getAttribute('href') ?? '', { label: 'result' })
    },
    result: ({ url, title }) => console.log(url, title),
    default: () => {},
  })
  .run()
