/** One feed of each format with everything in it. */

import { type Feed, parseFeed } from 'kumo/feeds'
import { describe, expect, it } from 'vitest'

const url = 'https://example.com/blog/feed'
const read = (text: string, options = {}) => parseFeed(text, { url, ...options }) as Feed

describe('RSS 2.0', () => {
  const feed = read(`<?xml version="1.0"?>
<rss version="2.0" xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:c="http://purl.org/rss/1.0/modules/content/"
  xmlns:atom="http://www.w3.org/2005/Atom" xmlns:sy="http://purl.org/rss/1.0/modules/syndication/"
  xmlns:media="http://search.yahoo.com/mrss/" xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd">
<channel>
  <title>Example &amp; Co</title><link>https://example.com/blog/</link><description>About</description>
  <language>en-GB</language><managingEditor>jo@example.com (Jo)</managingEditor><generator>Hand</generator>
  <pubDate>Wed, 01 May 2024 10:00:00 GMT</pubDate><lastBuildDate>Thu, 02 May 2024 10:00:00 GMT</lastBuildDate>
  <ttl>90</ttl><skipHours><hour>0</hour><hour>24</hour><hour>7</hour></skipHours>
  <skipDays><day>sunday</day><day>Sat</day></skipDays>
  <sy:updatePeriod>daily</sy:updatePeriod><sy:updateFrequency>2</sy:updateFrequency>
  <atom:link rel="self" href="/blog/feed.xml"/><atom:link rel="hub" href="https://hub.example.com/"/>
  <atom:link rel="next" href="?page=2"/>
  <image><title>No</title><link>https://no.example/</link><url>/logo.png</url></image>
  <item>
    <title>First  article</title><link>/blog/1?a=1&amp;b=2#c</link>
    <guid isPermaLink="false">0042</guid><pubDate>Wed, 01 May 2024 09:00:00 +0200</pubDate>
    <dc:creator>Jo Doe</dc:creator><author>jo@example.com</author>
    <category>Tea</category><category>Rain</category><category>Tea</category>
    <description>Short &lt;b&gt;text&lt;/b&gt; &lt;a href="more"&gt;…&lt;/a&gt;</description>
    <c:encoded><![CDATA[<p>Long <img src="/a.png"> <a href='https://b.example/'>b</a> <a href="#top">up</a></p>]]></c:encoded>
    <enclosure url="/1.mp3" type="Audio/MPEG" length="12345"/>
    <media:group><media:content url="https://cdn.example.com/1.mp4" type="video/mp4" fileSize="7"/></media:group>
    <source url="https://other.example/">Other</source>
  </item>
  <item><guid>https://example.com/2</guid><itunes:author>Ann</itunes:author><itunes:summary>Sum</itunes:summary>
    <dc:date>2024-05-01T08:00:00Z</dc:date></item>
</channel></rss>`)

  it('has the fields of the feed', () => {
    expect(feed).toMatchObject({
      kind: 'rss',
      version: '2.0',
      title: 'Example & Co',
      link: 'https://example.com/blog/',
      description: 'About',
      language: 'en-GB',
      author: 'Jo (jo@example.com)',
      generator: 'Hand',
      published: '2024-05-01T10:00:00.000Z',
      updated: '2024-05-02T10:00:00.000Z',
      problems: [],
    })
  })

  it('has the hints', () => {
    expect(feed.hints).toEqual({
      ttl: 90,
      skipHours: [0, 7],
      skipDays: ['Saturday', 'Sunday'],
      updatePeriod: 'daily',
      updateFrequency: 2,
      intervalMs: 12 * 3_600_000,
      hub: 'https://hub.example.com/',
      self: 'https://example.com/blog/feed.xml',
      next: 'https://example.com/blog/feed?page=2',
      previous: undefined,
      prevArchive: undefined,
      complete: false,
      archive: false,
      expired: false,
    })
  })

  it('has the fields of its entries', () => {
    expect(feed.entries).toEqual([
      {
        id: '0042',
        url: 'https://example.com/blog/1?a=1&b=2#c',
        title: 'First article',
        published: '2024-05-01T07:00:00.000Z',
        updated: undefined,
        author: 'Jo Doe',
        summary: 'Short <b>text</b> <a href="https://example.com/blog/more">…</a>',
        content:
          '<p>Long <img src="https://example.com/a.png"> <a href=\'https://b.example/\'>b</a> <a href="#top">up</a></p>',
        enclosures: [
          { url: 'https://example.com/1.mp3', type: 'audio/mpeg', length: 12345 },
          { url: 'https://cdn.example.com/1.mp4', type: 'video/mp4', length: 7 },
        ],
        categories: ['Tea', 'Rain'],
      },
      {
        id: 'https://example.com/2',
        url: 'https://example.com/2',
        title: undefined,
        published: '2024-05-01T08:00:00.000Z',
        updated: '2024-05-01T08:00:00.000Z',
        author: 'Ann',
        summary: 'Sum',
        content: undefined,
        enclosures: [],
        categories: [],
      },
    ])
  })
})

describe('Atom', () => {
  it('1.0, with bases, types and history', () => {
    const feed =
      read(`<feed xmlns="http://www.w3.org/2005/Atom" xmlns:fh="http://purl.org/syndication/history/1.0"
      xml:base="/deep/" xml:lang="de"><title type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml">A <i>b</i></div></title>
      <id>urn:feed</id><link href="."/><link rel="prev-archive" href="old.atom"/><fh:complete/><updated>2024-05-01T10:00:00Z</updated>
      <author><name>Jo</name><email>jo@example.com</email></author><author><name>Ann</name></author>
      <entry xml:base="2024/"><id>urn:1</id><title>5 &lt; 6</title><link rel="alternate" type="text/html" href="one"/>
        <link rel="enclosure" href="/1.ogg" type="audio/ogg" length="9"/><link rel="self" href="one.atom"/>
        <published>2024-05-01T09:00:00+02:00</published><updated>2024-05-01T10:00:00Z</updated>
        <category term="tea" label="Tea"/><summary>S</summary>
        <content type="xhtml" xml:base="x/"><div xmlns="http://www.w3.org/1999/xhtml"><a href="y">y</a></div></content>
        <source><title>Other</title><id>urn:other</id></source></entry>
      <entry><content type="html" xml:base="http://c.example/">&lt;div xml:base="d/"&gt;&lt;a href="e"&gt;&lt;/div&gt;&lt;a href="f"&gt;</content></entry>
    </feed>`)
    expect(feed).toMatchObject({
      kind: 'atom',
      version: '1.0',
      title: 'A <i>b</i>',
      id: 'urn:feed',
      language: 'de',
    })
    expect(feed).toMatchObject({ link: 'https://example.com/deep/', author: 'Jo (jo@example.com), Ann' })
    expect(feed.hints).toMatchObject({ prevArchive: 'https://example.com/deep/old.atom', complete: true })
    expect(feed.entries[0]).toMatchObject({
      id: 'urn:1',
      title: '5 < 6',
      url: 'https://example.com/deep/2024/one',
      published: '2024-05-01T07:00:00.000Z',
      summary: 'S',
      content: '<a href="https://example.com/deep/2024/x/y">y</a>',
      enclosures: [{ url: 'https://example.com/1.ogg', type: 'audio/ogg', length: 9 }],
      categories: ['tea'],
    })
    expect(feed.entries[1]!.content).toBe(
      '<div xml:base="d/"><a href="http://c.example/d/e"></div><a href="http://c.example/f">',
    )
  })

  it('with a prefix, and 0.3', () => {
    const prefixed = read(
      '<a:feed xmlns:a="http://www.w3.org/2005/Atom"><a:title>F</a:title><a:entry><a:id>1</a:id><a:link href="/1"/></a:entry></a:feed>',
    )
    expect(prefixed).toMatchObject({ title: 'F', entries: [{ id: '1', url: 'https://example.com/1' }] })
    const old = read(
      '<feed version="0.3" xmlns="http://purl.org/atom/ns#"><tagline>T</tagline><entry><issued>2003-12-31T10:14:55Z</issued><modified>2004-01-01</modified><content mode="base64">PGI+eDwvYj4=</content></entry></feed>',
    )
    expect(old).toMatchObject({ version: '0.3', description: 'T' })
    expect(old.entries[0]).toMatchObject({
      published: '2003-12-31T10:14:55.000Z',
      updated: '2004-01-01T00:00:00.000Z',
      content: '<b>x</b>',
    })
  })
})

describe('links and prefixes', () => {
  it('a guid that is said to be a link may be relative', () => {
    const feed = read(
      '<rss><item><guid isPermaLink="true">/p/1</guid></item><item><guid>/p/2</guid></item></rss>',
    )
    expect(feed.entries.map(({ id, url }) => [id, url])).toEqual([
      ['/p/1', 'https://example.com/p/1'],
      ['/p/2', undefined],
    ])
  })

  it('XHTML may have a prefix that its content declares', () => {
    const feed = read(
      '<a:feed xmlns:a="http://www.w3.org/2005/Atom"><a:entry><a:content type="xhtml"><x:div xmlns:x="http://www.w3.org/1999/xhtml"><x:p>hi <x:a href="y">y</x:a></x:p></x:div></a:content></a:entry></a:feed>',
    )
    expect(feed.entries[0]!.content).toBe('<p>hi <a href="https://example.com/blog/y">y</a></p>')
  })
})

describe('other formats', () => {
  it('RSS 1.0', () => {
    const feed =
      read(`<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/">
      <channel rdf:about="https://example.com/"><title>F</title><link>https://example.com/</link>
      <items><rdf:Seq><rdf:li rdf:resource="https://example.com/1"/></rdf:Seq></items></channel>
      <item rdf:about="https://example.com/1"><title>One</title><link>https://example.com/1</link></item></rdf:RDF>`)
    expect(feed).toMatchObject({ kind: 'rdf', version: '1.0', title: 'F' })
    expect(feed.entries).toMatchObject([
      { id: 'https://example.com/1', title: 'One', url: 'https://example.com/1' },
    ])
  })

  it('CDF', () => {
    const feed = read(
      '<CHANNEL HREF="http://a.example/"><TITLE>F</TITLE><ITEM HREF="http://a.example/1" LASTMOD="2004-04-06"><TITLE>One</TITLE><ABSTRACT>S</ABSTRACT></ITEM></CHANNEL>',
    )
    expect(feed).toMatchObject({ kind: 'cdf', title: 'F', link: 'http://a.example/' })
    expect(feed.entries).toMatchObject([{ title: 'One', url: 'http://a.example/1', summary: 'S' }])
  })

  it('JSON Feed', () => {
    const feed = read(
      JSON.stringify({
        version: 'https://jsonfeed.org/version/1.1',
        title: 'F',
        home_page_url: 'https://example.com/',
        feed_url: 'https://example.com/feed.json',
        next_url: '/feed.json?page=2',
        hubs: [{ type: 'WebSub', url: 'https://hub.example.com/' }],
        expired: true,
        items: [
          {
            id: 5,
            url: '/5',
            content_html: '<a href="x">x</a>',
            date_published: '2024-05-01T10:00:00+02:00',
            authors: [{ name: 'Jo' }, { name: 'Ann' }],
            tags: ['a', 'b'],
            attachments: [{ url: '/5.mp3', mime_type: 'audio/mpeg', size_in_bytes: 5 }],
          },
          { id: 'x', content_text: 'Text', date_published: 'soon' },
          null,
        ],
      }),
    )
    expect(feed).toMatchObject({ kind: 'json', version: '1.1', title: 'F', problems: ['bad-date'] })
    expect(feed.hints).toMatchObject({ next: 'https://example.com/feed.json?page=2', expired: true })
    expect(feed.entries).toMatchObject([
      {
        id: '5',
        url: 'https://example.com/5',
        content: '<a href="https://example.com/blog/x">x</a>',
        published: '2024-05-01T08:00:00.000Z',
        author: 'Jo, Ann',
        categories: ['a', 'b'],
        enclosures: [{ url: 'https://example.com/5.mp3', type: 'audio/mpeg', length: 5 }],
      },
      { id: 'x', content: 'Text', published: undefined },
    ])
  })
})

describe('options', () => {
  it('are checked', () => {
    expect(() => read('', { url: 'nowhere' })).toThrow(/parseFeed\.url/)
    const buffer = new ArrayBuffer(4) as unknown as Uint8Array
    expect(() => parseFeed(buffer)).toThrow(/new Uint8Array\(buffer\)/)
    expect(() => read('', { maxEntries: -1 })).toThrow(/parseFeed\.maxEntries/)
    expect(() => read('', { maxBytes: Number.NaN })).toThrow(/parseFeed\.maxBytes/)
  })

  it('without a URL leave relative links as written', () => {
    const feed = parseFeed('<rss><item><link>/1</link></item></rss>') as Feed
    expect(feed.entries[0]!.url).toBe('/1')
  })

  it('let the header name the charset', () => {
    const bytes = Buffer.from('<rss><item><title>\xcf\xf0</title></item></rss>', 'latin1')
    const feed = parseFeed(bytes, { contentType: 'text/xml; charset=windows-1251' }) as Feed
    expect(feed.entries[0]!.title).toBe('Пр')
  })
})
