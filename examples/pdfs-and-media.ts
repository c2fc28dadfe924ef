/**
 * Downloads PDFs and images. By default only HTML is downloaded; an extractor that names a media type makes the crawl
 * fetch it. Here a PDF is stored as a file, and of an image only its size is recorded.
 *
 *     npx tsx examples/pdfs-and-media.ts https://example.com/ ./pdfs
 */

import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Crawler, type Extractor } from 'kumo'

const start = process.argv[2] ?? 'https://example.com/'
const folder = process.argv[3] ?? './pdfs'
await mkdir(folder, { recursive: true })

const pdfs: Extractor<{ file: string }> = {
  name: 'PDFs',
  mediaTypes: ['application/pdf'],
  async extract({ id, body }) {
    const file = join(folder, `${id}.pdf`) // the id depends on the URL alone: a second run overwrites the file
    await writeFile(file, body)
    return { data: { file } }
  },
}

const images: Extractor<{ bytes: number }> = {
  name: 'images',
  mediaTypes: ['image/*'],
  extract: ({ body }) => ({ data: { bytes: body.length } }),
}

const crawler = new Crawler().seeds(start).limit({ pages: 100 }).maxBodyBytes(50_000_000)

for await (const { mediaType, url, data } of crawler.extract(pdfs).extract(images)) {
  if (mediaType === 'application/pdf') console.log(`${url} -> ${data.file}`)
  else if (mediaType.startsWith('image/')) console.log(`${url}: ${data.bytes} bytes`)
}
