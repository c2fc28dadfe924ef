/** Writes exchanges as records, and a payload that the archive already has only once. */

import { existsSync } from 'node:fs'
import type { HttpExchange } from '../fetch/contract.js'
import type { Random } from '../time.js'
import { readIndex } from './captures.js'
import { type IndexEntry, type IndexedCapture, REVISIT_MIME } from './format/cdxj.js'
import { sha1 } from './format/digest.js'
import { gzipMembers } from './format/gzip.js'
import { type Fields, RecordBuffer } from './format/record.js'
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

const PROFILE = 'http://netpreserve.org/warc/1.1/revisit'
const NOT_MODIFIED = 304
const HIDDEN = /^(authorization|proxy-authorization|cookie)[ \t]*:[^\r\n]*/gim
const MAYBE_HIDDEN = /authorization|cookie/i

export class Archive {
  readonly #settings: ArchiveSettings
  readonly #records: RecordBuffer
  readonly #series: FileSeries
  readonly #ids: RecordIds
  /** By digest. Filled by responses, emptied of its oldest when full. */
  readonly #written = new Map<string, { readonly url: string; readonly date: string }>()
  #failure: unknown

  /** Repairs what an earlier process left, and remembers the payloads of the archive. `report` receives what was lost. */
  static async open(
    settings: ArchiveSettings,
    worker: number,
    now: () => number,
    random: Random,
    report: (message: string) => void,
  ): Promise<Archive> {
    const { folder, prefix } = settings
    for (const message of await repairLeftovers(folder, prefix, worker)) report(message)
    const archive = new Archive(settings, worker, now, random)
    archive.#rememberFiles()
    return archive
  }

  private constructor(settings: ArchiveSettings, worker: number, now: () => number, random: Random) {
    const { folder, prefix, maxBytes, level } = settings
    const isGzip = level > 0
    this.#settings = settings
    this.#records = new RecordBuffer(isGzip ? gzipMembers(level) : undefined)
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

  /** The records are in the file when this returns. */
  write(exchange: HttpExchange): IndexedCapture {
    try {
      return this.#write(exchange)
    } catch (error) {
      this.#records.take()
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

  close(): void {
    this.#series.close()
  }

  #write(exchange: HttpExchange): IndexedCapture {
    const { url, status, request, response, headBytes, body, truncated, method } = exchange
    const date = new Date(exchange.startedAt).toISOString()
    const [responseId, requestId] = [this.#ids.next(), this.#ids.next()]
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
    const records = this.#records
    const length = records.add(
      [
        ['WARC-Type', isRevisit ? 'revisit' : 'response'],
        ['WARC-Record-ID', responseId],
        ...common,
        ['WARC-Payload-Digest', isUnchanged ? undefined : digest],
        ...revisitFields(isUnchanged, url, known),
        ['WARC-Truncated', truncated ? 'length' : undefined],
        ['Content-Type', 'application/http; msgtype=response'],
      ],
      isRevisit ? response.subarray(0, headBytes) : response,
    )
    records.add(
      [
        ['WARC-Type', 'request'],
        ['WARC-Record-ID', requestId],
        ...common,
        ['WARC-Concurrent-To', responseId],
        ['Content-Type', 'application/http; msgtype=request'],
      ],
      this.#settings.credentials ? request : withoutCredentials(request),
    )
    const entry: Omit<IndexEntry, 'offset' | 'filename'> = {
      url,
      date: exchange.startedAt,
      method: method === 'GET' ? undefined : method,
      mime: isRevisit ? REVISIT_MIME : mimeOf(exchange),
      status,
      digest: isUnchanged ? '' : digest,
      length,
    }
    const place = this.#series.write(records.take(), entry)
    if (!isRevisit && !truncated && body.length > 0) this.#remember(digest, url, date)
    return { ...entry, ...place, method, isRevisit }
  }

  #remember(digest: string, url: string, date: string): void {
    this.#written.set(digest, { url, date })
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
    const records = new RecordBuffer(this.#settings.level > 0 ? gzipMembers(this.#settings.level) : undefined)
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

function mimeOf({ response, headBytes }: HttpExchange): string {
  const head = Buffer.from(response.buffer, response.byteOffset, headBytes).toString('latin1')
  return CONTENT_TYPE.exec(head)?.[1]?.toLowerCase() ?? 'unk'
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
