/** Writes exchanges as records, and a payload that the archive already has only once. */

import { existsSync } from 'node:fs'
import type { HttpExchange } from '../fetch/contract.js'
import type { Random } from '../time.js'
import type { MaybePromise } from '../types.js'
import { readIndex } from './captures.js'
import { type IndexEntry, type IndexedCapture, REVISIT_MIME } from './format/cdxj.js'
import { sha1 } from './format/digest.js'
import { gzipBound, gzipMembers, halfStoredMembers } from './format/gzip.js'
import { GzipPool, type PooledGzip } from './format/gzip-pool.js'
import { type Compression, type Fields, grown, PlainRecord, RecordBuffer } from './format/record.js'
import { archiveFiles } from './reader.js'
import { repairLeftovers } from './repair.js'
import { FileSeries, indexOf, OPEN } from './series.js'

export interface ArchiveSettings {
  readonly folder: string
  readonly prefix: string
  readonly maxBytes: number
  /** 0: records are not compressed. */
  readonly level: number
  readonly credentials: boolean
  /** Fields of the `warcinfo` record. */
  readonly info: Readonly<Record<string, string>>
}

/** Payloads that are remembered, so that equal ones are written once; about 200 bytes each. */
const MAX_REMEMBERED = 200_000

/** Smaller records are compressed faster than they are handed to another thread. */
const MIN_POOLED_BYTES = 4096
/** What a large page has grown is given up, so that it does not stay for the whole crawl. */
const MAX_KEPT_BYTES = 4 * 1024 * 1024

const PROFILE = 'http://netpreserve.org/warc/1.1/revisit'
const NOT_MODIFIED = 304
const HIDDEN = /^(authorization|proxy-authorization|cookie)[ \t]*:[^\r\n]*/gim
const MAYBE_HIDDEN = /authorization|cookie/i

/** A payload that the archive has, or will have. */
interface WrittenPayload {
  readonly url: string
  readonly date: string
  /** Resolves once its record is in the file; undefined if it is. */
  written?: Promise<unknown> | undefined
}

/** What the records of an exchange have in common, and what the index says about the response. */
interface RecordedAs {
  readonly fields: Fields
  readonly responseId: string
  readonly digest: string
  readonly isRevisit: boolean
  readonly mime: string
}

/** A record on its way through the pool. Used again and again. */
interface PoolJob {
  readonly plain: PlainRecord
  output: Buffer
}

export class Archive {
  readonly #settings: ArchiveSettings
  readonly #compression: Compression | undefined
  readonly #records: RecordBuffer
  readonly #pool: GzipPool | undefined
  readonly #jobs: PoolJob[] = []
  readonly #series: FileSeries
  readonly #ids: RecordIds
  /** By digest. Filled by responses, emptied of its oldest when full. */
  readonly #written = new Map<string, WrittenPayload>()
  /** Records that are not in the file yet. */
  readonly #pending = new Set<Promise<unknown>>()
  #isClosed = false
  #failure: unknown

  /** Repairs what an earlier process left, and remembers the payloads of the archive. `report` receives what was lost. */
  static async open(
    settings: ArchiveSettings,
    worker: number,
    now: () => number,
    random: Random,
    report: (message: string) => void,
  ): Promise<Archive> {
    const { folder, prefix, level } = settings
    for (const message of await repairLeftovers(folder, prefix, worker)) report(message)
    const pool = level > 0 ? await GzipPool.open(level) : undefined
    const archive = new Archive(settings, worker, now, random, pool)
    archive.#rememberFiles()
    return archive
  }

  private constructor(
    settings: ArchiveSettings,
    worker: number,
    now: () => number,
    random: Random,
    pool: GzipPool | undefined,
  ) {
    const { folder, prefix, maxBytes, level } = settings
    const isGzip = level > 0
    this.#settings = settings
    this.#compression = isGzip
      ? { member: gzipMembers(level), halfStored: halfStoredMembers(level) }
      : undefined
    this.#records = new RecordBuffer(this.#compression)
    this.#pool = pool
    this.#ids = new RecordIds(random)
    this.#series = new FileSeries({
      folder,
      prefix,
      maxBytes,
      isGzip,
      worker,
      now,
      describe: (name) => this.#describe(name, now()),
    })
  }

  /**
   * Writes the records of an exchange. They are in the file when this returns or, if it returns a promise, when that
   * resolves: large ones are compressed on other threads.
   */
  write(exchange: HttpExchange): MaybePromise<IndexedCapture> {
    if (this.#isClosed) throw new Error('the archive is closed')
    try {
      const captured = this.#write(exchange)
      return captured instanceof Promise ? this.#track(captured) : captured
    } catch (error) {
      this.#failure ??= error
      throw error
    }
  }

  /** Resolves once everything is on the disk; rejects if anything could not be written since the last call. */
  async flush(): Promise<void> {
    const failure = this.#failure
    this.#failure = undefined
    if (failure !== undefined) throw failure
    await this.#series.sync()
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await Promise.allSettled(this.#pending)
    this.#series.close()
  }

  async #track(captured: Promise<IndexedCapture>): Promise<IndexedCapture> {
    this.#pending.add(captured)
    try {
      return await captured
    } catch (error) {
      this.#failure ??= error
      throw error
    } finally {
      this.#pending.delete(captured)
    }
  }

  #write(exchange: HttpExchange): MaybePromise<IndexedCapture> {
    const { url, status, response, headBytes, body, truncated } = exchange
    const date = new Date(exchange.startedAt).toISOString()
    const responseId = this.#ids.next()
    const digest = sha1(body)
    const isUnchanged = status === NOT_MODIFIED
    const known = truncated || body.length === 0 ? undefined : this.#written.get(digest)
    const isRevisit = isUnchanged || known !== undefined
    const common: Fields = [
      ['WARC-Date', date],
      ['WARC-Target-URI', url],
      ['WARC-IP-Address', exchange.remoteAddress],
      ['WARC-Protocol', exchange.protocol === 'h2' ? 'h2' : undefined],
    ]
    const fields: Fields = [
      ['WARC-Type', isRevisit ? 'revisit' : 'response'],
      ['WARC-Record-ID', responseId],
      ...common,
      ['WARC-Payload-Digest', isUnchanged ? undefined : digest],
      ...revisitFields(isUnchanged, url, known),
      ['WARC-Truncated', truncated ? 'length' : undefined],
      ['Content-Type', 'application/http; msgtype=response'],
    ]
    const block = isRevisit ? response.subarray(0, headBytes) : response
    const head = Buffer.from(response.buffer, response.byteOffset, headBytes).toString('latin1')
    const mime = mimeOf(head)
    const finish = (add: () => number) =>
      this.#finish(exchange, add, { fields: common, responseId, digest, isRevisit, mime })
    const isKept = !isRevisit && !truncated && body.length > 0
    if (!isRevisit && isCoded(head, mime)) {
      const captured = finish(() => this.#records.addHalfStored(fields, block, headBytes))
      if (isKept) this.#remember(digest, { url, date })
      return captured
    }
    const gzip = block.length < MIN_POOLED_BYTES ? undefined : this.#pool?.take()
    if (gzip === undefined) {
      const add = () => this.#records.add(fields, block)
      // Where the payload is must be in the file first: a revisit without it is worth nothing.
      if (known?.written !== undefined) return known.written.then(() => finish(add))
      const captured = finish(add)
      if (isKept) this.#remember(digest, { url, date })
      return captured
    }
    const before = known?.written
    const captured = this.#compressed(gzip, fields, block, (add) =>
      before === undefined ? finish(add) : before.then(() => finish(add)),
    )
    if (!isKept) return captured
    const payload: WrittenPayload = { url, date, written: captured }
    this.#remember(digest, payload)
    captured.then(
      () => {
        payload.written = undefined
      },
      () => {
        if (this.#written.get(digest) === payload) this.#written.delete(digest)
      },
    )
    return captured
  }

  /** Compresses a record on another thread, then calls back with what adds it. */
  async #compressed<T>(
    gzip: PooledGzip,
    fields: Fields,
    block: Uint8Array,
    finish: (add: () => number) => T,
  ): Promise<Awaited<T>> {
    const job = this.#jobs.pop() ?? { plain: new PlainRecord(), output: Buffer.alloc(0) }
    try {
      const { bytes, length } = job.plain.set(fields, block)
      job.output = grown(job.output, 0, gzipBound(length))
      const end = await gzip(bytes, length, job.output)
      return await finish(() => this.#records.addMade(job.output.subarray(0, end)))
    } finally {
      this.#pool!.giveBack(gzip)
      // The memory of a large page is given up.
      if (job.output.length <= MAX_KEPT_BYTES) this.#jobs.push(job)
    }
  }

  /** Adds the request to a response, and writes both. Nothing is left behind if that fails. */
  #finish(exchange: HttpExchange, addResponse: () => number, about: RecordedAs): IndexedCapture {
    try {
      return this.#writeRecords(exchange, addResponse, about)
    } catch (error) {
      this.#records.take()
      throw error
    }
  }

  #writeRecords(
    { url, startedAt, method, status, request }: HttpExchange,
    addResponse: () => number,
    { fields, responseId, digest, isRevisit, mime }: RecordedAs,
  ): IndexedCapture {
    const records = this.#records
    const length = addResponse()
    records.add(
      [
        ['WARC-Type', 'request'],
        ['WARC-Record-ID', this.#ids.next()],
        ...fields,
        ['WARC-Concurrent-To', responseId],
        ['Content-Type', 'application/http; msgtype=request'],
      ],
      this.#settings.credentials ? request : withoutCredentials(request),
    )
    const entry: Omit<IndexEntry, 'offset' | 'filename'> = {
      url,
      date: startedAt,
      method: method === 'GET' ? undefined : method,
      mime: isRevisit ? REVISIT_MIME : mime,
      status,
      digest: status === NOT_MODIFIED ? '' : digest,
      length,
    }
    const place = this.#series.write(records.take(), entry)
    return { ...entry, ...place, method, isRevisit }
  }

  #remember(digest: string, payload: WrittenPayload): void {
    this.#written.set(digest, payload)
    if (this.#written.size > MAX_REMEMBERED) this.#written.delete(this.#written.keys().next().value!)
  }

  /** Newest files first: what is forgotten is only written once more. */
  #rememberFiles(): void {
    for (const file of archiveFiles(this.#settings.folder).reverse()) {
      if (file.endsWith(OPEN) || !existsSync(indexOf(file))) continue
      for (const { digest, url, date, isRevisit, method } of readIndex(file)) {
        if (this.#written.size >= MAX_REMEMBERED) return
        if (!isRevisit && digest !== '' && method === 'GET' && !this.#written.has(digest))
          this.#written.set(digest, { url, date: new Date(date).toISOString() })
      }
    }
  }

  #describe(name: string, now: number): Buffer {
    const { info } = this.#settings
    const text = Object.entries({ ...info, format: 'WARC file version 1.1' })
      .map(([key, value]) => `${key}: ${value.replace(/[\r\n]+/g, ' ')}\r\n`)
      .join('')
    const records = new RecordBuffer(this.#compression)
    records.add(
      [
        ['WARC-Type', 'warcinfo'],
        ['WARC-Record-ID', this.#ids.next()],
        ['WARC-Date', new Date(now).toISOString()],
        ['WARC-Filename', name],
        ['Content-Type', 'application/warc-fields'],
      ],
      Buffer.from(text),
    )
    return records.take()
  }
}

function revisitFields(
  isUnchanged: boolean,
  url: string,
  known: { readonly url: string; readonly date: string } | undefined,
): Fields {
  // Which version the server means is unknown: its validators came from an earlier visit, maybe of another archive.
  if (isUnchanged)
    return [
      ['WARC-Profile', `${PROFILE}/server-not-modified`],
      ['WARC-Refers-To-Target-URI', url],
    ]
  if (known === undefined) return []
  return [
    ['WARC-Profile', `${PROFILE}/identical-payload-digest`],
    ['WARC-Refers-To-Target-URI', known.url],
    ['WARC-Refers-To-Date', known.date],
  ]
}

/** The names stay, so that a reader sees what was sent. */
function withoutCredentials(request: Uint8Array): Uint8Array {
  const bytes = Buffer.from(request.buffer, request.byteOffset, request.length)
  const end = bytes.indexOf('\r\n\r\n')
  const head = bytes.toString('latin1', 0, end < 0 ? bytes.length : end)
  if (!MAYBE_HIDDEN.test(head)) return request
  const hidden = head.replace(HIDDEN, '$1: (hidden)')
  return Buffer.concat([Buffer.from(hidden, 'latin1'), bytes.subarray(head.length)])
}

const CONTENT_TYPE = /^content-type[ \t]*:[ \t]*([^\s;,]+)/im
const CONTENT_CODING = /^content-encoding[ \t]*:[ \t]*(?:x-)?(?:gzip|br|zstd|deflate|compress)\b/im
/** Formats that are compressed by themselves. */
const COMPRESSED_TYPE =
  /^(?:image\/(?!svg|bmp|x-ms-bmp|x-icon|vnd\.microsoft\.icon)|video\/|audio\/(?!wav|x-wav)|font\/woff|application\/(?:zip|gzip|x-gzip|x-7z|x-xz|x-bzip|zstd|vnd\.rar|x-rar|epub\+zip|java-archive|vnd\.openxmlformats|vnd\.oasis\.opendocument))/

function mimeOf(head: string): string {
  return CONTENT_TYPE.exec(head)?.[1]?.toLowerCase() ?? 'unk'
}

/** Whether compressing the body again would only cost time. */
function isCoded(head: string, mime: string): boolean {
  return COMPRESSED_TYPE.test(mime) || CONTENT_CODING.test(head)
}

/** Names of records: the first part is drawn once, the rest counts. */
class RecordIds {
  readonly #start: string
  #count = 0

  constructor(random: Random) {
    const digits = (count: number) =>
      Array.from({ length: count }, () => Math.floor(random.next() * 16).toString(16)).join('')
    // Version 8 is for schemes of one's own (RFC 9562).
    this.#start = `<urn:uuid:${digits(8)}-${digits(4)}-8${digits(3)}-8${digits(3)}-`
  }

  next(): string {
    return `${this.#start}${(++this.#count).toString(16).padStart(12, '0')}>`
  }
}
