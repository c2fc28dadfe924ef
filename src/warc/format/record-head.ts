/** The head of a record in a WARC file (1.0, 1.1 and their drafts) or an ARC file (1 and 2). Pure. */

import { endOfHead } from '../../fetch/http/wire.js'
import { parseW3cDate } from '../../time.js'

/** What stands before the block of a record. */
export interface RecordHead {
  readonly version: string
  /** Names in lower case. */
  readonly fields: ReadonlyMap<string, string>
  readonly headBytes: number
  /** Undefined if the head does not say it, or says what is no number. */
  readonly blockBytes: number | undefined
}

/** A head takes some hundred bytes; one that is longer is none. */
export const MAX_HEAD_BYTES = 256 * 1024

const VERSION = /^WARC\/\d+\.\d+[ \t]*$/
/** URL, address, date, media type, (version 2: status, checksum, location, offset, file,) length. */
const ARC_LINE =
  /^([a-z][a-z\d+.-]*:\S.*?) (\S+) (\d{8,17}) (\S+)(?: (\S+) (\S+) (\S+) (\d+|-) (\S+))? (\d+)[ \t]*$/i
const MAX_ARC_LINE = 16 * 1024
const LF = 0x0a

/** The head that begins at `at`. `more`: it may, but does not end among the bytes. Undefined: no record begins here. */
export function readHead(bytes: Buffer, at = 0): RecordHead | 'more' | undefined {
  if (bytes.length - at < 5) return 'WARC/'.startsWith(bytes.toString('latin1', at)) ? 'more' : undefined
  return bytes.toString('latin1', at, at + 5) === 'WARC/' ? readWarcHead(bytes, at) : readArcHead(bytes, at)
}

function readWarcHead(bytes: Buffer, at: number): RecordHead | 'more' | undefined {
  const end = endOfHead(bytes, at)
  if (end < 0 || end - at > MAX_HEAD_BYTES) return bytes.length - at < MAX_HEAD_BYTES ? 'more' : undefined
  const [version = '', ...lines] = bytes
    .toString('utf8', at, end)
    .replace(/\r?\n[ \t]+/g, ' ')
    .trimEnd()
    .split(/\r?\n/)
  if (!VERSION.test(version)) return undefined
  const fields = new Map<string, string>()
  for (const line of lines) {
    const colon = line.indexOf(':')
    if (colon > 0) fields.set(line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim())
  }
  const length = fields.get('content-length')
  return {
    version: version.trim(),
    fields,
    headBytes: end - at,
    blockBytes: length !== undefined && /^\d{1,15}$/.test(length) ? Number(length) : undefined,
  }
}

function readArcHead(bytes: Buffer, at: number): RecordHead | 'more' | undefined {
  const eol = bytes.indexOf(LF, at)
  if (eol < 0 || eol - at > MAX_ARC_LINE) {
    return /^[a-z][a-z\d+.-]*:/i.test(bytes.toString('latin1', at, at + 32)) &&
      bytes.length - at < MAX_ARC_LINE
      ? 'more'
      : undefined
  }
  const match = ARC_LINE.exec(bytes.toString('utf8', at, eol).trimEnd())
  if (match === null) return undefined
  const [, url = '', address = '', date = '', type = '', status, , , , , length] = match
  const isDescription = url.startsWith('filedesc:')
  const fields = new Map([
    ['warc-type', isDescription ? 'warcinfo' : 'response'],
    ['warc-target-uri', url],
    ['warc-ip-address', address],
    ['warc-date', isoDate(date)],
    ['content-type', isDescription || !/^https?:/i.test(url) ? type : 'application/http; msgtype=response'],
    ['content-length', length!],
  ])
  const version = status === undefined ? 'ARC/1.0' : 'ARC/2.0'
  return { version, fields, headBytes: eol + 1 - at, blockBytes: Number(length) }
}

/** 20050102030405 → 2005-01-02T03:04:05Z. */
export function isoDate(digits: string): string {
  const full = digits.padEnd(14, '0')
  const [year, month, day, hour, minute, second] = [
    full.slice(0, 4),
    ...[4, 6, 8, 10, 12].map((at) => full.slice(at, at + 2)),
  ]
  const fraction = full.slice(14)
  return `${year}-${month}-${day}T${hour}:${minute}:${second}${fraction === '' ? '' : `.${fraction}`}Z`
}

/** In ms since the epoch; undefined if it is no date. */
export function dateOf(text: string | undefined): number | undefined {
  return text === undefined ? undefined : parseW3cDate(text)
}

const RECORD_STARTS = ['\nWARC/', '\nfiledesc://'].map((text) => Buffer.from(text))

/** Where the next record begins, at the start of a line, from `from` on; -1 if none does among the bytes. */
export function nextStart(bytes: Buffer, from: number): number {
  const found = RECORD_STARTS.map((start) => {
    for (let at = bytes.indexOf(start, from); at >= 0; at = bytes.indexOf(start, at + 1)) {
      const head = readHead(bytes, at + 1)
      if (head !== undefined) return at + 1
    }
    return Number.POSITIVE_INFINITY
  })
  const first = Math.min(...found)
  return first === Number.POSITIVE_INFINITY ? -1 : first
}
