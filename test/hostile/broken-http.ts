/** Servers that do not keep to HTTP, or keep to it too slowly. */

import { drip, type HostileRoute, head, writeForever } from './route.js'

/** Shorter than any patience, longer than any idle limit would notice. */
const DRIP_MS = 50

export const BROKEN_HTTP: readonly HostileRoute[] = [
  {
    name: 'slow-drip',
    path: '/slow-drip',
    does: 'sends a body of 100,000 bytes, one every 50 ms',
    answer: (_, __, { socket }) => {
      socket.write(head('Content-Length: 100000'))
      drip(socket, 'x'.repeat(100_000), DRIP_MS)
    },
  },
  {
    name: 'slow-headers',
    path: '/slow-headers',
    does: 'sends one byte of its headers every 50 ms',
    answer: (_, __, { socket }) => drip(socket, head(`X-Slow: ${'x'.repeat(100_000)}`), DRIP_MS),
  },
  {
    name: 'endless-headers',
    path: '/endless-headers',
    does: 'sends header after header',
    answer: (_, __, { socket }) => {
      socket.write('HTTP/1.1 200 OK\r\n')
      writeForever(socket, `X-More: ${'x'.repeat(1000)}\r\n`)
    },
  },
  {
    name: 'endless-body',
    path: '/endless-body',
    does: 'sends a chunked body that never ends',
    answer: (_, __, { socket }) => {
      socket.write(head('Transfer-Encoding: chunked'))
      writeForever(socket, `4000\r\n${'<p>more '.repeat(0x4000 / 8)}\r\n`)
    },
  },
  {
    name: 'silent',
    path: '/silent',
    does: 'takes the request and says nothing',
    answer: () => {},
  },
  {
    name: 'short-body',
    path: '/short-body',
    does: 'promises 1,000 bytes by Content-Length, sends 10 and hangs up',
    answer: (_, __, { socket }) => socket.end(`${head('Content-Length: 1000')}0123456789`),
  },
  {
    name: 'long-body',
    path: '/long-body',
    does: 'promises 10 bytes by Content-Length and sends 1,000',
    answer: (_, __, { socket }) => socket.end(head('Content-Length: 10') + '0123456789'.repeat(100)),
  },
  {
    name: 'two-lengths',
    path: '/two-lengths',
    does: 'names two different Content-Lengths',
    answer: (_, __, { socket }) => socket.end(`${head('Content-Length: 10', 'Content-Length: 5')}0123456789`),
  },
  {
    name: 'cut-chunks',
    path: '/cut-chunks',
    does: 'hangs up within a chunk of its body',
    answer: (_, __, { socket }) =>
      socket.end(`${head('Transfer-Encoding: chunked')}a\r\n0123456789\r\nff\r\n0123456789`),
  },
  {
    name: 'bad-chunks',
    path: '/bad-chunks',
    does: 'names a chunk size that is no number',
    answer: (_, __, { socket }) =>
      socket.end(`${head('Transfer-Encoding: chunked')}many\r\n0123456789\r\n0\r\n\r\n`),
  },
  {
    name: 'reset-after-headers',
    path: '/reset-after-headers',
    does: 'resets the connection after its headers',
    answer: (_, __, { socket }) => {
      socket.write(head('Content-Length: 1000'))
      // The headers are on their way before the reset overtakes them.
      setTimeout(() => socket.resetAndDestroy(), DRIP_MS)
    },
  },
  {
    name: 'reset-at-once',
    path: '/reset-at-once',
    does: 'resets the connection without a word',
    answer: (_, __, { socket }) => void socket.resetAndDestroy(),
  },
  {
    name: 'hang-up',
    path: '/hang-up',
    does: 'closes the connection without a word',
    answer: (_, __, { socket }) => socket.end(),
  },
  {
    name: 'garbage',
    path: '/garbage',
    does: 'answers with bytes that are not HTTP',
    answer: (_, __, { socket }) => socket.end(Buffer.from('0001f2ff5353482d322e300d0a00deadbeef', 'hex')),
  },
]
