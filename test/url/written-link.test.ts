import { describe, expect, it } from 'vitest'
import { seededRandom } from '../../src/time.js'
import { canonicalizeUrl } from '../../src/url/canonicalize.js'
import { baseFor, resolve } from '../../src/url/resolve.js'
import {
  ABSOLUTE,
  NOT_REMEMBERED,
  OF_DIRECTORY,
  OF_DOCUMENT,
  OF_ORIGIN,
  OF_PAGE,
  readLink,
} from '../../src/url/written-link.js'

function read(href: string): { reach: number; print: string } {
  const bytes = Buffer.from(`"${href}"`)
  const into = new Uint32Array(2)
  const reach = readLink(bytes, 1, bytes.length - 1, into)
  return { reach, print: reach === OF_PAGE ? '' : into.join() }
}

describe('readLink', () => {
  it.each([
    ['/a', OF_ORIGIN],
    ['//a', OF_ORIGIN],
    ['https://a.example', ABSOLUTE],
    ['http://a.example', ABSOLUTE],
    ['https:a', OF_DIRECTORY],
    ['http', OF_DIRECTORY],
    ['a', OF_DIRECTORY],
    ['../a', OF_DIRECTORY],
    ['\\a', OF_DIRECTORY],
    ['?a', OF_DOCUMENT],
    ['', OF_PAGE],
    ['#a', OF_PAGE],
    ['&#35;a', NOT_REMEMBERED],
    ['&num;a', NOT_REMEMBERED],
    ['\n#a', NOT_REMEMBERED],
    ['\0#a', NOT_REMEMBERED],
  ])('%j reaches as far as %i', (href, reach) => {
    expect(read(href).reach).toBe(reach)
  })

  it('does not look at fragments, but at references that look like one', () => {
    expect(read('a.html#x').print).toBe(read('a.html').print)
    expect(read('/a#x').print).toBe(read('/a#y#z').print)
    expect(read('a?x=1&#38;y=2').print).not.toBe(read('a?x=1&#38;y=3').print)
    expect(read('a?x=1&#x26;y=2#f').print).toBe(read('a?x=1&#x26;y=2').print)
  })

  it('never takes links for equal that lead to different URLs', () => {
    const random = seededRandom(7)
    const pieces = [
      'a',
      'b.html',
      '/',
      '..',
      '.',
      '?',
      '#',
      '&',
      '%41',
      ' ',
      'http:',
      '//',
      'é',
      '\t',
      '=',
      ':',
      '\\',
    ]
    const pages = [
      'https://h.example/d/p?q=1',
      'https://h.example/d/r',
      'https://h.example/e/p',
      'https://h.example/',
    ]
    const places = { [OF_ORIGIN]: 'origin', [OF_DIRECTORY]: 'directory', [OF_DOCUMENT]: 'document' } as const
    const urls = new Map<string, string | undefined>()
    let compared = 0
    for (let i = 0; i < 60_000; i++) {
      const length = Math.floor(random.next() * 6)
      const href = Array.from({ length }, () => pieces[Math.floor(random.next() * pieces.length)]).join('')
      const page = pages[Math.floor(random.next() * pages.length)]!
      const { reach, print } = read(href)
      if (reach === NOT_REMEMBERED) continue
      const base = baseFor(page)
      const place =
        reach === OF_PAGE ? page : reach === ABSOLUTE ? '' : base[places[reach as keyof typeof places]]
      const key = `${place} ${print}`
      const url = resolve(href, base)
      expect(url).toBe(canonicalizeUrl(href, page))
      if (urls.has(key)) {
        compared++
        // What leads nowhere is never remembered.
        const before = urls.get(key)
        if (url !== undefined && before !== undefined) expect(url, `${href} on ${page}`).toBe(before)
      } else urls.set(key, url)
    }
    expect(compared).toBeGreaterThan(10_000)
  })
})
