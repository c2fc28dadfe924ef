/** A server that answers HTTP/2 requests frame by frame, as no library would. */

import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createServer, type TLSSocket } from 'node:tls'
import { onTestFinished } from 'vitest'
import { SERVER } from '../../certificates/index.js'

const PREFACE_BYTES = 24
const FRAME_HEADER_BYTES = 9
const ACK = 1

const [DATA, HEADERS, RST_STREAM, SETTINGS, GOAWAY, CONTINUATION] = [0, 1, 3, 4, 7, 9]
const END_STREAM = 1
const END_HEADERS = 4
/** `:status: 200` in the static table of HPACK. */
const STATUS_200 = Buffer.from([0x88])

export function frame(
  type: number,
  flags: number,
  stream: number,
  payload: Buffer = Buffer.alloc(0),
): Buffer {
  const header = Buffer.alloc(FRAME_HEADER_BYTES)
  header.writeUIntBE(payload.length, 0, 3)
  header[3] = type
  header[4] = flags
  header.writeUInt32BE(stream, 5)
  return Buffer.concat([header, payload])
}

/** A header in HPACK, without any compression; both texts are shorter than 127 bytes. */
export function header(name: string, value: string): Buffer {
  return Buffer.concat([
    Buffer.from([0, name.length]),
    Buffer.from(name),
    Buffer.from([value.length]),
    Buffer.from(value),
  ])
}

/** The frames of one answer. */
export class Answering {
  constructor(
    readonly socket: TLSSocket,
    readonly id: number,
  ) {}

  write(bytes: Buffer): void {
    if (this.socket.writable) this.socket.write(bytes)
  }

  /** Headers of a 200, with more of them. */
  headers(...more: Buffer[]): void {
    const block = Buffer.concat([STATUS_200, header('content-type', 'text/html'), ...more])
    this.write(frame(HEADERS, END_HEADERS, this.id, block))
  }

  /** Other headers than those of a 200; `last`: there is no body. */
  rawHeaders(block: Buffer, last = false): void {
    this.write(frame(HEADERS, END_HEADERS | (last ? END_STREAM : 0), this.id, block))
  }

  /** Headers in several frames, of which only the last says that it is the last. */
  continued(...blocks: Buffer[]): void {
    for (const [i, block] of blocks.entries()) {
      const flags = i === blocks.length - 1 ? END_HEADERS : 0
      this.write(frame(i === 0 ? HEADERS : CONTINUATION, flags, this.id, block))
    }
  }

  data(text: string, last = false): void {
    this.write(frame(DATA, last ? END_STREAM : 0, this.id, Buffer.from(text)))
  }

  reset(code: number): void {
    this.write(frame(RST_STREAM, 0, this.id, u32(code)))
  }

  goaway(last: number, code: number): void {
    this.write(frame(GOAWAY, 0, 0, u32(last, code)))
  }
}

/** `answer` is called for each request, in the order of arrival over all connections. */
export async function rawHttp2Server(answer: (answering: Answering, request: number) => void) {
  const sockets = new Set<TLSSocket>()
  let requests = 0
  const server = createServer({ ...SERVER, ALPNProtocols: ['h2'] }, (socket) => {
    sockets.add(socket)
    socket.on('error', () => {}).on('close', () => sockets.delete(socket))
    socket.write(frame(SETTINGS, 0, 0))
    let unread = Buffer.alloc(0)
    let toSkip = PREFACE_BYTES
    socket.on('data', (chunk) => {
      unread = Buffer.concat([unread, chunk])
      if (unread.length < toSkip) return
      unread = unread.subarray(toSkip)
      toSkip = 0
      while (unread.length >= FRAME_HEADER_BYTES) {
        const end = FRAME_HEADER_BYTES + unread.readUIntBE(0, 3)
        if (unread.length < end) break
        const [type, flags, id] = [unread[3]!, unread[4]!, unread.readUInt32BE(5)]
        unread = unread.subarray(end)
        if (type === SETTINGS && (flags & ACK) === 0) socket.write(frame(SETTINGS, ACK, 0))
        if (type === HEADERS) answer(new Answering(socket, id), requests++)
      }
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy()
    server.close()
    await once(server, 'close')
  })
  return {
    url: (path = '/') => `https://127.0.0.1:${port}${path}`,
    get open() {
      return sockets.size
    },
    get requests() {
      return requests
    },
  }
}

function u32(...numbers: number[]): Buffer {
  const bytes = Buffer.alloc(4 * numbers.length)
  for (const [i, number] of numbers.entries()) bytes.writeUInt32BE(number, 4 * i)
  return bytes
}
