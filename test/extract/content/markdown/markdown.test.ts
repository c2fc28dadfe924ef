/** What Markdown is written, and that a renderer shows the same text as the page. */

import MarkdownIt from 'markdown-it'
import { describe, expect, it } from 'vitest'
import { articles } from '../../../../bench/content-measure.js'
import { findMain } from '../../../../src/extract/content/main.js'
import { markdownOf } from '../../../../src/extract/content/markdown/markdown.js'
import { buildTree } from '../../../../src/extract/content/tree-builder.js'
import { readableTextOf } from '../../../../src/extract/content/tree-text.js'
import { sample } from '../../../thorough.js'

const tree = (html: string) => buildTree(html, 'page.markdown', 'https://example.com/')
const markdown = (html: string) => markdownOf(tree(html), 'https://example.com/dir/page')
const renderer = new MarkdownIt({ html: true })

/** Words of a text; quotes and bullets are added where HTML has them in its style. */
const words = (text: string) => text.replace(/[“”•]/g, '').split(/\s+/).filter(Boolean)

const BLOCKS: [what: string, html: string, markdown: string][] = [
  ['headings', '<h1>A</h1><h3>B <em>c</em></h3><h6>C #</h6>', '# A\n\n### B *c*\n\n###### C \\#'],
  ['paragraphs', '<p> a\n b</p>c<div>d<div>e</div></div>', 'a b\n\nc\n\nd\n\ne'],
  ['line breaks', '<p>a<br>b<br><br>c', 'a  \nb  \nc'],
  ['lists', '<ul><li>a<li><p>b</p><ul><li>c</ul><li>d</ul>e', '- a\n- b\n  - c\n- d\n\ne'],
  ['numbered lists', '<ol start=9><li>a<ol><li>b</ol><li>c</ol>', '9. a\n   1. b\n10. c'],
  ['items with blocks', '<ul><li><p>a</p><p>b</p><li>c</ul>', '- a\n\n  b\n\n- c'],
  ['empty items', '<ul><li></li><li>a</ul><ul><li></ul>', '- a'],
  [
    'task lists',
    '<ul><li><input type=checkbox checked> a<li><label><input type=checkbox> b</label></ul>',
    '- [x] a\n- [ ] b',
  ],
  ['quotes', '<blockquote><p>a<p>b<ul><li>c</ul></blockquote>d', '> a\n>\n> b\n>\n> - c\n\nd'],
  ['code', '<pre><code class="hljs language-js">a\n  <b>b</b>\n</code></pre>', '```js\na\n  b\n```'],
  ['code with fences', '<pre>```\nx\n```</pre>', '````\n```\nx\n```\n````'],
  [
    'code by Sphinx',
    '<div class="highlight-python3 notranslate"><div class="highlight"><pre><span></span>x</pre></div></div>',
    '```python3\nx\n```',
  ],
  ['code by GitHub', '<div class="highlight highlight-source-shell"><pre>x</pre></div>', '```shell\nx\n```'],
  [
    'code with line numbers',
    '<table><tr><td class="linenos"><pre>1</pre><td class="code"><pre data-lang="go">x</pre></table>',
    '```go\nx\n```',
  ],
  ['code in an item', '<ul><li>a<pre>b\n\nc</pre></ul>', '- a\n\n  ```\n  b\n\n  c\n  ```'],
  [
    'tables',
    '<table><tr><th>a<th align=right>b|c<tr><td>1<br>2<td><code>x|y</code></table>',
    '| a | b\\|c |\n| --- | ---: |\n| 1<br>2 | `x\\|y` |',
  ],
  [
    'tables without a header',
    '<table><tr><td>a<td>b<tr><td rowspan=2>c<td>d<tr><td>e</table>',
    '|  |  |\n| --- | --- |\n| a | b |\n| c | d |\n|  | e |',
  ],
  [
    'captions of tables',
    '<table><caption>T</caption><thead><tr><td>a<td>b</thead><tr><td colspan=2>c</table>',
    '*T*\n\n| a | b |\n| --- | --- |\n| c |  |',
  ],
  ['tables for layout', '<table><tr><td><h2>a</h2>b<td><ul><li>c</ul></table>', '## a\n\nb\n\n- c'],
  [
    'definitions',
    '<dl><dt>a<dt>b<dd>c<dd><p>d</p><dt class="sig">f(*x)<dd>g</dl>',
    '- **a**  \n  **b**\n\n  c\n\n  d\n\n- `f(*x)`\n\n  g',
  ],
  ['details', '<details><summary>a</summary>b</details>', '**a**\n\nb'],
  [
    'figures',
    '<figure><img src=/a.png alt="a [b]"><figcaption>c</figcaption></figure>',
    '![a \\[b\\]](https://example.com/a.png)\n\n*c*',
  ],
  ['rules', 'a<hr>b', 'a\n\n---\n\nb'],
  ['cards', '<a href=/x><h3>a</h3><p>b</p></a>', '### [a](https://example.com/x)\n\nb'],
]

const INLINE: [html: string, markdown: string][] = [
  ['<b>a</b> <i> b </i>c <del>d</del>', '**a** *b* c ~~d~~'],
  ['<b><strong>a</strong></b><b>b</b>', '**ab**'],
  ['x<b>「a」</b>y', 'x<strong>「a」</strong>y'],
  ['<a href="../x y?(z)#f">a [b]</a>', '[a \\[b\\]](https://example.com/x%20y?\\(z\\)#f)'],
  ['<a href="javascript:x()">a</a> <a>b</a> <a href="http://[">c</a>', 'a b c'],
  ['wow!<a href=b>c</a>', 'wow\\![c](https://example.com/dir/b)'],
  ['<a href=/a><img src=b.png alt=c></a>', '[![c](https://example.com/dir/b.png)](https://example.com/a)'],
  [
    '<img src="data:image/gif;base64,x" data-src="/l.png"><img src=p.gif width=1>',
    '![](https://example.com/l.png)',
  ],
  [
    '<code>a`b</code> <kbd> ` </kbd> <code><a href=/x>c</a></code>',
    '``a`b`` `` ` `` [`c`](https://example.com/x)',
  ],
  ['x<sup>2</sup><sup><a href="#1">1</a></sup>', 'x<sup>2</sup>[1](https://example.com/dir/page#1)'],
  ['<math><mi>x</mi><annotation encoding="application/x-tex">x^2</annotation></math>', '$x^2$'],
  ['snake_case 2 * 3 [1] a\\b', 'snake_case 2 * 3 [1] a\\b'],
  [
    '__init__ *a* `b` &lt;i> &amp;amp; [a](b) ~~c~~',
    '\\_\\_init\\_\\_ \\*a\\* \\`b\\` \\<i> \\&amp; \\[a\\](b) \\~\\~c\\~\\~',
  ],
  ['# a', '\\# a'],
  ['1. a<br>- b<br>+ c<br>> d', '1\\. a  \n\\- b  \n\\+ c  \n\\> d'],
]

describe('markdownOf', () => {
  it.for(BLOCKS)('writes %s', ([, html, expected]) => {
    expect(markdown(html)).toBe(expected)
  })

  it.for(INLINE)('writes %s', ([html, expected]) => {
    expect(markdown(html)).toBe(expected)
  })

  it.for([...BLOCKS.map(([, html]) => html), ...INLINE.map(([html]) => html)])(
    'renders to the text of %s',
    (html) => {
      if (/<input|<annotation|linenos/.test(html)) return
      const rendered = renderer.render(markdown(html))
      expect(words(readableTextOf(tree(rendered))).join('')).toBe(words(readableTextOf(tree(html))).join(''))
    },
  )

  const ARTICLES = articles()
  it.skipIf(ARTICLES === undefined)('renders to the text of real pages (skipped without ../shared)', () => {
    for (const { html, url } of sample(ARTICLES!, 10)) {
      const { root } = findMain(tree(html))
      const rendered = readableTextOf(tree(renderer.render(markdownOf(root, url))))
      expect(words(rendered).sort()).toEqual(words(readableTextOf(root)).sort())
    }
  })
})
