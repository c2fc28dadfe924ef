/**
 * Sends the pages of a crawl to a server, signed. Here the server is part of the program; usually it is your application.
 *
 *     npx tsx examples/to-a-webhook.ts https://example.com/
 */

import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Crawler } from 'kumo'
import { type PageRecord, verifyWebhook, webhook } from 'kumo/sinks'

const [, , start = 'https://example.com/'] = process.argv
const secret = process.env.SECRET ?? 'a secret that both sides know'

const server = createServer(async (request, response) => {
  let body = ''
  for await (const piece of request.setEncoding('utf8')) body += piece
  if (!verifyWebhook(body, request.headers['kumo-signature'], secret, Date.now())) {
    response.writeHead(401).end()
    return
  }
  // A page may come twice, after a crash: let the second replace the first by its id.
  const { pages } = JSON.parse(body) as { readonly pages: readonly PageRecord[] }
  for (const { url, title } of pages) console.log(url, title)
  response.writeHead(204).end()
}).listen(0, '127.0.0.1')
await once(server, 'listening')

const { port } = server.address() as AddressInfo
await new Crawler()
  .seeds(start)
  .limit({ pages: 100 })
  .use(webhook(`http://127.0.0.1:${port}/pages`, { secret, batch: { pages: 50 } }))
  .run()
server.close()
