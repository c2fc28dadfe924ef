/**
 * Run by event-retention.test.ts in a process of its own, with --expose-gc: how much memory does each thing that a crawl
 * reports keep, 3,000 of each? Its argument is the number of workers. Prints bytes a page, by event.
 */

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { pathToFileURL } from 'node:url'
import { Crawler } from '../../src/index.js'
import { threadProgram } from '../../src/run/threads/program.js'
import { THREAD_PROGRAM } from '../thread-program-place.js'

threadProgram.url = pathToFileURL(THREAD_PROGRAM)

const PAGES = 3000
/** Bytes; what an event that points into its page would keep. */
const PAGE_BYTES = 16_384
const FILLER = 'x'.repeat(PAGE_BYTES)
const LONG = 'y'.repeat(9000)

function answer({ url = '' }: IncomingMessage, response: ServerResponse): void {
  const number = Number(url.slice('/'.length))
  if (url.startsWith('/moved')) return void response.writeHead(302, { location: '/0' }).end(FILLER)
  if (url.startsWith('/missing')) return void response.writeHead(404).end(FILLER)
  response.writeHead(200, { 'content-type': 'text/html', etag: `"an-etag-of-some-length-${number}"` })
  response.end(
    `<a href="/${number + 1 < PAGES ? number + 1 : 0}">next</a><a href="/moved/from/here/${number}">x</a>
     <a href="/missing/page/of/the/number/${number}">x</a><a href="mailto:somebody-${number}@example.com">x</a>
     <a href="/${number}/${number % 10 === 0 ? LONG : ''}">x</a><script>'${FILLER}'</script>`,
  )
}

const server = createServer(answer).listen(0, '127.0.0.1')
await new Promise((resolve) => server.once('listening', resolve))
const seed = `http://127.0.0.1:${(server.address() as AddressInfo).port}/0`

/** Listeners keep what they are given, each what is its subject. */
const kept: Record<string, unknown[]> = { headers: [], skip: [], failure: [], redirect: [] }
const { pages } = await new Crawler()
  .seeds(seed)
  .scope('host')
  .exclude('/*/')
  .robots(false)
  .delay(0)
  .retries(0)
  .traps(false)
  .workers(Number(process.argv[2]))
  .on('page', (page) => void kept.headers!.push(page.headers))
  .on('skip', (skip) => void kept.skip!.push(skip))
  .on('failure', (failure) => void kept.failure!.push(failure))
  .on('redirect', (redirect) => void kept.redirect!.push(redirect))
  .run()
server.close()
server.closeAllConnections()

async function settledBytes(): Promise<number> {
  for (let round = 0; round < 4; round++) {
    globalThis.gc!()
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

const counts = Object.fromEntries(Object.entries(kept).map(([name, each]) => [name, each.length]))
const bytes: Record<string, number> = {}
let before = await settledBytes()
for (const name of Object.keys(kept)) {
  kept[name] = []
  const after = await settledBytes()
  bytes[name] = Math.round((before - after) / PAGES)
  before = after
}
console.log(JSON.stringify({ pages, pageBytes: PAGE_BYTES, counts, bytes }))
