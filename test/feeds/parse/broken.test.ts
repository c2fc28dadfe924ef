/** Feeds as templates, editors and cut connections leave them: each must give the articles that are in it. */

import { type Feed, parseFeed } from 'kumo/feeds'
import { describe, expect, it } from 'vitest'
import { seededRandom } from '../../../src/time.js'

const ITEMS =
  '<item><title>One</title><link>http://a.example/1</link><guid>1</guid><description>First</description></item>' +
  '<item><title>Two</title><link>http://a.example/2</link><guid>2</guid><description>Second</description></item>'
const rss = (items: string, before = '', after = '') =>
  `${before}<?xml version="1.0"?><rss version="2.0"><channel><title>Feed</title><link>http://a.example/</link>${items}</channel></rss>${after}`

/** Name, feed, titles, what else to expect of the first entry. */
const BROKEN: [string, string | Uint8Array, readonly string[], object?][] = [
  [
    'bare ampersands',
    rss('<item><title>R&D & more</title><link>http://a.example/?a=1&b=2&copy=3</link></item>'),
    ['R&D & more'],
    { url: 'http://a.example/?a=1&b=2&copy=3' },
  ],
  [
    'entities of HTML',
    rss('<item><title>Caf&eacute;&nbsp;au lait &ndash; 5&euro;</title></item>'),
    ['Café\u00a0au lait – 5€'],
  ],
  ['leading blanks', rss(ITEMS, '\n\n  \t'), ['One', 'Two']],
  ['a byte order mark', rss(ITEMS, '\ufeff'), ['One', 'Two']],
  [
    'two byte order marks in bytes',
    Buffer.concat([Buffer.from('\ufeff\ufeff'), Buffer.from(rss(ITEMS))]),
    ['One', 'Two'],
  ],
  [
    'PHP warnings before the root',
    rss(
      ITEMS,
      '<br />\n<b>Warning</b>:  mysql_connect() [<a href="function.php">x</a>] in <b>/var/www/feed.php</b> on line <b>3</b><br />\n',
    ),
    ['One', 'Two'],
  ],
  ['control characters', rss(ITEMS.replace('One', 'O\x0bn\x00e\x1f')), ['O\x0bn\x00e\x1f', 'Two']],
  [
    'mismatched case',
    rss(ITEMS).replaceAll('</item>', '</ITEM>').replaceAll('<title>', '<Title>'),
    ['One', 'Two'],
  ],
  [
    'junk after the root',
    rss(ITEMS, '', '<script>track("<item><title>No</title></item>")</script><!-- cached -->'),
    ['One', 'Two'],
  ],
  [
    'undeclared prefixes',
    rss(
      '<item><dc:title>One</dc:title><dc:creator>Jo</dc:creator><content:encoded>&lt;p&gt;x&lt;/p&gt;</content:encoded></item>',
    ),
    ['One'],
    { author: 'Jo', content: '<p>x</p>' },
  ],
  [
    'numbers as texts',
    rss('<item><title>007</title><guid>0012e3</guid></item><item><title>1.50</title><guid>+5</guid></item>'),
    ['007', '1.50'],
    { id: '0012e3' },
  ],
  [
    'a cut in an item',
    rss(ITEMS).slice(0, rss(ITEMS).indexOf('Second') + 3),
    ['One', 'Two'],
    { summary: 'First' },
  ],
  ['a cut in a tag', rss(ITEMS).slice(0, rss(ITEMS).indexOf('<guid>2') + 3), ['One', 'Two']],
  [
    'CDATA without an end',
    rss(
      '<item><title><![CDATA[One</title><link>http://a.example/1</link></item><item><title>Two</title></item>',
    ),
    ['One', 'Two'],
    { url: 'http://a.example/1' },
  ],
  [
    'CDATA without an end before another',
    rss(
      '<item><title><![CDATA[One</title><link>http://a.example/1</link></item><item><title><![CDATA[Two]]></title></item>',
    ),
    ['One', 'Two'],
  ],
  [
    'RSS without a channel',
    '<rss version="2.0"><item><title>One</title></item><item><title>Two</title></item></rss>',
    ['One', 'Two'],
  ],
  ['items without a root', '<item><title>One</title></item>', ['One']],
  [
    'an end tag that is missing',
    rss(
      '<item><title>One<link>http://a.example/1</link><description>Text</item><item><title>Two</title></item>',
    ),
    ['One', 'Two'],
    { url: 'http://a.example/1', summary: 'Text' },
  ],
  [
    'an item that is not closed',
    rss('<item><title>One</title><item><title>Two</title></item>'),
    ['One', 'Two'],
  ],
  [
    'inline HTML that is not closed',
    rss('<item><title>One</title><description>a <b>bold<br> text</description><guid>1</guid></item>'),
    ['One'],
    { summary: 'a <b>bold<br> text', id: '1' },
  ],
  [
    'attributes without quotes',
    '<feed xmlns=http://www.w3.org/2005/Atom><entry><title>One</title><link rel=alternate href=http://a.example/1 /></entry></feed>',
    ['One'],
    { url: 'http://a.example/1' },
  ],
  [
    'a quote that is not closed',
    '<feed><entry><title>One</title><link href="http://a.example/1/><id>1</id></entry><entry><title>Two</title></entry></feed>',
    ['One', 'Two'],
  ],
  [
    'an attribute with a bracket',
    '<feed><entry><link title="a > b" href="http://a.example/1"/><title>One</title></entry></feed>',
    ['One'],
    { url: 'http://a.example/1' },
  ],
  [
    'windows-1252 declared as UTF-8',
    Buffer.from(
      '<?xml version="1.0" encoding="utf-8"?><rss><channel><item><title>Caf\xe9 \x96 \x93x\x94</title></item></channel></rss>',
      'latin1',
    ),
    ['Café – “x”'],
  ],
  [
    'UTF-8 declared as ISO-8859-1',
    Buffer.from(
      '<?xml version="1.0" encoding="ISO-8859-1"?><rss><channel><item><title>Café – “x”</title></item></channel></rss>',
    ),
    ['Café – “x”'],
  ],
  [
    'UTF-16 without a mark',
    Buffer.from('<rss><channel><item><title>Café</title></item></channel></rss>', 'utf16le'),
    ['Café'],
  ],
  ['a declaration behind a comment', `<!-- x -->${rss(ITEMS)}`, ['One', 'Two']],
  [
    'links behind an empty element',
    rss('<item><title>One</title><link/>http://a.example/1<guid>1</guid></item>'),
    ['One'],
    { url: 'http://a.example/1' },
  ],
  [
    'a DOCTYPE of HTML',
    rss(ITEMS).replace('<rss', '<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0//EN" "x"><rss'),
    ['One', 'Two'],
  ],
  [
    'JSON that is cut',
    '{"version":"https://jsonfeed.org/version/1.1","title":"F","items":[{"id":"1","title":"One"},{"id":"2","title":"Two"},{"id":"3","ti',
    ['One', 'Two'],
  ],
  [
    'JSON with line breaks in strings and trailing commas',
    '{"version":"https://jsonfeed.org/version/1","title":"F","items":[{"id":1,"title":"One","content_text":"a\nb",},]}',
    ['One'],
    { id: '1', content: 'a\nb' },
  ],
]

describe('broken feeds', () => {
  it.each(BROKEN)('%s', (_, input, titles, first) => {
    const feed = parseFeed(input) as Feed
    expect(feed.entries.map(({ title }) => title)).toEqual(titles)
    expect(feed.entries[0]).toMatchObject(first ?? {})
  })

  it('of JSON are repaired, and are not cut off because something is behind them', () => {
    const json = '{"version":"https://jsonfeed.org/version/1","items":[{"id":"a"}]}'
    expect(parseFeed(`${json}\n<!-- cached -->`)).toMatchObject({
      problems: ['bad-json'],
      entries: [{ id: 'a' }],
    })
    expect(parseFeed(json.slice(0, -1))).toMatchObject({ problems: ['truncated'], entries: [{ id: 'a' }] })
  })
})

describe('a feed that is cut off', () => {
  const entries = Array.from({ length: 10 }, (_, n) => n)
  const feeds = {
    rss: rss(
      entries
        .map(
          (n) => `<item><title>T${n}</title><guid>urn:${n}</guid><link>https://e.example/${n}</link></item>`,
        )
        .join(''),
    ),
    atom: `<feed xmlns="http://www.w3.org/2005/Atom">${entries
      .map((n) => `<entry><title>T${n}</title><id>urn:${n}</id><link href="https://e.example/${n}"/></entry>`)
      .join('')}</feed>`,
    json: JSON.stringify({
      version: 'https://jsonfeed.org/version/1.1',
      items: entries.map((n) => ({ id: `urn:${n}`, title: `T${n}`, url: `https://e.example/${n}` })),
    }),
  }

  it.each(Object.entries(feeds))('has every whole entry, and no half of a name: %s', (kind, text) => {
    const end = kind === 'json' ? /"\}/g : /<\/(?:item|entry)>/g
    for (let length = 0; length < text.length; length += 3) {
      const cut = text.slice(0, length)
      const whole = cut.match(end)?.length ?? 0
      const read = parseFeed(cut).entries
      expect(read.length).toBeGreaterThanOrEqual(whole)
      for (const [n, entry] of read.entries()) {
        const { id, title, url } = { id: `urn:${n}`, title: `T${n}`, url: `https://e.example/${n}` }
        if (n < whole) expect(entry).toMatchObject({ id, title, url })
        else expect([entry.id ?? id, entry.title ?? title, entry.url ?? url]).toEqual([id, title, url])
      }
    }
  })
})

describe('what is no feed', () => {
  it.each([
    ['html', '<!DOCTYPE html><html><head><title>Not found</title></head><body>404</body></html>'],
    ['html', '<html><body><rss>no</rss></body></html>'],
    ['html', '\n<head><title>x</title></head>'],
    ['empty', ''],
    ['empty', ' \n'],
    ['unknown', 'Too many requests'],
    ['unknown', '{"error":"not found"}'],
    ['unknown', '{"a":'],
    ['unknown', '[1,2]'],
    ['unknown', '<?xml version="1.0"?><urlset><url><loc>http://a.example/</loc></url></urlset>'],
    ['unknown', '\x00\x01\x02PNG'],
  ])('is %s: %j', (reason, text) => {
    expect(parseFeed(text)).toMatchObject({ kind: 'none', reason, entries: [], title: undefined })
    expect(parseFeed(Buffer.from(text))).toMatchObject({ kind: 'none', reason })
  })
})

describe('hostile feeds', () => {
  it('expand entities within limits', () => {
    const levels = Array.from({ length: 9 }, (_, n) => `<!ENTITY e${n + 1} "${`&e${n};`.repeat(10)}">`)
    const bomb = `<!DOCTYPE rss [<!ENTITY e0 "ha">${levels.join('')}]><rss><channel><item><title>&e9;</title><guid>1</guid></item><item><title>Two &e0;</title></item></channel></rss>`
    const feed = parseFeed(bomb) as Feed
    expect(feed.problems).toContain('too-many-entities')
    expect(feed.entries[0]!.title!.length).toBeLessThan(10_000_000)
    const quadratic = `<!DOCTYPE rss [<!ENTITY a "${'a'.repeat(10_000)}">]><rss><item><title>${'&a;'.repeat(1000)}</title></item></rss>`
    expect((parseFeed(quadratic) as Feed).entries[0]!.title!.length).toBeLessThan(2_000_000)
    const cyclic =
      '<!DOCTYPE rss [<!ENTITY a "&b;"><!ENTITY b "&a;">]><rss><item><title>x&a;</title></item></rss>'
    expect((parseFeed(cyclic) as Feed).entries).toHaveLength(1)
    const own = '<!DOCTYPE rss [<!ENTITY co "Example &amp; Co">]><rss><item><title>&co;</title></item></rss>'
    expect((parseFeed(own) as Feed).entries[0]!.title).toBe('Example & Co')
  })

  it.each<[string, (n: number) => string]>([
    ['nested elements', (n) => `<rss><item>${'<a>'.repeat(n)}`],
    ['nested elements in a text', (n) => `<rss><item><description>${'<b>'.repeat(n)}`],
    ['titles that are not closed', (n) => `<rss><item>${'<title>x'.repeat(n)}</item></rss>`],
    ['texts that are not closed', (n) => `<rss><item>${'<description>x'.repeat(n)}</item></rss>`],
    [
      'unknown elements that are not closed',
      (n) => `<rss><item>${Array.from({ length: n }, (_, k) => `<x${k}>`).join('')}</item></rss>`,
    ],
    ['CDATA that is not closed', (n) => `<rss><item>${'<title><![CDATA[x'.repeat(n)}`],
    ['comments that are not closed', (n) => `<rss><item>${'<title>x<!--'.repeat(n)}`],
    ['quotes that are not closed', (n) => `<rss><item>${'<title a="'.repeat(n)}`],
    ['brackets', (n) => '<'.repeat(n)],
    ['ampersands', (n) => `<rss><item><title>${'&a'.repeat(n)}</title></item></rss>`],
    [
      'relative links in a text',
      (n) => `<rss><item><description><![CDATA[${'<a href="'.repeat(n)}]]></description></item></rss>`,
    ],
    ['spaces in tags', (n) => `<rss><item><title ${' '.repeat(n)}>x</title></item></rss>`],
    ['nested JSON', (n) => `{"version":"https://jsonfeed.org/version/1","items":${'['.repeat(n)}`],
    ['mail addresses', (n) => `<rss><item><author>${'a@'.repeat(n)}</author></item></rss>`],
    ['dates', (n) => `<rss><item><pubDate>${'1 '.repeat(n)}</pubDate></item></rss>`],
  ])('take a time that is linear in their length: %s', (_, make) => {
    const parse = (n: number) => {
      const text = make(n)
      const start = process.cpuUsage()
      parseFeed(text, { url: 'http://a.example/' })
      const { user, system } = process.cpuUsage(start)
      return (user + system) / 1000
    }
    parse(1000)
    // Quadratic time would be minutes; what is measured is far below, on any machine.
    expect(parse(200_000)).toBeLessThan(10_000)
  })

  it('never make it throw: cut and damaged feeds', () => {
    const random = seededRandom(16)
    const samples = [...BROKEN.map(([, input]) => Buffer.from(input as string)), Buffer.from(rss(ITEMS))]
    for (let trial = 0; trial < 2000; trial++) {
      const bytes = Buffer.from(samples[Math.floor(random.next() * samples.length)]!)
      for (let k = 0; k < 3; k++)
        bytes[Math.floor(random.next() * bytes.length)] = Math.floor(random.next() * 256)
      parseFeed(bytes.subarray(0, Math.floor(random.next() * (bytes.length + 1))), {
        url: 'http://a.example/',
      })
    }
  })

  it('are bounded in entries and bytes', () => {
    const many = rss('<item><title>x</title></item>'.repeat(1000))
    const feed = parseFeed(many, { maxEntries: 10 }) as Feed
    expect([feed.entries.length, feed.problems]).toEqual([10, ['too-many-entries']])
    const part = parseFeed(many, { maxBytes: 500 }) as Feed
    expect(part.problems).toEqual(['too-large'])
    expect(part.entries.length).toBeGreaterThan(5)
    const hundredThousand = parseFeed(rss('<item/>'.repeat(100_001))) as Feed
    expect(hundredThousand.entries).toHaveLength(100_000)
  })
})
