/**
 * One handler for each kind of page: by the label that a request was given, by a pattern, or `default`.
 *
 *     npx tsx examples/routes.ts https://example.com/
 */

import { Crawler } from 'kumo'

await new Crawler()
  .seeds({ url: process.argv[2] ?? 'https://example.com/', label: 'list' })
  .limit({ pages: 100 })
  .routes({
    list(page) {
      for (const link of Array.from(page.document.querySelectorAll('.product a'))) {
        page.follow(link.getAttribute('href') ?? '', { label: 'product', data: { list: page.title } })
      }
    },
    product: ({ title, request }) => console.log(`product ${title} of`, request.data),
    '/blog/**': ({ title }) => console.log(`post ${title}`),
    default: ({ url }) => console.log(`other ${url}`),
  })
  .run()
