import { describe, expect, it, test } from 'vitest'
import { KumoError } from '../../../src/errors.js'
import { compileGlob } from '../../../src/url/scope/glob.js'
import { cpuMs } from '../../cpu-time.js'

describe('a glob', () => {
  test.each<[pattern: string, fits: string[], fitsNot: string[]]>([
    // One star stays within a segment.
    [
      '/blog/*',
      ['https://e.com/blog/', 'http://f.org/blog/a'],
      ['https://e.com/blog', 'https://e.com/blog/a/b'],
    ],
    [
      '/*.html',
      ['https://e.com/a.html', 'https://e.com/.html'],
      ['https://e.com/a/b.html', 'https://e.com/a.htm'],
    ],
    ['/a*c*e', ['https://e.com/ace', 'https://e.com/abcde'], ['https://e.com/abc/e', 'https://e.com/abced']],
    // Two stars pass everything.
    [
      '/blog/**',
      ['https://e.com/blog/', 'https://e.com/blog/a/b'],
      ['https://e.com/blog', 'https://e.com/x/blog/'],
    ],
    [
      '/**.pdf',
      ['https://e.com/a.pdf', 'https://e.com/a/b.pdf?x'],
      ['https://e.com/a.pdf/b', 'https://e.com/pdf'],
    ],
    ['/a/**/b', ['https://e.com/a/b', 'https://e.com/a/x/b', 'https://e.com/a/x/y/b'], ['https://e.com/ab']],
    ['/**/b/**/c', ['https://e.com/b/c', 'https://e.com/a/b/x/y/c'], ['https://e.com/xb/c']],
    ['/a/**/**/b', ['https://e.com/a/b', 'https://e.com/a/x/b'], ['https://e.com/a']],
    ['/a{,/**}', ['https://e.com/a', 'https://e.com/a/b'], ['https://e.com/ab']],
    // Everything but stars and braces is itself.
    ['/', ['https://e.com/', 'https://e.com/?x'], ['https://e.com/a']],
    ['/a.b', ['https://e.com/a.b'], ['https://e.com/axb']],
    ['/a+(b)[c]$', ['https://e.com/a+(b)[c]$'], ['https://e.com/aab']],
    ['/A', ['https://e.com/A'], ['https://e.com/a']],
    // Queries matter only if the pattern has one.
    ['/list', ['https://e.com/list', 'https://e.com/list?page=2'], []],
    ['/list?', ['https://e.com/list'], ['https://e.com/list?page=2']],
    ['/list?page=*', ['https://e.com/list?page=2', 'https://e.com/list?page=a/b'], ['https://e.com/list']],
    [
      '/list?*page=*',
      ['https://e.com/list?page=2', 'https://e.com/list?a/b&page=2'],
      ['https://e.com/list?x'],
    ],
    ['/**?*', ['https://e.com/?x', 'https://e.com/a/b?x'], ['https://e.com/a/b']],
    ['/*?x', ['https://e.com/a?x'], ['https://e.com/a?b?x', 'https://e.com/a?b/c?x']],
    ['/a{?x,}', ['https://e.com/a', 'https://e.com/a?x', 'https://e.com/a?y'], ['https://e.com/b?x']],
    // Hosts.
    [
      'e.com',
      ['https://e.com/', 'http://e.com/a/b?c'],
      ['https://www.e.com/', 'https://e.com.org/', 'https://e.com:81/'],
    ],
    ['e.com/', ['https://e.com/', 'https://e.com/?x'], ['https://e.com/a']],
    ['e.com?x=*', ['https://e.com/?x=1'], ['https://e.com/', 'https://e.com/a?x=1']],
    ['*.e.com', ['https://a.e.com/x', 'https://a.b.e.com/'], ['https://e.com/', 'https://f.com/a.e.com/']],
    ['{,*.}e.com/**', ['https://e.com/x', 'https://a.e.com/x'], ['https://ee.com/']],
    ['E.com:8080/a', ['http://e.com:8080/a'], ['http://e.com/a']],
    ['localhost:*', ['http://localhost:3000/a'], ['http://localhost/a']],
    ['*/a', ['http://e.com/a', 'https://f.org/a'], ['https://f.org/b/a']],
    ['bücher.de/*', ['https://xn--bcher-kva.de/a'], ['https://bucher.de/a']],
    ['192.168.*.1/**', ['http://192.168.7.1/a'], ['http://192.168.7.2/a']],
    // Whole URLs.
    ['https://e.com', ['https://e.com/', 'https://e.com/a'], ['http://e.com/']],
    ['https://e.com:443/a', ['https://e.com/a'], ['https://e.com/b']],
    ['*://e.com/a', ['https://e.com/a', 'http://e.com/a'], ['https://e.com/b']],
    [
      'http{,s}://e.com/{a,b/{c,d}}',
      ['http://e.com/a', 'https://e.com/b/d'],
      ['https://e.com/d', 'https://e.com/b'],
    ],
    ['https://**/a', ['https://e.com/a', 'https://e.com/b/a'], ['https://a/']],
    ['/go?to=https://*', ['https://e.com/go?to=https://f.org/'], ['https://f.org/']],
    ['e.com/go?to=https://*', ['https://e.com/go?to=https://f.org/'], ['https://f.org/']],
    // Spelled as canonical URLs are.
    ['/café/*', ['https://e.com/caf%C3%A9/a'], ['https://e.com/cafe/a']],
    ['/caf%c3%a9/%7Ea^b', ['https://e.com/caf%C3%A9/~a%5Eb'], []],
    ["/a b?c d&it's", ['https://e.com/a%20b?c%20d&it%27s'], []],
    ['/😀', ['https://e.com/%F0%9F%98%80'], []],
  ])('%s', (pattern, fits, fitsNot) => {
    const matches = compileGlob(pattern)
    expect(fits.filter((url) => !matches(url))).toEqual([])
    expect(fitsNot.filter(matches)).toEqual([])
  })

  test.each<[pattern: unknown, says: RegExp]>([
    ['', /"\/blog\/\*\*"/],
    [7, /string/],
    ['/a#b', /fragment/],
    ['/a\\*', /backslash/],
    ['/{a', /"\{" has no matching "\}"/],
    ['/a}', /"\}" has no matching "\{"/],
    ['/{a}}', /"\}" has no matching "\{"/],
    ['/\ud800', /half of a surrogate pair/],
    ['ftp://e.com/**', /only http and https/],
    ['https:///a', /host/],
    ['me@e.com/a', /host/],
    ['a b.com/a', /host/],
    ['bü*.de/a', /ASCII/],
    [`/${'{a,b}'.repeat(20)}`, /256 alternatives/],
  ])('%j is rejected', (pattern, says) => {
    const compile = () => compileGlob(pattern as string)
    expect(compile).toThrow(says)
    expect(compile).toThrow(KumoError)
  })

  it('takes time that grows with the URL, not with the ways to divide it among stars', () => {
    const length = 10_000
    const hostile = [
      `/${'*a'.repeat(60)}b*`,
      `/${'**a'.repeat(60)}b*`,
      `/${'**a*'.repeat(40)}b*`,
      `/${'**/'.repeat(6)}*a*b`,
    ]
    const urls = [`https://e.com/${'a'.repeat(length)}`, `https://e.com/${'a/'.repeat(length / 2)}`]
    const start = cpuMs()
    for (const pattern of hostile) {
      const matches = compileGlob(pattern)
      for (const url of urls) expect(matches(url)).toBe(false)
    }
    expect(cpuMs() - start).toBeLessThan(10_000)
  })
})
