import { describe, expect, it } from 'vitest'
import { pageOf } from '../../../../src/conformance/page.js'
import type { PageMeta } from '../../../../src/extract/content/meta/contract.js'
import { isoTime } from '../../../../src/extract/content/meta/times.js'

function meta(body: string): PageMeta {
  return pageOf({ url: 'https://example.com/a/', body }).meta
}

describe('page.meta', () => {
  it('reads the head', () => {
    const found = meta(`<html lang=en_GB><title>Tea</title><meta name=description content=" All about\n tea ">
      <meta name=author content="Ann"><meta name=author content="Bob"><meta property="og:site_name" content="Tea Times">
      <meta property="og:image" content="/cup.png"><meta property="article:published_time" content="2024-05-01T10:00:00+02:00">
      <meta property="article:modified_time" content="2024-06-01"><link rel=canonical href="/tea">
      <link rel=alternate type="application/rss+xml" href="/feed" title="News"><link rel=alternate type="application/atom+xml" href="atom">
      <link rel=alternate hreflang=de href="/de/"><link rel=alternate hreflang=x-default href="/">
      <link rel="alternate stylesheet" href="x.css">`)
    expect(found).toEqual({
      description: 'All about tea',
      author: 'Ann, Bob',
      published: '2024-05-01T08:00:00.000Z',
      modified: '2024-06-01',
      language: 'en-GB',
      siteName: 'Tea Times',
      image: 'https://example.com/cup.png',
      feeds: [
        { url: 'https://example.com/feed', type: 'application/rss+xml', title: 'News' },
        { url: 'https://example.com/a/atom', type: 'application/atom+xml', title: undefined },
      ],
      alternates: [
        { language: 'de', url: 'https://example.com/de/' },
        { language: 'x-default', url: 'https://example.com/' },
      ],
      canonical: 'https://example.com/tea',
    })
  })

  it('falls back to JSON-LD, also where parts refer to each other', () => {
    const graph = {
      '@graph': [
        { '@type': 'Organization', name: 'Other', image: 'no.png' },
        {
          '@type': 'Article',
          author: { '@id': '#ann' },
          datePublished: '2020-01-02',
          dateModified: '2020-02-03T04:05Z',
          description: 'Hot',
          image: { '@type': 'ImageObject', url: '/i.png' },
        },
        { '@type': 'Person', '@id': '#ann', name: 'Ann' },
        { '@type': 'WebSite', name: 'Tea' },
      ],
    }
    expect(meta(`<script type="application/ld+json">${JSON.stringify(graph)}</script>`)).toMatchObject({
      description: 'Hot',
      author: 'Ann',
      published: '2020-01-02',
      modified: '2020-02-03T04:05:00.000Z',
      siteName: 'Tea',
      image: 'https://example.com/i.png',
    })
  })

  it('falls back to time elements', () => {
    expect(meta('<time datetime=2020-01-02>x</time>').published).toBe('2020-01-02')
    expect(meta('<time>2020-01-02</time><time>2020-01-03</time>').published).toBeUndefined()
    const both = meta(
      '<time class="entry-date" datetime="2020-01-02"></time><time class=updated>3 Feb 2021</time>',
    )
    expect([both.published, both.modified]).toEqual(['2020-01-02', '2021-02-03'])
  })

  it('is empty for other media types', () => {
    const page = pageOf({
      url: 'https://example.com/',
      body: 'x',
      headers: { 'content-type': 'text/plain', 'content-language': 'fr' },
    })
    expect(page.meta).toMatchObject({ language: 'fr', feeds: [], description: undefined })
  })
})

const TIMES: [written: string, iso: string | undefined][] = [
  ['2016-12-13T12:35:52-07:00', '2016-12-13T19:35:52.000Z'],
  ['2016-12-13 12:35:52 +0100', '2016-12-13T11:35:52.000Z'],
  ['2016-12-13T12:35', '2016-12-13T12:35:00.000Z'],
  ['2016-12-13T12:35:52.123456Z', '2016-12-13T12:35:52.123Z'],
  ['20161213', '2016-12-13'],
  ['Tue, 13 Dec 2016 12:35:52 GMT', '2016-12-13T12:35:52.000Z'],
  ['December 13th, 2016 at 1:05 pm', '2016-12-13T13:05:00.000Z'],
  ['13 Dec 2016', '2016-12-13'],
  ['2016-02-31', undefined],
  ['12/13/2016', undefined],
  ['yesterday', undefined],
  ['', undefined],
]
it.for(TIMES)('reads the time %o', ([written, iso]) => {
  expect(isoTime(written)).toBe(iso)
})

describe('page.language', () => {
  const ENGLISH =
    'This is a text that is clearly written in English, and there is enough of it to say so. '.repeat(5)
  const language = (body: string, headers: Record<string, string> = {}) =>
    pageOf({ url: 'https://example.com/', body, headers: { 'content-type': 'text/html', ...headers } })
      .language

  it('is the declared one, unless the text clearly is in another', () => {
    expect(language('<html lang="de-AT"><p>OK')).toEqual({
      code: 'de',
      confidence: 0.5,
      declared: 'de-AT',
      detected: undefined,
    })
    expect(language(`<html lang="en-US"><p>${ENGLISH}`)).toMatchObject({
      code: 'en',
      declared: 'en-US',
      detected: 'en',
    })
    expect(language(`<html lang="ar"><p>${ENGLISH}`)).toMatchObject({
      code: 'en',
      declared: 'ar',
      detected: 'en',
    })
    expect(language(`<p>${ENGLISH}`)).toMatchObject({ code: 'en', declared: undefined, detected: 'en' })
    expect(
      language('<html lang=nn><p>Dette er en bok, og den er skrevet av en mann som ikke har sett det'),
    ).toMatchObject({ code: 'nn' })
    expect(language('<p>404')).toEqual({
      code: undefined,
      confidence: 0,
      declared: undefined,
      detected: undefined,
    })
  })

  it('is declared in several places', () => {
    expect(language('<html xml:lang="fr">').declared).toBe('fr')
    expect(language('<p>', { 'content-language': 'pt-BR' }).declared).toBe('pt-BR')
    expect(language('<meta http-equiv="Content-Language" content="ja">').declared).toBe('ja')
    expect(language('<meta property="og:locale" content="sv_SE">').declared).toBe('sv-SE')
    expect(language('<html lang="">', { 'content-language': 'de, en' }).declared).toBeUndefined()
  })
})
