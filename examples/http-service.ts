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
import { Crawler, type Stats } from 'kumo'

/** One description for every crawl that this service starts. */
const polite = new Crawler().userAgent('MyService/1.0 (+https://example.com/bot)').limit({ pages: 100 })

interface Job {
  readonly controller: AbortController
  stats: Stats | undefined
  error?: string
}
const jobs: Job[] = []

function start(seed: string): number {
  const job: Job = { controller: new AbortController(), stats: undefined }
  const report = (stats: Stats) => {
    job.stats = stats
  }
  // Checked at once: a seed that is no URL throws here.
  const crawler = polite.seeds(seed).on('progress', report).on('end', report)
  crawler.run({ signal: job.controller.signal }).catch((error: Error) => {
    job.error = error.message
  })
  return jobs.push(job)
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
  const job = jobs[Number(request.url?.split('/')[2]) - 1]
  if (job === undefined) return void answer(404, { error: 'no such crawl' })
  if (request.method === 'DELETE') job.controller.abort()
  answer(200, { pages: job.stats?.pages ?? 0, pending: job.stats?.pending ?? 0, error: job.error })
}

const server = createServer((request, response) => void handle(request, response))
server.listen(Number(process.argv[2] ?? 8080), () => {
  console.log(`listening on http://localhost:${(server.address() as AddressInfo).port}`)
})
