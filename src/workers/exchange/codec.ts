/**
 * Encodes requests for the way to another thread, and for the outbox on disk. A batch is one string, which a port
 * carries five times faster than a list of strings.
 *
 * A line is a request or a group header. The requests of a page share its URL as parent and one depth, which the header
 * before them states once. Links to the same host tend to be adjacent, so all but the first omit the origin. A plain
 * request therefore costs its path:
 *
 *     >2 https://example.com/
 *     https://example.org/a
 *     /b?page=2
 *     {"url":"https://example.org/c","priority":5,…}
 *
 * Anything unusual is written as JSON, which contains no line breaks. `hostTrouble` is left out, because the receiver's
 * frontier knows its hosts. A batch does not depend on any other.
 */

import { flat, owned } from '../../owned.js'
import type { CrawlRequest } from '../../types.js'
import { hostOf, originOf } from '../../url/canonicalize.js'

const LINE = '\n'
const GROUP = '>'
const SEPARATOR = ' '
const JSON_LINE = '{'

const SLASH = 0x2f
const SMALL_H = 0x68
const GROUP_CODE = GROUP.charCodeAt(0)
const JSON_CODE = JSON_LINE.charCodeAt(0)

const HTTPS = 'https://'
const HTTP = 'http://'

/** One such character would make V8 use two bytes for every character of the batch. */
const BEYOND_LATIN1 = /[\u0100-\uffff]/g

/** Writes one batch after another. */
export class BatchWriter {
  #lines: string[] = []
  #depth = 0
  #parent: string | undefined = undefined
  /** Origin of the last plain request, with a trailing slash; '' before the first. */
  #origin = ''
  #host = ''
  /** Requests in the batch. */
  count = 0
  /** Length of the batch. */
  characters = 0

  add(request: CrawlRequest): void {
    this.count++
    this.#push(this.#plain(request) ?? writeJson(request))
  }

  /** Returns the batch and starts the next one. */
  take(): string {
    const text = this.#lines.join(LINE)
    this.#lines = []
    this.#depth = 0
    this.#parent = undefined
    this.#origin = ''
    this.count = 0
    this.characters = 0
    return text
  }

  /** The line of a plain request, preceded by a group header if needed; undefined if it must be written as JSON. */
  #plain(request: CrawlRequest): string | undefined {
    const { url, host, depth, parent } = request
    if (!isPlain(request) || url.includes(LINE)) return undefined
    const isSameOrigin = this.#origin !== '' && host === this.#host && url.startsWith(this.#origin)
    if (!isSameOrigin && !isHostOf(host, url)) return undefined
    if (depth !== this.#depth || parent !== this.#parent) {
      if (parent?.includes(LINE)) return undefined
      this.#depth = depth
      this.#parent = parent
      this.#push(parent === undefined ? GROUP + depth : GROUP + depth + SEPARATOR + parent)
    }
    if (isSameOrigin) return url.slice(this.#origin.length - 1)
    this.#host = host
    this.#origin = `${originOf(url)}/`
    return url
  }

  #push(line: string): void {
    this.#lines.push(line)
    this.characters += line.length + LINE.length
  }
}

/**
 * Decodes a batch. Its strings are copies, so that a request that waits for days does not keep the whole batch in
 * memory.
 */
export function readBatch(text: string): CrawlRequest[] {
  const requests: CrawlRequest[] = []
  let depth = 0
  let parent: string | undefined
  let origin = ''
  let host = ''
  for (let start = 0, end = 0; start < text.length; start = end + LINE.length) {
    end = text.indexOf(LINE, start)
    if (end < 0) end = text.length
    let url: string
    switch (text.charCodeAt(start)) {
      case SLASH:
        if (origin === '') throw notABatch(text.slice(start, end))
        url = flat(origin + text.slice(start, end))
        break
      case SMALL_H: {
        const scheme = text.startsWith(HTTPS, start) ? HTTPS : HTTP
        url = flat(scheme + text.slice(start + scheme.length, end))
        origin = originOf(url)
        host = owned(hostOf(url))
        break
      }
      case GROUP_CODE: {
        const [about, found] = readGroup(text.slice(start + GROUP.length, end))
        depth = Number(about)
        parent = found
        continue
      }
      case JSON_CODE:
        requests.push(readJson(text.slice(start, end)))
        continue
      default:
        throw notABatch(text.slice(start, end))
    }
    requests.push({ url, host, depth, priority: 0, attempt: 0, redirects: 0, parent })
  }
  return requests
}

/** True for nearly every link. */
function isPlain({
  priority,
  attempt,
  redirects,
  purpose,
  via,
  hint,
  revisit,
  extras,
  notBefore,
}: CrawlRequest): boolean {
  return (
    priority === 0 &&
    attempt === 0 &&
    redirects === 0 &&
    purpose === undefined &&
    via === undefined &&
    hint === undefined &&
    revisit === undefined &&
    extras === undefined &&
    notBefore === undefined
  )
}

/** Whether a reader that takes the host from the URL would get this one. */
function isHostOf(host: string, url: string): boolean {
  const start = url.startsWith(HTTPS) ? HTTPS.length : HTTP.length
  if (start === HTTP.length && !url.startsWith(HTTP)) return false
  return host !== '' && url.indexOf('/', start) === start + host.length && url.startsWith(host, start)
}

function writeJson(request: CrawlRequest): string {
  const { url, host, depth, priority, attempt, redirects, parent, ...rest } = request
  const { purpose, via, hint, revisit, extras, notBefore } = rest
  const numbers = [depth, priority, attempt, redirects].map(String)
  return JSON.stringify({
    url,
    host,
    numbers,
    parent,
    purpose,
    via,
    hint,
    revisit,
    extras,
    notBefore,
  }).replace(BEYOND_LATIN1, escaped)
}

type JsonRequest = Pick<
  CrawlRequest,
  'url' | 'host' | 'parent' | 'purpose' | 'via' | 'hint' | 'revisit' | 'extras' | 'notBefore'
> & {
  /** As text, because JSON cannot represent infinity. */
  readonly numbers: readonly [depth: string, priority: string, attempt: string, redirects: string]
}

function readJson(line: string): CrawlRequest {
  const { url, host, numbers, parent, ...more } = JSON.parse(line) as JsonRequest
  const [depth, priority, attempt, redirects] = numbers.map(Number) as [number, number, number, number]
  return { url, host, depth, priority, attempt, redirects, parent, ...more }
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}

/** The depth and the parent, if any, of a group header. */
function readGroup(group: string): [depth: string, parent: string | undefined] {
  const between = group.indexOf(SEPARATOR)
  if (between < 0) return [group, undefined]
  return [group.slice(0, between), owned(group.slice(between + SEPARATOR.length))]
}

function notABatch(line: string): Error {
  return new Error(`not a batch of requests: ${line.slice(0, 80)}`)
}
