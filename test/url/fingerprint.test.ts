import { describe, expect, it } from 'vitest'
import { seededRandom } from '../../src/time.js'
import { fingerprint, fingerprintCodes } from '../../src/url/fingerprint.js'
import { isThorough, sample } from '../thorough.js'

const twoDigits = (n: number) => String(n).padStart(2, '0')

function bitsAs(i: number, one: string, zero: string): string {
  let text = ''
  for (let bit = 0; bit < 21; bit++) text += (i >> bit) & 1 ? one : zero
  return text
}

/** URLs that differ as those of real sites do: in counters, dates, digits here and there. All are distinct. */
const STRUCTURES: Record<string, (i: number) => string> = {
  'a counter': (i) => `https://example.com/item/${i}`,
  'a padded counter': (i) => `https://example.com/p/${String(i).padStart(12, '0')}`,
  'dates and times': (i) =>
    `https://news.example.org/${1900 + (i % 100)}/${twoDigits(Math.floor(i / 100) % 12)}/` +
    `${twoDigits(Math.floor(i / 1200) % 28)}/${twoDigits(Math.floor(i / 33_600))}`,
  'two counters': (i) => `https://a.com/?a=${i % 1414}&b=${Math.floor(i / 1414)}`,
  'bits as digits': (i) => `https://a.com/${i.toString(2).padStart(24, '0')}`,
  'hosts with numbers': (i) => `https://host${i}.example.com/`,
  'digits far apart': (i) =>
    `https://a.com/${i % 10}aaaa${Math.floor(i / 10) % 10}bbb${Math.floor(i / 100) % 10}c` +
    `${Math.floor(i / 1000) % 10}ddddd${Math.floor(i / 10_000)}`,
  'swapped pairs': (i) => bitsAs(i, 'ab', 'ba'),
  'upper and lower case': (i) => bitsAs(i, 'a', 'A'),
  'runs of one letter': (i) =>
    'a'.repeat(i % 100) + 'b'.repeat(Math.floor(i / 100) % 100) + 'c'.repeat(Math.floor(i / 10_000)),
}

/** 32 of the 64 bits, chosen or folded in different ways: a weakness of any part shows in one of them. */
const FOLDS: Record<string, (low: number, high: number) => number> = {
  low: (low) => low,
  high: (_low, high) => high,
  xor: (low, high) => low ^ high,
  sum: (low, high) => low + high,
  difference: (low, high) => low - high,
  'low 16 bits of both': (low, high) => (low & 0xffff) | (high << 16),
  'high 16 bits of both': (low, high) => (low >>> 16) | (high & 0xffff0000),
  'every other bit': (low, high) => (low & 0x55555555) | (high & 0xaaaaaaaa),
  'xor, one rotated': (low, high) => low ^ ((high << 7) | (high >>> 25)),
}

function printsOf(count: number, make: (i: number) => string): Uint32Array<ArrayBuffer> {
  const prints = new Uint32Array(2 * count)
  for (let i = 0; i < count; i++) fingerprint(make(i), prints, 2 * i)
  return prints
}

function hexOf(text: string): string {
  const [low, high] = printsOf(1, () => text)
  return [high, low].map((half) => half!.toString(16).padStart(8, '0')).join('')
}

function collisions(values: Uint32Array | BigUint64Array): number {
  values.sort()
  let equal = 0
  for (let i = 1; i < values.length; i++) if (values[i] === values[i - 1]) equal++
  return equal
}

describe('fingerprint', () => {
  it('is the same for text that is there as codes, wherever it begins', () => {
    for (let length = 0; length < 40; length++) {
      const text = '/pfad/\u65e5\u672c?q=%20&x=1#hash-of-some-length-0123456789'.slice(0, length)
      const codes = Uint16Array.from(`<<${text}>>`, (unit) => unit.charCodeAt(0))
      const [ofText, ofCodes] = [new Uint32Array(2), new Uint32Array(2)]
      fingerprint(text, ofText)
      fingerprintCodes(codes, 2, 2 + length, ofCodes)
      expect(ofCodes).toEqual(ofText)
    }
  })

  it('never changes, because stores keep it', () => {
    const texts = [
      '',
      '\0',
      '\0\0',
      'a',
      'ab',
      'abc',
      'https://example.com/',
      'https://example.com/a?b=c&d=e',
      'https://example.com/é',
      'https://example.com/蜘蛛',
      '🕷',
      '\ud83d',
      '\udd77',
      'x'.repeat(10_000),
    ]
    expect(texts.map((text) => `${hexOf(text)} ${JSON.stringify(text.slice(0, 30))}`)).toMatchInlineSnapshot(`
      [
        "8a4452de97579af3 """,
        "c8b00c3a16e65840 "\\u0000"",
        "bf8d61e9a897aaa7 "\\u0000\\u0000"",
        "4425bf1712e2d424 "a"",
        "6a570f906842075b "ab"",
        "423427614205a183 "abc"",
        "1851deb0bf506744 "https://example.com/"",
        "6b5868606ea76bb4 "https://example.com/a?b=c&d=e"",
        "d3673a42ce35f86e "https://example.com/é"",
        "fba4943ec52feba9 "https://example.com/蜘蛛"",
        "b175793952c4bb84 "🕷"",
        "6c4c52405dbf735b "\\ud83d"",
        "7a8d58ab07789d9c "\\udd77"",
        "c6621b43fd0730bd "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"",
      ]
    `)
  })

  it('writes only at the given index', () => {
    const into = new Uint32Array(6).fill(7)
    fingerprint('https://example.com/', into, 2)
    expect([...into]).toEqual([7, 7, into[2], into[3], 7, 7])
    expect(hexOf('https://example.com/')).toBe(into[3]!.toString(16) + into[2]!.toString(16).padStart(8, '0'))
  })

  it('does not depend on how the string is represented', () => {
    const flat = 'https://example.com/a/b/c'
    let pieces = ''
    for (const unit of flat) pieces += unit
    const sliced = `xx${flat}yy`.slice(2, -2)
    const wide = `${flat}é`.slice(0, -1)
    expect([pieces, sliced, wide].map(hexOf)).toEqual([flat, flat, flat].map(hexOf))
  })

  it('has no 64-bit collision among many URLs', () => {
    const each = isThorough ? 200_000 : 50_000
    const makers = Object.values(STRUCTURES)
    const urls = new Set<string>()
    for (const make of makers) for (let i = 0; i < each; i++) urls.add(make(i))
    expect(urls.size).toBe(each * makers.length)
    const all = urls.values()
    const prints = printsOf(urls.size, () => all.next().value!)
    expect(collisions(new BigUint64Array(prints.buffer))).toBe(0)
  })

  describe('collides in any 32 bits as often as chance', () => {
    // 500,000 values in 2^32 places: 29.1 pairs by chance, give or take 5.4. Five deviations for 90 samples.
    const count = 500_000
    const expected = (count * (count - 1)) / 2 / 2 ** 32
    const deviation = Math.sqrt(expected)

    it.for(Object.entries(STRUCTURES))('%s', ([, make]) => {
      const prints = printsOf(count, make)
      const counted = sample(Object.entries(FOLDS), 3).map(([name, fold]) => {
        const folded = new Uint32Array(count)
        for (let i = 0; i < count; i++) folded[i] = fold(prints[2 * i]!, prints[2 * i + 1]!)
        return { name, collisions: collisions(folded) }
      })
      const odd = counted.filter((fold) => Math.abs(fold.collisions - expected) > 5 * deviation)
      expect(odd).toEqual([])
    })
  })

  it('changes every bit with a chance of one half when one bit of the string changes', () => {
    const random = seededRandom(1)
    const rounds = 4000
    const before = new Uint32Array(2)
    const after = new Uint32Array(2)
    for (const length of [1, 2, 3, 8, 21, 60]) {
      const flips = new Uint32Array(64)
      for (let round = 0; round < rounds; round++) {
        const units = Array.from({ length }, () => 32 + Math.floor(random.next() * 90))
        fingerprint(String.fromCharCode(...units), before)
        units[Math.floor(random.next() * length)]! ^= 1 << Math.floor(random.next() * 7)
        fingerprint(String.fromCharCode(...units), after)
        for (let bit = 0; bit < 64; bit++) {
          const half = bit >> 5
          flips[bit]! += ((before[half]! ^ after[half]!) >>> (bit & 31)) & 1
        }
      }
      // Of 4000 fair throws 2000 ± 32 are heads. One-letter strings are few, so there the rounds repeat.
      const limit = length === 1 ? 0.1 : 0.04
      for (const [bit, count] of flips.entries()) {
        expect(Math.abs(count / rounds - 0.5), `bit ${bit}, length ${length}`).toBeLessThan(limit)
      }
    }
  })

  it('keeps its two halves independent', () => {
    const prints = printsOf(100_000, (i) => `https://example.com/item/${i}`)
    for (let a = 0; a < 32; a += 3) {
      for (let b = 0; b < 32; b += 5) {
        let equal = 0
        for (let i = 0; i < prints.length; i += 2) {
          if (((prints[i]! >>> a) & 1) === ((prints[i + 1]! >>> b) & 1)) equal++
        }
        // 50,000 ± 158.
        expect(Math.abs(equal - 50_000), `low bit ${a}, high bit ${b}`).toBeLessThan(158 * 5)
      }
    }
  })
})
