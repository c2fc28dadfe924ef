import { Client } from 'undici'
import { expect, it, onTestFinished } from 'vitest'
import { RawHeaders } from '../../../../src/fetch/http/headers.js'
import { CurrentHandler, handlerFactory, LegacyHandler } from '../../../../src/fetch/http/undici/handlers.js'
import { rawServer } from '../../support.js'

const HANDLERS = [CurrentHandler, LegacyHandler]

/** Everything that a listener receives for one request. */
async function eventsOf(Handler: (typeof HANDLERS)[number], url: string): Promise<unknown[]> {
  const client = new Client(url)
  onTestFinished(() => client.destroy())
  return new Promise((resolve) => {
    const events: unknown[] = []
    const handler = new Handler({
      onRequestStart: () => events.push('start'),
      onFirstBytes: () => events.push('first bytes'),
      onHeaders: (status, raw) => events.push(status, [...new RawHeaders(raw).entries()]),
      onData: (chunk) => events.push(chunk.toString()) > 0,
      onEnd: () => resolve([...events, 'end']),
      onError: (error) => resolve([...events, (error as NodeJS.ErrnoException).code]),
    })
    client.dispatch({ path: '/', method: 'GET' }, handler)
  })
}

it.each<[name: string, answer: string, expected: unknown[]]>([
  [
    'a page, with repeated headers and bytes that are not ASCII',
    'HTTP/1.1 200 OK\r\nX-A: 1\r\nx-a: 2\r\nX-B: gr\u00c3\u00bcn\r\nContent-Length: 4\r\n\r\npage',
    [
      'start',
      'first bytes',
      200,
      [
        ['x-a', '1, 2'],
        ['x-b', 'grün'],
        ['content-length', '4'],
      ],
      'page',
      'end',
    ],
  ],
  [
    'a page behind an interim response',
    'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\npage',
    [
      'start',
      'first bytes',
      103,
      [['link', '</a>']],
      'first bytes',
      200,
      [['content-length', '4']],
      'page',
      'end',
    ],
  ],
  ['a connection that closes', '', ['start', 'UND_ERR_SOCKET']],
  [
    'a body that is cut off',
    'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf',
    ['start', 'first bytes', 200, [['content-length', '9']], 'half', 'UND_ERR_SOCKET'],
  ],
])('both handlers report %s', async (_, answer, expected) => {
  for (const Handler of HANDLERS) {
    const server = await rawServer(({ socket }) => void socket.end(Buffer.from(answer, 'latin1')))
    expect(await eventsOf(Handler, server.url()), Handler.name).toEqual(expected)
  }
})

it('uses the handler that undici 7 calls directly', () => {
  const listener = {} as never
  expect(handlerFactory()(listener)).toBeInstanceOf(LegacyHandler)
})
