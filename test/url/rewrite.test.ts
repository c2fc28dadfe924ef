import { describe, expect, it } from 'vitest'
import { checkRewrite, indexPages, rewriteIdentity, urlRewriter } from '../../src/url/rewrite.js'
import { parameterFilter } from '../../src/url/tracking.js'

describe('indexPages', () => {
  it.each<[string, string]>([
    ['https://a.example/index.html', 'https://a.example/'],
    ['https://a.example/x/index.htm?b=/index.html', 'https://a.example/x/?b=/index.html'],
    ['https://a.example/x/index.html/y', 'https://a.example/x/index.html/y'],
    ['https://a.example/x/myindex.html', 'https://a.example/x/myindex.html'],
    ['https://a.example/index.php', 'https://a.example/index.php'],
    ['https://a.example/?p=/index.html', 'https://a.example/?p=/index.html'],
    ['https://index.html/', 'https://index.html/'],
    ['https://a.example/index.html/index.html', 'https://a.example/index.html/'],
  ])('makes of %s %s', (url, expected) => {
    expect(urlRewriter([indexPages()])(url)).toBe(expected)
  })

  it('has other names by wish, and refuses what is none', () => {
    expect(urlRewriter([indexPages({ names: ['default.aspx'] })])('http://a.example/default.aspx?x')).toBe(
      'http://a.example/?x',
    )
    for (const names of [[], ['a/b'], 'index.html', [7]]) {
      expect(() => indexPages({ names: names as never })).toThrow(
        /^indexPages\.names: got .*; allowed: file names/,
      )
    }
  })
})

describe('a rewriter', () => {
  it('applies rules in order, spells their results, and drops parameters before and after', () => {
    const rewrite = urlRewriter(
      [
        (url) => url.replace('http://', 'https://'),
        (url) => new URL(`${url}${url.includes('?') ? '' : '?SID=1'}`),
        { name: 'www', rewrite: (url) => url.replace('//WWW.', '//').replace('//www.', '//') },
      ],
      parameterFilter(['sid']),
    )
    expect(rewrite('http://www.a.example/%7Eb?sid=3')).toBe('https://a.example/~b')
  })

  it.each<[string, (url: string) => unknown, RegExp]>([
    [
      'throws',
      () => {
        throw new Error('boom')
      },
      /threw: boom$/,
    ],
    ['returns nothing', () => undefined, /returned undefined, which is not an absolute http\(s\) URL$/],
    ['returns a promise', async (url) => url, /returned a Promise, which is not/],
    ['returns another scheme', () => 'mailto:me@a.example', /returned 'mailto:me@a\.example', which is not/],
    ['returns a path', () => '/x', /returned '\/x', which is not/],
    [
      'never settles',
      (url) => `${url}x`,
      /not stable: http:\/\/a\.example\/ becomes http:\/\/a\.example\/x, and/,
    ],
    ['swaps', (url) => (url.endsWith('/a') ? 'http://a.example/' : 'http://a.example/a'), /is not stable/],
  ])('fails for a rule that %s', (_, rule, message) => {
    expect(() => urlRewriter([rule as never])('http://a.example/')).toThrow(message)
  })
})

it('knows a rule by its name, and a function by its text', () => {
  const named = (name: string) => ({ name, rewrite: (url: string) => url })
  expect(rewriteIdentity([])).toBe('')
  expect(rewriteIdentity([indexPages(), named('a@1')])).toBe('indexPages index.html index.htm, a@1')
  const [one, other] = [[(url: string) => `${url}1`], [(url: string) => `${url}2`]]
  expect(rewriteIdentity(one)).toBe(rewriteIdentity([(url: string) => `${url}1`]))
  expect(rewriteIdentity(one)).not.toBe(rewriteIdentity(other))
})

it.each<[unknown, RegExp]>([
  [7, /^urls\.rewrite: got 7; allowed: a function of the URL/],
  ['/a', /^urls\.rewrite: got '\/a'; allowed/],
  [{ name: 'x' }, /^urls\.rewrite\.rewrite: got undefined/],
  [{ rewrite: () => '' }, /^urls\.rewrite\.name: got undefined; allowed: a text such as 'lower-case@1'/],
])('%j is no rule', (value, message) => {
  expect(() => checkRewrite('urls.rewrite', value)).toThrow(message)
})
