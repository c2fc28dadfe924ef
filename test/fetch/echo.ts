/** A server that says what it received, over HTTP/1, HTTPS and HTTP/2. */

import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'

export interface Received {
  readonly method: string
  readonly path: string
  readonly version: string
  readonly headers: Readonly<Record<string, string | undefined>>
  /** In base64. */
  readonly body: string
}

/** Answers with what it received, as JSON, and keeps it. */
export function echo(log: Received[] = []) {
  return async (
    request: IncomingMessage | Http2ServerRequest,
    response: ServerResponse | Http2ServerResponse,
  ): Promise<void> => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const received = {
      method: request.method!,
      path: request.url!,
      version: request.httpVersion,
      headers: request.headers as Received['headers'],
      body: Buffer.concat(chunks).toString('base64'),
    }
    log.push(received)
    const body = JSON.stringify(received)
    const whole = response as ServerResponse
    whole.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) })
    whole.end(request.method === 'HEAD' ? undefined : body)
  }
}

/** An HTTP/1.1 echo on every loopback address. */
export async function echoServer() {
  const log: Received[] = []
  let accepted = 0
  const server = createServer(echo(log)).on('connection', () => accepted++)
  server.listen(0, '0.0.0.0')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return {
    log,
    server,
    get accepted() {
      return accepted
    },
    url: (path = '/', address = '127.0.0.1') => `http://${address}:${port}${path}`,
  }
}
