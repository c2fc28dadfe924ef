/**
 * The text of PDFs, read by unpdf (npm install unpdf): an extractor that names a media type gets it downloaded.
 *
 *     npx tsx examples/pdf-text.ts https://example.com/
 */

import { Crawler, type Extractor } from 'kumo'
import { extractText } from 'unpdf'

const pdf: Extractor<{ pages: number; words: string }> = {
  name: 'PDF',
  mediaTypes: ['application/pdf'],
  async extract({ body }) {
    const { totalPages, text } = await extractText(Uint8Array.from(body), { mergePages: true })
    return { data: { pages: totalPages, words: text } }
  },
}

const crawler = new Crawler().seeds(process.argv[2] ?? 'https://example.com/').extract(pdf)
for await (const { url, mediaType, data } of crawler.maxBodyBytes(50_000_000)) {
  if (mediaType === 'application/pdf') console.log(`${url}, ${data.pages} pages: ${data.words}`)
}
