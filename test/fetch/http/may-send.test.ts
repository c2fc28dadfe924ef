/** A request that may not be sent any more when its connection is there is never written to it. */

import { describe, expect, it } from 'vitest'
import type { FetchContext } from '../../../src/fetch/contract.js'
import { CA, http2Server, SERVER } from '../certificates/index.js'
import {
  failureOf,
  makeFetcher,
  rawServer,
  reply,
  requestFor,
  responseOf,
  sleep,
  TestContext,
} from '../support.js'

/** Time in which a request that was sent would have arrived. */
const ARRIVAL_MS = 100

/** As the engine does it: the visit is aborted by the question. */
class Permit extends TestContext implements FetchContext {
  asked = 0

  constructor(readonly isValid: () => boolean) {
    super()
  }

  maySend = (): boolean => {
    this.asked++
    if (this.isValid()) return true
    this.abort()
    return false
  }
}

describe.each([
  ['HTTP/1.1', undefined],
  ['HTTP/2', { ca: CA }],
] as const)('over %s', (_, tls) => {
  const serve = async () => {
    if (tls === undefined) {
      const server = await rawServer(({ socket }) => socket.write(reply('page')))
      return { url: server.url(), requests: server.requests }
    }
    const requests: string[] = []
    const { url } = await http2Server((request, response) => {
      requests.push(request.url)
      response.end('page')
    }, SERVER)
    return { url: url(), requests }
  }

  it('on a new connection', async () => {
    const { url, requests } = await serve()
    const fetcher = makeFetcher(tls && { tls, http2: true })
    const permit = new Permit(() => false)
    expect(failureOf(await fetcher.fetch(requestFor(url), permit)).code).toBe('aborted')
    await sleep(ARRIVAL_MS)
    expect(requests).toEqual([])
    expect(permit.asked).toBe(1)
    expect(responseOf(await fetcher.fetch(requestFor(url), new Permit(() => true))).status).toBe(200)
    expect(requests.length).toBe(1)
  })

  it('on a connection that was used before', async () => {
    const { url, requests } = await serve()
    const fetcher = makeFetcher({ connectionsPerHost: 1, ...(tls && { tls, http2: true }) })
    const first = new Permit(() => true)
    expect(responseOf(await fetcher.fetch(requestFor(url), first)).status).toBe(200)
    expect(failureOf(await fetcher.fetch(requestFor(url), new Permit(() => false))).code).toBe('aborted')
    await sleep(ARRIVAL_MS)
    expect(requests.length).toBe(1)
    expect(responseOf(await fetcher.fetch(requestFor(url), new TestContext())).status).toBe(200)
    expect(requests.length).toBe(2)
  })
})

it('is asked again when a kept connection turns out to be closed', async () => {
  const server = await rawServer(({ socket, earlier }) => {
    if (earlier === 0) socket.write(reply('page'))
    else socket.destroy()
  })
  const fetcher = makeFetcher()
  await fetcher.fetch(requestFor(server.url()), new TestContext())
  let answers = 1
  const permit = new Permit(() => answers-- > 0)
  expect(failureOf(await fetcher.fetch(requestFor(server.url()), permit)).code).toBe('aborted')
  await sleep(ARRIVAL_MS)
  expect(permit.asked).toBe(2)
  expect(server.requests.length).toBe(2)
})
