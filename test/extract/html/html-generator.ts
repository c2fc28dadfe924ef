/**
 * Makes up pages for the differential test: mostly what the web is made of, with a share of what breaks scanners.
 * Its documents stay within what a scanner without a tree can know; the rest is listed in the test, case by case.
 */

import type { Random } from '../../../src/time.js'

/** A page, made up from the numbers that `random` brings. */
export function generatePage(random: Random): string {
  return new PageMaker(random).page()
}

/**
 * A string of pieces of markup in no order at all: few of these are pages, but each is a walk through the tokenizer
 * that nobody would think of.
 */
export function generateSoup(random: Random): string {
  return Array.from({ length: 60 }, () => PIECES[Math.floor(random.next() * PIECES.length)]).join('')
}

// biome-ignore format: a list of pieces reads best as a block
const PIECES = [
  '<a', '<a ', '<a href=', ' href="', " href='x", ' href', 'rel=', ' rel="n" ', '</a>', '<area href=', '<link href=',
  '<base href=', '<iframe src=', '</iframe>', '<title>', '</title>', '</title', '<script>', '<script', '</script>', '</script ',
  '<style>', '</style>', '<textarea>', '</textarea>', '<xmp>', '</xmp>', '<!--', '-->', '--', '-', '--!>', '!', '<!', '<?', '</',
  '</ ', '<![CDATA[', ']]>', '<meta name=robots content=', '<meta http-equiv=refresh content="1;url=', '<', '>', '>', '>', '>', '"',
  '"', '"', "'", "'", '=', '=', '/', '/', ' ', ' ', '\n', '\r', '\t', '\0', '&', '&amp', '&lt;', ';', '&#', '38', 'x', 'y', 'z1',
  '<div', '<div>', '</div>', '<p>', '<path d=', '<noscript>', '</noscript>', '<b>', '</b>',
]

const WORDS = [
  'alpha',
  'beta',
  'gamma',
  'a < b',
  'x > y',
  '1 & 2',
  'AT&amp;T',
  'caf\u00e9',
  '\u65e5\u672c',
  "it's",
  '"so"',
]

const REFERENCES = [
  '&amp;',
  '&AMP',
  '&amp',
  '&lt;',
  '&gt',
  '&quot;',
  '&copy',
  '&copy;',
  '&copy=1',
  '&copyx',
  '&not',
  '&notit;',
  '&notin;',
  '&nbsp;',
  '&eacute;',
  '&Eacute',
  '&eacutE;',
  '&hellip;',
  '&fjlig;',
  '&NotEqualTilde;',
  '&#38;',
  '&#x26;',
  '&#X3d',
  '&#60',
  '&#0;',
  '&#128;',
  '&#x9f;',
  '&#x81;',
  '&#xD800;',
  '&#x110000;',
  '&#99999999999999999999;',
  '&#;',
  '&#x;',
  '&#xg',
  '&;',
  '&',
  '&&amp;',
  '&nosuch;',
  '&ampamp;',
  '&lt=',
  '&lt;=',
  '&CounterClockwiseContourIntegral;',
  '&#13;',
  '&#x1F600;',
  '&zwj;',
]

/** Element names that hold whatever they are given and that a tree builder leaves where they are. */
const CONTAINERS = [
  'div',
  'p',
  'span',
  'section',
  'ul',
  'li',
  'b',
  'article',
  'h2',
  'blockquote',
  'abbr',
  'frames',
  'basefoo',
]

const DETOURS = [
  '<!-- <a href=comment> -->',
  '<!--><a href=after-empty-comment>',
  '<!---><a href=after-dash>',
  '<!-- x --!><a href=bang>',
  '<!--!><a href=hidden>-->',
  '<!---!><a href=hidden>-->',
  '<!----!><a href=seen>',
  '<!-- -- > <a href=hidden> -->',
  '<!doctype html "><a href=after-doctype>">',
  '<!x <a href=in-bogus>',
  '<?php echo "<a href=php>" ?>',
  '</ <a href=end>',
  '</><a href=after-nothing>',
  '<![CDATA[<a href=in-cdata>]]>',
  '< a href=space>',
  '<1 <a href=digit>',
  '<<a href=double>',
  '</div title="><a href=in-end-tag>">',
  "</p a='>'>",
  '<a\0 href=nul-name>',
  '<a/href=slash>',
  '<A HREF=UPPER>',
  '<a\thref\n=\n"spread"\n>',
  '<a href=x/>',
  '<a href="x"rel="y">',
  "<a href=''>",
  '<a href>',
  '<a href=>',
  '<a href = >',
  '<a =href=x>',
  '<a "href=x>',
  '<a x="href=y" href=z>',
  '<a href=first href=second>',
  '<a HrEf=a hReF=b rel rel=c>',
  '<a href=a\0b>',
  '<a href="a\r\nb\rc">',
  '<a href=`x y`>',
  '<a href="<b>">',
  "<a x='\"' href=quote>",
  '<a hre href=x>',
  '<a a="b"="c>" href=odd>',
  '<a b =c d= e href=spaced>',
  '<a <b href=lt>',
  '<a href=x <b>',
  '<a href=x\fy>',
  '<abbr href=n>',
  '<a href="a&amp;b&copy;=c">',
  "<a href='a&copy=b'>",
  '<a href=a&lt>',
  '<a href="&#x2F;x&#47y">',
  '<svg/><title>t</title>',
]

const RAW = ['script', 'style', 'xmp', 'iframe', 'noembed', 'noframes', 'textarea', 'title']

const RAW_TEXTS = [
  '<a href=raw>',
  'if (a < b && c > d) {}',
  '<!-- <a href=raw> -->',
  '</scrip',
  '</ script>',
  '</scriptx>',
  '</styles>',
  '<!--',
  '-->',
  '<b>',
  '&amp; &lt',
  '</titles>',
  'a\0b',
  '\r\n',
  '  x  ',
  '</a>',
  '</',
  '<',
  '</textare>',
]

const SCRIPT_TEXTS = [
  '<!--<script>"</script>"-->',
  '<!-- <script x></script> <a href=raw> -->',
  '<!--<scriptx>',
  '<!-->',
  '<!--->',
  '<!--<script></script>',
  '<!--<script>-->',
  '<!-- --><script>',
  '<!--<SCRIPT/></SCRIPT>--> ',
  '<script>',
]

const METAS = [
  '<meta name=robots content=noindex>',
  '<META NAME="ROBOTS" CONTENT="nofollow, &amp;x">',
  '<meta name=robots>',
  '<meta charset=utf-8>',
  '<meta name=robots2 content=none>',
  '<meta http-equiv=refresh content="0;url=r1">',
  '<meta content="5; URL=\'r&amp;2\' x" http-equiv=Refresh>',
  '<meta http-equiv=refresh content=5>',
  '<meta http-equiv=refresh content="5;">',
  '<meta http-equiv=refresh content="x;url=no">',
  '<meta http-equiv=refresh content=" .5,r3">',
  '<meta http-equiv=refresh content="1 url = &quot;r4">',
  '<meta http-equiv=refresh content="1;urx=r5">',
  '<meta http-equiv="content-type" content="1;url=no">',
  '<meta name=robots content="">',
]

const FOREIGN = [
  '<svg><path d="M0 0"/></svg>',
  '<svg><title>icon<a href=svg-title></title><a href=svg-a rel=x><rect/></a></svg>',
  '<svg><style><a href=svg-style></style></svg>',
  '<svg><script><a href=svg-script></script></svg>',
  '<svg><![CDATA[<a href=in-cdata>]]></svg>',
  '<svg><desc><![CDATA[<a href=in-cdata>]]></desc></svg>',
  '<svg><foreignObject><div><![CDATA[<a href=not-cdata>]]></div></foreignObject></svg>',
  '<svg><foreignObject><iframe src=fo><a href=raw></iframe></foreignObject><a href=svg-after></a></svg>',
  '<svg><link href=svg-link><base href=svg-base><area href=svg-area><iframe src=svg-frame><a href=svg-in></a></svg>',
  '<svg><g><div><a href=broken-out></a></div>',
  '<div><svg></div><style><a href=raw></style>',
  '<svg><p>',
  '<svg><textarea><a href=svg-textarea></a></textarea></svg>',
  '<svg><svg><title>x</title></svg><style><a href=svg-2></style></svg>',
  '<svg><font><a href=f1></a></font></svg>',
  '<svg><font color=red><title>t</title></font>',
  '<svg></p><style><a href=raw></style>',
  '<svg><title/><style><a href=s3></style></svg>',
  '<math><mi><a href=math-a></a><style><a href=raw></style></mi><style><a href=math-style></style></math>',
  '<math><mtext><svg><style><a href=m-svg></style></svg></mtext></math>',
  '<math><title><a href=math-title></a></title></math>',
  '<math><annotation-xml encoding="text/html"><style><a href=raw></style></annotation-xml></math>',
  '<math><annotation-xml><style><a href=annotation></style></annotation-xml></math>',
  '<math><annotation-xml><svg><desc><style><a href=raw></style></desc></svg></annotation-xml></math>',
  '<svg><a xlink:href="x"></a></svg>',
  '<svg><a XLink:Href=x rel=r href=y></a><a href xlink:href=z></a><g><a xlink:href=1 xlink:href=2></g></svg>',
  '<a xlink:href=no></a><svg><desc><a xlink:href=no></a></desc></svg>',
  '<math><a xlink:href=no></a></math>',
  '<math/><style><a href=raw></style>',
  '<svg><meta name=robots content=in-svg>',
]

const ENDINGS = [
  '',
  '',
  '',
  '<a href=unterminated',
  '<a href="unterminated>',
  '<!-- <a href=x>',
  '<script><a href=x>',
  '<title>open &amp; on',
  '<title>cut</title',
  '<title>cut</title ',
  '</',
  '<',
  '<a',
  '<!',
  '<!-',
  '<?x',
  '<plaintext><a href=plain></plaintext>',
  '<xmp><a href=x></xmp',
  '<svg><![CDATA[ <a href=x>',
  '<style><a href=x></style x="',
  '<script><!--<script></script><a href=x>',
]

const SPACES = [' ', ' ', ' ', ' ', '\n', '\t', '  ', '\f', '\r\n', '/', ' / ']

class PageMaker {
  private readonly random: Random

  constructor(random: Random) {
    this.random = random
  }

  page(): string {
    const head = this.chance(0.5) ? this.head() : ''
    const body = Array.from({ length: this.below(30) }, () => this.node(0)).join('')
    return `${this.chance(0.5) ? '<!DOCTYPE html>' : ''}${head}${body}${this.pick(ENDINGS)}`
  }

  private head(): string {
    const parts = Array.from({ length: this.below(5) }, () =>
      this.pick([
        () => `<title>${this.text()}</title>`,
        () => `<base${this.attributes(['href', 'target'])}>`,
        () => `<link${this.attributes(['href', 'rel', 'type'])}>`,
        () => this.pick(METAS),
        () => `<noscript><link${this.attributes(['href', 'rel'])}></noscript>`,
        () => this.raw(),
      ])(),
    )
    return `<html><head>${parts.join('\n')}</head><body>`
  }

  private node(depth: number): string {
    const roll = this.random.next()
    if (roll < 0.25) return this.text()
    if (roll < 0.45) return `<a${this.attributes(['href', 'rel', 'class', 'title'])}>${this.text()}</a>`
    if (roll < 0.65 && depth < 5) {
      const name = this.cased(this.pick(CONTAINERS))
      const inside = Array.from({ length: this.below(4) }, () => this.node(depth + 1)).join('')
      return `<${name}${this.attributes(['class', 'id', 'title', 'href'])}>${inside}</${name}>`
    }
    if (roll < 0.72) return this.pick(DETOURS)
    if (roll < 0.77) return this.raw()
    if (roll < 0.82) return this.pick(FOREIGN)
    if (roll < 0.86) return this.pick(METAS)
    if (roll < 0.9)
      return `<${this.cased(this.pick(['area', 'link', 'base']))}${this.attributes(['href', 'rel'])}>`
    if (roll < 0.93) return `<img${this.attributes(['src', 'alt', 'href'])}>`
    if (roll < 0.96) return `<template>${this.node(depth + 1)}${this.node(depth + 1)}</template>`
    return `<noscript>${this.node(depth + 1)}</noscript>`
  }

  private raw(): string {
    const name = this.pick(RAW)
    const texts = name === 'script' ? [...RAW_TEXTS, ...SCRIPT_TEXTS] : RAW_TEXTS
    const text = Array.from({ length: this.below(4) }, () => this.pick(texts)).join('')
    const attributes = this.attributes(name === 'iframe' ? ['src', 'title'] : ['type', 'class'])
    return `<${this.cased(name)}${attributes}>${text}</${this.cased(name)}${this.pick(['', '', ' ', '\n', '/', ' x=">"'])}>`
  }

  private attributes(names: readonly string[]): string {
    let written = ''
    for (let count = this.below(4); count > 0; count--) {
      written += this.pick(SPACES) + this.cased(this.pick(names)) + this.value()
    }
    return written + (this.chance(0.1) ? this.pick([' ', '/', ' /', '\n']) : '')
  }

  private value(): string {
    const equals = this.chance(0.9) ? '=' : this.pick([' =', '= ', '\n=\t'])
    const text = Array.from({ length: this.below(4) }, () => this.valuePart()).join('')
    const roll = this.random.next()
    if (roll < 0.05) return ''
    if (roll < 0.55) return `${equals}"${text.replaceAll('"', '')}"`
    if (roll < 0.8) return `${equals}'${text.replaceAll("'", '')}'`
    return equals + text.replaceAll(/[\s>"']/g, '')
  }

  private valuePart(): string {
    const roll = this.random.next()
    if (roll < 0.6)
      return this.pick(['/path', 'page', '?q=1', '&b=2', '#top', 'https://h.example/', '.', '0'])
    if (roll < 0.8) return this.pick(REFERENCES)
    return this.pick([
      '<b>',
      '>',
      ' ',
      '\n',
      '\r\n',
      '\t',
      '\0',
      '"',
      "'",
      '`',
      '=',
      '/',
      '<a href=in-value>',
      '\u00e9',
      '-->',
    ])
  }

  private text(): string {
    return Array.from({ length: this.below(3) + 1 }, () =>
      this.pick(this.chance(0.2) ? REFERENCES : WORDS),
    ).join(' ')
  }

  private cased(name: string): string {
    if (this.chance(0.9)) return name
    return Array.from(name, (letter) => (this.chance(0.5) ? letter.toUpperCase() : letter)).join('')
  }

  private pick<T>(choices: readonly T[]): T {
    return choices[this.below(choices.length)]!
  }

  private below(limit: number): number {
    return Math.floor(this.random.next() * limit)
  }

  private chance(share: number): boolean {
    return this.random.next() < share
  }
}
