import { describe, expect, it } from 'vitest'
import { decodeBytes } from '../../../src/extract/charset/charset.js'

const bytes = (...parts: (string | number[])[]) =>
  Buffer.concat(parts.map((part) => Buffer.from(part as string, 'latin1')))

/** As UTF-16 with the larger byte first. */
const utf16be = (text: string) => Buffer.from(text, 'utf16le').swap16()

const HTML = 'text/html'
const E_ACUTE_UTF8 = [0xc3, 0xa9]
const E_ACUTE_LATIN1 = [0xe9]
/** `Я` */
const YA_KOI8 = [0xf1]
/** `日` */
const SUN_SHIFT_JIS = [0x93, 0xfa]

type Case = [what: string, body: Uint8Array, contentType: string | undefined, text: string, charset: string]

const CASES: Case[] = [
  ['nothing at all', bytes(), undefined, '', 'utf-8'],
  ['ASCII', bytes('plain'), HTML, 'plain', 'utf-8'],

  ['a UTF-8 mark', bytes([0xef, 0xbb, 0xbf], E_ACUTE_UTF8), HTML, 'é', 'utf-8'],
  ['a UTF-8 mark before ASCII', bytes([0xef, 0xbb, 0xbf], 'a'), HTML, 'a', 'utf-8'],
  [
    'a mark against the header',
    bytes([0xef, 0xbb, 0xbf], E_ACUTE_UTF8),
    'text/html; charset=koi8-r',
    'é',
    'utf-8',
  ],
  ['a UTF-16 mark, small end first', bytes([0xff, 0xfe, 0xe9, 0x00]), HTML, 'é', 'utf-16le'],
  ['a UTF-16 mark, big end first', bytes([0xfe, 0xff, 0x00, 0xe9]), HTML, 'é', 'utf-16be'],

  ['the header', bytes(YA_KOI8), 'text/html; charset=koi8-r', 'Я', 'koi8-r'],
  ['the header in quotes', bytes(YA_KOI8), 'text/html;charset="KOI8-R"', 'Я', 'koi8-r'],
  ['the header in capitals', bytes(YA_KOI8), 'Text/HTML; Charset=KOI8-R; x=y', 'Я', 'koi8-r'],
  [
    'the header against the markup',
    bytes('<meta charset=koi8-r>', E_ACUTE_UTF8),
    'text/html; charset=utf-8',
    '<meta charset=koi8-r>é',
    'utf-8',
  ],
  ['a header with UTF-16', utf16be('é<p>'), 'text/html; charset=utf-16be', 'é<p>', 'utf-16be'],
  ['a header with an invented label', bytes(E_ACUTE_UTF8), 'text/html; charset=klingon', 'é', 'utf-8'],
  [
    'an invented label, then the markup',
    bytes('<meta charset=koi8-r>', YA_KOI8),
    'text/html; charset=klingon',
    '<meta charset=koi8-r>Я',
    'koi8-r',
  ],
  ['an empty label', bytes(E_ACUTE_UTF8), 'text/html; charset=', 'é', 'utf-8'],
  ['a label that nobody may use', bytes(E_ACUTE_UTF8), 'text/html; charset=utf-7', 'é', 'utf-8'],

  [
    'meta charset',
    bytes('<meta charset="shift_jis">', SUN_SHIFT_JIS),
    HTML,
    '<meta charset="shift_jis">日',
    'shift_jis',
  ],
  [
    'meta without quotes',
    bytes('<META CHARSET=koi8-r >', YA_KOI8),
    HTML,
    '<META CHARSET=koi8-r >Я',
    'koi8-r',
  ],
  [
    'meta http-equiv',
    bytes('<meta http-equiv=content-type content="text/html; charset=koi8-r">', YA_KOI8),
    HTML,
    '<meta http-equiv=content-type content="text/html; charset=koi8-r">Я',
    'koi8-r',
  ],
  [
    'meta that says UTF-16',
    bytes('<meta charset="utf-16">', E_ACUTE_UTF8),
    HTML,
    '<meta charset="utf-16">é',
    'utf-8',
  ],
  [
    'meta with an invented label',
    bytes('<meta charset=klingon>', E_ACUTE_LATIN1),
    HTML,
    '<meta charset=klingon>é',
    'windows-1252',
  ],
  [
    'an XML declaration',
    bytes('<?xml version="1.0" encoding="koi8-r"?>', YA_KOI8),
    'application/xhtml+xml',
    '<?xml version="1.0" encoding="koi8-r"?>Я',
    'koi8-r',
  ],

  [
    'an XML declaration against a meta, in XML',
    bytes('<?xml version="1.0" encoding="koi8-r"?><meta charset="utf-8">', YA_KOI8),
    'application/xhtml+xml; x=y',
    '<?xml version="1.0" encoding="koi8-r"?><meta charset="utf-8">Я',
    'koi8-r',
  ],
  [
    'an XML declaration against a meta, in HTML',
    bytes('<?xml version="1.0" encoding="koi8-r"?><meta charset="utf-8">', E_ACUTE_UTF8),
    HTML,
    '<?xml version="1.0" encoding="koi8-r"?><meta charset="utf-8">é',
    'utf-8',
  ],
  [
    'an XML declaration of UTF-16, which cannot be',
    bytes('<?xml encoding="utf-16"?>', E_ACUTE_UTF8),
    'text/xml',
    '<?xml encoding="utf-16"?>é',
    'utf-8',
  ],
  ['UTF-16 without a mark', Buffer.from('<?xml é', 'utf16le'), HTML, '<?xml é', 'utf-16le'],
  ['UTF-16 without a mark, big end first', utf16be('<html>é'), HTML, '<html>é', 'utf-16be'],
  [
    'a meta in a comment, and one after it',
    bytes('<!-- <meta charset=utf-8> --><meta charset=koi8-r>', YA_KOI8),
    HTML,
    '<!-- <meta charset=utf-8> --><meta charset=koi8-r>Я',
    'koi8-r',
  ],
  [
    'a meta for private use',
    bytes('<meta charset=x-user-defined>', E_ACUTE_LATIN1),
    HTML,
    '<meta charset=x-user-defined>é',
    'windows-1252',
  ],
  ['escapes of ISO-2022-JP', bytes('\x1b$B$*Cc\x1b(B!'), HTML, 'お茶!', 'iso-2022-jp'],
  ['an escape of a terminal', bytes('\x1b[1mbold'), HTML, '\x1b[1mbold', 'utf-8'],

  ['a guess: valid UTF-8', bytes('caf', E_ACUTE_UTF8), HTML, 'café', 'utf-8'],
  ['a guess: not UTF-8', bytes('caf', E_ACUTE_LATIN1), HTML, 'café', 'windows-1252'],
  ['a guess: UTF-8 that is cut off', bytes('caf', [0xc3]), HTML, 'cafÃ', 'windows-1252'],
  [
    'broken UTF-8 that was declared',
    bytes('caf', E_ACUTE_LATIN1),
    'text/html; charset=utf-8',
    'caf\ufffd',
    'utf-8',
  ],

  ['the signs of windows-1252', bytes([0x80, 0x93, 0x94, 0x96, 0x99, 0xe9]), HTML, '€“”–™é', 'windows-1252'],
  [
    'Latin-1, which browsers read as windows-1252',
    bytes([0x80, 0x81, 0x9f]),
    'text/html; charset=iso-8859-1',
    '€\u0081Ÿ',
    'windows-1252',
  ],
]

describe('decodeBytes', () => {
  it.for(CASES)('reads %s', ([, body, contentType, text, charset]) => {
    expect(decodeBytes(body, contentType)).toMatchObject({ text, charset })
  })

  it('finds a late declaration, as browsers do, but believes valid UTF-8 more', () => {
    const late = (...end: (string | number[])[]) => bytes(' '.repeat(1024), '<meta charset=koi8-r>', ...end)
    expect(decodeBytes(late(YA_KOI8), HTML).charset).toBe('koi8-r')
    expect(decodeBytes(late(E_ACUTE_UTF8), HTML).charset).toBe('utf-8')
    const tooLate = bytes(' '.repeat(64 * 1024), '<meta charset=koi8-r>', YA_KOI8)
    expect(decodeBytes(tooLate, HTML).charset).toBe('windows-1252')
  })

  it('reads a view into a larger buffer', () => {
    const buffer = bytes('xxé', E_ACUTE_UTF8, 'xx')
    expect(decodeBytes(new Uint8Array(buffer.buffer, buffer.byteOffset + 3, 2), HTML).text).toBe('é')
  })

  const ascii: [string, Uint8Array, string, boolean][] = [
    ['plain letters', bytes('a'), HTML, true],
    ['a letter beyond', bytes(E_ACUTE_UTF8), HTML, false],
    ['UTF-16', bytes('ab'), 'text/html; charset=utf-16le', false],
    ['a mark that is not part of the text', bytes([0xef, 0xbb, 0xbf], 'a'), HTML, false],
  ]
  it.for(ascii)('says whether bytes are the codes of the text: %s', ([, body, contentType, expected]) => {
    expect(decodeBytes(body, contentType).ascii).toBe(expected)
  })
})
