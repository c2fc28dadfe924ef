/** `--health PORT`: answers whether the crawl can work, for a load balancer or an orchestrator. */

import { createServer, type Server } from 'node:http'
import type { CrawlRun } from '../../index.js'
import { UsageError } from '../usage-error.js'

const LOCAL = '127.0.0.1'

export interface HealthAddress {
  readonly host: string
  readonly port: number
}

/** `8080`, or `0.0.0.0:8080` to be reached from other machines. */
export function readHealthAddress(text: string): HealthAddress {
  const [, host = LOCAL, digits] = /^(?:(.+):)?(\d{1,5})$/.exec(text) ?? []
  const port = Number(digits)
  if (digits === undefined || port > 65_535)
    throw new UsageError(`--health: got '${text}'; allowed: a port such as 8080, or 0.0.0.0:8080`)
  return { host: host.replace(/^\[|\]$/g, ''), port }
}

/**
 * Answers every request with 200 if the crawl goes on, and with 503 if it waits for its store. `end` makes the server
 * close.
 *
 * @throws UsageError if the port cannot be listened on.
 */
export function serveHealth(run: CrawlRun, { host, port }: HealthAddress): Promise<Server> {
  const server = createServer((_, response) => {
    const health = run.health()
    const { pages, pending, inFlight } = run.stats() ?? { pages: 0, pending: 0, inFlight: 0 }
    const isOk = health?.isReachable !== false
    response.writeHead(isOk ? 200 : 503, { 'content-type': 'application/json', connection: 'close' })
    response.end(
      `${JSON.stringify({ ok: isOk, pages, pending, inFlight, ...(health && { store: health }) })}\n`,
    )
  })
  return new Promise((resolve, reject) => {
    server.once('error', ({ message }) =>
      reject(new UsageError(`--health: cannot listen on ${host}:${port}: ${message}`)),
    )
    server.listen(port, host, () => resolve(server))
  })
}
