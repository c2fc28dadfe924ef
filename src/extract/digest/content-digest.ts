/**
 * Detects whether a page has changed. Comparing bytes would not do: a nonce in every script, a session ID in every link or
 * a timestamp in a comment make every copy unique. So the digest covers what a reader would notice: the text, the title,
 * link targets, images and their descriptions. The digest for same-content traps (duplicate-digest.ts) is its opposite: it
 * ignores numbers, but a price is a number, and may be all that changes.
 */

import { fingerprint, fingerprintCodes } from '../../url/fingerprint.js'
import type { Page } from '../contract.js'
import { isMarkup } from '../page.js'
import { readCanonical } from './canonical-reader.js'

/** UTF-16 units to read: more than most books have. Changes beyond these go unnoticed. */
const MOST_CHARACTERS = 2 * 1024 * 1024

const XML = /^(?:text|application)\/xml$|\+xml$/
const TEXT = /^text\/|[/+](?:json|javascript|ecmascript|x-javascript|yaml|x-ndjson)$/

/** Reused by every call. */
const print = new Uint32Array(2)
const bytes = Buffer.alloc(8)

/**
 * The digest of a page's canonical content: eleven characters that stay the same as long as a reader would not notice a
 * difference.
 *
 * - HTML: text, title, URLs of links and images, descriptions. Scripts, styles, templates, comments, hidden inputs and all
 *   other attributes are ignored, and so are tracking and session parameters in URLs.
 * - Feeds and other XML: text and URLs, without the dates at which the feed itself was generated.
 * - Other text: the text without surrounding white space. Anything else: its bytes.
 *
 * @example crawler.refresh({ digest: (page) => contentDigest(page) + page.headers.get('x-version') })
 */
export function contentDigest(page: Page): string {
  const { mediaType, body } = page
  const isXml = XML.test(mediaType) && !isMarkup(mediaType)
  if (isXml || isMarkup(mediaType)) {
    const { codes, length } = readCanonical(page.content.slice(0, MOST_CHARACTERS), isXml)
    fingerprintCodes(codes, 0, length, print)
  } else if (TEXT.test(mediaType)) {
    fingerprint(page.content.trim(), print)
  } else {
    fingerprintCodes(body, 0, body.length, print)
  }
  bytes.writeUInt32BE(print[1]!, 0)
  bytes.writeUInt32BE(print[0]!, 4)
  return bytes.toString('base64url')
}
