/** A client that believes nothing: it keeps the bytes as they came, and how the connection ended. */

import { connect } from 'node:net'

export interface RawAnswer {
  /** As it came, one character for each byte. */
  readonly wire: string
  readonly status: number | undefined
  /** Name in small letters → value; of several the last. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
  /** `ended` by the server, `reset` by it, or given up by this client, which had `enough` or was `late`. */
  readonly end: 'ended' | 'reset' | 'enough' | 'late'
}

export interface RawOptions {
  readonly headers?: Readonly<Record<string, string>>
  /** When to have enough. */
  readonly maxBytes?: number
  /** When to be late. */
  readonly maxMs?: number
}

/** Asks for a URL over a connection of its own. */
export function askRaw(url: string, options: RawOptions = {}): Promise<RawAnswer> {
  const { hostname, port, host, pathname, search } = new URL(url)
  const { headers = {}, maxBytes = Number.POSITIVE_INFINITY, maxMs = 10_000 } = options
  const lines = Object.entries({ Host: host, Connection: 'close', ...headers }).map((pair) => pair.join(': '))
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname)
    const chunks: Buffer[] = []
    let bytes = 0
    const finish = (end: RawAnswer['end']) => {
      clearTimeout(timer)
      socket.destroy()
      resolve(answerOf(Buffer.concat(chunks), end))
    }
    const timer = setTimeout(finish, maxMs, 'late')
    socket.on('data', (chunk: Buffer) => {
      chunks.push(chunk)
      bytes += chunk.length
      if (bytes >= maxBytes) finish('enough')
    })
    socket.on('end', () => finish('ended'))
    socket.on('error', () => finish('reset'))
    socket.write(`GET ${pathname}${search} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`)
  })
}

function answerOf(bytes: Buffer, end: RawAnswer['end']): RawAnswer {
  const wire = bytes.toString('latin1')
  const blank = wire.indexOf('\r\n\r\n')
  const [first = '', ...lines] = wire.slice(0, Math.max(blank, 0)).split('\r\n')
  const headers = Object.fromEntries(
    lines.map((line) => [
      line.slice(0, line.indexOf(':')).toLowerCase(),
      line.slice(line.indexOf(':') + 1).trim(),
    ]),
  )
  const status = /^HTTP\/1\.1 (\d+)/.exec(first)?.[1]
  return {
    wire,
    status: status === undefined ? undefined : Number(status),
    headers,
    body: bytes.subarray(blank < 0 ? bytes.length : blank + 4),
    end,
  }
}
