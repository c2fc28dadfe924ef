/** The scanner as tests use it: with the title worked out, and fed both kinds of codes, which must agree. */

import { isAscii } from 'node:buffer'
import { expect } from 'vitest'
import { type Scan, scan as scanPage, titleOf } from '../../../src/extract/html/scanner.js'

export function scan(html: string) {
  const scanned = scanPage(html)
  const bytes = Buffer.from(html)
  const read = plain(scanned)
  if (isAscii(bytes)) expect(plain(scanPage(html, bytes))).toEqual(read)
  return read
}

function plain(scanned: Scan) {
  const { links, base, robots } = scanned
  return { links: [...links], base, title: titleOf(scanned), robots }
}
