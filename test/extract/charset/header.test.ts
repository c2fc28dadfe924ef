import { describe, expect, it } from 'vitest'
import { decodeBytes } from '../../../src/extract/charset/charset.js'
import { charsetOf } from '../../../src/extract/charset/header.js'

const CASES: [contentType: string, charset: string | undefined][] = [
  ['', undefined],
  ['text/html', undefined],
  ['text/html;charset=koi8-r', 'koi8-r'],
  [' Text/HTML ; CHARSET=KOI8-R', 'KOI8-R'],
  ['text/html;x=y;\tcharset=koi8-r ;z', 'koi8-r'],
  // Another parameter, or a part of one.
  ['text/html;xcharset=koi8-r', undefined],
  ['text/html;charset-x=koi8-r', undefined],
  ['text/html;x="; charset=koi8-r"', undefined],
  ['text/html;x="\\"; charset=koi8-r"', undefined],
  ['text/html;x="a;b" charset=koi8-r;charset=utf-8', 'utf-8'],
  ['text/html;x=charset=koi8-r', undefined],
  ['text/html;charset koi8-r', undefined],
  // Blanks around the sign of equality belong to the name and to the value.
  ['text/html;charset =koi8-r', undefined],
  ['text/html;charset= koi8-r', ' koi8-r'],
  // Quotes.
  ['text/html;charset="koi8-r"', 'koi8-r'],
  ['text/html;charset="koi8-r', 'koi8-r'],
  ['text/html;charset="k\\oi8-r"x', 'koi8-r'],
  ['text/html;charset="koi8-r\\', 'koi8-r\\'],
  ["text/html;charset='koi8-r'", "'koi8-r'"],
  // The first counts, unless it is empty.
  ['text/html;charset=koi8-r;charset=utf-8', 'koi8-r'],
  ['text/html;charset=;charset=utf-8', 'utf-8'],
  ['text/html;charset="";charset=utf-8', ''],
  ['text/html;charset;charset=utf-8', 'utf-8'],
  // What is no type has no parameters.
  ['charset=koi8-r', undefined],
  ['html;charset=koi8-r', undefined],
  ['text/;charset=koi8-r', undefined],
  ['te xt/html;charset=koi8-r', undefined],
  ['/html;charset=koi8-r', undefined],
  // Several headers: the last type counts, with the charset that was said of it.
  ['text/html;charset=koi8-r, text/html', 'koi8-r'],
  ['text/html;charset=koi8-r, text/plain', undefined],
  ['text/html;charset=koi8-r, text/html;charset=utf-8', 'utf-8'],
  ['text/html;charset=koi8-r, */*', 'koi8-r'],
  ['text/html;charset=koi8-r, nonsense', 'koi8-r'],
  ['text/html;x="a, text/plain";charset=koi8-r', 'koi8-r'],
]

describe('charsetOf', () => {
  it.for(CASES)('%j → %j', ([contentType, charset]) => {
    expect(charsetOf(contentType)).toBe(charset)
  })

  it('decides how a body is read, and a label with blanks around it is a label', () => {
    const read = (contentType: string) => decodeBytes(Buffer.from([0xf1]), contentType).text
    expect(read('text/html;charset= koi8-r')).toBe('Я')
    expect(read('text/html;xcharset=koi8-r')).toBe('ñ')
  })
})
