import { expect, it } from 'vitest'
import { pageOf } from '../../../src/conformance/page.js'
import { anchorText } from '../../../src/extract/html/link-text.js'
import { readableText } from '../../../src/extract/html/text.js'
import { seededRandom } from '../../../src/time.js'

const XHTML = { 'content-type': 'application/xhtml+xml' }

function texts(body: string, headers?: Record<string, string>): Record<string, string> {
  const { links } = pageOf({ url: 'https://example.com/', body, headers })
  return Object.fromEntries(links.map(({ url, text }) => [url.slice('https://example.com/'.length), text]))
}

const CASES: [what: string, html: string, expected: Record<string, string>][] = [
  ['text', '<a href=a> Green\n tea </a>', { a: 'Green tea' }],
  ['markup and references', '<a href=a>Fish <b>&amp;</b> ch<i>ips</i></a>', { a: 'Fish & chips' }],
  ['blocks in a link', '<a href=a><h3>Tea</h3><p>Hot</p></a>', { a: 'Tea Hot' }],
  ['scripts in a link', '<a href=a>x<script>y</script></a>', { a: 'x' }],
  ['an image', '<a href=a><img src=i alt="A &lt;cup&gt;"></a>', { a: 'A <cup>' }],
  ['a label', '<a href=a aria-label="Close it"><svg></svg></a>', { a: 'Close it' }],
  ['a title', "<a href=a title='More'></a>", { a: 'More' }],
  ['none', '<a href=a></a>', { a: '' }],
  ['no end tag', '<a href=a>one <a href=b>two', { a: 'one', b: 'two' }],
  ['the first that has one', '<a href=a><img src=i></a><a href=a>Tea</a><a href=a>More</a>', { a: 'Tea' }],
  [
    'other elements',
    '<area href=a alt=Map><link rel=next href=b title=Next><iframe src=c title=Video>',
    { a: 'Map', b: 'Next', c: 'Video' },
  ],
]

it.for(CASES)('is the text of a link: %s', ([, html, expected]) => {
  expect(texts(html)).toEqual(expected)
})

it('is the text of a link in XHTML', () => {
  const body =
    '<html xmlns="http://www.w3.org/1999/xhtml"><body><a href="a">Fish <b>&amp;</b> chips</a><a href="b"><img alt="Cup" src="i"/></a></body></html>'
  expect(texts(body, XHTML)).toEqual({ a: 'Fish & chips', b: 'Cup' })
})

it('takes time in proportion to the page', () => {
  const start = process.cpuUsage()
  texts(Array.from({ length: 50_000 }, (_, index) => `<a href=${index}><img `).join(''))
  texts(`<a href=a>${'<img '.repeat(400_000)}`)
  const { user, system } = process.cpuUsage(start)
  expect((user + system) / 1000).toBeLessThan(5000)
})

it('inline markup leaves the text that a reader of the whole markup finds', () => {
  const pieces = [
    ...[
      'word',
      ' ',
      '  two  words ',
      '\n',
      '\u00a0',
      '<b>',
      '</b>',
      '<CODE class="a b">',
      '</code>',
      '<span title="a>b">',
    ],
    ...[
      "<span title='x'>",
      '</span >',
      '<i/>',
      '<br>',
      '<em',
      '<u x="1" y=2>',
      '&amp;',
      '<img src=x>',
      '<bdi>',
      '< b>',
      '<>',
    ],
  ]
  const random = seededRandom(9)
  for (let round = 0; round < 2000; round++) {
    const content = Array.from(
      { length: 1 + (round % 9) },
      () => pieces[Math.floor(random.next() * pieces.length)]!,
    ).join('')
    const html = `<a>${content}</a>`
    const wanted = readableText(content).replace(/\s+/g, ' ').trim()
    if (wanted !== '') expect([content, anchorText(html, 2, 3, html.length)]).toEqual([content, wanted])
  }
})
