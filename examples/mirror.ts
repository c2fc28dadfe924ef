/**
 * Copies a site to disk: pages, style sheets, scripts, images and whatever else pages link to. A run in the same folder
 * continues where the last one ended.
 *
 *     npx tsx examples/mirror.ts https://example.com/ ./mirror
 */

import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Crawler, type Extractor, level } from 'kumo'

const start = process.argv[2] ?? 'https://example.com/'
const folder = process.argv[3] ?? './mirror'

/** Accepts every media type, so that every body is downloaded, and adds what a page needs to the links that it has. */
const everything: Extractor = {
  name: 'everything',
  mediaTypes: ['*/*'],
  extract(page) {
    if (page.mediaType !== 'text/html') return undefined
    const assets = Array.from(
      page.document.querySelectorAll('img[src], script[src], link[rel=stylesheet][href]'),
    )
    return { links: assets.map((asset) => asset.getAttribute('src') ?? asset.getAttribute('href') ?? '') }
  },
}

/** A file name that no server can place outside of the folder. */
function fileFor(url: string): string {
  const { host, pathname, search } = new URL(url)
  const path = pathname.endsWith('/') ? `${pathname}index.html` : pathname
  // One path segment becomes one name: no separators, no "..", no characters that a file system refuses.
  const names = `${path}${search}`.split('/').map((name) => encodeURIComponent(name).replace(/^\.+$/, '_'))
  return join(folder, 'files', host.replace(':', '_'), ...names)
}

const summary = await new Crawler()
  .seeds(start)
  .scope('host')
  .extract(everything)
  .store(level(join(folder, 'crawl')))
  .maxBodyBytes(100_000_000)
  .on('page', async ({ url, body }) => {
    const file = fileFor(url)
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, body)
    console.log(file)
  })
  .run()

console.log(`${summary.pages} files, ${summary.bytes} bytes; it ended with: ${summary.reason}`)
