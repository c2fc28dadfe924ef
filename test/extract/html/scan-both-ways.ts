/** The scanner as tests use it: with the title worked out, and fed text and bytes, which must agree. */

import { isAscii } from 'node:buffer'
import { expect } from 'vitest'
import { DecodedText } from '../../../src/extract/charset/charset.js'
import { type Scan, scan as scanPage, titleOf } from '../../../src/extract/html/scanner.js'

export function scan(html: string) {
  const scanned = scanPage(html)
  const bytes = Buffer.from(html)
  const read = plain(scanned)
  if (isAscii(bytes)) expect(plain(scanPage(html, bytes))).toEqual(read)
  // A lone surrogate has no bytes.
  else if (bytes.toString() === html) {
    const encoded = new DecodedText(bytes, 'utf-8')
    const ofBytes = scanPage(encoded.latin1, bytes, undefined, { encoded })
    expect(plain(ofBytes)).toEqual(read)
    expect(texts(ofBytes)).toEqual(texts(scanned))
  }
  return read
}

function plain(scanned: Scan) {
  const { links, base, robots } = scanned
  return { links: [...links], base, title: titleOf(scanned), robots }
}

function texts({ links }: Scan): string[] {
  return Array.from({ length: links.length }, (_, index) => links.textAt(index))
}
