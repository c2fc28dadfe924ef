/** Snippets as HTML are safe to show, whatever the text and the query are. */

import { expect, test } from 'vitest'
import { seededRandom } from '../../../src/time.js'
import { indexOf } from '../corpus.js'

const PIECES = [
  '<script>alert(1)</script>',
  '<img src=x onerror=alert(1)>',
  '</mark>',
  '<mark>',
  '&lt;',
  '&amp;',
  '&#60;',
  '"',
  "'",
  '&',
  '<',
  '>',
  '＜ｓｃｒｉｐｔ＞',
  'javascript:',
  'onclick="tea"',
  '<!--',
  ']]>',
  '\0',
  '\u2028',
  '\ud800',
  'İ',
  'ﬀ',
  'ｶﾞ',
  '日本語',
  'tea',
  'café',
  'script',
  'mark',
]
const TEXTS = 100

test('everything is escaped, marks are balanced, and ranges are what is marked', async () => {
  const random = seededRandom(17)
  const pick = () => PIECES[Math.floor(random.next() * PIECES.length)]!
  const made = () =>
    Array.from(
      { length: 3 + Math.floor(random.next() * 60) },
      () => pick() + (random.next() < 0.5 ? ' ' : ''),
    ).join('')
  const index = await indexOf(
    Array.from({ length: TEXTS }, (_, at) => ({
      url: `https://example.com/${at}`,
      title: made(),
      text: made(),
    })),
  )
  let marked = 0
  const queries = [
    ...PIECES,
    ...PIECES.map((piece) => `"${piece} ${pick()}"`),
    'tea script',
    '語 mark',
    'javascript*',
  ]
  for (const query of queries) {
    const { hits } = await index.search(query, { limit: 8, groupBy: 'none', prefix: true })
    for (const { snippet } of hits) {
      const { text, html, ranges } = snippet!
      const parts = html.split(/(<mark>|<\/mark>)/)
      const tags = parts.filter((_, at) => at % 2 === 1)
      expect(tags).toEqual(ranges.flatMap(() => ['<mark>', '</mark>']))
      const texts = parts.filter((_, at) => at % 2 === 0)
      for (const each of texts) expect(each).not.toMatch(/[<>"']|&(?!(?:amp|lt|gt|quot|#39);)/)
      expect(unescaped(texts.join(''))).toBe(text)
      expect(texts.filter((_, at) => at % 2 === 1).map(unescaped)).toEqual(
        ranges.map(([start, end]) => text.slice(start, end)),
      )
      let before = 0
      for (const [start, end] of ranges) {
        expect(start).toBeGreaterThanOrEqual(before)
        expect(end).toBeGreaterThan(start)
        before = end
      }
      marked += ranges.length
    }
  }
  expect(marked).toBeGreaterThan(500)
})

function unescaped(html: string): string {
  return html
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&')
}
