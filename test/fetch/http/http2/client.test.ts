import { describe, expect, it } from 'vitest'
import { ManualClock } from '../../../engine/manual-clock.js'
import { CA } from '../../certificates/index.js'
import {
  failureOf,
  makeFetcher,
  requestFor,
  responseOf,
  sleep,
  TestContext,
  textOf,
  until,
} from '../../support.js'
import { type Answering, frame, header, rawHttp2Server } from './raw-http2.js'

const PAGE = '<title>fine</title>'
const [HALF, REST] = [PAGE.slice(0, 7), PAGE.slice(7)]
const LENGTH = header('content-length', String(PAGE.length))
const [NO_ERROR, PROTOCOL_ERROR, INTERNAL_ERROR, REFUSED_STREAM, CANCEL, ENHANCE_YOUR_CALM] = [
  0, 1, 2, 7, 8, 11,
]

const whole = (answering: Answering) => {
  answering.headers()
  answering.data(PAGE, true)
}

/** The outcome of a first request that is answered so, and of a second that is answered well. */
async function ask(answer: (answering: Answering) => void, options = {}) {
  const server = await rawHttp2Server((answering, request) =>
    request === 0 ? answer(answering) : whole(answering),
  )
  const fetcher = makeFetcher({ http2: true, tls: { ca: CA }, ...options })
  const first = await fetcher.fetch(requestFor(server.url()), new TestContext())
  expect(textOf(await fetcher.fetch(requestFor(server.url()), new TestContext())), 'the next').toBe(PAGE)
  await fetcher.close()
  await until(() => server.open === 0, 'all is let go')
  return first
}

describe('an answer over HTTP/2', () => {
  it.each<[string, (answering: Answering) => void]>([
    ['is complete at the flag of its last data', whole],
    [
      'with its length',
      (a) => {
        a.headers(LENGTH)
        a.data(PAGE, true)
      },
    ],
    [
      'may end with an empty frame',
      (a) => {
        a.headers()
        a.data(PAGE)
        a.data('', true)
      },
    ],
    [
      'may end with trailers',
      (a) => {
        a.headers()
        a.data(PAGE)
        a.rawHeaders(header('x-checksum', '1'), true)
      },
    ],
    [
      'may be followed by a reset that wants no more of the request',
      (a) => {
        a.headers()
        a.data(PAGE, true)
        a.reset(NO_ERROR)
      },
    ],
    [
      'may follow interim answers that nobody asked for',
      (a) => {
        a.rawHeaders(header(':status', '100'))
        a.rawHeaders(Buffer.concat([header(':status', '103'), header('link', '</a.css>')]))
        whole(a)
      },
    ],
    [
      'may have its headers in several frames',
      (a) => {
        a.continued(Buffer.from([0x88]), header('content-type', 'text/html'), header('x-a', 'b'))
        a.data(PAGE, true)
      },
    ],
    [
      'goes on after a GOAWAY that lets it',
      (a) => {
        a.headers()
        a.data(HALF)
        a.goaway(a.id, NO_ERROR)
        setTimeout(() => a.data(REST, true), 50)
      },
    ],
    [
      'begins after a GOAWAY that announces the end',
      (a) => {
        a.goaway(0x7fffffff, NO_ERROR)
        setTimeout(() => whole(a), 50)
      },
    ],
  ])('%s', async (_, answer) => {
    expect(textOf(await ask(answer))).toBe(PAGE)
  })

  it('may have no body', async () => {
    const outcome = await ask((a) => a.rawHeaders(header(':status', '204'), true))
    expect(responseOf(outcome)).toMatchObject({ status: 204, truncated: false, skippedBody: false })
    expect(textOf(await ask((a) => a.rawHeaders(Buffer.from([0x88]), true)))).toBe('')
  })

  const RESETS: [string, number][] = [
    ['NO_ERROR', NO_ERROR],
    ['INTERNAL_ERROR', INTERNAL_ERROR],
    ['REFUSED_STREAM', REFUSED_STREAM],
    ['CANCEL', CANCEL],
    ['ENHANCE_YOUR_CALM', ENHANCE_YOUR_CALM],
    ['code 99', 99],
  ]
  it.each(RESETS)('that is reset with %s is not complete, wherever it was', async (name, code) => {
    const lost = { code: 'connection-lost', message: expect.stringContaining(`(${name})`) }
    expect(failureOf(await ask((a) => a.reset(code))), 'before headers').toMatchObject(lost)
    const afterHeaders = ask((a) => {
      a.headers()
      a.reset(code)
    })
    expect(failureOf(await afterHeaders), 'after headers').toMatchObject(lost)
    const withinBody = ask((a) => {
      a.headers()
      a.data(HALF)
      a.reset(code)
    })
    expect(failureOf(await withinBody), 'within the body').toMatchObject(lost)
    const later = ask((a) => {
      a.headers(LENGTH)
      a.data(HALF)
      setTimeout(() => a.reset(code), 30)
    })
    expect(failureOf(await later), 'a while later').toMatchObject(lost)
  })

  it.each<[string, (answering: Answering) => void]>([
    ['a FIN', ({ socket }) => socket.end()],
    ['a reset of the connection', ({ socket }) => socket.destroy()],
    ['a GOAWAY with an error', (a) => a.goaway(a.id, INTERNAL_ERROR)],
  ])('that ends with %s within its body is not complete', async (_, end) => {
    const outcome = await ask((a) => {
      a.headers()
      a.data(HALF)
      setTimeout(() => end(a), 30)
    })
    expect(failureOf(outcome).code).toBe('connection-lost')
  })

  it('that a GOAWAY excludes was not heard, and fails as a lost connection', async () => {
    const outcome = await ask((a) => a.goaway(0, NO_ERROR))
    expect(failureOf(outcome)).toMatchObject({
      code: 'connection-lost',
      message: expect.stringContaining('REFUSED_STREAM'),
    })
  })

  it.each<[string, string, (answering: Answering) => void]>([
    ['headers that cannot be unpacked', 'COMPRESSION_ERROR', (a) => a.rawHeaders(Buffer.alloc(6, 0xff))],
    [
      'a frame that is too large',
      'FRAME_SIZE_ERROR',
      ({ write, ...a }) => {
        const huge = frame(0, 0, a.id)
        huge.writeUIntBE(0xffffff, 0, 3)
        a.socket.write(huge)
      },
    ],
    ['HTTP/1.1', 'ERROR', ({ socket }) => socket.write('HTTP/1.1 200 OK\r\n\r\n')],
    ['data before headers', 'PROTOCOL_ERROR', (a) => a.data(PAGE, true)],
    ['no status', 'PROTOCOL_ERROR', (a) => a.rawHeaders(header('content-type', 'text/html'))],
    [
      'less than its length',
      'PROTOCOL_ERROR',
      (a) => {
        a.headers(LENGTH)
        a.data(HALF, true)
      },
    ],
  ])('that is %s fails at once', async (_, code, answer) => {
    // Nothing else ends it: the server waits, and the test has no deadline but its own.
    expect(failureOf(await ask(answer))).toMatchObject({
      code: 'bad-response',
      message: expect.stringContaining(code),
    })
  })

  it.each<[string, number, number]>([
    ['few and long', 100, 100],
    ['many and short', 2000, 1],
    ['many and long', 1000, 100],
  ])('with headers that are %s is too large', async (_, count, length) => {
    const lines = Array.from({ length: count }, (_, i) => header(`x-${i}`, 'y'.repeat(length)))
    const blocks = Array.from({ length: Math.ceil(count / 100) }, (_, i) =>
      Buffer.concat(lines.slice(i * 100, i * 100 + 100)),
    )
    const outcome = await ask(
      (a) => {
        a.continued(Buffer.from([0x88]), ...blocks)
        a.data(PAGE, true)
      },
      { maxHeaderBytes: 4096 },
    )
    expect(failureOf(outcome).code).toBe('headers-too-large')
  })

  it('with headers below the limit is taken, however many', async () => {
    const lines = Array.from({ length: 300 }, (_, i) => header(`x-${i}`, 'y'))
    expect(
      textOf(
        await ask((a) => {
          a.headers(...lines)
          a.data(PAGE, true)
        }),
      ),
    ).toBe(PAGE)
  })
})

describe('a kept connection', () => {
  it('that is reset by the stream is not asked again at once: the server has heard', async () => {
    const server = await rawHttp2Server((a, request) => (request === 1 ? a.reset(PROTOCOL_ERROR) : whole(a)))
    const fetcher = makeFetcher({ http2: true, tls: { ca: CA } })
    await fetcher.fetch(requestFor(server.url()), new TestContext())
    const outcome = await fetcher.fetch(requestFor(server.url()), new TestContext())
    expect(failureOf(outcome)).toMatchObject({ code: 'connection-lost' })
    expect(failureOf(outcome).resent).toBeUndefined()
    expect(server.requests).toBe(2)
  })

  it('that refuses a stream is replaced, and asked once more', async () => {
    const server = await rawHttp2Server((a, request) =>
      request === 1 ? a.goaway(a.id - 2, NO_ERROR) : whole(a),
    )
    const fetcher = makeFetcher({ http2: true, tls: { ca: CA }, clock: new ManualClock() })
    await fetcher.fetch(requestFor(server.url()), new TestContext())
    const outcome = await fetcher.fetch(requestFor(server.url()), new TestContext())
    expect(responseOf(outcome)).toMatchObject({ status: 200, resent: 1 })
    expect(server.requests).toBe(3)
  })

  it('that closes after an interim response is not asked again at once: the server has received it', async () => {
    const server = await rawHttp2Server((a, request) => {
      if (request !== 1) whole(a)
      else {
        a.rawHeaders(header(':status', '103'))
        setTimeout(() => a.socket.destroy(), 20)
      }
    })
    const fetcher = makeFetcher({ http2: true, tls: { ca: CA }, clock: new ManualClock() })
    await fetcher.fetch(requestFor(server.url()), new TestContext())
    const outcome = await fetcher.fetch(requestFor(server.url()), new TestContext())
    expect(failureOf(outcome)).toMatchObject({ code: 'connection-lost' })
    expect(failureOf(outcome).resent).toBeUndefined()
    expect(server.requests).toBe(2)
  })

  it('takes a body in pieces of a byte', async () => {
    const server = await rawHttp2Server(async (a) => {
      a.headers()
      for (const byte of PAGE) a.data(byte)
      await sleep(1)
      a.data('', true)
    })
    const fetcher = makeFetcher({ http2: true, tls: { ca: CA } })
    expect(textOf(await fetcher.fetch(requestFor(server.url()), new TestContext()))).toBe(PAGE)
  })
})
