import { describe, expect, test } from 'vitest'
import { Analyzers } from '../../../src/search/words/analyzer.js'
import { normalized, Scanner } from '../../../src/search/words/scanner.js'

function words(text: string, segmenter?: (run: string) => string[]): string[] {
  const plain = normalized(text)
  const scanner = new Scanner(plain, undefined, segmenter)
  const found: string[] = []
  while (scanner.next()) found.push(plain.slice(scanner.start, scanner.end))
  return found
}

describe('words', () => {
  test.each<[string, string[]]>([
    ['', []],
    ['Hello, world!', ['Hello', 'world']],
    ['sqlite3_open_v2()', ['sqlite3', 'open', 'v2']],
    ['日本語', ['日本', '本語', '語']],
    ['Linuxカーネル 6', ['Linux', 'カー', 'ーネ', 'ネル', 'ル', '6']],
    ['木', ['木']],
    ['한국어', ['한국', '국어', '어']],
    ['ＡＢＣ ｶﾞ', ['ABC', 'ガ']],
    ['𠮷野家', ['𠮷野', '野家', '家']],
    ['a😀b ❤️', ['a', '😀', 'b', '❤']],
    ['\ud800x\udc00', ['x']],
    ['naïve café', ['naïve', 'café']],
    ['שָׁלוֹם', ['שָׁלוֹם'.normalize('NFKC')]],
    ['हिन्दी', ['हिन्दी']],
    ['\0\u0001binary\ufffd', ['binary']],
  ])('%j', (text, expected) => {
    expect(words(text)).toEqual(expected)
  })

  test('Thai is cut by a dictionary', () => {
    expect(words('สวัสดีชาวโลก').length).toBeGreaterThan(1)
    expect(words('สวัสดีชาวโลก').join('')).toBe('สวัสดีชาวโลก')
  })

  test('a scanner that begins again finds what a new one does, whatever it read before', () => {
    const texts = [
      '',
      'short',
      'long '.repeat(200),
      '日本語 abc',
      '\ud83d',
      'x',
      `${'字'.repeat(40)}\ud83d`,
      'สวัสดี ก',
    ]
    const scanner = new Scanner('')
    for (const before of texts) {
      for (const text of texts) {
        scanner.restart(before)
        for (let words = 0; words < 3; words++) scanner.next()
        scanner.restart(text)
        const found: string[] = []
        while (scanner.next()) found.push(text.slice(scanner.start, scanner.end))
        expect(found).toEqual(words(text))
      }
    }
  })

  test("the user's segmenter cuts what pairs would", () => {
    const cut = (run: string) => (run === '東京都庁' ? ['東京都', '庁'] : ['elsewhere'])
    expect(words('in 東京都庁 x', cut)).toEqual(['in', '東京都', '庁', 'x'])
    expect(words('大阪', cut)).toEqual([])
  })
})

describe('terms', () => {
  test.each<[string, string, string]>([
    ['', 'Straße', 'strasse'],
    ['', 'CAFÉ', 'cafe'],
    ['', 'Øl', 'ol'],
    ['sv', 'Över', 'över'],
    ['en', 'Över', 'over'],
    ['es', 'Año', 'año'],
    ['tr', 'IŞIK', 'ışık'],
    ['ru', 'Йод', 'йод'],
    ['ru', 'ещё', 'еще'],
    ['el', 'ΛΌΓΟΣ', 'λογοσ'],
    ['el', 'λόγος', 'λογοσ'],
    ['ar', 'مُحَمَّد', 'محمد'],
    ['', 'x'.repeat(100), 'x'.repeat(64)],
  ])('%s: %s', (language, word, expected) => {
    const analyzers = new Analyzers({ stemming: new Set(), segmenters: {} }, [])
    expect(analyzers.of(language).term(normalized(word), 2)).toBe(expected)
  })

  test.each<[string, string, string]>([
    ['en', 'installing', 'installed'],
    ['de', 'Häuser', 'Häusern'],
    ['fr', 'continuer', 'continuait'],
    ['es', 'trabajando', 'trabajar'],
    ['sv', 'flickorna', 'flickor'],
    ['da', 'bilerne', 'biler'],
    ['fi', 'taloissa', 'talossa'],
    ['it', 'lavorare', 'lavorando'],
    ['nl', 'lichamelijk', 'lichamelijke'],
    ['no', 'havnene', 'havnen'],
    ['pt', 'trabalhando', 'trabalhar'],
  ])('%s: %s and %s have one stem', (language, one, other) => {
    const analyzers = new Analyzers({ stemming: new Set([language]), segmenters: {} }, [])
    const analyzer = analyzers.of(language)
    expect(analyzer.term(one, 2)).toBe(analyzer.term(other, 2))
    expect(analyzers.of('xx').term(one, 2)).not.toBe(analyzers.of('xx').term(other, 2))
  })
})
