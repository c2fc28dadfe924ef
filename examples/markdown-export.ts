/**
 * Saves the main content of each page as Markdown. `kumo crawl --format markdown` does it without a program.
 *
 *     npx tsx examples/markdown-export.ts https://example.com/ ./markdown
 */

import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Crawler } from 'kumo'

const [, , start = 'https://example.com/', folder = './markdown'] = process.argv
await mkdir(folder, { recursive: true })

for await (const { id, url, title, markdown } of new Crawler().seeds(start).limit({ pages: 100 })) {
  const front = `---\nurl: ${JSON.stringify(url)}\ntitle: ${JSON.stringify(title)}\n---\n\n`
  await writeFile(join(folder, `${id}.md`), front + markdown)
  console.log(`${url} -> ${id}.md`)
}
