/** The scanner as tests use it: with the title worked out, and fed both kinds of codes, which must agree. */

import { isAscii } from 'node:buffer'
import { expect } from 'vitest'
import { scan as scanPage, titleOf } from '../../src/extract/scanner.js'

export function scan(html: string) {
  const scanned = scanPage(html)
  const bytes = Buffer.from(html)
  if (isAscii(bytes)) expect(scanPage(html, bytes)).toEqual(scanned)
  const { links, base, robots } = scanned
  return { links, base, title: titleOf(scanned), robots }
}
