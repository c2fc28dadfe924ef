/** A program of one crawl, to be bundled, or run where it cannot be. Prints the end of it, and the requests it made. */

import { createServer } from 'node:http'
import { Crawler, KumoError } from 'kumo'

// No `await` outside of a function: CommonJS has none.
async function main() {
  let requests = 0
  const server = createServer((_, response) => {
    requests++
    response.setHeader('content-type', 'text/html').end('<title>one</title>')
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  const seed = `http://127.0.0.1:${server.address().port}/`
  const crawler = new Crawler()
    .seeds(seed)
    .delay(0)
    .workers(Number(process.argv[2] ?? 0))
  const ended = await crawler.run().then(
    ({ reason, pages }) => ({ reason, pages }),
    (error) => ({ isKumoError: error instanceof KumoError, code: error.code, message: error.message }),
  )
  server.close()
  server.closeAllConnections()
  console.log(JSON.stringify({ ...ended, requests }))
}

main()
