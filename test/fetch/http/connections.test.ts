import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import * as undici from 'undici'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type Connection, Connections } from '../../../src/fetch/http/connections.js'
import {
  fixedServer,
  makeFetcher,
  rawServer,
  reply,
  requestFor,
  sleep,
  TestContext,
  textOf,
  until,
} from '../support.js'

const address = (i: number) => `127.${1 + (i >> 16)}.${(i >> 8) & 255}.${i & 255}`

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

describe('what is remembered', () => {
  const OPTIONS = {
    connectionsPerHost: 1,
    maxConnections: 2,
    maxHeaderBytes: 8192,
    keepAliveMs: 50,
    connectTimeoutMs: 1000,
  }

  function setUp() {
    const connections = new Connections(undici, OPTIONS)
    onTestFinished(() => connections.close())
    const lent: Connection[] = []
    const borrow = (origin: string) =>
      connections.borrow(origin, { lent: (connection) => lent.push(connection), refused() {} })
    return { connections, lent, borrow }
  }

  it('is nothing once a connection is dropped or closes by itself', async () => {
    const { connections, lent, borrow } = setUp()
    borrow('http://127.0.0.1:1')
    expect(connections.knownHosts).toBe(1)
    connections.drop(lent[0]!)
    expect(connections.knownHosts).toBe(0)

    const server = await fixedServer(reply('page'))
    borrow(server.url(''))
    await lent[1]!.client.request({ path: '/', method: 'GET' }).then(({ body }) => body.dump())
    connections.giveBack(lent[1]!)
    expect([connections.knownHosts, connections.openSockets]).toEqual([1, 1])
    await until(() => connections.knownHosts === 0, 'the idle connection is forgotten when it closes')
    expect(connections.openSockets).toBe(0)
  })

  it('is nothing of those who left the line', () => {
    const { connections, lent, borrow } = setUp()
    borrow('http://a.example')
    const atHost = borrow('http://a.example')!
    borrow('http://b.example')
    const inTotal = borrow('http://c.example')!
    expect([lent.length, connections.knownHosts]).toEqual([2, 3])
    connections.cancel(inTotal)
    connections.cancel(inTotal)
    connections.cancel(atHost)
    expect(connections.knownHosts).toBe(2)
    for (const connection of lent) connections.drop(connection)
    expect([lent.length, connections.knownHosts]).toEqual([2, 0])
  })

  it('lets nobody give back twice', () => {
    const { connections, lent, borrow } = setUp()
    borrow('http://a.example')
    borrow('http://a.example')
    connections.drop(lent[0]!)
    connections.drop(lent[0]!)
    connections.giveBack(lent[0]!)
    expect(lent.length).toBe(2)
    expect(borrow('http://a.example'), 'the place is taken').toBeDefined()
  })
})

describe('connections of one host', () => {
  it.each([1, 3])('are at most %i, and those who wait are served in turn', async (connectionsPerHost) => {
    const server = await rawServer(async ({ socket, path }) => {
      await sleep(5)
      socket.write(reply(path))
    })
    const fetcher = makeFetcher({ connectionsPerHost })
    const paths = Array.from({ length: 20 }, (_, i) => `/${i}`)
    const outcomes = await Promise.all(
      paths.map((path) => fetcher.fetch(requestFor(server.url(path)), new TestContext())),
    )
    expect(outcomes.map(textOf)).toEqual(paths)
    expect(server.accepted).toBe(connectionsPerHost)
    if (connectionsPerHost === 1) {
      expect(server.requests).toEqual(paths.map((path) => `GET ${path} HTTP/1.1`))
    }
  })

  it('are no more than needed', async () => {
    const server = await fixedServer(reply('page'))
    const fetcher = makeFetcher({ connectionsPerHost: 10 })
    for (let i = 0; i < 20; i++) await fetcher.fetch(requestFor(server.url()), new TestContext())
    expect(server.accepted).toBe(1)
  })
})

// Linux answers on all of 127.0.0.0/8; other systems on 127.0.0.1 only.
describe.skipIf(process.platform !== 'linux')('connections over all hosts', () => {
  it('stay within the bound over thousands of hosts, one after the other', async () => {
    const server = await fixedServer(reply('page'))
    const fetcher = makeFetcher({ maxConnections: 100 })
    for (let i = 0; i < 3000; i++) {
      const outcome = await fetcher.fetch(requestFor(server.url('/', address(i))), new TestContext())
      if (i % 500 === 0) expect(textOf(outcome)).toBe('page')
      expect(fetcher.stats.openConnections).toBeLessThanOrEqual(102)
    }
    expect(server.mostOpen).toBeLessThanOrEqual(110)
    expect(server.mostOpen).toBeGreaterThan(90)
  })

  it('stay within the bound when many more hosts are wanted at once', async () => {
    const server = await rawServer(async ({ socket, path }) => {
      await sleep(2)
      socket.write(reply(path))
    })
    const fetcher = makeFetcher({ maxConnections: 20, connectionsPerHost: 2 })
    const urls = Array.from({ length: 600 }, (_, i) => server.url(`/${i}`, address(i % 200)))
    const outcomes = await Promise.all(urls.map((url) => fetcher.fetch(requestFor(url), new TestContext())))
    expect(outcomes.map(textOf)).toEqual(urls.map((url) => new URL(url).pathname))
    expect(server.mostOpen).toBeLessThanOrEqual(30)
  })

  it('closes the one that was used last, whose host is visited again the latest', async () => {
    const server = await fixedServer(reply('page'))
    const fetcher = makeFetcher({ maxConnections: 3 })
    const visit = (i: number) => fetcher.fetch(requestFor(server.url('/', address(i))), new TestContext())
    for (const i of [1, 2, 3, 4]) await visit(i)
    expect(server.accepted).toBe(4)
    for (const i of [1, 2, 4]) await visit(i)
    expect(server.accepted, '3 was closed, the others were kept').toBe(4)
    await visit(3)
    expect(server.accepted).toBe(5)
  })

  it('keeps some of them over many rounds, although there are more hosts than connections', async () => {
    const server = await fixedServer(reply('page'))
    const fetcher = makeFetcher({ maxConnections: 10 })
    const visit = (i: number) => fetcher.fetch(requestFor(server.url('/', address(i))), new TestContext())
    const rounds = 10
    for (let round = 0; round < rounds; round++) for (let i = 0; i < 20; i++) await visit(i)
    // Closing those that were used least recently would open 200.
    expect(server.accepted).toBeLessThan(130)
  })

  it('never closes one that is busy', async () => {
    const server = await rawServer(({ socket, path }) => {
      if (path === '/slow') setTimeout(() => socket.write(reply('slow')), 100)
      else socket.write(reply('quick'))
    })
    const fetcher = makeFetcher({ maxConnections: 2 })
    const slow = fetcher.fetch(requestFor(server.url('/slow', address(1))), new TestContext())
    for (let i = 2; i < 30; i++) {
      const quick = await fetcher.fetch(requestFor(server.url('/', address(i))), new TestContext())
      expect(textOf(quick)).toBe('quick')
    }
    expect(textOf(await slow)).toBe('slow')
  })

  it('waits when all are busy, and nobody is starved by a host with a long line', async () => {
    const server = await rawServer(async ({ socket, path }) => {
      await sleep(1)
      socket.write(reply(path))
    })
    const fetcher = makeFetcher({ maxConnections: 1 })
    const order: string[] = []
    const visit = async (name: string, i: number) => {
      await fetcher.fetch(requestFor(server.url(`/${name}`, address(i))), new TestContext())
      order.push(name)
    }
    await Promise.all([...Array.from({ length: 10 }, () => visit('popular', 1)), visit('lonely', 2)])
    expect(order.indexOf('lonely')).toBeLessThan(3)
    expect(server.mostOpen).toBeLessThanOrEqual(2)
  })

  it('keeps nothing of hosts that are gone', async () => {
    const server = await rawServer(({ socket }) => void socket.end(reply('page', { Connection: 'close' })))
    const fetcher = makeFetcher({ maxConnections: 50 })
    const visit = async (from: number, to: number) => {
      for (let i = from; i < to; i += 10) {
        await Promise.all(
          Array.from({ length: 10 }, (_, k) =>
            fetcher.fetch(requestFor(server.url('/', address(i + k))), new TestContext()),
          ),
        )
      }
    }
    await visit(0, 1000)
    await until(() => fetcher.stats.openConnections === 0, 'all sockets are closed')
    collectGarbage()
    const before = process.memoryUsage().heapUsed
    await visit(1000, 6000)
    await until(() => fetcher.stats.openConnections === 0, 'all sockets are closed')
    collectGarbage()
    // A client that is kept takes several KB; 5,000 hosts would show.
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(5_000_000)
  })
})
