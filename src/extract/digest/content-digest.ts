/**
 * When has a page changed? Not when its bytes have: a nonce in every script, a new session in every link, the time in a
 * comment make each visit's copy unique although nobody wrote anything. So the digest is made of what people would
 * notice: the text, the title, where links lead, which pictures are shown and what is said of them. It
 * is the opposite of the digest by which traps are told (url/traps/content-digest.ts): that one overlooks numbers, but a price is
 * a number, and may be all that changes.
 */

import { fingerprint, fingerprintCodes } from '../../url/fingerprint.js'
import type { Page } from '../contract.js'
import { isMarkup } from '../page.js'
import { readCanonical } from './reader.js'

/** UTF-16 units that are read of a page: more than most books have. A change that comes after these is not noticed. */
const MOST_CHARACTERS = 2 * 1024 * 1024

const XML = /^(?:text|application)\/xml$|\+xml$/
const TEXT = /^text\/|[/+](?:json|javascript|ecmascript|x-javascript|yaml|x-ndjson)$/

/** Written anew by each call. */
const print = new Uint32Array(2)
const bytes = Buffer.alloc(8)

/**
 * The digest of a page's canonical content: eleven characters that stay the same as long as readers would not notice a
 * difference.
 *
 * - HTML: text, title, addresses of links and pictures, descriptions. Scripts, styles, templates, comments, hidden
 *   inputs and all other attributes are left out, and so are parameters of addresses that belong to the visit.
 * - Feeds and other XML: text and addresses, without the dates at which a feed as a whole was made.
 * - Other text: the text without white space around it. Anything else: its bytes.
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
