/** What an archive has: its captures by URL and time, from its indexes or, where a file has none, from its records. */

import { closeSync, existsSync, openSync, readFileSync, readSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { canonicalizeUrl } from '../url/canonicalize.js'
import type { WarcRecord } from './contract.js'
import { ByteWindow } from './format/byte-window.js'
import { type IndexEntry, type IndexedCapture, REVISIT_MIME, readIndexLine } from './format/cdxj.js'
import { sha1 } from './format/digest.js'
import { archiveFiles, readFile, readWindow } from './reader.js'
import { indexOf, OPEN } from './series.js'

const NOT_MODIFIED = 304
const INDEXED: ReadonlySet<string> = new Set(['response', 'revisit', 'resource'])

/** What the index says about a record; undefined if it is not indexed. */
export function entryOf(record: WarcRecord): Omit<IndexEntry, 'offset' | 'filename'> | undefined {
  const { type, url, date, http, fields, length } = record
  if (!INDEXED.has(type) || url === undefined || date === undefined) return undefined
  const media = type === 'resource' ? fields.get('content-type') : http?.header('content-type')
  const mime = media?.split(';')[0]?.trim() || 'unk'
  return {
    url,
    date,
    mime: type === 'revisit' ? REVISIT_MIME : mime,
    status: type === 'resource' ? 200 : (http?.status ?? 0),
    digest: fields.get('warc-payload-digest') ?? sha1(http?.body ?? record.block),
    length,
  }
}

/** The captures of an archive. About 500 bytes of memory for each. */
export class Captures {
  /** By canonical URL, oldest first. */
  readonly #byUrl = new Map<string, IndexedCapture[]>()
  /** The first capture of a payload that is not a revisit. */
  readonly #byDigest = new Map<string, IndexedCapture>()

  /**
   * Reads the indexes of a file or folder, and the records of files that have none or were left open.
   *
   * @throws KumoError `KUMO_ARCHIVE_FAILED`
   */
  static async load(path: string): Promise<Captures> {
    const captures = new Captures()
    for (const file of archiveFiles(path)) {
      if (file.endsWith(OPEN) || !existsSync(indexOf(file))) await captures.#scan(file)
      else for (const capture of readIndex(file)) captures.add(capture)
    }
    return captures
  }

  add(capture: IndexedCapture): void {
    if (capture.method !== 'GET') return
    const key = canonicalizeUrl(capture.url) ?? capture.url
    const list = this.#byUrl.get(key)
    if (list === undefined) this.#byUrl.set(key, [capture])
    else list.splice(list.findLastIndex(({ date }) => date <= capture.date) + 1, 0, capture)
    if (!capture.isRevisit && capture.digest !== '' && !this.#byDigest.has(capture.digest))
      this.#byDigest.set(capture.digest, capture)
  }

  /** The last capture of a URL up to a time; if there is none, the first one after it. */
  find(url: string, at = Number.POSITIVE_INFINITY): IndexedCapture | undefined {
    const list = this.#byUrl.get(url)
    return list?.findLast(({ date }) => date <= at) ?? list?.[0]
  }

  /** The last capture up to a time that is no revisit. */
  original(url: string, at: number): IndexedCapture | undefined {
    const list = this.#byUrl.get(canonicalizeUrl(url) ?? url)?.filter(({ isRevisit }) => !isRevisit)
    return list?.findLast(({ date }) => date <= at) ?? list?.[0]
  }

  /** The last capture up to a time that a 304 may confirm. It may be a revisit, of a payload that another URL had too. */
  confirmed(url: string, at: number): IndexedCapture | undefined {
    const list = this.#byUrl.get(canonicalizeUrl(url) ?? url)?.filter(({ status }) => status !== NOT_MODIFIED)
    return list?.findLast(({ date }) => date <= at) ?? list?.[0]
  }

  byDigest(digest: string): IndexedCapture | undefined {
    return this.#byDigest.get(digest)
  }

  async #scan(file: string): Promise<void> {
    for await (const record of readFile(file)) {
      if (!record.ok) continue
      const entry = entryOf(record)
      if (entry === undefined) continue
      const { url, date, status, digest, length } = entry
      const isRevisit = record.type === 'revisit'
      this.add({ url, date, status, digest, isRevisit, length, file, offset: record.offset, method: 'GET' })
    }
  }
}

/** The captures that the index of a file lists. */
export function* readIndex(file: string): Generator<IndexedCapture> {
  const folder = dirname(file)
  const lines = readFileSync(indexOf(file), 'utf8').split('\n')
  for (const line of lines) {
    const capture = readIndexLine(line, (name) => join(folder, basename(name)))
    if (capture) yield capture
  }
}

/** Reads the record of a capture. Undefined if it is not where the index says. */
export async function readCapture({ file, offset, length }: IndexedCapture): Promise<WarcRecord | undefined> {
  for await (const record of readWindow(file, new ByteWindow([bytesAt(file, offset, length)])))
    return record.ok ? record : undefined
  return undefined
}

/** In one piece, because opening a stream for each page takes longer than reading the page. */
function bytesAt(file: string, offset: number, length: number): Buffer {
  const fd = openSync(existsSync(file) ? file : file + OPEN, 'r')
  try {
    const bytes = Buffer.allocUnsafe(length)
    return bytes.subarray(0, readSync(fd, bytes, 0, length, offset))
  } finally {
    closeSync(fd)
  }
}
