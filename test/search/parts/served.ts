/** Indexes that servers on loopback serve, and servers that answer badly. */

import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { openIndex, openWriter, type SearchDocument, searchHandler, type WriterOptions } from 'kumo/search'
import { onTestFinished } from 'vitest'
import { freshFolder } from '../corpus.js'

/** The address of a server that the test closes. */
export async function serverOf(listener: RequestListener): Promise<string> {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
}

/** The folder of an index of these documents. */
export async function folderOf(
  documents: readonly SearchDocument[],
  options: WriterOptions = {},
): Promise<string> {
  const folder = freshFolder()
  const writer = await openWriter(folder, { sync: false, ...options })
  for (const document of documents) await writer.put(document)
  await writer.close()
  return folder
}

/** The address at which the index in a folder is searched. */
export async function served(
  folder: string,
  before: () => Promise<unknown> = async () => {},
): Promise<string> {
  const index = await openIndex(folder)
  onTestFinished(() => index.close())
  const handler = searchHandler(index)
  return serverOf(async (request, response) => {
    await before()
    const url = new URL(request.url!, 'http://localhost')
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const init = request.method === 'POST' ? { body: Buffer.concat(chunks) } : {}
    const answer = await handler(new Request(url, { method: request.method!, ...init }))
    const body = Buffer.from(await answer.arrayBuffer())
    response.writeHead(answer.status, {
      ...Object.fromEntries(answer.headers),
      'content-length': body.length,
    })
    response.end(body)
  })
}
