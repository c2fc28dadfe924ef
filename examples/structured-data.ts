/**
 * What pages say about themselves to machines: JSON-LD, microdata, RDFa and OpenGraph, in one form.
 *
 *     npx tsx examples/structured-data.ts https://example.com/
 */

import { Crawler } from 'kumo'

const crawler = new Crawler().seeds(process.argv[2] ?? 'https://example.com/').limit({ pages: 100 })

for await (const { url, structured } of crawler) {
  for (const { types, properties } of structured.items) {
    console.log(url, types.join(' '), properties.name?.[0] ?? '(no name)')
  }
  const [image] = structured.openGraph['og:image'] ?? []
  if (image !== undefined) console.log(url, 'image', image)
}
