import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import { KumoError } from '../../../src/errors.js'
import { httpFetcher } from '../../../src/fetch/http/http.js'
import { ManualClock } from '../../engine/manual-clock.js'
import {
  failureOf,
  fixedServer,
  makeFetcher,
  rawServer,
  reply,
  requestFor,
  responseOf,
  sleep,
  TestContext,
  textOf,
  until,
} from '../support.js'

async function closedPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  await once(server, 'close')
  return port
}

/** The URL of a server that never accepts: its process sleeps, and its queue of connections is full. */
async function deafServer(): Promise<string> {
  const listenAndSleep = `
    const server = require('node:net').createServer().listen(0, '127.0.0.1', 1, () => {
      require('node:fs').writeSync(1, String(server.address().port))
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
    })`
  const child = spawn(process.execPath, ['-e', listenAndSleep])
  const [data] = await once(child.stdout, 'data')
  const port = Number(data)
  const fillers = Array.from({ length: 4 }, () => connect(port, '127.0.0.1').on('error', () => {}))
  onTestFinished(() => {
    child.kill('SIGKILL')
    for (const filler of fillers) filler.destroy()
  })
  await sleep(50)
  return `http://127.0.0.1:${port}/`
}

describe('the request', () => {
  it('is one GET with the configured headers', async () => {
    const server = await fixedServer(reply('page', { ETag: '"1"' }))
    const fetcher = makeFetcher({ headers: { 'Accept-Language': 'de' } })
    const outcome = await fetcher.fetch(requestFor(server.url('/a/b?c=d&e=%C3%A4')), new TestContext())
    expect(responseOf(outcome)).toMatchObject({ status: 200, wireBytes: 4, skippedBody: false })
    expect(textOf(outcome)).toBe('page')
    expect(responseOf(outcome).headers.get('etag')).toBe('"1"')
    expect(server.requests).toEqual(['GET /a/b?c=d&e=%C3%A4 HTTP/1.1'])
    expect(server.lastRequest.toLowerCase().split('\r\n').slice(1, -2).sort()).toEqual([
      'accept-encoding: gzip, deflate, br',
      'accept-language: de',
      'accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
      'connection: keep-alive',
      `host: 127.0.0.1:${server.port}`,
      'user-agent: kumo/0.1 (+https://example.com/bot)',
    ])
  })

  it('leaves out fragment and credentials and encodes what a canonical URL would have encoded', async () => {
    const server = await fixedServer(reply('page'))
    const url = `http://user:secret@127.0.0.1:${server.port}/ä b?q=ü#part`
    expect(textOf(await makeFetcher().fetch(requestFor(url), new TestContext()))).toBe('page')
    expect(server.requests).toEqual(['GET /%C3%A4%20b?q=%C3%BC HTTP/1.1'])
    expect(server.lastRequest).not.toMatch(/authorization/i)
  })

  it.each(['ftp://example.com/', 'not a url', 'http://1.2.3.4.5/', 'http://a:99999/', 'javascript:alert(1)'])(
    'for %j is a failure, not an exception',
    async (url) => {
      const failure = failureOf(await makeFetcher().fetch(requestFor(url), new TestContext()))
      expect(failure.code).toBe('fetcher-failed')
    },
  )

  it('is refused when the fetcher is made with a header that cannot be sent', () => {
    expect(() => httpFetcher({ userAgent: 'Kumo', headers: { 'X-A': 'a\nb' } })).toThrow(KumoError)
  })
})

describe('failures to connect', () => {
  it('says that a port is closed', async () => {
    const url = `http://127.0.0.1:${await closedPort()}/`
    const failure = failureOf(await makeFetcher().fetch(requestFor(url), new TestContext()))
    expect(failure).toMatchObject({ code: 'connect-failed', message: expect.stringMatching(/refused/) })
    expect(failure.cause).toBeInstanceOf(Error)
  })

  it('says that a name has no address', async () => {
    const failure = failureOf(
      await makeFetcher().fetch(requestFor('http://nowhere.invalid/'), new TestContext()),
    )
    expect(failure.code).toBe('dns-failed')
    expect(failure.message).toContain('nowhere.invalid')
  })

  it('says that a server does not speak TLS', async () => {
    const plain = createServer((socket) => {
      socket.on('error', () => {})
      socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')
    }).listen(0, '127.0.0.1')
    await once(plain, 'listening')
    const { port } = plain.address() as { port: number }
    const outcome = await makeFetcher().fetch(requestFor(`https://127.0.0.1:${port}/`), new TestContext())
    expect(failureOf(outcome).code).toBe('tls-failed')
    plain.close()
  })

  it('gives up connecting after the connect timeout', async () => {
    const fetcher = makeFetcher({ connectTimeoutMs: 300 })
    const outcome = await fetcher.fetch(requestFor(await deafServer()), new TestContext())
    expect(failureOf(outcome)).toMatchObject({
      code: 'connect-failed',
      message: expect.stringContaining('in time'),
    })
    await until(() => fetcher.stats.openConnections === 0, 'the socket is gone')
  })
})

describe('abort', () => {
  const MOMENTS: [string, (socket: import('node:net').Socket) => unknown][] = [
    ['before any answer', () => {}],
    ['within the headers', (socket) => socket.write('HTTP/1.1 200 OK\r\nContent-')],
    ['within the body', (socket) => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf')],
    [
      'while one byte comes every now and then',
      async (socket) => {
        for (const byte of 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n'.padEnd(140, 'x')) {
          if (!socket.destroyed) socket.write(byte)
          await sleep(20)
        }
      },
    ],
  ]

  it.each(MOMENTS)('%s resolves at once and lets go of the socket', async (_, act) => {
    const server = await rawServer(({ socket }) => void act(socket))
    const fetcher = makeFetcher()
    const context = new TestContext()
    let outcome: unknown
    void fetcher.fetch(requestFor(server.url()), context).then((value) => {
      outcome = value
    })
    await until(() => server.requests.length === 1, 'the request arrives')
    await sleep(50)
    expect(outcome).toBeUndefined()
    context.abort()
    await Promise.resolve()
    expect(outcome).toMatchObject({ ok: false, code: 'aborted' })
    await until(() => server.open === 0 && fetcher.stats.openConnections === 0, 'the socket is gone')
  })

  it('before the request starts makes no request', async () => {
    const server = await fixedServer(reply('page'))
    const fetcher = makeFetcher()
    const aborted = new TestContext()
    aborted.abort()
    expect(await fetcher.fetch(requestFor(server.url()), aborted)).toMatchObject({ code: 'aborted' })
    const early = new TestContext()
    const outcome = fetcher.fetch(requestFor(server.url()), early)
    expect(early.onAbort).toBeTypeOf('function')
    early.abort()
    expect(await outcome).toMatchObject({ code: 'aborted' })
    expect(textOf(await fetcher.fetch(requestFor(server.url()), new TestContext()))).toBe('page')
    expect(server.requests.length).toBe(1)
  })

  it('while the connection is being made lets go of it', async () => {
    const fetcher = makeFetcher()
    const context = new TestContext()
    const outcome = fetcher.fetch(requestFor(await deafServer()), context)
    await until(() => fetcher.stats.openConnections === 1, 'the connection is begun')
    await sleep(50)
    context.abort()
    expect(await outcome).toMatchObject({ ok: false, code: 'aborted' })
    await until(() => fetcher.stats.openConnections === 0, 'the socket is gone')
  })

  it('while waiting for a connection leaves the line', async () => {
    const server = await rawServer(({ socket, path }) => {
      if (path !== '/hang') socket.write(reply(path))
    })
    const fetcher = makeFetcher()
    const contexts = [new TestContext(), new TestContext(), new TestContext()]
    const outcomes = ['/hang', '/second', '/third'].map((path, i) =>
      fetcher.fetch(requestFor(server.url(path)), contexts[i]!),
    )
    await until(() => server.requests.length === 1, 'the first request arrives')
    contexts[1]!.abort()
    expect(await outcomes[1]).toMatchObject({ code: 'aborted' })
    contexts[0]!.abort()
    expect(await outcomes[0]).toMatchObject({ code: 'aborted' })
    expect(textOf(await outcomes[2]!)).toBe('/third')
    expect(server.requests).toEqual(['GET /hang HTTP/1.1', 'GET /third HTTP/1.1'])
  })

  it('after the end does nothing', async () => {
    const server = await fixedServer(reply('page'))
    const fetcher = makeFetcher()
    const context = new TestContext()
    await fetcher.fetch(requestFor(server.url()), context)
    context.abort()
    expect(textOf(await fetcher.fetch(requestFor(server.url()), new TestContext()))).toBe('page')
    expect(server.accepted).toBe(1)
  })
})

describe('kept connections', () => {
  const fetchPaths = async (fetcher: ReturnType<typeof makeFetcher>, urls: string[], pauseMs = 0) => {
    const outcomes = []
    for (const url of urls) {
      outcomes.push(await fetcher.fetch(requestFor(url), new TestContext()))
      if (pauseMs > 0) await sleep(pauseMs)
    }
    return outcomes
  }

  it('carry one request after the other', async () => {
    const server = await fixedServer(reply('page'))
    await fetchPaths(makeFetcher(), Array(20).fill(server.url()))
    expect(server.accepted).toBe(1)
  })

  it('are closed after keepAliveMs', async () => {
    const server = await fixedServer(reply('page'))
    const fetcher = makeFetcher({ keepAliveMs: 50 })
    await fetchPaths(fetcher, [server.url()])
    await until(() => server.open === 0 && fetcher.stats.openConnections === 0, 'the idle socket closes')
    await fetchPaths(fetcher, [server.url()])
    expect(server.accepted).toBe(2)
  })

  it('that the server closed while idle are replaced without anybody noticing', async () => {
    const server = await rawServer(({ socket }) => {
      socket.write(reply('page'))
      setTimeout(() => socket.end(), 10)
    })
    const outcomes = await fetchPaths(makeFetcher(), Array(4).fill(server.url()), 50)
    expect(outcomes.map(textOf)).toEqual(Array(4).fill('page'))
    expect(server.requests.length).toBe(4)
  })

  it('that break when used again are replaced once', async () => {
    const server = await rawServer(({ socket, earlier }) => {
      if (earlier === 0) socket.write(reply('page'))
      else socket.resetAndDestroy()
    })
    // Time stands still: "at once" must not depend on how fast the machine is.
    const clock = new ManualClock()
    const outcomes = await fetchPaths(makeFetcher({ clock }), [server.url('/1'), server.url('/2')])
    expect(outcomes.map(textOf)).toEqual(['page', 'page'])
    expect(outcomes.map((outcome) => outcome.resent)).toEqual([0, 1])
    expect(server.accepted).toBe(2)
  })

  it('that break after the server took its time are not: it has heard the request', async () => {
    const clock = new ManualClock()
    const server = await rawServer(({ socket, earlier }) => {
      if (earlier === 0) socket.write(reply('page'))
      else {
        clock.advance(1500)
        socket.resetAndDestroy()
      }
    })
    const outcomes = await fetchPaths(makeFetcher({ clock }), [server.url('/1'), server.url('/2')])
    expect(failureOf(outcomes[1]!)).toMatchObject({ code: 'connection-lost' })
    expect(outcomes[1]!.resent).toBeUndefined()
    expect(server.requests.length).toBe(2)
  })

  it('are not replaced a second time', async () => {
    const server = await rawServer(({ socket }) => {
      if (server.requests.length === 1) socket.write(reply('page'))
      else socket.resetAndDestroy()
    })
    const clock = new ManualClock()
    const [, second] = await fetchPaths(makeFetcher({ clock }), [server.url('/1'), server.url('/2')])
    expect(failureOf(second!)).toMatchObject({ code: 'connection-lost', resent: 1 })
    expect(server.requests.length).toBe(3)
  })

  it('are not tried again once an answer has begun', async () => {
    const server = await rawServer(({ socket, earlier }) => {
      if (earlier === 0) socket.write(reply('page'))
      else socket.write('HTTP/1.1 200', () => setTimeout(() => socket.resetAndDestroy(), 20))
    })
    const [, second] = await fetchPaths(makeFetcher(), [server.url('/1'), server.url('/2')])
    expect(failureOf(second!).code).toBe('connection-lost')
    expect(server.requests.length).toBe(2)
  })

  it.each([
    ['an interim response', 'HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n'],
    ['100 Continue', 'HTTP/1.1 100 Continue\r\n\r\n'],
    ['half an interim response', 'HTTP/1.1 103 Early'],
    ['three letters', 'HTT'],
  ])('are not tried again after %s: the server has received the request', async (_, bytes) => {
    const server = await rawServer(({ socket, earlier }) => {
      if (earlier === 0) socket.write(reply('page'))
      else socket.write(bytes, () => setTimeout(() => socket.resetAndDestroy(), 20))
    })
    const clock = new ManualClock()
    const [, second] = await fetchPaths(makeFetcher({ clock }), [server.url('/1'), server.url('/2')])
    expect(failureOf(second!).code).toBe('connection-lost')
    expect(second!.resent).toBeUndefined()
    expect(server.requests.length).toBe(2)
  })

  it('are tried again after an interim response to an earlier request', async () => {
    const server = await rawServer(({ socket, earlier }) => {
      if (earlier === 0) socket.write(`HTTP/1.1 103 Early Hints\r\n\r\n${reply('page')}`)
      else socket.resetAndDestroy()
    })
    const clock = new ManualClock()
    const outcomes = await fetchPaths(makeFetcher({ clock }), [server.url('/1'), server.url('/2')])
    expect(outcomes.map((outcome) => outcome.resent)).toEqual([0, 1])
    expect(server.requests.length).toBe(3)
  })

  it('are not used after Connection: close', async () => {
    const server = await rawServer(({ socket }) => void socket.end(reply('page', { Connection: 'close' })))
    const outcomes = await fetchPaths(makeFetcher(), Array(5).fill(server.url()))
    expect(outcomes.map(textOf)).toEqual(Array(5).fill('page'))
    expect(server.accepted).toBe(5)
  })
})

describe('close', () => {
  it('ends what is in flight and what waits, and resolves when the sockets are gone', async () => {
    const server = await rawServer(({ socket, path }) => {
      if (path === '/page') socket.write(reply('page'))
    })
    const fetcher = makeFetcher({ connectionsPerHost: 2 })
    await fetcher.fetch(requestFor(server.url('/page')), new TestContext())
    const pending = ['/a', '/b', '/c'].map((path) =>
      fetcher.fetch(requestFor(server.url(path)), new TestContext()),
    )
    await until(() => server.requests.length === 3, 'two of three are sent')
    const closed = fetcher.close()
    await closed
    expect(fetcher.stats.openConnections).toBe(0)
    for (const outcome of await Promise.all(pending)) {
      expect(failureOf(outcome)).toMatchObject({
        code: 'aborted',
        message: expect.stringContaining('closed'),
      })
    }
    await fetcher.close()
    expect(await fetcher.fetch(requestFor(server.url('/page')), new TestContext())).toMatchObject({
      ok: false,
      code: 'aborted',
    })
    await until(() => server.open === 0, 'the server sees it too')
    expect(server.requests.length).toBe(3)
  })

  it('while undici is being loaded', async () => {
    const server = await rawServer(() => {})
    const fetcher = makeFetcher()
    const outcome = fetcher.fetch(requestFor(server.url()), new TestContext())
    await fetcher.close()
    expect(await outcome).toMatchObject({ ok: false, code: 'aborted' })
  })

  it('leaves no handle behind, so that the process ends by itself', async () => {
    const server = await rawServer(({ socket, path }) => {
      if (path === '/page') socket.write(reply('page'))
    })
    const root = fileURLToPath(new URL('../../../', import.meta.url))
    const script = fileURLToPath(new URL('./exits-by-itself.ts', import.meta.url))
    const child = spawn(process.execPath, ['--import', 'tsx', script, server.url()], { cwd: root })
    let output = ''
    child.stdout.on('data', (data) => {
      output += data
    })
    child.stderr.on('data', (data) => {
      output += data
    })
    const [code] = await once(child, 'exit')
    expect(output.trim()).toBe('["200","aborted"] sockets:0')
    expect(code).toBe(0)
  })
})
