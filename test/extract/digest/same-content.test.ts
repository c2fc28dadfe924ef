import { describe, expect, it, test } from 'vitest'
import { duplicateDigest } from '../../../src/extract/digest/duplicate-digest.js'
import { sameContent } from '../../../src/extract/digest/same-content.js'
import { seededRandom } from '../../../src/time.js'
import { cpuMs } from '../../cpu-time.js'

const HERE = 'https://example.com/dir/page'

function digest(html: string, url = HERE): string {
  const into = new Uint32Array(2)
  duplicateDigest(Buffer.from(html), url, into)
  return into.join(' ')
}

const links = (...hrefs: string[]) => hrefs.map((href) => `<a href="${href}">more</a>`).join('')

describe('duplicateDigest', () => {
  test.each<[what: string, one: string, other: string]>([
    ['the time of day', '<p>made at 12:30:01', '<p>made at 13:01:59'],
    ['a counter', '<p>visitor 999</p>', '<p>visitor 1000</p>'],
    ['an id in the text', '<p>your session ab12cd</p>', '<p>your session 9f8e7d</p>'],
    ['white space and punctuation', '<p>a, b</p>', '<p> a\n b. </p>'],
    ['scripts and styles', '<script>token="ab"</script><p>x', '<script>token="cd<b"</script><p>x'],
    ['attributes that are not links', '<p id="ab" title="x">t', '<p id="cd" title="y">t'],
    ["a comment's numbers", '<!-- 17 ms --><p>x', '<!-- 3 ms --><p>x'],
    ['a long session id', links('/a?s=0123456789abcdef'), links('/a?s=fedcba9876543210')],
    ['a short one in all links', links('/a7f/x', '/a7f/y', '/a7f/z'), links('/b8e/x', '/b8e/y', '/b8e/z')],
  ])('does not see %s', (_, one, other) => {
    expect(digest(one)).toBe(digest(other))
  })

  test.each<[what: string, one: string, other: string]>([
    ['a word', '<p>red car</p>', '<p>blue car</p>'],
    ['the order of words', '<p>a b</p>', '<p>b a</p>'],
    ['a word in another script', '<p>日本</p>', '<p>中国</p>'],
    ['a link', links('/red'), links('/blue')],
    ['the number of a link', links('/photo/1'), links('/photo/2')],
    [
      'the numbers of a list whose items are linked three times',
      links('/i/1', '/i/1', '/i/1', '/i/2', '/i/2', '/i/2', '/', '/b', '/c', '/d', '/e', '/f', '/g'),
      links('/i/3', '/i/3', '/i/3', '/i/4', '/i/4', '/i/4', '/', '/b', '/c', '/d', '/e', '/f', '/g'),
    ],
    ['a link without quotes', '<a href=/red>x', '<a href=/blue>x'],
    ['a link in upper case', '<A HREF="/red">x', '<A HREF="/blue">x'],
    ['what comes behind a script', '<script>1</script><p>a', '<script>1</script><p>b'],
  ])('sees %s', (_, one, other) => {
    expect(digest(one)).not.toBe(digest(other))
  })

  it('takes links below the own directory as relative', () => {
    const one = digest(links('/a/b/a/', '/a/b/b/', 'https://example.com/a/b/c'), 'https://example.com/a/b/')
    const other = digest(links('/a/a/', '/a/b/', 'https://example.com/a/c'), 'https://example.com/a/?x=/y/')
    expect(one).toBe(other)
  })

  it('leaves out the numbers of the own URL', () => {
    const one = digest(links('/2024/5/1', '/2024/6/'), 'https://example.com/2024/5/')
    const other = digest(links('/2025/5/1', '/2025/6/'), 'https://example.com/2025/5/')
    expect(one).toBe(other)
  })

  it('distinguishes a hundred thousand pages that differ in two letters', () => {
    const letter = (n: number) => String.fromCharCode(97 + (n % 26))
    const word = (n: number) => letter(n) + letter(n / 26) + letter(n / 676) + letter(n / 17_576)
    const digests = new Set<string>()
    for (let i = 0; i < 100_000; i++) digests.add(digest(`<p>This page is about ${word(i)}</p>`))
    expect(digests.size).toBe(100_000)
  })

  it('takes any bytes, and ends', () => {
    const random = seededRandom(5)
    const pieces = [
      '<',
      '>',
      '"',
      "'",
      '=',
      'href=',
      '<script',
      '</s',
      '<a href="',
      '\0',
      'é',
      '17',
      '/dir/',
      ' ',
    ]
    for (let round = 0; round < 2000; round++) {
      let text = ''
      for (let i = 0; i < 30; i++) text += pieces[Math.floor(random.next() * pieces.length)]
      expect(digest(text)).toBe(digest(text))
    }
    expect(digest('')).toBe(digest('17'))
  })

  test.each(['<script>', '<a href="', '<', '<a href=1 ', 'a1'])(
    'is quick on %j a million times over',
    (piece) => {
      const body = Buffer.from(piece.repeat(1_000_000))
      const start = cpuMs()
      duplicateDigest(body, HERE, new Uint32Array(2))
      // Takes some milliseconds; squared, it would take minutes.
      expect(cpuMs() - start).toBeLessThan(5000)
    },
  )
})

describe('sameContent', () => {
  const page = (text: string) => Buffer.from(`<p>${text}</p>`)
  const url = (i: number) => `https://example.com/${i}`

  it('finds out a page that comes again and again', () => {
    const contents = sameContent()
    const answers = Array.from({ length: 1000 }, (_, i) =>
      contents.isRepeated('example.com', url(i), page('same')),
    )
    const first = answers.indexOf(true)
    expect(first).toBeGreaterThanOrEqual(10)
    expect(first).toBeLessThan(300)
    expect(answers.slice(first).every(Boolean)).toBe(true)
  })

  it('keeps hosts apart', () => {
    const contents = sameContent()
    let repeated = 0
    for (let i = 0; i < 10_000; i++) {
      const host = `h${i % 1000}.example`
      if (contents.isRepeated(host, `https://${host}/${i}`, page('under construction'))) repeated++
    }
    expect(repeated).toBe(0)
  })

  it('lets ten copies pass, or as many as the option says', () => {
    for (const repeats of [1, 10, 50]) {
      const contents = sameContent({ repeats })
      const followed = Array.from({ length: 5000 }, (_, i) =>
        contents.isRepeated('example.com', url(i), page('same')),
      ).filter((answer) => !answer).length
      expect(followed).toBeGreaterThanOrEqual(repeats)
      expect(followed).toBeLessThan(repeats + 300)
    }
    const free = sameContent({ repeats: Number.POSITIVE_INFINITY })
    for (let i = 0; i < 1000; i++) expect(free.isRepeated('example.com', url(i), page('same'))).toBe(false)
  })

  it('forgets in time: memory is bounded, and what was long ago does not count', () => {
    const contents = sameContent({ repeats: 1 })
    const word = (n: number) => n.toString(26).replace(/\d/g, (digit) => 'qrstuvwxyz'[Number(digit)]!)
    let sampled = 0
    while (!contents.isRepeated('example.com', url(sampled), page('old'))) sampled++
    for (let i = 0; i < 100_000; i++) contents.isRepeated('other.example', url(sampled), page(word(i)))
    expect(contents.isRepeated('example.com', url(sampled), page('old'))).toBe(false)
    expect(contents.isRepeated('example.com', url(sampled), page('old'))).toBe(true)
  })

  test.each([0, -1, Number.NaN, '7x'])('rejects %j repeats', (repeats) => {
    expect(() => sameContent({ repeats: repeats as number })).toThrow(
      expect.objectContaining({ code: 'KUMO_INVALID_OPTION' }),
    )
  })
})
