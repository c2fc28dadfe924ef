/** A TypeScript program: types.test.ts checks its types, nodes.test.ts runs it. */

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Crawler, type Page } from 'kumo'

const server = createServer((_, response) => {
  response.setHeader('content-type', 'text/html').end('<title>typed</title><p>three short words')
})
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
const { port } = server.address() as AddressInfo

const titles: (string | null)[] = []
const titleOf = (page: Page): string | null => page.document.title
const crawler = new Crawler()
  .seeds(`http://127.0.0.1:${port}/`)
  .robots(false)
  .extract({ words: ({ text }) => text.split(' ').length })
  .on('page', (page) => {
    const words: number = page.data.words
    titles.push(titleOf(page), String(words))
  })
const { reason } = await crawler.run()
server.close()
console.log(JSON.stringify([reason, ...titles]))
