/**
 * Crawls inside a web server. POST /crawls starts one, GET /crawls/1 reports its progress, DELETE /crawls/1 stops it.
 * The handler takes Node's own request and response, so it also works in Express: app.use(handle).
 *
 *     npx tsx examples/http-service.ts 8080
 *     curl -d https://example.com/ http://localhost:8080/crawls
 */

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { Crawler, type CrawlRun } from 'kumo'

/** One description for every crawl that this service starts. */
const polite = new Crawler().userAgent('MyService/1.0 (+https://example.com/bot)').limit({ pages: 100 })
const runs: CrawlRun[] = []

/** Throws at once if the seed is not a URL. Returns the number of the crawl. */
function start(seed: string): number {
  const run = polite.seeds(seed).start()
  run.done.catch((error: Error) => console.error(error.message))
  return runs.push(run)
}

async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const answer = (status: number, body: object) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  if (request.method === 'POST') {
    const seed = (await text(request)).trim()
    try {
      return void answer(202, { crawl: start(seed) })
    } catch (error) {
      return void answer(400, { error: (error as Error).message })
    }
  }
  const run = runs[Number(request.url?.split('/')[2]) - 1]
  if (run === undefined) return void answer(404, { error: 'no such crawl' })
  if (request.method === 'DELETE') run.stop()
  const stats = run.stats()
  answer(200, { pages: stats?.pages ?? 0, pending: stats?.pending ?? 0 })
}

const server = createServer((request, response) => void handle(request, response))
server.listen(Number(process.argv[2] ?? 8080), () => {
  console.log(`listening on http://localhost:${(server.address() as AddressInfo).port}`)
})
