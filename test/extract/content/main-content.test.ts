/** What is found on small pages, on the articles of the content suite and on pages of a manual. */

import { describe, expect, it } from 'vitest'
import { articles, scoreOf, shinglesOf, tally } from '../../../bench/content-measure.js'
import { manualPages } from '../../../bench/content-pages.js'
import { mainContent } from '../../../src/extract/content/index.js'
import { isThorough, sample } from '../../thorough.js'

const SENTENCE = 'It was a bright cold day in April, and the clocks were striking thirteen.'
const paragraphs = (count: number) =>
  Array.from({ length: count }, (_, n) => `<p>${n}: ${SENTENCE}</p>`).join('\n')
const text = (html: string) => mainContent(html).text

const NAVIGATION = `<header><a href=/>Logo</a></header><nav><ul><li><a href=/a>Section</a></ul></nav>
  <div class="menu-wrapper"><a href=/b>Menu</a></div>`
const AROUND = `<div id="comments"><p>Comment: ${SENTENCE}</p></div><div class="related-posts"><p>Related: ${SENTENCE}</p></div>
  <div class="cookie-banner">We use cookies, and hope that you agree with it.</div><footer>Imprint and copyright</footer>`

describe('mainContent', () => {
  it('leaves out what stands around an article', () => {
    const html = `<title>Clocks - Site</title><meta property="og:type" content="article"><body>${NAVIGATION}
      <div class="x"><h1>Clocks</h1><div class="byline">By someone</div><div class="y">${paragraphs(4)}
      <figure><img src=a.png><figcaption>Caption</figcaption></figure>
      <h3>Read more</h3><ul><li><a href=/1>Another article</a><li><a href=/2>One more article</a></ul></div></div>${AROUND}`
    const { text, markdown } = mainContent(html)
    expect(text.split('\n')).toEqual([0, 1, 2, 3].map((n) => `${n}: ${SENTENCE}`))
    expect(markdown).toMatch(/^# Clocks\n\n0: It was/)
    expect(markdown).toContain('*Caption*')
    expect(markdown).not.toMatch(/Read more|Another|Comment|Related|cookies|Imprint|Menu|Logo|someone/)
  })

  it('keeps lists of links, tables, definitions and notes of a manual', () => {
    const html = `<body>${NAVIGATION}<main><h1>Manual</h1><p>${SENTENCE}</p><ul><li><a href=/1>Chapter one</a></ul>
      <section id="comments"><h2>Comments in code</h2><pre># a <span class="comment">note</span></pre></section>
      <dl><dt>term<dd>meaning</dl><aside class="sidebar"><p>Note: ${SENTENCE}</p><p>${SENTENCE}</p></aside>
      <table><tr><td>1<td>2</table></main>${AROUND}`
    const lines = text(html).split('\n')
    const kept = ['Manual', SENTENCE, 'Chapter one', 'Comments in code', '# a note', 'term', 'meaning']
    expect(lines).toEqual([...kept, `Note: ${SENTENCE}`, SENTENCE, '1\t2'])
  })

  it('keeps an index, which is nothing but links', () => {
    const items = Array.from({ length: 30 }, (_, n) => `<li><a href=/${n}>Entry number ${n}</a>`).join('')
    const html = `<body>${NAVIGATION}<div role="main"><h1>Index</h1><ul>${items}</ul></div><footer>f</footer>`
    expect(text(html).split('\n')).toHaveLength(31)
  })

  it.for([
    ['a name that excludes all', `<div class="sidebar">${paragraphs(5)}</div>`],
    ['content in a form', `<form><div>${paragraphs(5)}</div></form>`],
    ['content that a script would show', `<body><div style="display:none">${paragraphs(5)}</div>`],
    [
      'content in an aside of an article',
      `<meta property="og:type" content="article"><aside>${paragraphs(5)}</aside>`,
    ],
    ['no body', paragraphs(5)],
    ['one text', SENTENCE],
  ] as const)('finds something in a page with %s', ([, html]) => {
    expect(text(html)).toContain(SENTENCE)
  })

  it('is empty for a page without text', () => {
    expect([mainContent(''), mainContent('<nav></nav><script>x</script>')]).toEqual(
      [0, 1].map(() => ({ text: '', markdown: '' })),
    )
  })

  it('resolves links against the URL and the base of the page', () => {
    const html = '<base href="/dir/"><main><p>Some text with <a href="x?y#z">a link</a>'
    expect(mainContent(html, { url: 'https://example.com/' }).markdown).toBe(
      'Some text with [a link](https://example.com/dir/x?y#z)',
    )
    expect(mainContent(html).markdown).toBe('Some text with [a link](x?y#z)')
  })

  it('rejects what is not HTML or not a URL', () => {
    const code = 'KUMO_INVALID_OPTION'
    expect(() => mainContent(5 as never)).toThrow(expect.objectContaining({ code }))
    expect(() => mainContent('', { url: '/a' })).toThrow(expect.objectContaining({ code }))
  })

  const HOSTILE: [what: string, html: string][] = [
    ['100,000 nested elements', `${'<div>'.repeat(100_000)}${SENTENCE}`],
    ['100,000 nested lists', `${'<ul><li>'.repeat(100_000)}${SENTENCE}`],
    ['100,000 nested quotes', `${'<blockquote><p>'.repeat(100_000)}${SENTENCE}`],
    ['100,000 nested bold texts', `${'<b>'.repeat(100_000)}${SENTENCE}`],
    ['5 MB of blank lines in code', `<pre>${'\n'.repeat(5_000_000)}${SENTENCE}</pre>`],
    ['3 MB of asterisks', `<p>${'*_'.repeat(1_500_000)}${SENTENCE}`],
    [
      'a cell that spans a million columns',
      `<table><tr><td rowspan=9999999 colspan=9999999>${SENTENCE}<td>x</table>`,
    ],
  ]
  it.for(HOSTILE)('survives %s', ([, html]) => {
    const { text, markdown } = mainContent(html)
    expect(text).toContain(SENTENCE)
    expect(markdown).toContain('striking thirteen')
    expect(markdown.length).toBeLessThan(2 * html.length + 1000)
  })
})

const ARTICLES = articles()

describe.skipIf(ARTICLES === undefined)('suites (skipped where ../shared is absent)', () => {
  it('finds the articles', () => {
    const tallies = sample(ARTICLES!, 20).map(({ html, url, articleBody }) =>
      tally(shinglesOf(articleBody), shinglesOf(mainContent(html, { url }).text)),
    )
    expect(scoreOf(tallies).f1).toBeGreaterThan(0.97)
  })

  it('keeps the body of a manual', () => {
    const pages = manualPages(isThorough ? 1 : 25)
    const tallies = pages.map(({ html, body }) => tally(shinglesOf(body), shinglesOf(mainContent(html).text)))
    expect(tallies.length).toBeGreaterThan(15)
    expect(scoreOf(tallies).recall).toBeGreaterThan(0.98)
  })
})
