/** `warcReplay()`: a fetcher that answers from an archive instead of the web. */

import { invalidOption } from '../errors.js'
import type { FetchContext, Fetcher, Outcome, ResponseHeaders } from '../fetch/contract.js'
import { decodeBody } from '../fetch/http/decode.js'
import { mediaTypeOf } from '../fetch/http/headers.js'
import { withRecipe } from '../modules/recipe.js'
import { parseW3cDate } from '../time.js'
import type { CrawlRequest } from '../types.js'
import { Captures, readCapture } from './captures.js'
import type { HttpMessage, WarcRecord, WarcReplayOptions } from './contract.js'
import type { IndexedCapture } from './format/cdxj.js'

const NOT_MODIFIED = 304
const NO_CONTENT = 204
/** As large as the fetcher of the web allows. */
const MAX_BODY_BYTES = 8 * 1024 * 1024
const ASSUMED_MEDIA_TYPE = 'text/html'

/**
 * Crawls an archive instead of the web: by URL, and by time if you say one. Nothing is sent, and hosts need no rest. A URL
 * that the archive does not have fails with the code `not-archived`; a robots.txt that it does not have counts as
 * missing, so everything is allowed. It reads what `warc()` wrote and the WARC and ARC files of others.
 *
 * @example
 * new Crawler().seeds('https://example.com/').fetcher(warcReplay('./archive', { at: '2026-05-01' }))
 */
export function warcReplay(path: string, options: WarcReplayOptions = {}): Fetcher {
  if (typeof path !== 'string' || path.trim() === '')
    throw invalidOption('warcReplay', path, "the path of a file or folder such as './archive'")
  const { at } = options
  const time = timeOf(at)
  let loading: Promise<Captures> | undefined
  const fetcher: Fetcher = {
    async fetch(request, context) {
      loading ??= Captures.load(path)
      return replay(await loading, request, context, time)
    },
    close() {
      loading = undefined
    },
  }
  return withRecipe(fetcher, 'warcReplay', path, at === undefined ? {} : { at: time })
}

function timeOf(at: WarcReplayOptions['at']): number {
  if (at === undefined) return Number.POSITIVE_INFINITY
  const time = at instanceof Date ? at.getTime() : typeof at === 'string' ? parseW3cDate(at) : at
  if (typeof time === 'number' && Number.isFinite(time)) return time
  throw invalidOption('warcReplay.at', at, "a date such as '2026-05-01', a Date, or ms since the epoch")
}

/** The answer of an archive. `who` names it in messages. */
export async function replay(
  captures: Captures,
  request: CrawlRequest,
  context: FetchContext,
  at: number,
  who = 'the archive',
): Promise<Outcome> {
  const method = request.extras?.method ?? 'GET'
  const capture = method === 'GET' ? captures.find(request.url, at) : undefined
  const found = capture && (await resolveCapture(captures, capture))
  if (found !== undefined) return answerOf(found, context)
  if (capture === undefined && new URL(request.url).pathname === '/robots.txt') return MISSING
  const why = capture === undefined ? 'has no answer to it' : 'has an answer to it that cannot be read'
  return notArchived(`${method} ${request.url}: ${who} ${why}`)
}

function notArchived(message: string): Outcome {
  return { ok: false, code: 'not-archived', message, archived: true }
}

const NO_BYTES = new Uint8Array(0)

const MISSING: Outcome = {
  ok: true,
  status: 404,
  headers: new Map<string, string>(),
  body: NO_BYTES,
  wireBytes: 0,
  skippedBody: false,
  archived: true,
}

/** An answer of the archive: its head, and its body before content decoding. */
export interface ArchivedAnswer {
  readonly status: number
  readonly headers: HttpMessage['headers']
  readonly body: Uint8Array
  readonly isTruncated: boolean
  /** Headers of a 304 that confirmed the answer, which replace its own (RFC 9111, 3.2). */
  readonly updated?: HttpMessage['headers'] | undefined
}

/** The answer of a capture; for a revisit, that of the capture that it refers to. Undefined if it cannot be read. */
export async function resolveCapture(
  captures: Captures,
  capture: IndexedCapture,
): Promise<ArchivedAnswer | undefined> {
  const record = await readCapture(capture)
  if (record === undefined) return undefined
  if (record.type !== 'revisit' || record.http?.status !== NOT_MODIFIED)
    return answerTo(captures, capture, record)
  const before = originalOf(captures, capture, record, 'confirmed')
  const confirmed = before && (await readCapture(before))
  const answer = confirmed && (await answerTo(captures, before, confirmed))
  // A 304 does not repeat the head of the page.
  return answer && { ...answer, updated: record.http.headers }
}

/** The answer of a record that does not confirm another one. */
async function answerTo(
  captures: Captures,
  capture: IndexedCapture,
  record: WarcRecord,
): Promise<ArchivedAnswer | undefined> {
  if (record.type !== 'revisit') return answerIn(record)
  const original = originalOf(captures, capture, record, 'original')
  const before = original && (await readCapture(original))
  const answer = before && answerIn(before)
  const { http } = record
  // A revisit may have no head of its own.
  return answer === undefined || http === undefined
    ? answer
    : { ...answer, status: http.status, headers: http.headers }
}

function originalOf(
  captures: Captures,
  capture: IndexedCapture,
  { fields }: WarcRecord,
  find: 'original' | 'confirmed',
): IndexedCapture | undefined {
  const url = fields.get('warc-refers-to-target-uri')?.replace(/^<(.*)>$/, '$1') ?? capture.url
  const date = fields.get('warc-refers-to-date')
  const at = date === undefined ? capture.date : (parseW3cDate(date) ?? capture.date)
  // A 304 has no payload, and the digest of nothing is that of every empty answer.
  const hasDigest = find === 'original' || fields.has('warc-payload-digest')
  return (hasDigest ? captures.byDigest(capture.digest) : undefined) ?? captures[find](url, at)
}

function answerIn(record: WarcRecord): ArchivedAnswer | undefined {
  const { http, fields, block, type } = record
  const isTruncated = fields.has('warc-truncated') || record.problems.length > 0
  if (http !== undefined && http.status > 0) {
    const { status, headers, body } = http
    return { status, headers, body, isTruncated }
  }
  if (type !== 'resource') return undefined
  const media = fields.get('content-type')
  return { status: 200, headers: media ? [['content-type', media]] : [], body: block, isTruncated }
}

/** As the fetcher of the web would have returned it. */
export async function answerOf(answer: ArchivedAnswer, context: FetchContext): Promise<Outcome> {
  const { status, body } = answer
  const headers = new JoinedHeaders(answer.headers)
  const hasBody = status >= 200 && status < 300 && status !== NO_CONTENT
  const type = mediaTypeOf(headers.get('content-type')) || ASSUMED_MEDIA_TYPE
  const isWanted = hasBody && context.wants(type)
  const found = { ok: true, status, headers, wireBytes: body.length, archived: true } as const
  if (!isWanted) return { ...found, body: NO_BYTES, skippedBody: hasBody }
  const { maxBodyBytes = MAX_BODY_BYTES, cutsBody } = context
  const decoded = await decodeBody(
    headers.get('content-encoding'),
    body,
    Math.max(maxBodyBytes, body.length),
    cutsBody,
  )
  if (!decoded.ok) return { ok: false, code: decoded.code, message: decoded.what, archived: true }
  return {
    ...found,
    body: decoded.body,
    skippedBody: false,
    truncated: decoded.truncated || answer.isTruncated,
  }
}

/** The body without its content coding, as far as it can be decoded. */
export async function decodedBody(answer: ArchivedAnswer): Promise<Uint8Array> {
  const encoding = new JoinedHeaders(answer.headers).get('content-encoding')
  const decoded = await decodeBody(encoding, answer.body, Number.POSITIVE_INFINITY)
  return decoded.ok ? decoded.body : answer.body
}

class JoinedHeaders implements ResponseHeaders {
  readonly #joined = new Map<string, string>()

  constructor(lines: HttpMessage['headers']) {
    for (const [name, value] of lines) {
      const key = name.toLowerCase()
      const before = this.#joined.get(key)
      const text = textOf(value)
      this.#joined.set(key, before === undefined ? text : `${before}, ${text}`)
    }
  }

  get(name: string): string | undefined {
    return this.#joined.get(name)
  }

  entries(): Iterable<readonly [name: string, value: string]> {
    return this.#joined
  }
}

/** Headers were read one character for each byte, but a `Location` in UTF-8 is common. */
function textOf(value: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: anything beyond ASCII
  if (/^[\x00-\x7f]*$/.test(value)) return value
  const bytes = Buffer.from(value, 'latin1')
  const text = bytes.toString('utf8')
  return text.includes('\ufffd') ? value : text
}
