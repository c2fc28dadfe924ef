/** The entry of the reader: decodes, recognizes the format, and leaves the rest to the reader of that format. */

import { invalidOption } from '../../errors.js'
import { WINDOWS_1252 } from '../../extract/html/entities.js'
import { canonicalizeUrl, parseUrl } from '../../url/canonicalize.js'
import type { Feed, FeedOptions, FeedProblem, NoFeed } from '../contract.js'
import { HintDraft } from './hints.js'
import { readJson } from './json.js'
import { feedText } from './text.js'
import { readXml } from './xml.js'

const MAX_ENTRIES = 100_000
const MAX_BYTES = 50 * 1024 * 1024
const LOOKS_LIKE_HTML = /^\s*<!doctype\s+html|<(?:html|head|body)[\s>]/i
const SNIFFED_CHARACTERS = 2048
/** What may stand before a feed: a byte order mark, which has survived decoding, and blanks. */
const BEFORE = /^[\s\ufeff\0]+/

/**
 * Reads a feed: RSS 0.9x to 2.0, RDF, Atom 0.3 and 1.0, JSON Feed, CDF.
 *
 * It never throws, whatever the input. Feeds that are broken or cut off are read as far as possible, and `problems` says
 * what was wrong. Anything else results in `kind: 'none'` with a reason and no entries. The time is linear in the length;
 * entities of a DTD are expanded within limits, and nothing is fetched.
 *
 * @param input The body as bytes, whose encoding is then found out, or as text.
 * @throws KumoError `KUMO_INVALID_OPTION` if an option is invalid, or the input is neither bytes nor a text.
 * @example
 * const response = await fetch('https://example.com/feed')
 * const contentType = response.headers.get('content-type') ?? undefined
 * const body = new Uint8Array(await response.arrayBuffer())
 * const feed = parseFeed(body, { url: response.url, contentType })
 * if (feed.kind === 'none') console.log(`not a feed: ${feed.reason}`)
 * for (const { title, url, published } of feed.entries) console.log(published, title, url)
 */
export function parseFeed(input: Uint8Array | string, options: FeedOptions = {}): Feed | NoFeed {
  if (typeof input !== 'string' && !(input instanceof Uint8Array)) {
    throw invalidOption(
      'parseFeed',
      input,
      'the body as a string or a Uint8Array; new Uint8Array(buffer) makes one',
    )
  }
  const maxEntries = checked('maxEntries', options.maxEntries ?? MAX_ENTRIES)
  const maxBytes = checked('maxBytes', options.maxBytes ?? MAX_BYTES)
  const base = baseOf(options)
  const tooLarge = input.length > maxBytes
  const part = !tooLarge
    ? input
    : typeof input === 'string'
      ? input.slice(0, maxBytes)
      : input.subarray(0, maxBytes)
  const written = typeof part === 'string' ? part : feedText(part, options.contentType)
  const text = written.replace(BEFORE, '')
  if (text === '') return noFeed('empty')
  const isJson = text.startsWith('{')
  const feed = isJson
    ? readJson(text, { base, maxEntries })
    : readXml(withoutWindowsCodes(text), { base, maxEntries })
  if (feed === undefined) return noFeed('unknown')
  if (typeof feed === 'string') {
    return noFeed(LOOKS_LIKE_HTML.test(text.slice(0, SNIFFED_CHARACTERS)) ? 'html' : feed)
  }
  return tooLarge ? { ...feed, problems: withTooLarge(feed.problems) } : feed
}

const WINDOWS_CODES = /[\x80-\x9f]/g

/** Codes of windows-1252 that were taken for Unicode, where they are control characters. */
function withoutWindowsCodes(text: string): string {
  return text.replace(WINDOWS_CODES, (code) => WINDOWS_1252[code.charCodeAt(0) - 0x80]!)
}

/** The cut is ours. */
function withTooLarge(problems: readonly FeedProblem[]): FeedProblem[] {
  return [...problems.filter((each) => each !== 'truncated'), 'too-large']
}

function noFeed(reason: NoFeed['reason']): NoFeed {
  return {
    kind: 'none',
    reason,
    title: undefined,
    link: undefined,
    entries: [],
    hints: new HintDraft().hints(),
  }
}

function baseOf({ url, contentLocation }: FeedOptions): string | undefined {
  if (url !== undefined && canonicalizeUrl(url) === undefined) {
    throw invalidOption('parseFeed.url', url, 'an absolute http(s) URL')
  }
  if (contentLocation === undefined) return url
  return parseUrl(contentLocation, url)?.href ?? url
}

function checked(name: string, value: number): number {
  if (value >= 0) return value
  throw invalidOption(`parseFeed.${name}`, value, 'a number, 0 or more')
}
