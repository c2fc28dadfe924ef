import { discoverFeeds } from 'kumo/feeds'
import { describe, expect, it } from 'vitest'

const url = 'https://example.com/blog/post'
const found = (html: string, options = {}) => discoverFeeds({ url, html }, options)

describe('feeds that a page declares', () => {
  it.each([
    [
      '<link rel="alternate" type="application/rss+xml" title="News" href="/feed">',
      'https://example.com/feed',
    ],
    [
      '<LINK REL="Alternate Home" TYPE="application/atom+xml; charset=utf-8" HREF="atom.xml">',
      'https://example.com/blog/atom.xml',
    ],
    [
      '<link rel=alternate type=application/feed+json href=https://b.example/feed.json>',
      'https://b.example/feed.json',
    ],
    ['<link rel="alternate" type="text/xml" href="/rss.xml">', 'https://example.com/rss.xml'],
    [
      '<base href="/x/"><link rel="alternate" type="application/rss+xml" href="feed?a=1&amp;b=2">',
      'https://example.com/x/feed?a=1&b=2',
    ],
    ['<link rel="feed" href="/f">', 'https://example.com/f'],
    [
      '<link rel="alternate" type="application/rss+xml" href="feed:https://example.com/f">',
      'https://example.com/f',
    ],
  ])('%s', (html, feed) => {
    expect(found(html)).toMatchObject([{ url: feed, from: 'link' }])
  })

  it.each([
    '<link rel="alternate" type="application/json" href="/wp-json/wp/v2/posts/1">',
    '<link rel="alternate" type="application/json+oembed" href="/oembed?format=json">',
    '<link rel="alternate" hreflang="de" href="/de/">',
    '<link rel="stylesheet" type="application/rss+xml" href="/x">',
    '<link rel="alternate" type="application/rss+xml">',
    '<!-- <link rel="alternate" type="application/rss+xml" href="/feed"> -->',
    '<script>"<link rel=alternate type=application/rss+xml href=/feed>"</script>',
    '<link rel="alternate" type="application/rss+xml" href="mailto:a@b">',
  ])('are not these: %s', (html) => {
    expect(found(html)).toEqual([])
  })

  it('have their title and type, each URL once', () => {
    const link = '<link rel="alternate" type="application/rss+xml" title="News &amp; more" href="/feed">'
    expect(found(`${link}${link}<a href="/feed">RSS</a>`)).toEqual([
      { url: 'https://example.com/feed', type: 'application/rss+xml', title: 'News & more', from: 'link' },
    ])
  })
})

describe('links that look like a feed', () => {
  it.each([
    ['<a href="/blog/feed/">Posts</a>', 'https://example.com/blog/feed/'],
    ['<a href="/news.rss">News</a>', 'https://example.com/news.rss'],
    ['<a href="/?feed=rss2">x</a>', 'https://example.com/?feed=rss2'],
    ['<a href="https://feeds.example.net/blog">x</a>', 'https://feeds.example.net/blog'],
    ['<a href="/syndication/5"><img src="i.png"> <b>RSS</b></a>', 'https://example.com/syndication/5'],
    ['<a type="application/atom+xml" href="/5">x</a>', 'https://example.com/5'],
  ])('%s', (html, feed) => {
    expect(found(html)).toMatchObject([{ url: feed, from: 'anchor' }])
    expect(found(html, { anchors: false })).toEqual([])
  })

  it.each([
    '<a href="/feedback">Feedback</a>',
    '<a href="/images/rss.png">x</a>',
    '<a href="https://other.example/about">RSS</a>',
    '<a href="/atomic-habits">x</a>',
    '<a href="/sitemap-feed.xml">x</a>',
  ])('are not these: %s', (html) => {
    expect(found(html)).toEqual([])
  })
})

describe('common paths', () => {
  it('are at the root and in the directory of the page, and only on request', () => {
    const guesses = found('', { guess: true })
    expect(guesses.every(({ from }) => from === 'guess')).toBe(true)
    const urls = guesses.map((each) => each.url)
    expect(urls).toEqual(
      expect.arrayContaining(['https://example.com/feed', 'https://example.com/blog/atom.xml']),
    )
    expect(new Set(urls).size).toBe(urls.length)
    expect(found('')).toEqual([])
  })
})

it('takes a page of a crawl, and is bounded', () => {
  const content = '<link rel="alternate" type="application/rss+xml" href="/feed">'
  expect(discoverFeeds({ url, content })).toHaveLength(1)
  const many = Array.from({ length: 10_000 }, (_, n) => `<a href="/feed/${n}">RSS</a>`).join('')
  expect(found(many)).toHaveLength(100)
  expect(found('<a href="'.repeat(100_000))).toEqual([])
  expect(discoverFeeds({ url: 'about:blank', html: content })).toEqual([])
})
