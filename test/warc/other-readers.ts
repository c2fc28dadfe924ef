/** Archives as the readers of others see them: warcio (Webrecorder's) and node-warc. */

import { createReadStream } from 'node:fs'
import { createRequire } from 'node:module'
import type { Transform } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { CDXIndexer, WARCParser } from 'warcio'

/** A record as another reader found it. */
export interface SeenRecord {
  readonly type: string
  readonly url: string | undefined
  readonly status: number | undefined
  /** Without transfer coding, before content decoding; undefined if the reader gives only something else. */
  readonly payload: Buffer
  readonly digest: string | undefined
}

/** Throws for what warcio does not accept. */
export async function* readWithWarcio(file: string): AsyncGenerator<SeenRecord> {
  for await (const record of new WARCParser(createReadStream(file), { keepHeadersCase: false })) {
    if (record.warcHeaders.protocol !== 'WARC/1.1')
      throw new Error(`${record.warcHeaders.protocol} at ${record._offset}`)
    // `false`: chunks are joined only where it is asked for, and content is never decoded.
    const payload = Buffer.from(await record.readFully(false))
    yield {
      type: record.warcType ?? '',
      url: record.warcTargetURI ?? undefined,
      status: record.httpHeaders ? Number(record.httpHeaders.statusCode) : undefined,
      payload: isChunked(record.httpHeaders?.headers as Iterable<[string, string]> | undefined)
        ? joined(payload)
        : payload,
      digest: record.warcHeader('WARC-Payload-Digest') ?? undefined,
    }
  }
}

function isChunked(headers: Iterable<[string, string]> | undefined): boolean {
  return [...(headers ?? [])].some(
    ([name, value]) => name.toLowerCase() === 'transfer-encoding' && /chunked/i.test(value),
  )
}

/** Joins chunks, for readers that leave that to others. */
function joined(bytes: Buffer): Buffer {
  const parts: Buffer[] = []
  for (let at = 0; ; ) {
    const eol = bytes.indexOf('\r\n', at)
    const size = Number.parseInt(bytes.toString('latin1', at, eol), 16)
    if (!(size > 0)) return Buffer.concat(parts)
    parts.push(bytes.subarray(eol + 2, eol + 2 + size))
    at = eol + 2 + size + 2
  }
}

interface NodeWarcRecord {
  readonly warcType: string
  readonly warcTargetURI: string | undefined
  readonly warcPayloadDigest: string | undefined
  readonly httpInfo?: { readonly statusCode: string; readonly headers: Record<string, string> }
  readonly content: Buffer
}

/** Its types need a browser driver that is not installed. */
const { WARCStreamTransform } = createRequire(import.meta.url)('node-warc') as {
  WARCStreamTransform: new () => Transform
}

export async function* readWithNodeWarc(file: string): AsyncGenerator<SeenRecord> {
  const parser = new WARCStreamTransform()
  // At the end it calls back twice, which Node has refused since version 14.
  const flush = parser._flush.bind(parser)
  parser._flush = (done) => {
    let isDone = false
    flush((...given) => {
      if (!isDone) done(...given)
      isDone = true
    })
  }
  const bytes = createReadStream(file)
  const records = (file.endsWith('.gz') ? bytes.pipe(createGunzip()) : bytes).pipe(parser)
  for await (const record of records as AsyncIterable<NodeWarcRecord>) {
    const { warcType, warcTargetURI, warcPayloadDigest, httpInfo, content } = record
    const headers = Object.entries(httpInfo?.headers ?? {})
    const payload = withoutEnd(Buffer.from(content ?? []))
    yield {
      type: warcType,
      url: warcTargetURI,
      status: httpInfo?.statusCode === undefined ? undefined : Number(httpInfo.statusCode),
      payload: isChunked(headers) ? joined(payload) : payload,
      digest: warcPayloadDigest,
    }
  }
}

/** It reads lines and not lengths, so that the empty lines behind a record belong to its content. */
function withoutEnd(content: Buffer): Buffer {
  const end = ['\r\n\r\n', '\r\n'].find((each) => content.toString('latin1').endsWith(each)) ?? ''
  return content.subarray(0, content.length - end.length)
}

/** The index that warcio makes of a file. */
export async function indexWithWarcio(file: string, name: string): Promise<Record<string, string>[]> {
  const indexer = new CDXIndexer({ format: 'cdxj' })
  const lines: Record<string, string>[] = []
  for await (const line of indexer.iterRecords(new WARCParser(createReadStream(file)), name)) lines.push(line)
  return lines
}
