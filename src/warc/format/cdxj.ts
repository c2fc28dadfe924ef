/** CDXJ: the index of an archive, one line for each capture, sorted by a key of the URL and the time. */

import type { Capture } from '../contract.js'
import { dateOf, isoDate } from './record-head.js'

/** What a line says about a capture. */
export interface IndexEntry {
  readonly url: string
  /** In ms since the epoch. */
  readonly date: number
  /** Absent: GET. */
  readonly method?: string | undefined
  readonly mime: string
  readonly status: number
  readonly digest: string
  readonly length: number
  readonly offset: number
  /** Name of the file, without its folder. */
  readonly filename: string
}

/** The media type that indexes give to revisit records. */
export const REVISIT_MIME = 'warc/revisit'

const PLAIN_URL = /^https?:\/\/(?:www\d*\.)?([^/?#:@[\]]+)(?::(\d+))?(\/[^?#]*)?(\?[^#]*)?/

/**
 * The host backwards, then path and query in lower case, with the parameters sorted: captures of one site stand together,
 * and spellings that differ in what rarely matters share a key.
 *
 * @example
 * urlKey('https://www.example.com/B?y=1&x=2') // 'com,example)/b?x=2&y=1'
 */
export function urlKey(url: string): string {
  const match = PLAIN_URL.exec(url)
  if (match === null) return url.toLowerCase()
  const [, host = '', port, path = '/', query = ''] = match
  const isDefault = port === undefined || port === (url.startsWith('https:') ? '443' : '80')
  const key = `${host.split('.').reverse().join(',')}${isDefault ? '' : `:${port}`})${path}`
  if (query === '' || query === '?') return key.toLowerCase()
  return `${key}?${query.slice(1).split('&').sort().join('&')}`.toLowerCase()
}

/** ms since the epoch → 20260102030405. */
export function timestamp(ms: number): string {
  return new Date(ms).toISOString().replace(/[-:T]|\..*$/g, '')
}

export function indexLine(entry: IndexEntry): string {
  const { url, date, method, mime, status, digest, length, offset, filename } = entry
  const fields = {
    url,
    mime,
    status: String(status),
    // Without the name of the algorithm, as other tools write it.
    digest: digest.replace(/^sha1:/, ''),
    length: String(length),
    offset: String(offset),
    filename,
    ...(method !== undefined && { method }),
    // The key has whole seconds only.
    date: new Date(date).toISOString(),
  }
  return `${urlKey(url)} ${timestamp(date)} ${JSON.stringify(fields)}`
}

/** A line of an index that anybody may have written. Undefined if it is none. */
export function readIndexLine(line: string, fileOf: (name: string) => string): IndexedCapture | undefined {
  const match = /^(\S+) (\d{4,17}) (\{.*\})\s*$/.exec(line)
  if (match === null) return undefined
  try {
    const { url, mime, status, digest, offset, length, filename, date, method } = JSON.parse(match[3]!)
    const at = dateOf(typeof date === 'string' ? date : undefined) ?? dateOf(isoDate(match[2]!))
    if (typeof url !== 'string' || typeof filename !== 'string' || at === undefined) return undefined
    return {
      url,
      date: at,
      method: typeof method === 'string' ? method : 'GET',
      status: Number(status) || 0,
      digest: digestOf(digest),
      isRevisit: mime === REVISIT_MIME,
      file: fileOf(filename),
      offset: Number(offset),
      length: Number(length),
    }
  } catch {
    return undefined
  }
}

function digestOf(written: unknown): string {
  if (typeof written !== 'string' || written === '' || written === '-') return ''
  return written.includes(':') ? written : `sha1:${written}`
}

/** A capture with what only the index says about it. */
export interface IndexedCapture extends Capture {
  readonly method: string
  readonly length: number
}
