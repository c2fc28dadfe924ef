/** A process that stands still for longer than its lease, at the worst moment: when it is about to send a request. */

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Crawler } from 'kumo'
import { redis } from 'kumo/redis'
import { describe, expect, onTestFinished, test } from 'vitest'
import { whyNoRedis } from '../server.js'
import { newCrawl, useServer } from '../support.js'

const TTL_MS = 1000
const PAGES = 12

/** As SIGSTOP does, in the middle of a turn. */
function standStill(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}

describe.skipIf(whyNoRedis())(`a lease that runs out${whyNoRedis() ? `: ${whyNoRedis()}` : ''}`, () => {
  const server = useServer()

  test('ends before the request that waits is sent, on new and on kept connections', async () => {
    const said: string[] = []
    const web = createServer(({ url }, response) => {
      said.push(url!)
      const next = Number(url!.slice(1)) + 1
      response.setHeader('content-type', 'text/html')
      response.end(next < PAGES ? `<a href="/${next}">next</a>` : 'the end')
    }).listen(0, '127.0.0.1')
    onTestFinished(() => void web.close())
    await new Promise((resolve) => web.once('listening', resolve))
    const { port } = web.address() as AddressInfo
    let requests = 0
    const run = new Crawler()
      .seeds(`http://127.0.0.1:${port}/0`)
      .robots(false)
      .delay(0)
      .proxy(() => {
        requests++
        if (requests === 1 || requests === 5) {
          said.push('stands still')
          standStill(2 * TTL_MS)
        }
        return undefined
      })
      .store(redis(server.url, { crawl: newCrawl(), ttl: TTL_MS }))
      .start()
    run.on('store', ({ kind }) => said.push(kind))
    const { pages, failed } = await run.done
    expect({ pages, failed }).toEqual({ pages: PAGES, failed: 0 })
    for (const [i, what] of said.entries()) {
      if (what !== 'stands still') continue
      const after = said.slice(i + 1)
      // A busy machine may keep it from going on at once.
      const beforeNext = after.slice(
        0,
        after.findIndex((each) => each.startsWith('/')),
      )
      expect(new Set(beforeNext)).toEqual(new Set(['paused', 'resumed']))
      expect([beforeNext[0], beforeNext.at(-1)]).toEqual(['paused', 'resumed'])
    }
    expect(said.filter((what) => what.startsWith('/'))).toEqual(
      Array.from({ length: PAGES }, (_, page) => `/${page}`),
    )
  })
})
