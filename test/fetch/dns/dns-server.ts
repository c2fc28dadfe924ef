/** A name server on loopback, UDP and TCP, that answers as a test tells it to, or does not. */

import { createSocket, type Socket as UdpSocket } from 'node:dgram'
import { once } from 'node:events'
import { type AddressInfo, createServer, isIPv6, type Server, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'

export type QuestionType = 'A' | 'AAAA'
export type Transport = 'udp' | 'tcp'

export interface Question {
  readonly name: string
  readonly type: QuestionType
  readonly transport: Transport
}

/** Addresses of the family that was asked for (others are left out), or a word for what goes wrong. */
export type Reply = 'nxdomain' | 'servfail' | 'silent' | 'truncated' | 'garbage' | Records

export interface Records {
  readonly addresses: readonly string[]
  /** Seconds; 60 unless told. */
  readonly ttl?: number
  /** Answer only after this promise. */
  readonly after?: Promise<unknown>
}

export interface DnsServer {
  /** As `cachingResolver({ servers })` takes it. */
  readonly server: string
  /** Every question, in order of arrival. */
  readonly questions: Question[]
  /** Questions under way that have not been answered, most at a time. */
  readonly mostOpen: number
}

const TYPES: Readonly<Record<number, QuestionType>> = { 1: 'A', 28: 'AAAA' }
const HEADER_BYTES = 12
const FLAGS = { answer: 0x8180, truncated: 0x8380, servfail: 0x8182, nxdomain: 0x8183 }
/** Points at the name in the question, which every answer repeats. */
const NAME_OF_QUESTION = [0xc0, HEADER_BYTES]

/** Listens until the test ends. */
export async function dnsServer(answer: (question: Question) => Reply): Promise<DnsServer> {
  const questions: Question[] = []
  const state = { open: 0, mostOpen: 0 }

  async function respond(query: Buffer, transport: Transport, send: (reply: Buffer) => void): Promise<void> {
    const { name, type, end } = readQuestion(query)
    const question = { name, type, transport }
    questions.push(question)
    const reply = answer(question)
    if (reply === 'silent') return
    state.mostOpen = Math.max(state.mostOpen, ++state.open)
    if (typeof reply === 'object') await reply.after
    state.open--
    send(writeReply(query.subarray(0, end), type, reply))
  }

  const sockets = new Set<Socket>()
  const { tcp, udp, port } = await listenOnBoth()
  let open = true
  udp.on('message', (query, { port, address }) => {
    void respond(query, 'udp', (reply) => open && udp.send(reply, port, address))
  })
  tcp.on('connection', (socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    let received = Buffer.alloc(0)
    socket.on('data', (chunk) => {
      received = Buffer.concat([received, chunk])
      while (received.length >= 2 && received.length >= 2 + received.readUInt16BE(0)) {
        const end = 2 + received.readUInt16BE(0)
        const query = received.subarray(2, end)
        received = received.subarray(end)
        void respond(query, 'tcp', (reply) => socket.write(Buffer.concat([uint16(reply.length), reply])))
      }
    })
  })

  onTestFinished(() => {
    open = false
    udp.close()
    for (const socket of sockets) socket.destroy()
    tcp.close()
  })
  return {
    server: `127.0.0.1:${port}`,
    questions,
    get mostOpen() {
      return state.mostOpen
    },
  }
}

/** A port that is free for both. The system finds one for TCP; whether UDP has it too is seen by trying. */
async function listenOnBoth(): Promise<{ tcp: Server; udp: UdpSocket; port: number }> {
  for (let attempt = 1; ; attempt++) {
    const tcp = createServer().listen(0, '127.0.0.1')
    await once(tcp, 'listening')
    const { port } = tcp.address() as AddressInfo
    const udp = createSocket('udp4')
    try {
      udp.bind(port, '127.0.0.1')
      await once(udp, 'listening')
      return { tcp, udp, port }
    } catch (error) {
      udp.close()
      tcp.close()
      if (attempt === 10) throw error
    }
  }
}

function readQuestion(query: Buffer): { name: string; type: QuestionType; end: number } {
  const labels: string[] = []
  let at = HEADER_BYTES
  for (let length = query[at]!; length > 0; length = query[at]!) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length))
    at += 1 + length
  }
  return { name: labels.join('.'), type: TYPES[query.readUInt16BE(at + 1)]!, end: at + 5 }
}

function writeReply(question: Buffer, type: QuestionType, reply: Exclude<Reply, 'silent'>): Buffer {
  if (reply === 'garbage') return Buffer.concat([question.subarray(0, 2), Buffer.from('not a reply at all')])
  const records =
    typeof reply === 'string'
      ? []
      : reply.addresses
          .filter((address) => isIPv6(address) === (type === 'AAAA'))
          .map((address) => record(type, address, reply.ttl ?? 60))
  const header = Buffer.from(question)
  header.writeUInt16BE(typeof reply === 'string' ? FLAGS[reply] : FLAGS.answer, 2)
  header.writeUInt16BE(records.length, 6)
  header.writeUInt16BE(0, 8)
  header.writeUInt16BE(0, 10)
  return Buffer.concat([header, ...records])
}

function record(type: QuestionType, address: string, ttl: number): Buffer {
  const data = type === 'A' ? Buffer.from(address.split('.').map(Number)) : bytesOfIPv6(address)
  const head = Buffer.alloc(10)
  head.writeUInt16BE(type === 'A' ? 1 : 28, 0)
  head.writeUInt16BE(1, 2)
  head.writeUInt32BE(ttl, 4)
  head.writeUInt16BE(data.length, 8)
  return Buffer.concat([Buffer.from(NAME_OF_QUESTION), head, data])
}

function bytesOfIPv6(address: string): Buffer {
  const [before = '', after = ''] = address.split('::')
  const groups = (text: string) =>
    text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16))
  const [start, end] = [groups(before), groups(after)]
  const zeros = new Array<number>(8 - start.length - end.length).fill(0)
  return Buffer.concat([...start, ...zeros, ...end].map(uint16))
}

function uint16(value: number): Buffer {
  const bytes = Buffer.alloc(2)
  bytes.writeUInt16BE(value)
  return bytes
}
