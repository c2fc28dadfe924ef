import { describe, expect, it } from 'vitest'
import { ResponseHead } from '../../../src/fetch/http/response-head.js'
import { seededRandom } from '../../../src/time.js'

const LIMIT = 1000

/** What undici reads of a response that comes in pieces of this size. */
function mended(response: string, size: number): string {
  const head = new ResponseHead(LIMIT)
  head.begin()
  let read = ''
  const bytes = Buffer.from(response, 'latin1')
  for (let at = 0; at < bytes.length; at += size) {
    // A copy: what is mended is mended in place.
    read += head.mend(Buffer.from(bytes.subarray(at, at + size)))?.toString('latin1') ?? ''
  }
  return read
}

/** Without the space that stands where something was. */
const tidy = (text: string) => text.replace(/ +/g, ' ').replace(/ +(?=\r\n)/g, '')

const OK = 'HTTP/1.1 200 OK\r\n'
const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n'
const HINTS = 'HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\nX-Fold: a\r\n b\r\n\r\n'
const PAGE = 'Content-Length: 4\r\n\r\npage'

const SAME: [name: string, response: string][] = [
  ['a plain head', `${OK}Server: x\r\n${PAGE}`],
  ['a head without headers', `${OK}\r\npage`],
  ['a body that looks like a head', `${OK}\r\n\r\n folded\r\nContent-Length: 1\r\nContent-Length: 1\r\n`],
  ['two lengths that differ', `${OK}Content-Length: 5\r\n${PAGE}`],
  ['a list of lengths that differ', `${OK}Content-Length: 4, 5\r\n\r\npage`],
  ['lengths that are no numbers', `${OK}Content-Length: 4x\r\nContent-Length: 4x\r\nContent-Length:\r\n\r\n`],
  ['a header that only begins as a length', `${OK}Content-Length-X: 4\r\nContent-Len: 4\r\n${PAGE}`],
  ['a switch of protocols', `HTTP/1.1 101 Switching\r\nUpgrade: x\r\n\r\n`],
  ['another protocol', '220 mail.example.com ESMTP\r\n x\r\n'],
  ['next to nothing', 'no'],
  ['lines without CR', `HTTP/1.1 200 OK\nServer: x\nContent-Length: 4\n\npage`],
  ['a folded coding, which frames the body', `${OK}Transfer-Encoding: chunked\r\n x\r\n\r\n`],
  ['a folded length, which frames the body', `${OK}Content-Length:\r\n 4\r\n\r\npage`],
  ['what follows an answer', `${OK}${PAGE}${CONTINUE}`],
]

const MENDED: [name: string, response: string, read: string][] = [
  ['an interim answer', `${CONTINUE}${OK}${PAGE}`, `${OK}${PAGE}`],
  ['empty lines around it', `\r\n${CONTINUE}\r\n${CONTINUE}\r\n${OK}${PAGE}`, `${OK}${PAGE}`],
  ['several of them', `${CONTINUE}${HINTS}${CONTINUE}${OK}${PAGE}`, `${OK}${PAGE}`],
  ['one with lines that have no CR', `HTTP/1.1 100 Continue\n\n${OK}${PAGE}`, `${OK}${PAGE}`],
  ['a folded header', `${OK}X-A: one\r\n two\r\n\tthree\r\n${PAGE}`, `${OK}X-A: one two three\r\n${PAGE}`],
  ['a fold before the first header', `${OK} X-A: one\r\n${PAGE}`, `HTTP/1.1 200 OK X-A: one\r\n${PAGE}`],
  ['a fold of nothing', `${OK}X-A: one\r\n \r\n${PAGE}`, `${OK}X-A: one\r\n${PAGE}`],
  [
    'a length named twice',
    `${OK}Content-Length: 4\r\nX-A: b\r\n${PAGE}`,
    `${OK}Content-Length: 4\r\nX-A: b\r\n\r\npage`,
  ],
  [
    'in other letters',
    `${OK}CONTENT-LENGTH:4\r\ncontent-length:  4 \r\n${PAGE}`,
    `${OK}CONTENT-LENGTH:4\r\n\r\npage`,
  ],
  [
    'a length named twice before a body that looks like headers',
    `${OK}Content-Length: 9\r\nContent-Length: 9\r\n\r\na:\r\n\tb\r\n\tc`,
    `${OK}Content-Length: 9\r\n\r\na:\r\n\tb\r\n\tc`,
  ],
  [
    'a length named three times in a row',
    `${OK}Content-Length: 4\r\nContent-Length: 4\r\ncontent-length: 4\r\nX-A: b\r\n\r\npage`,
    `${OK}Content-Length: 4\r\nX-A: b\r\n\r\npage`,
  ],
  ['a length with space behind it', `${OK}Content-Length:4 \t \r\n\r\npage`, `${OK}${PAGE}`],
  ['a list of equal lengths', `${OK}Content-Length: 4, 4\r\n\r\npage`, `${OK}${PAGE}`],
]

describe('ResponseHead', () => {
  const sizes = [1, 2, 3, 5, 7, 16, 1000]

  it.each(SAME)('hands on %s as it came', (_, response) => {
    for (const size of sizes) {
      // The last bytes of what is no head at all, or is not complete, may be held back: nothing follows them.
      const read = mended(response, size)
      expect(response.startsWith(read)).toBe(true)
      expect(response.length - read.length).toBeLessThanOrEqual(2)
    }
  })

  it.each(MENDED)('mends %s', (_, response, read) => {
    for (const size of sizes) expect(tidy(mended(response, size)), `in pieces of ${size}`).toBe(tidy(read))
  })

  it('leaves no space behind a length, which undici 8 would take for a digit', () => {
    const blanks = /Content-Length:\d*\s+\d+\r\n/i
    for (const length of ['4 ', '4 \t', '4, 4', ' 4 , 4 ']) {
      for (const again of ['', 'Content-Length: 4\r\n'])
        expect(mended(`${OK}Content-Length:${length}\r\n${again}\r\npage`, 1000)).toMatch(blanks)
    }
  })

  it('makes the same of a response in whatever pieces, and nothing of its body', () => {
    const random = seededRandom(19)
    const one = <T>(of: readonly T[]) => of[Math.floor(random.next() * of.length)]!
    const some = (of: readonly string[], most: number) =>
      Array.from({ length: Math.floor(random.next() * (most + 1)) }, () => one(of)).join('')
    const lines = [
      'X-A: b\r\n',
      'C: d\r\n',
      'X-F: e\r\n f\r\n',
      'Content-Length: 4\r\n',
      'content-length: 4,4\r\n',
    ]
    const noise = ['\r', '\n', '\r\n', ' ', '\t', 'x', 'Content-Length: 4', CONTINUE]
    for (let i = 0; i < 500; i++) {
      const body = some(noise, 8)
      const response = `${some([CONTINUE, HINTS, '\r\n'], 3)}${OK}${some(lines, 5)}\r\n${body}`
      const whole = mended(response, response.length)
      expect(whole.endsWith(`\r\n\r\n${body}`), JSON.stringify(response)).toBe(true)
      for (const size of sizes)
        expect(tidy(mended(response, size)), JSON.stringify(response)).toBe(tidy(whole))
    }
  })

  it('leaves an interim answer without end, and one too many, to undici', () => {
    const endless = `HTTP/1.1 100 Continue\r\nX: ${'y'.repeat(2 * LIMIT)}`
    expect(mended(endless, 100).startsWith('HTTP/1.1 100')).toBe(true)
    expect(mended(CONTINUE.repeat(8) + OK, 50)).toBe(OK.slice(0, -2))
    expect(mended(CONTINUE.repeat(9), 50)).toBe(CONTINUE)
  })

  it('begins again with each request, whatever was left over', () => {
    const head = new ResponseHead(LIMIT)
    expect(head.mend(Buffer.from(CONTINUE))?.toString(), 'before a request').toBe(CONTINUE)
    head.begin()
    expect(head.mend(Buffer.from('HTTP/1.1 10'))).toBeNull()
    head.begin()
    expect(head.mend(Buffer.from(`${OK}\r\n`))?.toString()).toBe(`${OK}\r\n`)
  })
})
