/** `kumo serve`: a search page and its JSON, on this machine. */

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { messageOf } from '../../errors.js'
import { openIndex, searchHandler } from '../../search/index.js'
import { readArguments } from '../arguments.js'
import { UsageError } from '../usage-error.js'
import { SERVE_OPTIONS } from './options.js'

/** Resolves with the exit code, after Ctrl-C. */
export async function serveCommand(args: readonly string[]): Promise<number> {
  const { options, operands } = readArguments(args, SERVE_OPTIONS)
  if (operands.length === 0)
    throw new UsageError('pass the folder of an index, or several folders and addresses: kumo serve ./index')
  const port = Number(options.get('port')?.at(-1) ?? 8080)
  if (!Number.isSafeInteger(port) || port < 0 || port > 65_535)
    throw new UsageError(`--port: got '${options.get('port')!.at(-1)}'; allowed: 0 to 65535`)
  const index = await openIndex(operands.length === 1 ? operands[0]! : operands)
  const handler = searchHandler(index)
  const server = createServer((request, response) => {
    const method = request.method ?? 'GET'
    void handler(requestOf(request, method))
      .then((answer) => send(answer, response, method))
      .catch(() => response.writeHead(400).end())
  })
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject).listen(port, options.get('host')?.at(-1) ?? '127.0.0.1', resolve)
    })
    const { address, port: found } = server.address() as AddressInfo
    const name = address.includes(':') ? `[${address}]` : address
    process.stdout.write(`Searching ${operands.join(', ')} at http://${name}:${found}/\n`)
    await new Promise<void>((resolve) => {
      for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve())
    })
  } catch (error) {
    throw new UsageError(`cannot listen on port ${port}: ${messageOf(error)}`)
  } finally {
    server.closeAllConnections()
    server.close()
    await index.close()
  }
  return 0
}

function requestOf(request: IncomingMessage, method: string): Request {
  const url = new URL(request.url ?? '/', 'http://localhost')
  if (method !== 'POST') return new Request(url, { method })
  const body = Readable.toWeb(request) as ReadableStream
  return new Request(url, { method, body, duplex: 'half' } as RequestInit)
}

async function send(answer: Response, response: ServerResponse, method: string): Promise<void> {
  const body = Buffer.from(await answer.arrayBuffer())
  answer.headers.forEach((value, name) => void response.setHeader(name, value))
  response.writeHead(answer.status, { 'content-length': body.length })
  response.end(method === 'HEAD' ? undefined : body)
}
