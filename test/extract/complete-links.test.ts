import { expect, test } from 'vitest'
import { pageOf } from '../../src/conformance/page.js'
import type { FetchedPage } from '../../src/extract/page.js'
import { seededRandom } from '../../src/time.js'
import { baseFor, resolve } from '../../src/url/resolve.js'

const URL_OF_PAGE = 'https://example.com/docs/a.html?v=1'

/** Spellings that lead to a few URLs, to none, and to the page itself. */
const HREFS = [
  ...['b.html', './b.html', 'b.html#one', 'b.html#two', '/docs/b.html', 'https://example.com/docs/b.html'],
  ...[
    '',
    '#top',
    '#',
    'a.html?v=1',
    '?v=1',
    '?v=2',
    '?v=2#x',
    ' b.html',
    'b.html ',
    'b.html #x',
    '&#98;.html',
  ],
  ...[
    'mailto:x@example.com',
    'javascript:void(0)',
    '//example.com/c',
    '../d',
    'ö.html',
    'q?a=1&amp;b=2',
    'q?a=1&b=2',
  ],
]
const CONTENTS = ['text', '', '<img src=x>', '<img src=x alt="picture">', '<b>bold</b> text', ' ']

/** Every link read, as the rule is written down: the first counts, and one with a text names it. */
function everyLink({ found, base }: FetchedPage) {
  const byUrl = new Map<string, { url: string; tag: string; rel: string | undefined; text: string }>()
  for (let i = 0; i < found.length; i++) {
    const { href, tag, rel } = found.at(i)
    const url = resolve(href, baseFor(base))
    if (url === undefined) continue
    const known = byUrl.get(url)
    if (known === undefined) byUrl.set(url, { url, tag, rel, text: found.textAt(i) })
    else if (known.text === '') byUrl.set(url, { ...known, text: found.textAt(i) })
  }
  return [...byUrl.values()]
}

test.each(['', '<base href="/other/">', '<base href="ftp://example.com/">'])(
  'links that are not read again change nothing (%s)',
  (base) => {
    const random = seededRandom(20)
    const pick = <T>(list: readonly T[]) => list[Math.floor(random.next() * list.length)]!
    for (let round = 0; round < 150; round++) {
      const links = Array.from({ length: 1 + (round % 60) }, () => {
        if (random.next() < 0.1) return `<link rel="${pick(['next', 'icon'])}" href="${pick(HREFS)}">`
        if (random.next() < 0.1) return `<area href="${pick(HREFS)}" alt="${pick(['', 'area'])}">`
        return `<a href="${pick(HREFS)}"${pick(['', ' rel=nofollow'])}>${pick(CONTENTS)}</a>`
      })
      const page = pageOf({ url: URL_OF_PAGE, body: `${base}${links.join('\n')}` }) as FetchedPage
      expect(page.links).toEqual(everyLink(page))
    }
  },
)
