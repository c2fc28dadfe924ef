import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import type { SitemapEntry } from '../../../src/extract/contract.js'
import type { SitemapOptions } from '../../../src/extract/sitemap/contract.js'
import { parseSitemap, sitemapReader, sitemapSlices } from '../../../src/extract/sitemap/sitemap.js'

const A = 'http://a.example/'
const B = 'http://b.example/'

const urlset = (inside: string) =>
  `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">${inside}</urlset>`
const url = (inside: string) => `<url>${inside}</url>`
const loc = (...urls: string[]) => urls.map((each) => url(`<loc>${each}</loc>`)).join('')

/** As UTF-16 with the larger byte first. */
const utf16be = (text: string) => Buffer.from(text, 'utf16le').swap16()

async function urlsOf(body: Uint8Array | string, options?: SitemapOptions): Promise<string[]> {
  return (await parseSitemap(body, options)).entries.map((entry) => entry.url)
}

async function problemsOf(body: Uint8Array | string, options?: SitemapOptions): Promise<string[]> {
  return (await parseSitemap(body, options)).problems.map(({ code }) => code)
}

type Case = [what: string, body: Uint8Array | string, urls: string[], problems?: string[]]

const WELL_FORMED: Case[] = [
  ['a sitemap', urlset(loc(A, B)), [A, B]],
  ['an empty sitemap', urlset(''), []],
  ['an empty root', '<urlset/>', []],
  [
    'entities',
    urlset(loc('http://a.example/?a&amp;b&#38;c&#x26;d&lt;&gt;&quot;&apos;')),
    [`${A}?a&b&c&d<>"'`],
  ],
  ['what was escaped twice', urlset(loc('http://a.example/?a&amp;amp;b')), [`${A}?a&amp;b`]],
  ['CDATA', urlset(loc('<![CDATA[http://a.example/?a&b&amp;c]]>')), [`${A}?a&b&amp;c`]],
  ['CDATA in text', urlset(loc('http://a.example/&amp;<![CDATA[x&y]]>&amp;')), [`${A}&x&y&`]],
  ['CDATA with brackets', urlset(loc('<![CDATA[http://a.example/[1]]]]><![CDATA[>]]>')), [`${A}[1]]>`]],
  ['white space', urlset(loc(`\r\n\t\u00a0${A}\u3000\n`)), [A]],
  ['a comment in a value', urlset(loc(`${A}<!-- <loc>no</loc> -->x`)), [`${A}x`]],
  ['comments with dashes', `<!-- a - b -- c --->${urlset(loc(A))}<!---->`, [A]],
  ['a prefix', `<s:urlset xmlns:s="x"><s:url><s:loc>${A}</s:loc></s:url></s:urlset>`, [A]],
  ['a prefix on entries only', `<urlset><s:url><loc>${A}</loc></s:url></urlset>`, [A]],
  ['capitals', `<URLSET><URL><LOC>${A}</LOC></URL></URLSET>`, [A]],
  [
    'attributes with a sign in them',
    `<urlset a="x>y" b='>'><url c="/>"><loc d="'">${A}</loc></url></urlset>`,
    [A],
  ],
  ['images', urlset(url(`<loc>${A}</loc><image:image><image:loc>${B}</image:loc></image:image>`)), [A]],
  ['images without a prefix', urlset(url(`<image xmlns="x"><loc>${B}</loc></image><loc>${A}</loc>`)), [A]],
  ['nested strangers', urlset(url(`<x><x><loc>${B}</loc></x><loc>${B}</loc></x><loc>${A}</loc>`)), [A]],
  ['a root in another', `<wrapper>${urlset(loc(A))}</wrapper>`, [A]],
  ['two roots', urlset(loc(A)) + urlset(loc(B)), [A, B]],
  ['a processing instruction', `<?xml-stylesheet href="x.xsl"?>${urlset(loc(A))}`, [A]],
]

const CHARSETS: Case[] = [
  ['UTF-8', Buffer.from(urlset(loc(`${A}é日`))), [`${A}é日`]],
  ['UTF-8 with a mark', Buffer.from(`\ufeff${urlset(loc(A))}`), [A]],
  ['a string with a mark', `\ufeff${urlset(loc(A))}`, [A]],
  ['UTF-16, small end first', Buffer.from(`\ufeff${urlset(loc(`${A}é日`))}`, 'utf16le'), [`${A}é日`]],
  ['UTF-16, big end first', utf16be(`\ufeff${urlset(loc(`${A}é日`))}`), [`${A}é日`]],
  ['UTF-16 without a mark', Buffer.from(urlset(loc(`${A}é`)), 'utf16le'), [`${A}é`]],
  ['UTF-16 without a mark, big end first', utf16be(urlset(loc(`${A}é`))), [`${A}é`]],
  ['a UTF-16 list', Buffer.from(`\ufeff${A}é\r\n${B}`, 'utf16le'), [`${A}é`, B]],
  [
    'a declared charset',
    Buffer.from(`<?xml version='1.0' encoding='koi8-r'?>${urlset(loc(`${A}\xf1`))}`, 'latin1'),
    [`${A}Я`],
  ],
  [
    'windows-1252',
    Buffer.from(`<?xml version="1.0" encoding="ISO-8859-1"?>${urlset(loc(`${A}\xe9\x80`))}`, 'latin1'),
    [`${A}é€`],
  ],
  [
    'a charset that cannot be true',
    Buffer.from(`<?xml version="1.0" encoding="utf-16"?>${urlset(loc(`${A}é`))}`),
    [`${A}é`],
  ],
  ['an invented charset', Buffer.from(`<?xml encoding="klingon"?>${urlset(loc(`${A}é`))}`), [`${A}é`]],
]

const BROKEN: Case[] = [
  ['several URLs in one entry', urlset(url(`<loc>${A}</loc><loc>${B}</loc>`)), [A, B]],
  ['a URL without loc', urlset(url(`\n${A}?a&amp;b `) + loc(B)), [`${A}?a&b`, B]],
  ['a URL without loc, but with a date', urlset(url(`${A}<lastmod>2024</lastmod>`)), [A]],
  ['words without loc', urlset(url('none yet') + loc(B)), [B], ['no-url']],
  ['an entry without a URL', urlset(url('<lastmod>2024</lastmod>') + loc(B)), [B], ['no-url']],
  ['an empty URL', urlset(loc('', ' ', B) + url('<loc/>')), [B], ['no-url']],
  ['an empty entry', urlset(`<url/>${loc(B)}`), [B], ['no-url']],
  ['a relative URL', urlset(loc('/x')), ['/x']],
  ['entries that are not closed', `<urlset><url><loc>${A}</loc><url><loc>${B}</loc></urlset>`, [A, B]],
  [
    'values that are not closed',
    `<urlset><url><loc>${A}</url><url><loc>${B}<lastmod>2024</url></urlset>`,
    [A, B],
  ],
  ['a value closed by the root', `<urlset><url><loc>${A}</urlset>`, [A]],
  [
    'an end tag that is not closed',
    `<urlset><url><loc>${A}</loc</url><url><loc>${B}</loc></url></urlset>`,
    [A, B],
  ],
  ['a quote that is not closed', `<urlset a="><url><loc>${A}</loc></url></urlset>`, [A]],
  ['an element in a URL', urlset(loc(`<b>${A}</b>`, `${B}<br>`)), [A, B]],
  ['an entry in a URL', urlset(url(`<loc><url>${A}</url></loc><lastmod>2024</lastmod>`)), [A]],
  ['an ampersand that was not escaped', urlset(loc(`${A}?a=1&copy=2&b;&`)), [`${A}?a=1&copy=2&b;&`]],
  ['a number beyond Unicode', urlset(loc(`${A}&#x110000;&#9999999;`)), [`${A}&#x110000;&#9999999;`]],
  ['a sign that begins nothing', urlset(loc(`${A}?a<3`)), [`${A}?a<3`]],
  ['pages in an index', `<sitemapindex>${loc(A)}</sitemapindex>`, [A]],
  ['an XML declaration that is not closed', `<?xml version="1.0">${urlset(loc(A))}`, [A]],
  ['a warning before the XML', `Warning: x in y.php\n<?xml version="1.0"?>${urlset(loc(A))}`, [A]],
  ['white space before the XML', `${' \n'.repeat(5000)}${urlset(loc(A))}`, [A]],
  ['a foreign root', `<html><body>${urlset(loc(A))}</body></html>`, [], ['not-a-sitemap']],
  ['XML of another kind', '<note><url>x</url></note>', [], ['not-a-sitemap']],
  ['nothing', '', [], ['not-a-sitemap']],
  ['one byte', Buffer.from('x'), [], ['no-url', 'not-a-sitemap']],
]

const CUT: Case[] = [
  ['behind an entry', `<urlset>${loc(A)}`, [A], ['truncated']],
  ['behind a URL', `<urlset><url><loc>${A}</loc>`, [A], ['truncated']],
  ['in an end tag', `<urlset><url><loc>${A}</l`, [A], ['truncated']],
  ['in a URL', `<urlset>${loc(A)}<url><loc>${B}`, [A], ['truncated']],
  ['before an end tag', `<urlset>${loc(A)}<url><loc>${B}<`, [A], ['truncated']],
  ['in CDATA', `<urlset>${loc(A)}<url><loc><![CDATA[${B}`, [A], ['truncated']],
  ['in a comment', `<urlset>${loc(A)}<!-- ${loc(B)}`, [A], ['truncated']],
  ['in a tag', `<urlset>${loc(A)}<url`, [A], ['truncated']],
  ['in a second URL', `<urlset><url><loc>${A}</loc><loc>${B}`, [A], ['truncated']],
]

const rss = (inside: string) =>
  `<rss version="2.0"><channel><link>http://c.example/</link>${inside}</channel></rss>`
const atom = (inside: string) =>
  `<feed xmlns="http://www.w3.org/2005/Atom"><link href="http://c.example/"/>${inside}</feed>`

const FEEDS: Case[] = [
  ['RSS', rss(`<item><title>x</title><link>${A}</link></item><item><link>${B}</link></item>`), [A, B]],
  [
    'RSS with identifiers only',
    rss(`<item><guid>${A}</guid></item><item><guid>7</guid></item>`),
    [A],
    ['no-url'],
  ],
  ['RSS whose link comes last', rss(`<item><guid>${B}</guid><link>${A}</link></item>`), [A]],
  [
    'RSS with pages in it',
    rss(`<item><description><link>${B}</link></description><link>${A}</link></item>`),
    [A],
  ],
  ['RSS with Atom in it', rss(`<item><atom:link href="${B}"/><link>${A}</link></item>`), [A]],
  ['RSS 1.0', `<rdf:RDF><channel/><item rdf:about="x"><link>${A}</link></item></rdf:RDF>`, [A]],
  ['Atom', atom(`<entry><link rel="edit" href="${B}"/><link href='${A}'/><link href="${B}"/></entry>`), [A]],
  [
    'Atom with a relation',
    atom(`<entry><link rel="Alternate" href="${A}?a&amp;b"></link></entry>`),
    [`${A}?a&b`],
  ],
  ['Atom with an identifier only', atom(`<entry><id>${A}</id></entry>`), [A]],
  ['Atom with a prefix', `<a:feed><a:entry><a:link href="${A}"/></a:entry></a:feed>`, [A]],
  [
    'Atom with markup in it',
    atom(`<entry><content><link href="${B}"/></content><link href="${A}"/></entry>`),
    [A],
  ],
]

const LISTS: Case[] = [
  ['one URL', A, [A]],
  ['any line ends', `${A}1\n${A}2\r\n${A}3\r${A}4\n\n`, [1, 2, 3, 4].map((n) => A + n)],
  ['a mark and spaces', Buffer.from(`\ufeff  ${A} \n\t${B}`), [A, B]],
  ['HTTPS in capitals', 'HTTPS://A.EXAMPLE/', ['HTTPS://A.EXAMPLE/']],
  ['other lines', `# pages\n${A}\nwww.b.example/\nftp://c.example/\n`, [A], ['no-url']],
  ['no URL', 'this is a bogus sitemap', [], ['no-url', 'not-a-sitemap']],
  ['a URL that is too long', `${A}${'x'.repeat(9000)}\n${B}`, [B], ['url-too-long']],
  ['ampersands as they are', `${A}?a&amp;b`, [`${A}?a&amp;b`]],
]

describe.for([
  ['a well formed sitemap', WELL_FORMED],
  ['a charset', CHARSETS],
  ['a broken sitemap', BROKEN],
  ['a sitemap that is cut off', CUT],
  ['a feed', FEEDS],
  ['a list', LISTS],
] as [string, Case[]][])('%s', ([, cases]) => {
  it.for(cases)('%s', async ([, body, urls, problems = []]) => {
    expect(await urlsOf(body)).toEqual(urls)
    expect(await problemsOf(body)).toEqual(problems)
  })

  it.for(cases)('%s, in pieces', async ([, body, urls]) => {
    const reader = sitemapReader()
    const entries: SitemapEntry[] = []
    for (let at = 0; at < body.length; at += 3) entries.push(...(await reader.push(body.slice(at, at + 3))))
    entries.push(...(await reader.end()))
    expect(entries.map((entry) => entry.url)).toEqual(urls)
  })
})

describe('what an entry says', () => {
  const DAY = Date.UTC(2024, 4, 6)

  it('is kept', async () => {
    const page = url(
      `<lastmod>2024-05-06</lastmod><loc>${A}</loc><changefreq> Daily </changefreq><priority>0.8</priority>`,
    )
    const { entries } = await parseSitemap(urlset(page))
    expect(entries).toEqual([{ kind: 'page', url: A, lastmod: DAY, changefreq: 'daily', priority: 0.8 }])
  })

  it('is kept of sitemaps', async () => {
    const sitemap = `<sitemap><loc>${A}</loc><lastmod>2024-05-06</lastmod></sitemap>`
    const body = `<sitemapindex>${sitemap}</sitemapindex>`
    expect((await parseSitemap(body)).entries).toEqual([{ kind: 'sitemap', url: A, lastmod: DAY }])
  })

  it('does not leak into the next entry', async () => {
    const body = urlset(url(`<loc>${A}</loc><priority>1</priority><lastmod>2024</lastmod>`) + loc(B))
    expect((await parseSitemap(body)).entries[1]).toEqual({ kind: 'page', url: B })
  })

  it.for([
    ['a priority above 1', '<priority>1.5</priority>', 'bad-priority'],
    ['a negative priority', '<priority>-0.1</priority>', 'bad-priority'],
    ['a priority in words', '<priority>high</priority>', 'bad-priority'],
    ['a date in words', '<lastmod>yesterday</lastmod>', 'bad-date'],
    ['a long date', `<lastmod>${'9'.repeat(5000)}</lastmod>`, 'bad-date'],
    ['an invented frequency', '<changefreq>often</changefreq>', undefined],
    ['empty elements', '<lastmod/><priority></priority><changefreq> </changefreq>', undefined],
  ] as [string, string, string | undefined][])('is dropped: %s', async ([, inside, problem]) => {
    const { entries, problems } = await parseSitemap(urlset(url(`<loc>${A}</loc>${inside}`)))
    expect(entries).toEqual([{ kind: 'page', url: A }])
    expect(problems.map(({ code }) => code)).toEqual(problem === undefined ? [] : [problem])
  })

  it.for([
    ['RSS', rss(`<item><link>${A}</link><pubDate>Mon, 06 May 2024 00:00:00 GMT</pubDate></item>`)],
    ['RSS 1.0', `<rdf:RDF><item><link>${A}</link><dc:date>2024-05-06</dc:date></item></rdf:RDF>`],
    ['Atom', atom(`<entry><link href="${A}"/><updated>2024-05-06T00:00:00Z</updated></entry>`)],
    [
      'Atom that was never updated',
      atom(`<entry><link href="${A}"/><published>2024-05-06</published></entry>`),
    ],
    [
      'Atom with both dates',
      atom(
        `<entry><link href="${A}"/><updated>2024-05-06</updated><published>2001-01-01</published></entry>`,
      ),
    ],
  ] as [string, string][])('is the date in %s', async ([, body]) => {
    expect((await parseSitemap(body)).entries).toEqual([{ kind: 'page', url: A, lastmod: DAY }])
  })
})

describe('translations', () => {
  const body = urlset(
    url(`<loc>${A}</loc>
      <xhtml:link rel="alternate" hreflang="de" href="${A}de?a&amp;b"/>
      <xhtml:link href='${A}fr' hreflang='fr' rel='alternate' ></xhtml:link>
      <xhtml:link rel="alternate" media="handheld" href="${A}small"/><lastmod>2024</lastmod>`),
  )

  it('are left out', async () => {
    expect(await urlsOf(body)).toEqual([A])
  })

  it('are pages if asked for', async () => {
    expect(await urlsOf(body, { alternates: true })).toEqual([A, `${A}de?a&b`, `${A}fr`])
  })
})

describe('gzip', () => {
  const many = urlset(loc(...Array.from({ length: 5000 }, (_, n) => `${A}${n * 7919}`)))

  it('is known by its first bytes', async () => {
    expect(await urlsOf(gzipSync(urlset(loc(A, B))))).toEqual([A, B])
    expect(await urlsOf(gzipSync(`${A}\n${B}`))).toEqual([A, B])
  })

  it('is read in pieces', async () => {
    const packed = gzipSync(many)
    const reader = sitemapReader()
    let count = 0
    for (const byte of packed.subarray(0, 50)) count += (await reader.push(Uint8Array.of(byte))).length
    count += (await reader.push(packed.subarray(50))).length
    count += (await reader.end()).length
    expect(count).toBe(5000)
    expect(reader.problems).toEqual([])
  })

  it('may have several members and trailing data', async () => {
    const members = Buffer.concat([gzipSync('<urlset>'), gzipSync(`${loc(A)}</urlset>`), Buffer.alloc(9000)])
    expect(await urlsOf(members)).toEqual([A])
  })

  it('that is cut off returns the readable entries', async () => {
    const packed = gzipSync(many)
    const { entries, problems } = await parseSitemap(packed.subarray(0, packed.length / 2))
    expect(entries.length).toBeGreaterThan(2000)
    expect(entries.at(-1)!.url).toBe(`${A}${(entries.length - 1) * 7919}`)
    expect(problems.map(({ code }) => code)).toEqual(['truncated'])
  })

  it('that is cut off does not give half a line', async () => {
    const urls = Array.from({ length: 5000 }, (_, n) => `${A}${n * 7919}/end`)
    const packed = gzipSync(urls.join('\n'))
    const { entries, problems } = await parseSitemap(packed.subarray(0, packed.length / 2))
    expect(entries.length).toBeGreaterThan(2000)
    expect(entries.every(({ url }) => url.endsWith('/end'))).toBe(true)
    expect(problems.map(({ code }) => code)).toEqual(['truncated'])
  })

  it('that is damaged gives what came before', async () => {
    const packed = gzipSync(many)
    packed.fill(0xff, 12_000, 12_100)
    const { entries, problems } = await parseSitemap(packed)
    expect(packed.length).toBeGreaterThan(13_000)
    expect(entries.length).toBeGreaterThan(1000)
    expect(problems.map(({ code }) => code)).toEqual(['broken-gzip'])
  })

  it.for([
    ['nothing behind the first bytes', Buffer.from([0x1f, 0x8b])],
    ['nonsense behind the first bytes', Buffer.alloc(100, 0x1f).fill(0x8b, 1, 2)],
  ] as [string, Buffer][])('with %s is no sitemap', async ([, body]) => {
    expect(await urlsOf(body)).toEqual([])
    expect(await problemsOf(body)).toContain('not-a-sitemap')
  })
})

describe('bounds', () => {
  it('are kept for entries', async () => {
    const { entries, problems } = await parseSitemap(urlset(loc(A, A, A)), { maxEntries: 2 })
    expect(entries).toHaveLength(2)
    expect(problems).toMatchObject([{ code: 'too-many-entries', count: 1 }])
  })

  it('are no problem if they are just met', async () => {
    const body = urlset(loc(A, B))
    expect(await problemsOf(body, { maxEntries: 2, maxBytes: body.length })).toEqual([])
  })

  it.for([
    ['text', (body: string) => body],
    ['bytes', (body: string) => Buffer.from(body)],
    ['gzip', (body: string) => gzipSync(body)],
  ] as [string, (body: string) => Uint8Array | string][])('are kept for %s', async ([, form]) => {
    const body = form(urlset(loc(A, B)))
    const { entries, problems } = await parseSitemap(body, { maxBytes: 120 })
    expect(entries.map(({ url }) => url)).toEqual([A])
    expect(problems.map(({ code }) => code)).toEqual(['too-large'])
  })

  it('do not leave half a line', async () => {
    expect(await urlsOf(`${A}\n${B}\n`, { maxBytes: A.length + B.length - 3 })).toEqual([A])
  })

  it('are kept for a URL', async () => {
    const long = `${A}${'x'.repeat(9000)}`
    const body = urlset(loc(long, `<![CDATA[${long}]]>`, B))
    expect(await urlsOf(body)).toEqual([B])
    expect((await parseSitemap(body)).problems).toMatchObject([{ code: 'url-too-long', count: 2 }])
  })

  it('must be numbers', () => {
    expect(() => sitemapReader({ maxEntries: -1 })).toThrow(/maxEntries/)
    expect(() => sitemapReader({ maxBytes: Number.NaN })).toThrow(/maxBytes/)
  })
})

describe('a reader', () => {
  it('gives entries as they are complete', () => {
    const reader = sitemapReader()
    expect(reader.push(`<urlset><url><loc>${A}</loc>`)).toEqual([])
    expect(reader.push('</url>')).toEqual([{ kind: 'page', url: A }])
    expect(reader.push(`<url><loc>${B}</loc>`)).toEqual([])
    expect(reader.end()).toEqual([{ kind: 'page', url: B }])
  })

  it('says when there is no use in going on', () => {
    const reader = sitemapReader({ maxEntries: 1 })
    reader.push('<urlset>')
    expect(reader.stopped).toBe(false)
    reader.push(loc(A, B))
    expect(reader.stopped).toBe(true)
    expect(reader.push(loc(A))).toEqual([])
    expect(reader.end()).toEqual([])
  })

  it('ends once', () => {
    const reader = sitemapReader()
    reader.push(A)
    expect(reader.end()).toHaveLength(1)
    expect(reader.end()).toEqual([])
    expect(reader.push(B)).toEqual([])
  })

  it('reads no further than it is asked', async () => {
    let pushed = 0
    const reader = sitemapReader()
    const counting = {
      push: (piece: Uint8Array | string) => {
        pushed += piece.length
        return reader.push(piece)
      },
      end: () => reader.end(),
      stopped: false,
      problems: [],
    }
    const body = urlset(loc(...Array.from({ length: 30_000 }, () => A)))
    for await (const entries of sitemapSlices(body, counting)) {
      expect(entries.length).toBeGreaterThan(0)
      break
    }
    expect(pushed).toBeLessThan(body.length / 2)
  })
})
