import { describe, expect, it } from 'vitest'
import { pageOf } from '../../src/conformance/page.js'
import { cpuMs } from '../cpu-time.js'

const URL_OF_PAGE = 'https://example.com/shop/tea.html?cup=1'

describe('page.canonical', () => {
  const markup: [what: string, body: string, url: string | undefined][] = [
    ['nothing', '<p>', undefined],
    ['a link', '<link rel=canonical href="/tea">', 'https://example.com/tea'],
    ['a relative link', '<link rel="canonical" href="tea">', 'https://example.com/shop/tea'],
    [
      'one of several words, in capitals',
      '<link href=/tea rel=" alternate\nCanonical ">',
      'https://example.com/tea',
    ],
    ['a word that only looks like it', '<link rel=canonicals href=/tea>', undefined],
    ['the first of two', '<link rel=canonical href=/a><link rel=canonical href=/b>', 'https://example.com/a'],
    ['another host', '<link rel=canonical href="https://Example.org:443/a#b">', 'https://example.org/a'],
    [
      'a base',
      '<base href="https://example.org/x/"><link rel=canonical href=tea>',
      'https://example.org/x/tea',
    ],
    ['an anchor', '<a rel=canonical href=/tea>', undefined],
    ['what is no web address', '<link rel=canonical href="mailto:a@b.c">', undefined],
    ['entities', '<link rel=canonical href="/tea?a=1&amp;b=2">', 'https://example.com/tea?a=1&b=2'],
    [
      'a whole head before it',
      '<!doctype html><html lang=en><head><meta charset=utf-8><title>a <body></title><!-- </head> --><script>"</head><body>"</script><style>a</style><noscript><link href=/y></noscript><link rel=canonical href=/tea></head><body>',
      'https://example.com/tea',
    ],
    ['the body', '<head></head><body><link rel=canonical href=/tea>', undefined],
    [
      'after the head, to which it is moved',
      '<head></head><link rel=canonical href=/tea>',
      'https://example.com/tea',
    ],
    ['after what belongs to a body', '<p>x</p><link rel=canonical href=/tea>', undefined],
    ['a header, which is no head', '<header><link rel=canonical href=/tea>', undefined],
    ['letters beyond ASCII', '<title>é</title><link rel=canonical href=/tea>', 'https://example.com/tea'],
  ]
  it.for(markup)('in markup: %s', ([, body, url]) => {
    expect(pageOf({ url: URL_OF_PAGE, body }).canonical).toBe(url)
  })

  const headers: [link: string, url: string | undefined][] = [
    ['</tea>; rel="canonical"', 'https://example.com/tea'],
    ['<tea>; rel=canonical', 'https://example.com/shop/tea'],
    ['<https://example.org/tea>;REL="next Canonical"', 'https://example.org/tea'],
    ['</a>; rel="next", </b>; title="x, <y>; rel=no"; rel="canonical"', 'https://example.com/b'],
    ['</a>; title="rel=canonical"', undefined],
    ['</a>; rel="canonicals"', undefined],
    ['</a>', undefined],
    ['rel=canonical', undefined],
    ['<javascript:x>; rel=canonical', undefined],
  ]
  it.for(headers)('in the header: %s', ([link, url]) => {
    const given = { 'content-type': 'application/pdf', link }
    expect(pageOf({ url: URL_OF_PAGE, body: '%PDF-1.7', headers: given }).canonical).toBe(url)
  })

  it('believes the markup before the header', () => {
    const given = { 'content-type': 'text/html', link: '</b>; rel=canonical' }
    const of = (body: string) => pageOf({ url: URL_OF_PAGE, body, headers: given }).canonical
    expect(of('<link rel=canonical href=/a>')).toBe('https://example.com/a')
    expect(of('<p>')).toBe('https://example.com/b')
  })

  it('takes linear time for a hostile header', () => {
    const started = cpuMs()
    for (const piece of ['<', '<a>;', '<a>;x="', '<a>; ', '<a>;x=']) {
      const given = { 'content-type': 'application/pdf', link: piece.repeat(20_000) }
      expect(pageOf({ url: URL_OF_PAGE, body: '%PDF-1.7', headers: given }).canonical).toBeUndefined()
    }
    expect(cpuMs() - started).toBeLessThan(10_000)
  })
})
