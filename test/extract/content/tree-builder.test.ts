import { describe, expect, it } from 'vitest'
import type { ContentElement } from '../../../src/extract/content/tree.js'
import { buildTree } from '../../../src/extract/content/tree-builder.js'

const tree = (html: string) => buildTree(html, 'page.main', 'https://example.com/')

/** Elements as `tag(…)`, texts in quotes. */
function shape({ children }: ContentElement): string {
  return children
    .map((child) => (typeof child === 'string' ? `'${child}'` : `${child.tag}(${shape(child)})`))
    .join(' ')
}

describe('buildTree', () => {
  const SHAPES: [html: string, shape: string][] = [
    ['<p>a<p>b', "p('a') p('b')"],
    ['<p>a<b>b</p>c', "p('a' b('b')) 'c'"],
    ['<ul><li>a<li>b<ul><li>c</ul><li>d</ul>', "ul(li('a') li('b' ul(li('c'))) li('d'))"],
    ['<dl><dt>a<dd>b<dt>c</dl>', "dl(dt('a') dd('b') dt('c'))"],
    ['<table><tr><td>1<td>2<tr><th>3</table>x', "table(tr(td('1') td('2')) tr(th('3'))) 'x'"],
    ['<table><tr><td></div>a</table>', "table(tr(td('a')))"],
    ['<div><span>a</div>b', "div(span('a')) 'b'"],
    ['<div>a</span>b</div>', "div('ab')"],
    ['a<br/>b<img src=x>c', "'a' br() 'b' img() 'c'"],
    ['<h2>a<h3>b</h2>c', "h2('a') h3('b') 'c'"],
    ['<svg><path d="x"/><text>t</text></svg>a', "svg(path() text('t')) 'a'"],
    ['<svg><g><p>a', "svg(g()) p('a')"],
    ['<a>x<a>y', "a('x') a('y')"],
    ['<pre>\n a\n</pre>', "pre(' a\n')"],
    ['&lt;b&gt; &eacute;&#33;<!-- no -->!', "'<b> é!!'"],
    ['<script>x<p></script><style>y</style><textarea><p></textarea>', "textarea('<p>')"],
    ['<script type="application/ld+json">{"a":"</p>"}</script>', 'script(\'{"a":"</p>"}\')'],
    ['<head><title>T</title><p>a</p></head>', "head(title('T')) p('a')"],
    ['<body><body class=x>a</body>b', "body('ab')"],
  ]
  it.for(SHAPES)('reads %s', ([html, expected]) => {
    expect(shape(tree(html))).toBe(expected)
  })

  it('reads attributes', () => {
    const [element] = tree(`<P ID=a  class="b &amp; c" hidden data-X='1"2' id=second>`).children
    const { attributes } = element as ContentElement
    expect(attributes).toEqual(['id', 'a', 'class', 'b & c', 'hidden', '', 'data-x', '1"2', 'id', 'second'])
    expect((element as ContentElement).attribute('id')).toBe('a')
  })

  it('does not nest elements without end', () => {
    const html = `${'<div>'.repeat(100_000)}deep${'</div>'.repeat(100_000)}<p>after`
    let depth = 0
    let element: ContentElement | undefined = tree(html)
    while (element !== undefined) {
      depth++
      element = element.children.find((child): child is ContentElement => typeof child === 'object')
    }
    expect(depth).toBeLessThan(520)
    expect(shape(tree(html)).endsWith("p('after')")).toBe(true)
  })

  it.for([
    ['elements', '<br>'.repeat(250_001), '250000 elements and texts'],
    ['characters', 'x'.repeat(2 ** 23 + 1), '8388608 characters'],
  ] as const)('rejects a page with too many %s', ([, html, bound]) => {
    expect(() => tree(html)).toThrow(
      expect.objectContaining({
        code: 'KUMO_NO_DOCUMENT',
        message: `page.main: https://example.com/ has more than ${bound}, which is too large for a tree; use page.links, page.text or page.body`,
      }),
    )
  })
})
