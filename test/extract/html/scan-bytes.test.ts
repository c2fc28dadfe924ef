/** Pages are scanned as bytes; what is found must be what a scan of the decoded text finds, in every encoding. */

import { describe, expect, it } from 'vitest'
import { DecodedText } from '../../../src/extract/charset/charset.js'
import { type Scan, scan, titleOf } from '../../../src/extract/html/scanner.js'
import { type Random, seededRandom } from '../../../src/time.js'

const PAGES = 400
const ENCODINGS = [
  'utf-8',
  'windows-1252',
  'iso-8859-2',
  'koi8-r',
  'windows-874',
  'macintosh',
  'euc-jp',
  'euc-kr',
  'shift_jis',
  'big5',
  'gbk',
  'gb18030',
]

function found(scanned: Scan) {
  const { links, base, robots } = scanned
  const texts = Array.from({ length: links.length }, (_, index) => links.textAt(index))
  return { links: [...links], texts, base, title: titleOf(scanned), robots }
}

function ofBytes(bytes: Buffer, charset: string) {
  const encoded = new DecodedText(bytes, charset)
  return found(scan(encoded.latin1, bytes, undefined, encoded.ascii ? {} : { encoded }))
}

function ofText(bytes: Buffer, charset: string) {
  return found(scan(new DecodedText(bytes, charset).text))
}

const MARKUP = [
  '<a href="',
  '">',
  '</a>',
  "<a href='",
  "'>",
  '<a href=',
  '>',
  ' ',
  '<title>',
  '</title>',
  '<!--',
  '-->',
]
const MORE = [
  '<meta name=robots content="',
  '<base href="',
  '<area alt="',
  '" href="',
  '<script>',
  '</script>',
  '&amp;',
  '/',
]

/** Markup in no order, with any bytes between. Digits may be bytes of GB18030, and then belong to one encoding only. */
function soup(random: Random): Buffer {
  const pieces = [...MARKUP, ...MORE]
  const parts: Buffer[] = []
  for (let i = 0; i < 30; i++) {
    parts.push(Buffer.from(pieces[Math.floor(random.next() * pieces.length)]!))
    const length = Math.floor(random.next() * 5)
    const isAscii = random.next() < 0.4
    const byte = () => (isAscii ? 0x41 : 0x80) + Math.floor(random.next() * (isAscii ? 0x3a : 0x80))
    parts.push(Buffer.from(Array.from({ length }, byte)))
  }
  return Buffer.concat(parts)
}

describe('a scan of bytes', () => {
  it.each(ENCODINGS)('finds what a scan of the text finds, in %s, also in broken text', (charset) => {
    let links = 0
    for (let seed = 1; seed <= PAGES; seed++) {
      const bytes = soup(seededRandom(seed))
      const expected = ofText(bytes, charset)
      expect(ofBytes(bytes, charset), `seed ${seed}`).toEqual(expected)
      links += expected.links.length
    }
    expect(links).toBeGreaterThan(PAGES / 2)
  })

  it('finds links after a byte order mark', () => {
    const bytes = Buffer.from('\ufeff<title>\ufeffé</title><a href="é">è</a>')
    expect(ofBytes(bytes, 'utf-8')).toEqual(ofText(bytes, 'utf-8'))
    expect(ofBytes(bytes, 'utf-8')).toMatchObject({ title: '\ufeffé', texts: ['è'] })
  })

  it.each(['utf-16le', 'utf-16be', 'iso-2022-jp'])(
    'is not made of %s, in which markup is not ASCII',
    (charset) => {
      expect(new DecodedText(Buffer.from('<'), charset).hasAsciiMarkup).toBe(false)
    },
  )
})
