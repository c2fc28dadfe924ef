/** Reads archives that anybody may have written: compressed or not, WARC or ARC, intact or damaged. */

import { createReadStream, existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { createGunzip } from 'node:zlib'
import { KumoError, messageOf, pluralize } from '../errors.js'
import type { HttpMessage, WarcDamage, WarcEntry, WarcRecord } from './contract.js'
import { ByteWindow } from './format/byte-window.js'
import { beginningOf, isGzip, type ReadMember, readMember } from './format/gzip.js'
import { parseHttp } from './format/http-message.js'
import { dateOf, MAX_HEAD_BYTES, nextStart, type RecordHead, readHead } from './format/record-head.js'

/** Of a larger block only the beginning is read. */
const MAX_BLOCK_BYTES = 64 * 1024 * 1024
/** A larger member is not one record but a whole file, and is read as a stream. */
const MAX_MEMBER_BYTES = MAX_BLOCK_BYTES + MAX_HEAD_BYTES
const CHUNK_BYTES = 256 * 1024
/** How far the next record is searched behind one with a wrong length. */
const MAX_SEARCH_BYTES = 16 * 1024 * 1024
/** Enough of a member to see whether a record begins in it. */
const PROBE_BYTES = 4096
const GZIP_FIRST = 0x1f

const ARCHIVE = /\.w?arc(?:\.gz)?(?:\.open)?$/i
const [CR, LF] = [0x0d, 0x0a]

/**
 * Reads the records of a WARC or ARC file, or of all such files in a folder, one after another. It never throws for what
 * is in a file: damage is reported as an entry with `ok: false`, and reading goes on behind it. A record that could be
 * read although something is wrong with it has `problems`.
 *
 * @example
 * for await (const record of readWarc('./archive')) {
 *   if (!record.ok) console.warn(record.file, record.offset, record.message)
 *   else if (record.type === 'response') console.log(record.url, record.http?.status)
 * }
 *
 * @throws KumoError `KUMO_ARCHIVE_FAILED` if there is no such file or folder, or it cannot be read.
 */
export async function* readWarc(path: string): AsyncGenerator<WarcEntry, void, undefined> {
  for (const file of archiveFiles(path)) yield* readFile(file)
}

/** The archive files of a folder in the order of their names; a file is itself. */
export function archiveFiles(path: string): string[] {
  if (!existsSync(path)) throw unreadable(path, 'there is no such file or folder')
  if (!statSync(path).isDirectory()) return [path]
  return readdirSync(path)
    .filter((name) => ARCHIVE.test(name))
    .sort()
    .map((name) => join(path, name))
}

/** Reads one file from an offset on, at which a record begins. */
export async function* readFile(file: string, from = 0): AsyncGenerator<WarcEntry, void, undefined> {
  const stream = createReadStream(file, { start: from, highWaterMark: CHUNK_BYTES })
  const bytes = new ByteWindow(stream)
  bytes.offset = from
  try {
    yield* readWindow(file, bytes)
  } catch (error) {
    if (error instanceof KumoError) throw error
    throw unreadable(file, messageOf(error), error)
  } finally {
    stream.destroy()
  }
}

/** Reads records from bytes of a file, compressed or not. */
export async function* readWindow(file: string, bytes: ByteWindow): AsyncGenerator<WarcEntry> {
  const isCompressed = isGzip(await bytes.fill(3))
  yield* isCompressed ? readMembers(file, bytes) : readPlain(file, bytes)
}

function unreadable(path: string, why: string, cause?: unknown): KumoError {
  return new KumoError('KUMO_ARCHIVE_FAILED', `the archive ${path} cannot be read: ${why}`, { cause })
}

async function* readMembers(file: string, bytes: ByteWindow): AsyncGenerator<WarcEntry> {
  let wanted = CHUNK_BYTES
  for (;;) {
    const window = await bytes.fill(wanted)
    if (window.length === 0) return
    const offset = bytes.offset
    const read = readMember(window, MAX_MEMBER_BYTES)
    if (read === 'more' && window.length >= wanted) {
      wanted = window.length * 2
      continue
    }
    wanted = CHUNK_BYTES
    if (read === 'too-large') return yield* readLargeMember(file, offset)
    if (typeof read === 'object') {
      yield* recordsOf(file, offset, read)
      bytes.skip(read.length)
      continue
    }
    // Cut off or damaged: what can be inflated of it may be most of a record.
    const length = await untilNextMember(bytes)
    const damaged = (await bytes.fill(length)).subarray(0, length)
    bytes.skip(length)
    const isLast = (await bytes.fill(1)).length === 0
    const what =
      isLast && read === 'more' ? 'the file ends in the middle of it' : 'its compressed data is damaged'
    const content = beginningOf(damaged, MAX_MEMBER_BYTES)
    if (typeof readHead(content) === 'object') {
      yield* recordsOf(file, offset, { content, length, problem: what })
    } else {
      yield {
        ok: false,
        file,
        offset,
        length,
        message: `${pluralize(length, 'byte')} are no record: ${what}`,
      }
    }
  }
}

/** How many bytes there are before the next member with a record, from the second byte on. */
async function untilNextMember(bytes: ByteWindow): Promise<number> {
  let window = await bytes.fill(CHUNK_BYTES)
  for (let at = 1; ; at++) {
    at = window.indexOf(GZIP_FIRST, at)
    while (at < 0 || at + PROBE_BYTES > window.length) {
      const from = at < 0 ? window.length : at
      const longer = await bytes.fill(window.length + CHUNK_BYTES)
      const isEnd = longer.length === window.length || longer.length > MAX_MEMBER_BYTES
      window = longer
      at = window.indexOf(GZIP_FIRST, from)
      if (isEnd && at < 0) return window.length
      if (isEnd) break
    }
    if (isGzip(window, at) && beginsRecord(window.subarray(at, at + PROBE_BYTES))) return at
  }
}

function beginsRecord(bytes: Buffer): boolean {
  return readHead(beginningOf(bytes, MAX_MEMBER_BYTES)) !== undefined
}

/** A whole file in one member. Its records have no place of their own in the file. */
async function* readLargeMember(file: string, offset: number): AsyncGenerator<WarcEntry> {
  const stream = createReadStream(file, { start: offset, highWaterMark: CHUNK_BYTES })
  const inflated = stream.pipe(createGunzip())
  const end = { message: '' }
  async function* content(): AsyncGenerator<Uint8Array> {
    try {
      yield* inflated
    } catch (error) {
      end.message = `the compressed data cannot be read any further: ${messageOf(error)}`
    }
  }
  try {
    for await (const entry of readPlain(file, new ByteWindow(content())))
      yield placed(entry, offset, entry.length)
    if (end.message !== '') yield { ok: false, file, offset, length: 0, message: end.message }
  } finally {
    stream.destroy()
    inflated.destroy()
  }
}

async function* recordsOf(
  file: string,
  offset: number,
  { content, length, problem }: ReadMember,
): AsyncGenerator<WarcEntry> {
  let isFirst = true
  for await (const entry of readPlain(file, new ByteWindow([content]))) {
    const found = placed(entry, offset, length)
    yield problem !== undefined && isFirst ? withProblem(found, problem) : found
    isFirst = false
  }
}

function placed(entry: WarcEntry, offset: number, length: number): WarcEntry {
  return entry.ok ? (entry as ReadRecord).at(offset, length) : { ...entry, offset, length }
}

function withProblem(entry: WarcEntry, problem: string): WarcEntry {
  if (entry.ok) return (entry as ReadRecord).with(problem)
  return { ...entry, message: `${entry.message}; ${problem}` }
}

/** Records one after another, each followed by an empty line. */
async function* readPlain(file: string, bytes: ByteWindow): AsyncGenerator<WarcEntry> {
  for (;;) {
    await skipEmptyLines(bytes)
    let window = await bytes.fill(CHUNK_BYTES)
    if (window.length === 0) return
    let head = readHead(window)
    if (head === 'more') {
      window = await bytes.fill(MAX_HEAD_BYTES)
      head = readHead(window)
    }
    if (typeof head !== 'object') {
      yield await skipDamage(file, bytes)
      continue
    }
    yield await readRecord(file, bytes, head)
  }
}

async function skipEmptyLines(bytes: ByteWindow): Promise<void> {
  for (;;) {
    const window = await bytes.fill(1)
    let at = 0
    while (window[at] === CR || window[at] === LF) at++
    bytes.skip(at)
    if (at === 0 || at < window.length) return
  }
}

async function skipDamage(file: string, bytes: ByteWindow): Promise<WarcDamage> {
  const { offset } = bytes
  let length = 0
  for (;;) {
    const window = await bytes.fill(CHUNK_BYTES)
    const next = nextStart(window, 0)
    // The beginning of a record may be in the last bytes.
    const skipped = next >= 0 ? next : window.length < CHUNK_BYTES ? window.length : window.length - 16
    bytes.skip(skipped)
    length += skipped
    if (next >= 0 || window.length === skipped) break
  }
  return { ok: false, file, offset, length, message: `${pluralize(length, 'byte')} are no record` }
}

async function readRecord(file: string, bytes: ByteWindow, head: RecordHead): Promise<WarcRecord> {
  const { offset } = bytes
  const { headBytes, blockBytes } = head
  const problems: string[] = []
  const finish = (block: Buffer, length: number) => {
    bytes.skip(length)
    return new ReadRecord(file, offset, length, head, block, problems)
  }
  if (blockBytes !== undefined && blockBytes > MAX_BLOCK_BYTES) {
    const window = await bytes.fill(headBytes + MAX_BLOCK_BYTES)
    const block = window.subarray(headBytes, headBytes + MAX_BLOCK_BYTES)
    problems.push(`only the first ${MAX_BLOCK_BYTES} of ${blockBytes} bytes were read`)
    bytes.skip(headBytes)
    const skipped = headBytes + (await skipOver(bytes, blockBytes))
    return new ReadRecord(file, offset, skipped, head, block, problems)
  }
  const said = headBytes + (blockBytes ?? 0)
  let window = await bytes.fill(said + 512)
  if (blockBytes !== undefined && window.length >= said && isFollowed(window, said)) {
    const separator = separatorAt(window, said, head.version)
    if (separator === undefined) problems.push('the empty lines that end a record are missing')
    return finish(window.subarray(headBytes, said), said + (separator ?? 0))
  }
  // The length is wrong or missing: the next record shows where this one ends.
  window = await bytes.fill(Math.max(said, headBytes + MAX_SEARCH_BYTES))
  const next = nextStart(window, headBytes - 1)
  const end = next < 0 ? window.length : next
  const stop = next < 0 && window.length > said ? said : endOfBlock(window, headBytes, end)
  const real = stop - headBytes
  if (blockBytes === undefined) problems.push('it does not say how long it is (Content-Length)')
  else if (next < 0 && window.length < said)
    problems.push(`the file ends in the middle of it: ${real} of ${blockBytes} bytes are there`)
  else if (real !== blockBytes) problems.push(`its Content-Length is ${blockBytes}, but it has ${real} bytes`)
  else problems.push('it is not followed by a record')
  return finish(window.subarray(headBytes, stop), next < 0 && window.length > said ? said : end)
}

async function skipOver(bytes: ByteWindow, length: number): Promise<number> {
  let left = length
  while (left > 0) {
    const window = await bytes.fill(Math.min(left, CHUNK_BYTES))
    if (window.length === 0) break
    const skipped = Math.min(left, window.length)
    bytes.skip(skipped)
    left -= skipped
  }
  return length - left
}

/** Whether empty lines and then a record, or nothing, follow at this place. */
function isFollowed(bytes: Buffer, at: number): boolean {
  while (bytes[at] === CR || bytes[at] === LF) at++
  return at >= bytes.length || readHead(bytes, at) !== undefined
}

/** The length of what stands between two records; undefined if it is missing. */
function separatorAt(bytes: Buffer, at: number, version: string): number | undefined {
  const separator = version.startsWith('ARC') ? '\n' : '\r\n\r\n'
  const found = bytes.toString('latin1', at, at + separator.length)
  if (found === separator) return separator.length
  // Many tools forget it at the end of an ARC file, or write other line breaks.
  return version.startsWith('ARC') || /^\n/.test(found) ? 0 : undefined
}

/** Without the empty lines that end a record: two in WARC files. */
function endOfBlock(bytes: Buffer, from: number, end: number): number {
  for (let lines = 0; lines < 2 && bytes[end - 1] === LF && end > from; lines++)
    end -= bytes[end - 2] === CR && end - 2 >= from ? 2 : 1
  return end
}

class ReadRecord implements WarcRecord {
  readonly ok = true
  readonly #head: RecordHead
  #http: HttpMessage | undefined | null = null

  constructor(
    readonly file: string,
    readonly offset: number,
    readonly length: number,
    head: RecordHead,
    readonly block: Uint8Array,
    readonly problems: readonly string[],
  ) {
    this.#head = head
  }

  get type(): string {
    return this.fields.get('warc-type')?.toLowerCase() ?? 'unknown'
  }

  get id(): string | undefined {
    return unbracketed(this.fields.get('warc-record-id'))
  }

  /** WARC 1.0 files have it in angle brackets too, by a mistake in the standard's grammar. */
  get url(): string | undefined {
    return unbracketed(this.fields.get('warc-target-uri'))
  }

  get date(): number | undefined {
    return dateOf(this.fields.get('warc-date'))
  }

  get fields(): ReadonlyMap<string, string> {
    return this.#head.fields
  }

  get version(): string {
    return this.#head.version
  }

  get http(): HttpMessage | undefined {
    if (this.#http === null) this.#http = parseHttp(this.block)
    return this.#http
  }

  /** The same record, at its place in a compressed file. */
  at(offset: number, length: number): ReadRecord {
    return new ReadRecord(this.file, offset, length, this.#head, this.block, this.problems)
  }

  with(problem: string): ReadRecord {
    const { file, offset, length, block } = this
    return new ReadRecord(file, offset, length, this.#head, block, [...this.problems, problem])
  }
}

function unbracketed(text: string | undefined): string | undefined {
  return text?.replace(/^<(.*)>$/, '$1')
}
