import { describe, expect, it } from 'vitest'
import { readableText } from '../../../src/extract/html/text.js'

const CASES: [what: string, html: string, text: string][] = [
  ['nothing', '', ''],
  ['plain text', 'Tea', 'Tea'],
  ['white space', '  Tea \n\t for   two ', 'Tea for two'],
  ['white space and tags only', ' <p> </p>\n<div></div>', ''],

  ['blocks end lines', '<h1>Menu</h1><p>Tea</p><p>Coffee', 'Menu\nTea\nCoffee'],
  ['a block within a block ends a line', '<div>a<div>b</div>c</div>', 'a\nb\nc'],
  ['inline elements do not', 'a <b>bold</b> <a href="x">wo<i>r</i>d</a>.', 'a bold word.'],
  ['inline elements do not, in capitals', 'H<SUB>2</SUB>O', 'H2O'],
  ['br ends a line', 'one<br>two<br/>three', 'one\ntwo\nthree'],
  ['items and cells', '<ul><li>a<li>b</ul><table><tr><td>c<td>d</table>', 'a\nb\nc\nd'],
  [
    'pre keeps its lines',
    '<p>See</p><pre>\n  a\n\tb\n\n    c  \n</pre><p>end',
    'See\n  a\n\tb\n\n    c\nend',
  ],
  [
    'pre with markup',
    '<pre>if <b>x</b>:<br>  <i>  y</i>&nbsp;&amp;&#10;z\r\nw\rv</pre>',
    'if x:\n    y &\nz\nw\nv',
  ],
  ['pre with blocks', '<pre><div>a  b</div><div>c</div>\n</pre>d', 'a  b\nc\nd'],
  ['pre within pre', '<pre>a<pre> b</pre> c</pre>  d  e', 'a\n b\n c\nd e'],
  ['pre of nothing', 'a<pre> \n </pre>b', 'a\nb'],
  ['pre without an end', 'a<pre>b\n c  ', 'a\nb\n c'],
  ['code outside pre', '<code>a   b</code>', 'a b'],
  ['an unknown element ends a line', 'a<x-y>b</x-y>', 'a\nb'],

  ['entities', 'Fish &amp; chips &lt;5 &euro;', 'Fish & chips <5 €'],
  ['entities that look like tags', '&lt;b&gt;no tag', '<b>no tag'],
  ['numbers', '&#8364;&#x41;&#150;', '€A–'],
  ['no-break spaces', 'a&nbsp;&nbsp;b', 'a b'],
  ['an ampersand alone', 'R&D & co', 'R&D & co'],

  ['scripts', 'a<script>if (b < c) "</p>"</script>d', 'a\nd'],
  ['scripts in capitals', 'a<SCRIPT>b</SCRIPT >c', 'a\nc'],
  ['a script within an old comment', 'a<script><!-- <script>x</script> y --></script>b', 'a\nb'],
  ['a script without an end', 'a<script>b<p>c', 'a'],
  ['styles', '<style>p > a { color: red }</style>b', 'b'],
  ['titles and text areas', '<title>T &amp; t</title><textarea>x</textarea>b', 'b'],
  ['noscript is read: scripts do not run here', '<noscript>Hello</noscript>', 'Hello'],
  ['an element whose name begins like script', '<scripty>a</scripty>', 'a'],

  ['comments', 'a<!-- b -->c', 'ac'],
  ['a comment with a tag', 'a<!-- <p> > -->c', 'ac'],
  ['short comments', 'a<!-->b<!--->c', 'abc'],
  ['a comment without an end', 'a<!-- b', 'a'],
  ['a doctype', '<!doctype html>a', 'a'],
  ['a processing instruction', '<?xml version="1.0"?>a', 'a'],
  ['a comment that begins like an end tag', 'a</ b "> c', 'a c'],
  ['an end tag without a name', 'a</>b', 'ab'],

  ['an unterminated tag', 'a<p class="x', 'a'],
  ['an unterminated tag with a quoted >', 'a<p title=">">b<p title=">', 'a\nb'],
  ['an attribute with markup in it', '<p title="<b>no</b>">yes', 'yes'],
  ['an unterminated end tag', 'a</p', 'a'],
  ['an unterminated declaration', 'a<!doctype', 'a'],

  ['< as text', '1 < 2', '1 < 2'],
  ['< before a digit', 'a <3 b', 'a <3 b'],
  ['< twice', 'a <<b>c</b>', 'a <c'],
  ['< at the end', 'a <', 'a <'],
  ['> as text', '2 > 1', '2 > 1'],
]

describe('readableText', () => {
  it.for(CASES)('%s', ([, html, text]) => {
    expect(readableText(html)).toBe(text)
  })

  it('takes time in proportion to the page, whatever it contains', () => {
    const time = (html: string) => {
      const start = process.cpuUsage()
      readableText(html)
      const { user, system } = process.cpuUsage(start)
      return (user + system) / 1000
    }
    // 2 MB each. If any were quadratic, it would take minutes.
    for (const piece of ['<', '</', '<!--', '<p title="', '&', '<script>', '<style></', '<a b=c ', '<!-']) {
      expect(time(piece.repeat(2_000_000 / piece.length)), piece).toBeLessThan(5000)
    }
  })
})
