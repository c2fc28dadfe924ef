/**
 * Servers that speak the bulk protocols of search engines as their documentation describes them, over real sockets, and
 * keep what they are sent. They are doubles: the engines themselves are no packages of Debian or npm.
 */

import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'

export interface Answer {
  readonly status: number
  readonly body?: unknown
  readonly headers?: Record<string, string>
}

export interface Asked {
  readonly method: string
  readonly path: string
  readonly type: string
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

/** A server on loopback that answers by a function and remembers what it was asked. */
export async function answering(
  answer: (asked: Asked, count: number) => Answer,
): Promise<{ url: string; asked: Asked[] }> {
  const asked: Asked[] = []
  const server = createServer((request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', (piece: string) => {
      body += piece
    })
    request.on('end', () => {
      const { method = '', url: path = '', headers } = request
      const one = { method, path, type: headers['content-type'] ?? '', headers, body }
      asked.push(one)
      const { status, body: answered, headers: more = {} } = answer(one, asked.length)
      response.writeHead(status, { 'content-type': 'application/json', ...more })
      response.end(answered === undefined ? '' : JSON.stringify(answered))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked }
}

type Doc = Record<string, unknown>

/** `_bulk` of OpenSearch and Elasticsearch. `refuse` returns the error for a document. */
export async function openSearchDouble(
  refuse: (doc: Doc, count: number) => Answer | undefined = () => undefined,
) {
  const indexes = new Map<string, Map<string, Doc>>()
  const { url, asked } = await answering(({ method, path, type, body }, count) => {
    if (method !== 'POST' || path !== '/_bulk') return { status: 405, body: { error: 'no such method' } }
    if (type !== 'application/x-ndjson') return { status: 406, body: { error: `Content-Type [${type}]` } }
    if (!body.endsWith('\n'))
      return {
        status: 400,
        body: { error: { reason: 'The bulk request must be terminated by a newline [\\n]' } },
      }
    const lines = body.split('\n').slice(0, -1)
    const items: unknown[] = []
    for (let at = 0; at < lines.length; ) {
      const [[action, target]] = Object.entries(JSON.parse(lines[at++]!) as object) as [
        [string, { _index: string; _id: string }],
      ]
      const docs = indexes.get(target._index) ?? new Map<string, Doc>()
      indexes.set(target._index, docs)
      if (action === 'delete') {
        items.push({ delete: { _id: target._id, status: docs.delete(target._id) ? 200 : 404 } })
        continue
      }
      const source = JSON.parse(lines[at++]!) as Doc
      const refused = refuse(source, count)
      if (refused !== undefined) {
        items.push({ [action]: { _id: target._id, status: refused.status, error: refused.body } })
      } else if (action === 'index') {
        const status = docs.has(target._id) ? 200 : 201
        docs.set(target._id, source)
        items.push({ index: { _id: target._id, status } })
      } else {
        const kept = docs.get(target._id)
        if (kept !== undefined) docs.set(target._id, { ...kept, ...(source.doc as Doc) })
        items.push({ update: { _id: target._id, status: kept === undefined ? 404 : 200 } })
      }
    }
    return {
      status: 200,
      body: { took: 1, errors: items.some((item) => Object.values(item as object)[0].status >= 400), items },
    }
  })
  return { url, asked, indexes }
}

/** Documents and tasks of Meilisearch. A task is processed after it was looked at `looks` times. */
export async function meilisearchDouble({
  looks = 2,
  refuse = (_: Doc): string | undefined => undefined,
} = {}) {
  const documents = new Map<string, Doc>()
  const tasks: { looks: number; run: () => { status: string; error: object | null } }[] = []
  const { url, asked } = await answering(({ method, path, type, body, headers }) => {
    if (headers.authorization !== 'Bearer key')
      return { status: 401, body: { code: 'missing_authorization_header' } }
    const task = /^\/tasks\/(\d+)$/.exec(path)?.[1]
    if (task !== undefined && method === 'GET') {
      const found = tasks[Number(task)]!
      if (found.looks-- > 0) return { status: 200, body: { uid: Number(task), status: 'processing' } }
      return { status: 200, body: { uid: Number(task), ...found.run() } }
    }
    const enqueue = (run: () => { status: string; error: object | null }) => {
      tasks.push({ looks, run })
      return { status: 202, body: { taskUid: tasks.length - 1, status: 'enqueued' } }
    }
    if (
      path === '/indexes/pages/documents/delete-batch' &&
      method === 'POST' &&
      type === 'application/json'
    ) {
      return enqueue(() => {
        for (const id of JSON.parse(body) as string[]) documents.delete(id)
        return { status: 'succeeded', error: null }
      })
    }
    if (path !== '/indexes/pages/documents?primaryKey=id' || type !== 'application/x-ndjson')
      return { status: 404 }
    const docs = body
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Doc)
    return enqueue(() => {
      const problem = docs.map(refuse).find((each) => each !== undefined)
      if (problem !== undefined)
        return {
          status: 'failed',
          error: { message: problem, type: problem === 'disk' ? 'internal' : 'invalid_request' },
        }
      for (const doc of docs) {
        const id = doc.id as string
        documents.set(id, method === 'PUT' ? { ...documents.get(id), ...doc } : doc)
      }
      return { status: 'succeeded', error: null }
    })
  })
  return { url, asked, documents }
}
