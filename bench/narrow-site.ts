/**
 * A site on a server that can do only so much: so many requests at the same time, each for as long as a page takes; the
 * others wait. The loopback web answers as many as come, which no server in the field does.
 */

import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface NarrowSite {
  /** Its start page. */
  readonly url: string
  close(): Promise<void>
}

export interface NarrowSiteOptions {
  /** Requests that are worked on at the same time. */
  readonly places: number
  readonly latencyMs: readonly [lowest: number, highest: number]
  readonly pages: number
  readonly linksPerPage: number
}

export async function startNarrowSite({
  places,
  latencyMs: [lowest, highest],
  pages,
  linksPerPage,
}: NarrowSiteOptions): Promise<NarrowSite> {
  const waiting: (() => void)[] = []
  let busy = 0
  const work = (page: number, response: ServerResponse) => {
    busy++
    const ms = lowest + Math.random() * (highest - lowest)
    setTimeout(() => {
      response.setHeader('content-type', 'text/html')
      response.end(pageOf(page, pages, linksPerPage))
      busy--
      waiting.shift()?.()
    }, ms)
  }
  const server = createServer((request, response) => {
    const page = Number(/^\/p\/(\d+)$/.exec(request.url ?? '')?.[1] ?? 0)
    const begin = () => work(page, response)
    if (busy < places) begin()
    else waiting.push(begin)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/`,
    async close() {
      server.closeAllConnections()
      await once(server.close(), 'close')
    },
  }
}

/** Links to the pages that follow, as many times as far away: a few clicks lead anywhere. */
function pageOf(page: number, pages: number, linksPerPage: number): string {
  const links = Array.from({ length: linksPerPage }, (_, i) => {
    const next = (page * linksPerPage + i + 1) % pages
    return `<li><a href="/p/${next}">Page ${next}</a></li>`
  })
  return `<!doctype html><title>Page ${page}</title><ul>${links.join('')}</ul>`
}
