/**
 * Memory while a server sends a sitemap of 50 MB in pieces of one byte: what is read may take twice its bytes and a
 * constant, however it comes. Of a compressed one, what came and what it becomes both count.
 */

import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { forkPlain } from './child.js'
import type { Bench, Figure } from './report.js'

const SCRIPT = 'pieces-child.mjs'
const MB = 1e6
const BODY_MB = 50
/** Code, the young generation, the sockets' buffers, 50,000 URLs that were looked at. */
const CONSTANT_MB = 64

const CASES = [
  { name: 'plain', gzip: false, workers: 0 },
  { name: 'in gzip', gzip: true, workers: 0 },
  { name: 'with a worker', gzip: false, workers: 1 },
]

interface Served {
  readonly url: string
  readonly wireBytes: number
  readonly entries: number
}

interface Read {
  readonly reason: string
  readonly entries: number
  readonly seconds: number
  readonly aboveStart: number
}

export const pieces: Bench = async () => {
  const figures: Figure[] = []
  for (const { name, gzip, workers } of CASES) {
    const server = forkPlain(SCRIPT)
    const served = await ask<Served>(server, { role: 'serve', bytes: BODY_MB * MB, gzip })
    const crawl = forkPlain(SCRIPT)
    const read = await ask<Read>(crawl, { role: 'crawl', url: served.url, workers })
    crawl.kill()
    server.kill()
    const bytes = BODY_MB * MB + (gzip ? served.wireBytes : 0)
    figures.push(
      {
        what: `${name}: entries read`,
        value: read.reason === 'done' ? read.entries : 0,
        unit: '',
        bar: { atLeast: served.entries },
      },
      { what: `${name}: time`, value: read.seconds, unit: 's' },
      {
        what: `${name}: RSS above the start`,
        value: read.aboveStart / MB,
        unit: 'MB',
        bar: { atMost: Math.ceil((2 * bytes) / MB) + CONSTANT_MB },
      },
    )
  }
  return figures
}

async function ask<Answer>(child: ChildProcess, order: object): Promise<Answer> {
  child.send(order)
  const [answer] = await once(child, 'message')
  return answer as Answer
}
