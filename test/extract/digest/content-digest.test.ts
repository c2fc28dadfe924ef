import { describe, expect, it } from 'vitest'
import { pageOf } from '../../../src/conformance/page.js'
import { contentDigest } from '../../../src/extract/digest/content-digest.js'
import { seededRandom } from '../../../src/time.js'
import { HOSTILE_PAGES } from '../../hostile/pages.js'

const digest = (body: string | Uint8Array, contentType = 'text/html; charset=utf-8') =>
  contentDigest(pageOf({ url: 'https://example.com/a/b', body, headers: { 'content-type': contentType } }))

const SAME: [what: string, one: string, other: string][] = [
  ['white space', '<p>Tea  for\n two', '<p>\t Tea for two '],
  ['white space between tags', '<ul><li>a</li><li>b</li></ul>', '<ul>\n  <li>a</li>\n  <li>b</li>\n</ul>\n'],
  ['no-break spaces', '<p>a&nbsp;b', '<p>a b'],
  ['ways to write a character', '<p>&eacute; &#38; &lt;', '<p>\u00e9 &amp; &#60;'],
  ['layout', '<div>a</div><div>b</div>', '<p>a<p>b'],
  ['emphasis', '<p>a <b>b</b>', '<p>a <strong>b</strong>'],
  ['case of tags', '<P>a<A HREF="/x">b</A>', '<p>a<a href="/x">b</a>'],
  ['comments', '<p>a<!-- Generated at 2024-05-01 12:00:01 -->', '<p>a<!-- rendered in 0.123 s -->'],
  ['a comment within a word', '<p>won<!-- 1 -->der', '<p>wonder'],
  ['scripts', '<p>a<script nonce="x">var t = 1</script>', '<p>a<script nonce="y">var t = 2</script>'],
  ['a script within a word', '<p>won<script>1</script>der', '<p>wonder'],
  [
    'addresses of scripts',
    '<script src="/app.1f.js" integrity="sha-1"></script>',
    '<script src="/app.2e.js"></script>',
  ],
  ['styles', '<style>p{color:red}</style><p>a', '<style>p{color:blue}</style><p>a'],
  ['style sheets', '<link rel=stylesheet href="/a.css?v=1"><p>a', '<link rel=stylesheet href="/b.css"><p>a'],
  ['hints and icons', '<link rel="shortcut icon" href=/a.ico><link rel=preload href=/x>a', 'a'],
  ['templates', '<p>a<template><p>b<a href=/x></template>', '<p>a<template><p>c</template>'],
  [
    'hidden inputs',
    '<form><input type=hidden name=csrf value=1>',
    '<form><input type=hidden name=csrf value=2>',
  ],
  ['what is to be typed', '<input name=q value="2024-05-01">', '<input name=q value="2024-05-02">'],
  ['attributes', '<p class=a id=b style="c" data-time=1>x', '<p class=d id=e data-time=2>x'],
  ['attributes of links', '<a href=/x id=1 data-ved=a rel=nofollow>x</a>', '<a data-ved=b href="/x">x</a>'],
  ['tokens in meta', '<meta name="csrf-token" content="a"><p>x', '<meta name="csrf-token" content="b"><p>x'],
  ['text areas', '<textarea>a</textarea>', '<textarea>b</textarea>'],
  ['sessions in links', '<a href="/a;jsessionid=1F">', '<a href="/a;jsessionid=2E">'],
  ['sessions in queries', '<a href="/a?id=1&amp;PHPSESSID=1F">', '<a href="/a?PHPSESSID=2E&id=1">'],
  ['tracking', '<a href="/a?utm_source=x&gclid=1">', '<a href="/a">'],
  ['tokens in links', '<a href="/a?_wpnonce=1&token=2&csrf_token=3&sid=4">', '<a href="/a?token=7">'],
  ['cache busters', '<img src="/a.png?v=1.2.3&_=99">', '<img src="/a.png?v=1.2.4&_=98">'],
  ['versions', '<img src="/a.png?ver=3fa9c01">', '<img src="/a.png?ver=77b0e12">'],
  ['times in links', '<a href="/a?t=1700000000">', '<a href="/a?t=1700000300123">'],
  [
    'signed addresses',
    '<img src="/a.png?X-Amz-Date=1&X-Amz-Signature=2">',
    '<img src="/a.png?X-Amz-Date=3">',
  ],
  ['fragments', '<a href="/a#react-1">', '<a href="/a#react-2">'],
  [
    'hidden mail',
    '<a href="/cdn-cgi/l/email-protection#a1b2">',
    '<a href="/cdn-cgi/l/email-protection#c3d4">',
  ],
  [
    'hidden mail in the path',
    '<a href="/cdn-cgi/l/email-protection/a1?x">',
    '<a href="/cdn-cgi/l/email-protection">',
  ],
  [
    'time since',
    '<p>by Ann, <time datetime="2024-05-01">3 <b>minutes</b> ago</time>.',
    '<p>by Ann, <time datetime="2024-05-01">1 hour ago</time>.',
  ],
  ['links of scripts', '<a href="javascript:go(1)">x</a>', '<a href="javascript:go(2)">x</a>'],
  ['white space in addresses', '<a href=" /a\n">', '<a href="/a">'],
  ['entities in addresses', '<a href="/a?b=1&amp;c=2">', '<a href="/a?b=1&c=2">'],
  ['a frame that cannot be shown', '<iframe src=/x>no <b>frames</iframe>a', '<iframe src=/x></iframe>a'],
  ['drawings', '<svg><style/><path d="M1"/></svg>x', '<svg><style/><path d="M2"/></svg>x'],
]

const DIFFERENT: [what: string, one: string, other: string][] = [
  ['a price', '<p>Tea: 4.50', '<p>Tea: 4.60'],
  ['a word', '<p>Tea for two', '<p>Tea for ten'],
  ['two words and one', '<p>now here', '<p>nowhere'],
  ['two paragraphs and one word', '<p>now</p><p>here</p>', '<p>nowhere</p>'],
  ['order', '<p>a</p><p>b</p>', '<p>b</p><p>a</p>'],
  ['the title', '<title>Tea</title><p>x', '<title>Coffee</title><p>x'],
  ['a title with markup', '<title>Tea <b></title><p>x', '<title>Tea <i></title><p>x'],
  ['a link more', '<a href=/a>x</a>', '<a href=/a>x</a><a href=/b></a>'],
  ['where a link leads', '<a href=/a>x</a>', '<a href=/b>x</a>'],
  ['where a link without quotes leads', '<a class=x href=/a>x</a>', '<a class=x href=/b>x</a>'],
  ['two links that swap', '<a href=/a>x</a><a href=/b>y</a>', '<a href=/b>x</a><a href=/a>y</a>'],
  ['which page of a list', '<a href="/a?page=1">', '<a href="/a?page=2">'],
  ['which film', '<a href="/watch?v=dQw4w9WgXcQ">', '<a href="/watch?v=oHg5SJYRHA0">'],
  ['how far into it', '<a href="/watch?t=90">', '<a href="/watch?t=120">'],
  ['parameters of the path', '<a href="/a;colour=red">', '<a href="/a;colour=blue">'],
  ['a page of a program', '<a href="#!/a">', '<a href="#!/b">'],
  ['which picture', '<img src=/a.png>', '<img src=/b.png>'],
  ['what is said of a picture', '<img src=/a.png alt="Red">', '<img src=/a.png alt="Blue">'],
  ['a description and an address', '<img src="Red">', '<img alt="Red">'],
  ['the description', '<meta name=description content="a">', '<meta name=description content="b">'],
  ['a wish to robots', '<meta name=robots content="index">', '<meta name=ROBOTS content="noindex">'],
  [
    'a refresh',
    '<meta http-equiv=refresh content="0;url=/a">',
    '<meta http-equiv=refresh content="0;url=/b">',
  ],
  ['the canonical address', '<link rel=canonical href=/a>', '<link rel=canonical href=/b>'],
  ['a feed', '<link rel=alternate href=/a>', '<link rel=alternate href=/b>'],
  ['a button', '<input type=submit value=Buy>', '<input type=submit value="Sold out">'],
  ['an instant', '<time datetime="2024-05-01">x</time>', '<time datetime="2024-05-02">x</time>'],
  ['a time without an instant', '<time>May 1</time>', '<time>May 2</time>'],
  ['text after a time without an end', '<p><time datetime=1>x<p>a', '<p><time datetime=1>x<p>b'],
  ['text after a template', '<template>x</template>a', '<template>x</template>b'],
  ['text after a script', '<script>"</p>"</script>a', '<script>"</p>"</script>b'],
  ['text after a comment', '<!-- > -->a', '<!-- > -->b'],
  ['text after a drawing', '<svg><title/></svg>a', '<svg><title/></svg>b'],
  ['text after a strange tag', '<my-script>a', '<my-script>b'],
  ['text as an example', '<xmp><a></xmp>', '<xmp><b></xmp>'],
  ['text for browsers without scripts', '<noscript>a</noscript>', '<noscript>b</noscript>'],
  ['other scripts than Latin', '<p>\u6771\u4eac', '<p>\u4eac\u90fd'],
  ['a text that ends in a blank word', '<p>a<a href=/b>', '<p>a b'],
  ['something and nothing', 'x', ''],
]

const RSS = (head: string, items: string) =>
  `<?xml version="1.0"?><rss><channel><title>T</title>${head}${items}</channel></rss>`
const ITEM = (title: string, date = 'Mon') =>
  `<item><title>${title}</title><link>http://a.example/1</link><pubDate>${date}</pubDate></item>`

describe('contentDigest', () => {
  it.for(SAME)('does not see %s', ([, one, other]) => {
    expect(digest(one)).toBe(digest(other))
  })

  it.for(DIFFERENT)('sees %s', ([, one, other]) => {
    expect(digest(one)).not.toBe(digest(other))
  })

  it('is eleven characters, for ever the same', () => {
    expect(digest('<title>Tea</title><p>Fish &amp; chips <a href="/a?id=1">x</a>')).toBe('-Ki12lQBQgQ')
    expect(digest('')).toMatch(/^[\w-]{11}$/)
  })

  it('does not depend on the charset', () => {
    const latin = digest(Buffer.from('<p>caf\u00e9', 'latin1'), 'text/html; charset=iso-8859-1')
    expect(latin).toBe(digest('<p>caf\u00e9'))
    expect(latin).not.toBe(digest('<p>cafe'))
  })

  it('of a feed does not see when the feed was made', () => {
    const feed = (text: string) => digest(text, 'application/rss+xml')
    const one = feed(RSS('<pubDate>1</pubDate><lastBuildDate>2</lastBuildDate>', ITEM('a')))
    expect(feed(RSS('<pubDate>3</pubDate>\n <lastBuildDate>4</lastBuildDate>', ITEM('a')))).toBe(one)
    expect(feed(RSS('<pubDate>1</pubDate><!-- cached --><lastBuildDate/>', ITEM('a')))).toBe(one)
    expect(feed(RSS('', ITEM('b')))).not.toBe(one)
    expect(feed(RSS('', ITEM('a', 'Tue')))).not.toBe(one)
    expect(feed(RSS('', ITEM('a') + ITEM('b')))).not.toBe(one)
    expect(feed(RSS('', ITEM('<![CDATA[x <b>]]>')))).not.toBe(feed(RSS('', ITEM('<![CDATA[x <i>]]>'))))
    const atom = (updated: string, entry: string, href: string) =>
      digest(
        `<feed><updated>${updated}</updated><entry><updated>${entry}</updated><link href="${href}"/></entry></feed>`,
        'application/atom+xml',
      )
    expect(atom('1', '2', '/a')).toBe(atom('3', '2', '/a'))
    expect(atom('1', '2', '/a')).not.toBe(atom('1', '3', '/a'))
    expect(atom('1', '2', '/a')).not.toBe(atom('1', '2', '/b'))
  })

  it('of other text is that of the text, of all else that of the bytes', () => {
    expect(digest(' {"a": 1}\n', 'application/json')).toBe(digest('{"a": 1}', 'application/json'))
    expect(digest('{"a": 1}', 'application/json')).not.toBe(digest('{"a": 2}', 'application/json'))
    expect(digest('a <b>', 'text/plain')).not.toBe(digest('a <i>', 'text/plain'))
    const picture = (last: number) => digest(Uint8Array.of(0x89, 0x50, 0xff, 0, last), 'image/png')
    expect(picture(1)).toBe(picture(1))
    expect(picture(1)).not.toBe(picture(2))
    expect(digest(Uint8Array.of(1, 2, 0), 'image/png')).not.toBe(digest(Uint8Array.of(1, 2), 'image/png'))
  })

  it('of a page does not depend on the pages before it', () => {
    const before = digest('<p>a')
    digest(`<p>${'long '.repeat(100_000)}`)
    digest('<template><time datetime=1>')
    expect(digest('<p>a')).toBe(before)
  })

  /** Pieces of a page, and invisible markup that may be between them. */
  const PIECES = [
    '<p>',
    'Te',
    'a &amp; ',
    '<b>',
    'cake',
    '</b>',
    '</p>',
    '<a href="/a?id=1">',
    'x',
    '</a>',
    '<li>',
    '9.50',
  ]
  const UNSEEN: ((any: string) => string)[] = [
    (any) => `<!-- ${any} -->`,
    (any) => `<script nonce="${any}">f("${any}")</script>`,
    (any) => `<style>.c${any}{}</style>`,
    (any) => `<template><p>${any}<a href="/${any}">${any}</a></template>`,
    (any) => `<input type="hidden" name="csrf" value="${any}">`,
    (any) => `<meta name="request-id" content="${any}">`,
    (any) => `<link rel="preload" href="/${any}.js">`,
    (any) => `<span class="${any}" data-n="${any}"></span>`,
    (any) => `<!${any}>`,
  ]
  it('does not depend on invisible markup, wherever it is', () => {
    for (let seed = 1; seed <= 400; seed++) {
      const random = seededRandom(seed)
      const pick = <T>(from: readonly T[]) => from[Math.floor(random.next() * from.length)]!
      const any = () => Math.floor(random.next() * 1e9).toString(36)
      const pieces = Array.from({ length: 30 }, () => pick(PIECES))
      const salted = pieces.map((piece) =>
        random.next() < 0.5
          ? piece
          : pick(UNSEEN)(any()) +
            piece.replace('id=1', () => `utm_id=${any()}&amp;id=1&amp;_=${any()}#${any()}`),
      )
      expect(digest(salted.join('')), `seed ${seed}`).toBe(digest(pieces.join('')))
      const at = Math.floor(random.next() * pieces.length)
      const changed = [...pieces.slice(0, at), '<p>news', ...pieces.slice(at)]
      expect(digest(changed.join('')), `seed ${seed}`).not.toBe(digest(pieces.join('')))
    }
  })

  it('has no two alike among many that differ in little', () => {
    const digests = new Set(Array.from({ length: 10_000 }, (_, n) => digest(`<p>Visit ${n}</p>`)))
    expect(digests.size).toBe(10_000)
  })
})

describe('the digest of a hostile page', () => {
  const kinds = [
    { name: 'less-than signs', make: (size: number) => '<'.repeat(size) },
    { name: 'comments without an end', make: (size: number) => '<!--'.repeat(size / 4) },
    { name: 'templates', make: (size: number) => '<template>'.repeat(size / 10) },
    { name: 'less-than signs in a template', make: (size: number) => `<template>${'<'.repeat(size - 10)}` },
    { name: 'parameters', make: (size: number) => `<a href="?${'v&t=1&'.repeat(size / 6 - 3)}">` },
    { name: 'links with parameters', make: (size: number) => '<a href="?v=1&t=2&_=3">'.repeat(size / 23) },
    { name: 'path parameters', make: (size: number) => `<a href="${';sid=1'.repeat(size / 6 - 3)}">` },
    { name: 'references in links', make: (size: number) => '<a href="&a&b&c&d&e">'.repeat(size / 21) },
    { name: 'inputs', make: (size: number) => '<input type=submit value=&amp;>'.repeat(size / 31) },
    {
      name: 'refreshes',
      make: (size: number) => '<meta http-equiv=refresh content="0;url=&a">'.repeat(size / 44),
    },
  ]
  it('is made in bounded time, and never throws', () => {
    const slow: string[] = []
    const all = [
      ...kinds.map((kind) => [kind, 2 ** 20] as const),
      ...HOSTILE_PAGES.map((kind) => [kind, 2 ** 18] as const),
    ]
    for (const [{ name, make }, size] of all) {
      const body = make(size)
      for (const type of ['text/html', 'text/xml']) {
        const page = pageOf({
          url: 'https://e.example/',
          body,
          headers: { 'content-type': type },
        })
        void page.content
        const before = process.cpuUsage()
        expect(contentDigest(page)).toMatch(/^[\w-]{11}$/)
        const { user, system } = process.cpuUsage(before)
        // 20 ms at most in truth; quadratic time would be minutes.
        if (user + system > 400_000) slow.push(`${name} as ${type}: ${(user + system) / 1000} ms`)
      }
    }
    expect(slow).toEqual([])
  })

  it('reads on after what looks like an end', () => {
    const flood = '<'.repeat(100_000)
    expect(digest(`${flood}<p>a`)).not.toBe(digest(`${flood}<p>b`))
    const deep = '<div>'.repeat(100_000)
    expect(digest(`${deep}a`)).not.toBe(digest(`${deep}b`))
    const links = '<a href="/?v=1&amp;b=2">'.repeat(20_000)
    expect(digest(`${links}<a href="/a?c=1">`)).not.toBe(digest(`${links}<a href="/a?c=2">`))
  })
})
